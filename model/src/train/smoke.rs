//! A short training on generated checks alone, with one family held out whole: it shows in any clone that
//! data, learning, calibration, writing and measuring work together, and that what comes out is better
//! than a bag of words.

use std::collections::BTreeMap;

use postern_check::Scores;

use super::baseline::Baseline;
use super::data::Labelled;
use super::dice::{Dice, hash};
use super::{TrainOptions, fit, generate};
use crate::Error;
use crate::eval::{self, Resampling, auroc, is_attack};

/// A family can be held out if it has so many attacks and so many benign calls.
const LEAST: usize = 40;
/// One check in so many is kept for calibration.
const ASIDE: usize = 10;

/// Trains, and compares with the baseline on the family that neither has seen.
///
/// # Errors
/// If the guard does not beat the baseline; and as for [`run`](super::run).
pub(super) fn run(options: &TrainOptions) -> Result<(), Error> {
    let checks = generate::generate(options.generated, options.seed);
    let family = choose(&checks, options)?;
    let (held, mut train): (Vec<_>, Vec<_>) = checks.into_iter().partition(|check| check.group == family);
    Dice::new(options.seed).shuffle(&mut train);
    let aside = train.split_off(train.len() - train.len() / ASIDE);
    tracing::info!("{} checks to learn from; {family} is held out with {}", train.len(), held.len());

    let baseline = Baseline::fit(&train.iter().collect::<Vec<_>>(), options.seed)?;
    let (guard, _) = fit(options, train, &aside)?;
    let scores = eval::score(&guard, &held)?;
    println!("{}", eval::text(&family, &held, &scores));
    compare(&scores, &baseline, &held, options.seed)
}

/// The group to hold out: the one asked for, else one of those that are large enough, by the seed.
fn choose(checks: &[Labelled], options: &TrainOptions) -> Result<String, Error> {
    let mut sides: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for check in checks {
        if let Some(attack) = is_attack(check) {
            sides.entry(&check.group).or_default()[usize::from(attack)] += 1;
        }
    }
    sides.retain(|_, sides| sides.iter().all(|count| *count >= LEAST));
    let known = || sides.keys().copied().collect::<Vec<_>>().join(", ");
    let chosen = match &options.family {
        Some(family) => sides.keys().find(|group| *group == family || group.ends_with(&format!("/{family}"))),
        None => sides.keys().min_by_key(|group| hash(options.seed, group)),
    };
    chosen.map(|group| group.to_string()).ok_or_else(|| {
        Error::Data(format!(
            "no family to hold out with {LEAST} attacks and {LEAST} benign calls; there are: {}. More --generated \
             checks make families larger",
            known()
        ))
    })
}

fn compare(scores: &[Scores], baseline: &Baseline, held: &[Labelled], seed: u64) -> Result<(), Error> {
    let known =
        held.iter().zip(scores).filter_map(|(check, scores)| Some((check, scores, is_attack(check)?)));
    type Ranked = Vec<(f64, bool)>;
    let (ours, theirs): (Ranked, Ranked) = known
        .map(|(check, scores, attack)| {
            ((f64::from(scores.unsafe_), attack), (baseline.score(&check.check), attack))
        })
        .unzip();
    let drawn = |scored: &[(f64, bool)], weights: &[u32]| {
        let copies = scored.iter().zip(weights).flat_map(|(one, n)| std::iter::repeat_n(*one, *n as usize));
        auroc(&copies.collect::<Vec<_>>())
    };
    let how = Resampling { count: 500, seed };
    let [guard, baseline_auroc, difference] = how.estimate(ours.len(), |weights| {
        let (ours, theirs) = (drawn(&ours, weights), drawn(&theirs, weights));
        [ours, theirs, ours.zip(theirs).map(|(ours, theirs)| ours - theirs)]
    });
    let (Some(guard), Some(theirs), Some(difference)) = (guard, baseline_auroc, difference) else {
        return Err(Error::Data("the held-out family lacks one side".into()));
    };
    println!("\nAUROC on {} held-out checks, with 95 % intervals:", ours.len());
    println!("  guard                         {guard}");
    println!("  TF-IDF + logistic regression  {theirs} (strength {})", baseline.strength);
    println!("  difference                    {difference}");
    if difference.value > 0.0 {
        return Ok(());
    }
    Err(Error::NotBetter { guard: guard.value, baseline: theirs.value })
}
