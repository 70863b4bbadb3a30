//! What a model without any idea of tool calls reaches: TF-IDF over words and pairs of words, and logistic
//! regression. It is meant to be hard to beat for what it is, so its strength is tuned.
//!
//! It may see what the guard sees of a check, and nothing else: no source, group or kind.

use std::collections::{BTreeSet, HashMap};

use postern_check::Check;
use serde_json::Value;

use super::data::Labelled;
use super::dice::hash;
use crate::Error;
use crate::eval::{auroc, is_attack};

/// A term must occur in so many checks.
const LEAST_CHECKS: u32 = 2;
/// Strengths that are tried: the weight of the errors against the size of the weights.
const STRENGTHS: [f64; 5] = [0.1, 1.0, 10.0, 100.0, 1000.0];

/// A fitted baseline.
pub(super) struct Baseline {
    terms: Terms,
    /// One for every term, then the intercept.
    weights: Vec<f64>,
    pub(super) strength: f64,
}

/// The terms that count, each with its column and its inverse document frequency.
struct Terms(HashMap<String, (usize, f64)>);

/// A check as the regression sees it: columns with values, of length 1 in all.
type Row = Vec<(usize, f64)>;

impl Baseline {
    /// Fits on checks whose label is known. The strength is chosen on whole groups that are set aside, then
    /// all checks are fitted with it.
    pub(super) fn fit(checks: &[&Labelled], seed: u64) -> Result<Self, Error> {
        let known: Vec<&Labelled> =
            checks.iter().copied().filter(|check| is_attack(check).is_some()).collect();
        let (aside, rest) = set_aside(&known, seed);
        let mut best: Option<(f64, f64)> = None;
        let terms = Terms::of(&rest);
        let rows = Rows::new(&terms, &rest);
        for strength in STRENGTHS {
            let candidate =
                Self { terms: Terms(HashMap::new()), weights: rows.regress(&terms, strength), strength };
            let scored: Vec<(f64, bool)> = aside
                .iter()
                .filter_map(|check| Some((candidate.score_row(&terms.row(&check.check)), is_attack(check)?)))
                .collect();
            let reached = auroc(&scored).ok_or_else(|| {
                Error::Data("the baseline needs attacks and benign calls to be tuned on".into())
            })?;
            tracing::info!("baseline: strength {strength}, AUROC {reached:.4} on {} set aside", aside.len());
            if best.is_none_or(|(most, _)| reached > most) {
                best = Some((reached, strength));
            }
        }
        let strength = best.map_or(STRENGTHS[0], |(_, strength)| strength);
        let terms = Terms::of(&known);
        let weights = Rows::new(&terms, &known).regress(&terms, strength);
        Ok(Self { terms, weights, strength })
    }

    /// The log-odds that a call is an attack.
    pub(super) fn score(&self, check: &Check) -> f64 {
        self.score_row(&self.terms.row(check))
    }

    fn score_row(&self, row: &Row) -> f64 {
        dot(row, &self.weights)
    }
}

