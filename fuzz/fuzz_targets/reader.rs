//! Any text is a scenario or is refused with a reason; what is accepted is written as text that reads back to itself.
//!
//! The text is a file, and after a zero byte, one to a line, what `--set` changes in it.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use longfat_sim::{Keep, Scenario, WorkEstimate};

fuzz_target!(|data: &[u8]| -> Corpus {
    let Ok(given) = std::str::from_utf8(data) else { return Corpus::Reject };
    let (text, changes) = given.split_once('\0').unwrap_or((given, ""));
    let changes: Vec<String> = changes.lines().map(String::from).collect();
    match Scenario::read(text, "file.toml", &changes, None) {
        Ok(scenario) => {
            let written = scenario.to_toml();
            let again = Scenario::read(&written, "written.toml", &[], None)
                .unwrap_or_else(|error| panic!("what is written is refused: {error}\n{written}"));
            assert!(again == scenario, "what is written reads back to another scenario\n{written}");
            let needed = WorkEstimate::of(&scenario, Keep { rows: true, transfers: true });
            for amount in [needed.packets, needed.seconds, needed.memory] {
                assert!(amount >= 0.0, "the estimate is {needed:?}");
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "it is refused without a word");
            assert!(!error.diagnostics().is_empty(), "it is refused without a reason");
        }
    }
    Corpus::Keep
});
