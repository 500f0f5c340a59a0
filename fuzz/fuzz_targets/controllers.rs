//! Any sequence of events leaves every controller sane: the operations and invariants of the property test in
//! `crates/control/tests/conformance.rs`, with the choice left to the fuzzer.

#![no_main]

#[path = "../../crates/control/tests/operations/mod.rs"]
mod operations;

use libfuzzer_sys::fuzz_target;
use longfat_control::CONTROLLERS;
use operations::{Operation, check, settings, start_from_bytes};

fuzz_target!(|data: &[u8]| {
    let (words, _) = data.as_chunks::<4>();
    let [choice, start, events @ ..] = words else { return };
    let operations: Vec<Operation> = events.iter().copied().map(Operation::from_bytes).collect();
    for controller in CONTROLLERS.iter() {
        let settings = settings(controller, u32::from_le_bytes(*choice));
        check(controller, &settings, &start_from_bytes(*start), &operations);
    }
});