/// A quarter of the groups, by hash, where both parts then have both sides; else a quarter of the checks.
fn set_aside<'a>(known: &[&'a Labelled], seed: u64) -> (Vec<&'a Labelled>, Vec<&'a Labelled>) {
    let both =
        |part: &[&Labelled]| [true, false].iter().all(|s| part.iter().any(|c| is_attack(c) == Some(*s)));
    let mut groups: Vec<&str> =
        known.iter().map(|check| check.group.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    groups.sort_by_key(|group| hash(seed, group));
    let chosen: BTreeSet<&str> = groups.iter().copied().take(groups.len() / 4).collect();
    let (aside, rest): (Vec<_>, Vec<_>) =
        known.iter().partition(|check| chosen.contains(check.group.as_str()));
    if both(&aside) && both(&rest) {
        return (aside, rest);
    }
    let mut order: Vec<usize> = (0..known.len()).collect();
    super::dice::Dice::new(seed).shuffle(&mut order);
    let (aside, rest) = order.split_at(known.len() / 4);
    let take = |part: &[usize]| part.iter().map(|&i| known[i]).collect();
    (take(aside), take(rest))
}

/// The words of each text of a check, in lower case.
fn texts(check: &Check) -> Vec<Vec<String>> {
    let args = Value::Object(check.action.args.clone()).to_string();
    let rules = check.constraints.iter().map(String::as_str);
    [check.intent.as_str(), check.action.tool.as_str(), args.as_str(), check.context.as_str()]
        .into_iter()
        .chain(rules)
        .map(|text| {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.filter(|word| word.chars().nth(1).is_some()).map(str::to_lowercase).collect()
        })
        .collect()
}

/// How often each word and each pair of neighbours occurs in a check.
fn counts(check: &Check) -> HashMap<String, f64> {
    let mut counts: HashMap<String, f64> = HashMap::new();
    for words in texts(check) {
        for pair in words.windows(2) {
            *counts.entry(pair.join(" ")).or_default() += 1.0;
        }
        for word in words {
            *counts.entry(word).or_default() += 1.0;
        }
    }
    counts
}

impl Terms {
    fn of(checks: &[&Labelled]) -> Self {
        let mut found: HashMap<String, u32> = HashMap::new();
        for check in checks {
            for term in counts(&check.check).into_keys() {
                *found.entry(term).or_default() += 1;
            }
        }
        let mut kept: Vec<(String, u32)> =
            found.into_iter().filter(|(_, count)| *count >= LEAST_CHECKS).collect();
        // In a fixed order, so that sums come out the same every time.
        kept.sort();
        let all = checks.len() as f64;
        let idf = |count: u32| ((1.0 + all) / (1.0 + f64::from(count))).ln() + 1.0;
        Self(kept.into_iter().enumerate().map(|(at, (term, count))| (term, (at, idf(count)))).collect())
    }

    /// TF-IDF of a check, scaled to length 1, and the intercept's column.
    fn row(&self, check: &Check) -> Row {
        let mut row: Row = counts(check)
            .into_iter()
            .filter_map(|(term, count)| self.0.get(&term).map(|&(at, idf)| (at, count * idf)))
            .collect();
        row.sort_by_key(|&(at, _)| at);
        let length = row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        for (_, value) in &mut row {
            *value /= length;
        }
        row.push((self.0.len(), 1.0));
        row
    }
}

fn dot(row: &Row, weights: &[f64]) -> f64 {
    row.iter().map(|&(at, value)| value * weights[at]).sum()
}

/// What the regression is fitted to.
struct Rows(Vec<(Row, bool)>);

impl Rows {
    fn new(terms: &Terms, checks: &[&Labelled]) -> Self {
        Self(checks.iter().filter_map(|check| Some((terms.row(&check.check), is_attack(check)?))).collect())
    }

    fn regress(&self, terms: &Terms, strength: f64) -> Vec<f64> {
        minimise(vec![0.0; terms.0.len() + 1], |weights| self.loss(weights, strength))
    }

    /// Half the squared length of the weights, without the intercept, plus `strength` times the sum of the
    /// logistic losses; and its gradient.
    fn loss(&self, weights: &[f64], strength: f64) -> (f64, Vec<f64>) {
        let mut gradient = weights.to_vec();
        if let Some(intercept) = gradient.last_mut() {
            *intercept = 0.0;
        }
        let mut loss = 0.5 * gradient.iter().map(|weight| weight * weight).sum::<f64>();
        for (row, attack) in &self.0 {
            let sign = if *attack { 1.0 } else { -1.0 };
            let margin = sign * dot(row, weights);
            loss += strength * ((-margin).max(0.0) + (-margin.abs()).exp().ln_1p());
            let slope = -strength * sign / (1.0 + margin.exp());
            for &(at, value) in row {
                gradient[at] += slope * value;
            }
        }
        (loss, gradient)
    }
}

const MEMORY: usize = 10;
const MOST_STEPS: usize = 200;

/// L-BFGS with halving steps: minimises a smooth convex function that comes with its gradient.
fn minimise(start: Vec<f64>, f: impl Fn(&[f64]) -> (f64, Vec<f64>)) -> Vec<f64> {
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let add = |a: &mut [f64], factor: f64, b: &[f64]| a.iter_mut().zip(b).for_each(|(x, y)| *x += factor * y);
    let mut at = start;
    let (mut value, mut gradient) = f(&at);
    let goal = 1e-4 * inner(&gradient, &gradient).sqrt();
    // Steps with the changes of the gradient along them, the newest last.
    let mut memory: std::collections::VecDeque<(Vec<f64>, Vec<f64>)> = std::collections::VecDeque::new();
    for _ in 0..MOST_STEPS {
        if inner(&gradient, &gradient).sqrt() <= goal {
            break;
        }
        let mut direction = gradient.clone();
        let mut factors = Vec::with_capacity(memory.len());
        for (step, change) in memory.iter().rev() {
            let factor = inner(step, &direction) / inner(step, change);
            add(&mut direction, -factor, change);
            factors.push(factor);
        }
        // The first step has no scale yet; one of length 1 is as good as any.
        let scale = match memory.back() {
            Some((step, change)) => inner(step, change) / inner(change, change),
            None => 1.0 / inner(&gradient, &gradient).sqrt(),
        };
        direction.iter_mut().for_each(|x| *x *= scale);
        for ((step, change), factor) in memory.iter().zip(factors.iter().rev()) {
            let back = inner(change, &direction) / inner(step, change);
            add(&mut direction, factor - back, step);
        }
        let slope = -inner(&direction, &gradient);
        let mut length = 1.0;
        let next = loop {
            let mut there = at.clone();
            add(&mut there, -length, &direction);
            let (lower, its_gradient) = f(&there);
            if lower <= value + 1e-4 * length * slope {
                break Some((there, lower, its_gradient));
            }
            length /= 2.0;
            if length < 1e-10 {
                break None;
            }
        };
        // No way down any more: as low as numbers go.
        let Some((there, lower, its_gradient)) = next else { break };
        let step: Vec<f64> = there.iter().zip(&at).map(|(a, b)| a - b).collect();
        let change: Vec<f64> = its_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        if inner(&step, &change) > 0.0 {
            memory.push_back((step, change));
            if memory.len() > MEMORY {
                memory.pop_front();
            }
        }
        (at, value, gradient) = (there, lower, its_gradient);
    }
    at
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::train::data::Labels;
    use crate::train::dice::Dice;

    fn labelled(intent: &str, attack: bool, group: &str) -> Labelled {
        let check = Check {
            action: postern_check::Action { tool: "a.b".into(), args: serde_json::Map::new() },
            intent: intent.into(),
            trigger: postern_check::Trigger::User,
            constraints: vec!["be brief".into()],
            context: String::new(),
        };
        let labels = Labels { unsafe_: Some(f32::from(u8::from(attack))), ..Labels::default() };
        Labelled { check, labels, source: "s".into(), group: group.into(), kind: "k".into(), task: None }
    }

    /// Both sides have the same words; only their order differs. Some noise around.
    fn toy(count: usize, seed: u64) -> Vec<Labelled> {
        let dice = Dice::new(seed);
        (0..count)
            .map(|i| {
                let attack = dice.chance(0.4);
                let noise = dice.pick(&["today", "please", "soon", "quickly"]);
                let more = dice.pick(&["the report", "an invoice", "some notes"]);
                let order = if attack { "wire send" } else { "send wire" };
                labelled(&format!("{noise} {order} {more}"), attack, &format!("g/{}", i % 8))
            })
            .collect()
    }

    #[test]
    fn it_learns_the_order_of_words() {
        let (train, test) = (toy(200, 1), toy(100, 2));
        let fitted = Baseline::fit(&train.iter().collect::<Vec<_>>(), 7).unwrap();
        let scored: Vec<(f64, bool)> =
            test.iter().map(|check| (fitted.score(&check.check), is_attack(check).unwrap())).collect();
        assert_eq!(auroc(&scored), Some(1.0));
        assert!(scored.iter().all(|(score, attack)| (*score > 0.0) == *attack));
        let again = Baseline::fit(&train.iter().collect::<Vec<_>>(), 7).unwrap();
        assert_eq!(again.weights, fitted.weights);
    }

    #[test]
    fn it_learns_nothing_where_there_is_nothing() {
        let dice = Dice::new(4);
        let noise: Vec<Labelled> = toy(300, 3)
            .into_iter()
            .map(|mut check| {
                check.labels.unsafe_ = Some(f32::from(u8::from(dice.chance(0.5))));
                check
            })
            .collect();
        let (train, test) = noise.split_at(200);
        let fitted = Baseline::fit(&train.iter().collect::<Vec<_>>(), 7).unwrap();
        let scored: Vec<(f64, bool)> =
            test.iter().map(|check| (fitted.score(&check.check), is_attack(check).unwrap())).collect();
        assert!((0.35..0.65).contains(&auroc(&scored).unwrap()));
        let one_side: Vec<&Labelled> = noise.iter().filter(|check| is_attack(check) == Some(true)).collect();
        assert!(Baseline::fit(&one_side, 7).is_err());
    }

    #[test]
    fn rows_are_tf_idf() {
        let checks = [labelled("send wire", true, "g"), labelled("send note", false, "g")];
        let terms = Terms::of(&checks.iter().collect::<Vec<_>>());
        // wire, note and their pairs occur once; `a` and `b` of the tool's name are too short.
        let mut kept: Vec<&str> = terms.0.keys().map(String::as_str).collect();
        kept.sort_unstable();
        assert_eq!(kept, ["be", "be brief", "brief", "send"]);
        let row = terms.row(&checks[0].check);
        assert_eq!(row.len(), 5);
        assert!(row[..4].iter().all(|(_, value)| (value - 0.5).abs() < 1e-12), "{row:?}");
        assert_eq!(row[4], (4, 1.0));
    }

    #[test]
    fn the_gradient_is_the_slope_and_vanishes_at_the_minimum() {
        let checks = toy(40, 5);
        let checks: Vec<&Labelled> = checks.iter().collect();
        let terms = Terms::of(&checks);
        let rows = Rows::new(&terms, &checks);
        let weights: Vec<f64> = (0..=terms.0.len()).map(|i| (i as f64).sin()).collect();
        let (_, gradient) = rows.loss(&weights, 2.0);
        for at in [0, 3, terms.0.len()] {
            let shifted = |by: f64| {
                let mut there = weights.clone();
                there[at] += by;
                rows.loss(&there, 2.0).0
            };
            let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!((slope - gradient[at]).abs() < 1e-5, "{at}: {slope} {}", gradient[at]);
        }
        let (_, at_minimum) = rows.loss(&rows.regress(&terms, 2.0), 2.0);
        assert!(at_minimum.iter().all(|slope| slope.abs() < 1e-2), "{at_minimum:?}");
    }

    #[test]
    fn a_bowl_has_its_minimum_where_it_should() {
        let bowl = |x: &[f64]| {
            let (a, b) = (x[0] - 3.0, x[1] + 1.0);
            (a * a + 100.0 * b * b + a * b, vec![2.0 * a + b, 200.0 * b + a])
        };
        let found = minimise(vec![0.0, 0.0], bowl);
        assert!((found[0] - 3.0).abs() < 0.02 && (found[1] + 1.0).abs() < 0.001, "{found:?}");
    }
}
