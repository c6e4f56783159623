//! Numbers about numbers.

use serde_json::{Value, json};

/// The smallest, the middle and the largest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
    pub(crate) rounds: usize,
}

impl Spread {
    pub(crate) fn of(values: &[f64]) -> Self {
        let at = |share| quantile(values, share);
        Self { min: at(0.0), median: at(0.5), max: at(1.0), rounds: values.len() }
    }

    pub(crate) fn json(&self) -> Value {
        json!({"min": self.min, "median": self.median, "max": self.max, "rounds": self.rounds})
    }
}

/// The value below which this share of them lies.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let at = ((sorted.len().saturating_sub(1)) as f64 * share).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

/// Each of these over the one beside it.
pub(crate) fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(a, b)| a / b).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let count = values.len().max(1) as f64;
    values.iter().sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_ends() {
        let spread = Spread::of(&[3.0, 1.0, 2.0, 10.0, 4.0]);
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 3.0, 10.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.99), 2.0);
        assert_eq!(ratios(&[2.0, 9.0], &[1.0, 3.0]), [2.0, 3.0]);
    }
}
