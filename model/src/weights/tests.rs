#![allow(clippy::unwrap_used)]
use super::*;
use postern_check::FailureCode;
use tch::Device;

/// A model of the right names and shapes with zeros in it, in a folder.
fn folder(change: impl FnOnce(&mut BTreeMap<String, Tensor>, &mut Meta)) -> tempfile::TempDir {
    let mut tensors = BTreeMap::new();
    let taken: Result<_, Error> = Net::take(&mut |name, shape| {
        let tensor = Tensor::zeros(shape, (Kind::Half, Device::Cpu));
        tensors.insert(name.to_string(), tensor.shallow_clone());
        Ok(tensor)
    });
    taken.unwrap();
    for ((name, _), tensor) in trees::TENSORS.into_iter().zip(Trees::new(Vec::new()).tensors()) {
        tensors.insert(name.to_string(), tensor);
    }
    let normalisation = Normalisation { mean: [0.0; FEATURES], deviation: [1.0; FEATURES] };
    let mut meta = Meta::new("t".into(), "none".into(), &normalisation, Calibration::NONE);
    change(&mut tensors, &mut meta);
    let folder = tempfile::tempdir().unwrap();
    let tokenizer =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("weights").join(TOKENIZER)).unwrap();
    save(folder.path(), &tensors, &meta, &tokenizer).unwrap();
    folder
}

fn failure(folder: &Path) -> (FailureCode, String) {
    let error = load(folder, Device::Cpu).err().unwrap();
    (error.code(), error.to_string())
}

#[test]
fn what_was_saved_loads() {
    let folder = folder(|_, _| {});
    let loaded = load(folder.path(), Device::Cpu).unwrap();
    assert_eq!(loaded.meta.version, "t");
    assert_eq!(loaded.sha256.len(), 64);
    assert_eq!(loaded.normalisation.apply(&[9.0; FEATURES]), [5.0; FEATURES]);
}

#[test]
fn missing_files_are_missing() {
    for name in [WEIGHTS, TOKENIZER, MANIFEST] {
        let folder = folder(|_, _| {});
        std::fs::remove_file(folder.path().join(name)).unwrap();
        let (code, message) = failure(folder.path());
        assert_eq!(code, FailureCode::ModelMissing, "{message}");
        assert!(message.contains(name), "{message}");
    }
    assert_eq!(failure(Path::new("/nowhere/at/all")).0, FailureCode::ModelMissing);
}

#[test]
fn damaged_files_are_refused() {
    let folder = folder(|_, _| {});
    let path = folder.path().join(WEIGHTS);
    let whole = std::fs::read(&path).unwrap();

    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    std::fs::write(&path, &flipped).unwrap();
    let (code, message) = failure(folder.path());
    assert!(code == FailureCode::ModelInvalid && message.contains("SHA-256"), "{message}");

    std::fs::write(&path, &whole[..middle]).unwrap();
    let (code, message) = failure(folder.path());
    assert!(code == FailureCode::ModelInvalid && message.contains("bytes"), "{message}");

    std::fs::write(folder.path().join(MANIFEST), "{}").unwrap();
    assert_eq!(failure(folder.path()).0, FailureCode::ModelInvalid);
}

#[test]
fn no_bytes_make_the_parser_panic() {
    for bytes in [&b""[..], &[0; 7], &[255; 16], b"\x02\0\0\0\0\0\0\0{}", b"\x05\0\0\0\0\0\0\0{\"a\":"] {
        let error = parse(bytes, Path::new("x"), Device::Cpu).err().unwrap();
        assert_eq!(error.code(), FailureCode::ModelInvalid);
    }
}

#[test]
fn tensors_of_another_layout_are_refused() {
    let name = "text.answers.weight";
    let wrong = folder(|tensors, _| {
        tensors.insert(name.into(), Tensor::zeros([1, 3], (Kind::Half, Device::Cpu)));
    });
    let missing = folder(|tensors, _| {
        tensors.remove(name);
    });
    let more = folder(|tensors, _| {
        tensors.insert("text.more".into(), Tensor::zeros([1], (Kind::Half, Device::Cpu)));
    });
    for (folder, what) in [(wrong, "shape"), (missing, "missing"), (more, "unknown")] {
        let (code, message) = failure(folder.path());
        assert!(code == FailureCode::ModelInvalid && message.contains(what), "{message}");
    }
}

#[test]
fn headers_of_another_program_are_refused() {
    type Change = fn(&mut Meta);
    let cases: [(&str, Change); 6] = [
        ("format", |meta| meta.format = 99),
        ("render", |meta| meta.render = 99),
        ("features", |meta| meta.feature_names.swap(0, 1)),
        ("length", |meta| meta.feature_mean.truncate(3)),
        ("sense", |meta| meta.feature_deviation[0] = 0.0),
        ("sense", |meta| meta.calibration.facts = -1.0),
    ];
    for (what, change) in cases {
        let folder = folder(|_, meta| change(meta));
        let (code, message) = failure(folder.path());
        assert!(code == FailureCode::ModelInvalid && message.contains(what), "{message}");
    }
}

#[test]
fn learning_goes_on_from_an_older_layout_and_from_no_other_features() {
    let older = folder(|_, meta| meta.format = 2);
    let read = read_to_learn(older.path()).unwrap();
    assert!(read.tensors.contains_key("text.answers.weight") && read.normalisation.is_some());
    assert_eq!(read.sha256.unwrap().len(), 64);
    assert_eq!(failure(older.path()).0, FailureCode::ModelInvalid);
    let other = folder(|_, meta| meta.feature_names.swap(0, 1));
    assert!(read_to_learn(other.path()).err().unwrap().to_string().contains("features"));
}
