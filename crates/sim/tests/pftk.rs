//! The rate of a Reno flow with time-outs, against J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP
//! Throughput: A Simple Model and its Empirical Validation", SIGCOMM 1998, equation (32) without a limit of the window.
//!
//! docs/closed-forms.md has the formula and the pictures.

use crate::support::lost_rounds::{Losses, sent_per_second};

/// Loss probability; packets per second by the formula, with a round trip of 0.1 s, time-outs of 1 s, and an
/// acknowledgment for each packet; and how much less the process behind it sends, which the formula simplifies by
/// putting the mean window where the window should be. `bench/closed-forms` computes both.
const PFTK: [(f64, f64, f64); 5] = [
    (0.01, 98.829, 0.056),
    (0.02, 59.195, 0.111),
    (0.03, 42.069, 0.146),
    (0.05, 26.045, 0.183),
    (0.10, 12.458, 0.212),
];

/// The mean over eight seeds, and half of its 95 % confidence interval.
fn sent(p: f64, losses: Losses, seconds: u32) -> (f64, f64) {
    let rates = [1, 2, 3, 4, 5, 6, 7, 8].map(|seed| sent_per_second(p, losses, seconds, seed));
    let mean = rates.iter().sum::<f64>() / 8.0;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 7.0;
    (mean, 2.365 * (variance / 8.0).sqrt())
}

/// Where a loss takes the rest of its round with it and repairs arrive, as the model has it, the flow sends what the
/// formula says, as closely as the formula describes its own process.
#[test]
fn reno_sends_what_the_formula_says_where_losses_are_those_of_the_model() {
    for (p, formula, own_error) in PFTK {
        let (rate, half) = sent(p, Losses::RoundsNotRepairs, 10_000);
        assert!(half < 0.02 * rate, "too few losses at p = {p}: {rate:.2} ± {half:.2}");
        assert!(
            (rate - formula).abs() < own_error * formula,
            "{rate:.2} ± {half:.2} packets/s at p = {p}, {formula} by the formula"
        );
    }
}

/// Each difference in its direction: repairs that are lost cost time-outs, and losses that come alone save them. With
/// independent losses and no time-outs at all it would be 1.3098/(RTT √p) (Ott, Kemperman, Mathis 1996).
#[test]
fn what_the_model_simplifies_has_the_effect_that_it_should() {
    for (p, formula, _) in PFTK {
        let (spared, _) = sent(p, Losses::RoundsNotRepairs, 5000);
        let (rounds, rounds_half) = sent(p, Losses::Rounds, 5000);
        let (alone, alone_half) = sent(p, Losses::Independent, 5000);
        assert!(
            rounds + rounds_half < spared,
            "lost repairs cost nothing at p = {p}: {rounds:.2}, {spared:.2}"
        );
        let without_timeouts = 1.3098 / (0.1 * p.sqrt());
        assert!(
            formula < alone - alone_half && alone + alone_half < without_timeouts,
            "{formula} < {alone:.2} ± {alone_half:.2} < {without_timeouts:.2} at p = {p}"
        );
    }
}
