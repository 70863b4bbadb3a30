//! How sure a figure is: 95 % intervals from resampling whole units with replacement.
//!
//! The calls of one task stand or fall together, so they are drawn together; taking them one by one would
//! make the intervals too narrow.

use std::fmt;

use serde::Serialize;

use crate::train::dice::Dice;

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Estimate {
    /// On all units.
    pub(crate) value: f64,
    /// From the 2.5th to the 97.5th percentile of the resamples; `None` where there is only one unit, or
    /// where most resamples lack a side that the figure needs.
    pub(crate) interval: Option<[f64; 2]>,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", number(self.value))?;
        match self.interval {
            Some([low, high]) => write!(f, " [{}, {}]", number(low), number(high)),
            None => Ok(()),
        }
    }
}

/// A figure as `.931`, `1.000`, `-.020`.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    match text.strip_prefix("-0") {
        Some(rest) => format!("-{rest}"),
        None => text.strip_prefix('0').map_or(text.clone(), str::to_string),
    }
}

/// How to resample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resampling {
    /// How often. None at all means no intervals.
    pub(crate) count: usize,
    /// The same seed gives the same intervals.
    pub(crate) seed: u64,
}

impl Resampling {
    /// Measures with every unit once, then with `units` units drawn at random, again and again.
    /// `measure` gets how often each unit counts.
    pub(crate) fn estimate<const N: usize>(
        &self,
        units: usize,
        measure: impl Fn(&[u32]) -> [Option<f64>; N],
    ) -> [Option<Estimate>; N] {
        let values = measure(&vec![1; units]);
        let mut drawn: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(self.count));
        let dice = Dice::new(self.seed);
        let rounds = if units < 2 { 0 } else { self.count };
        for _ in 0..rounds {
            let mut weights = vec![0; units];
            for _ in 0..units {
                weights[dice.below(units)] += 1;
            }
            for (all, value) in drawn.iter_mut().zip(measure(&weights)) {
                all.extend(value);
            }
        }
        std::array::from_fn(|i| {
            let mut all = std::mem::take(&mut drawn[i]);
            let enough = rounds > 0 && all.len() * 2 > rounds;
            values[i].map(|value| Estimate { value, interval: enough.then(|| percentiles(&mut all)) })
        })
    }
}

fn percentiles(values: &mut [f64]) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let last = (values.len() - 1) as f64;
    [0.025, 0.975].map(|at| values[(at * last).round() as usize])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HOW: Resampling = Resampling { count: 500, seed: 1 };

    fn mean(values: &[f64]) -> impl Fn(&[u32]) -> [Option<f64>; 1] {
        move |weights| {
            let all: u32 = weights.iter().sum();
            let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * f64::from(*weight)).sum();
            [Some(sum / f64::from(all))]
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_about_two_standard_errors_wide() {
        // Half zeros and half ones: the standard error of 400 is 0.025.
        let values: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let [estimate] = HOW.estimate(400, mean(&values));
        let Estimate { value, interval: Some([low, high]) } = estimate.unwrap() else { panic!() };
        assert_eq!(value, 0.5);
        assert!((0.44..0.465).contains(&low), "{low}");
        assert!((0.535..0.56).contains(&high), "{high}");
        assert_eq!(HOW.estimate(400, mean(&values)), [estimate]);
    }

    #[test]
    fn figures_are_written_short() {
        let estimate = Estimate { value: 1.0, interval: Some([-0.0201, 0.9996]) };
        assert_eq!(estimate.to_string(), "1.000 [-.020, 1.000]");
        assert_eq!(Estimate { value: 0.5, interval: None }.to_string(), ".500");
    }

    #[test]
    fn without_spread_or_without_enough_units_there_is_none() {
        let [estimate] = HOW.estimate(5, mean(&[0.25; 5]));
        assert_eq!(estimate.unwrap().interval, Some([0.25, 0.25]));
        assert_eq!(HOW.estimate(1, mean(&[0.25]))[0].unwrap().interval, None);
        assert_eq!(HOW.estimate(3, |_| [None::<f64>]), [None]);
        // Known only where the first of twenty units was drawn exactly twice, which is seldom.
        let seldom = |weights: &[u32]| [(weights[0] == 2 || weights.iter().all(|w| *w == 1)).then_some(1.0)];
        assert_eq!(HOW.estimate(20, seldom)[0].unwrap().interval, None);
    }
}
