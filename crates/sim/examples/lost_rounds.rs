//! What a lone Reno flow sends if losses are independent, and if they take the rest of a round with them: the rows that
//! `bench/closed-forms` puts beside the formula of Padhye, Firoiu, Towsley and Kurose.
//!
//! `lost_rounds SECONDS SEEDS P...` prints the loss probability, the kind of losses, the seed, and packets per second.

#[path = "../tests/support/lost_rounds.rs"]
mod lost_rounds;

use std::process::ExitCode;

use lost_rounds::{Losses, sent_per_second};

/// Every case, with the word for it.
const LOSSES: [(Losses, &str); 3] = [
    (Losses::Independent, "independent"),
    (Losses::Rounds, "rounds"),
    (Losses::RoundsNotRepairs, "rounds, repairs arrive"),
];

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program prints")]
fn main() -> ExitCode {
    let given: Option<Vec<f64>> = std::env::args().skip(1).map(|word| word.parse().ok()).collect();
    let Some([seconds, seeds, probabilities @ ..]) = given.as_deref() else {
        eprintln!("usage: lost_rounds SECONDS SEEDS P...");
        return ExitCode::from(2);
    };
    for &p in probabilities {
        for (losses, word) in LOSSES {
            for seed in 1..=*seeds as u64 {
                let rate = sent_per_second(p, losses, *seconds as u32, seed);
                println!("{p}\t{word}\t{seed}\t{rate}");
            }
        }
    }
    ExitCode::SUCCESS
}
