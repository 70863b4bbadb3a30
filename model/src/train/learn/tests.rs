#![allow(clippy::unwrap_used)]
use super::super::generate::generate;
use super::*;
use crate::net::tests::random_tensors;
use crate::weights::TOKENIZER;

#[test]
fn a_seed_learns_the_same_and_leaves_the_lowest_layers_alone() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("weights").join(TOKENIZER);
    let renderer = Renderer::from_bytes(&std::fs::read(&path).unwrap(), &path).unwrap();
    let data = Prepared::new(generate(40, 5), &renderer).unwrap();
    let mut base = random_tensors(6);
    base.retain(|name, _| name.starts_with("embeddings") || name.starts_with("encoder"));
    let base = ToLearn { tensors: base, normalisation: None, sha256: None };
    let folder = tempfile::tempdir().unwrap();
    let options = TrainOptions { out: Some(folder.path().into()), ..TrainOptions::for_tests() };
    let run = || learn(&options, &base, &renderer, &data, &data).unwrap();
    let (one, two) = (run(), run());
    assert_eq!(one.steps, 2);
    assert_eq!(one.parameters.len(), two.parameters.len());
    for (name, tensor) in &one.parameters {
        assert!(tensor.allclose(&two.parameters[name], 0.0, 0.0, false), "{name}");
        let Some(start) = base.tensors.get(name) else { continue };
        let frozen = name.starts_with("embeddings") || name.contains(".0.") || name.contains(".1.");
        // The marks' vectors are made anew.
        if name != WORDS {
            assert_eq!(tensor.allclose(start, 0.0, 0.0, false), frozen, "{name}");
        }
    }
    // Going on from a model: its features stay normalised as they were, its marks have their vectors.
    let model = ToLearn {
        tensors: one.parameters.iter().map(|(name, t)| (name.clone(), t.detach().copy())).collect(),
        normalisation: Some(one.normalisation.clone()),
        sha256: None,
    };
    let other = Prepared::new(generate(20, 6), &renderer).unwrap();
    let further = learn(&options, &model, &renderer, &other, &other).unwrap();
    assert_eq!(further.normalisation.mean, one.normalisation.mean);
    assert!(further.parameters[WORDS].allclose(&one.parameters[WORDS], 0.0, 0.0, false));
    run();
    let resumed = TrainOptions { resume: true, ..options };
    assert_eq!(learn(&resumed, &base, &renderer, &data, &data).unwrap().steps, 2);
}
