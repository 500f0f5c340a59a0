//! Any sequence of events leaves every controller in a valid state: the operations and promises of the property test in
//! `crates/control/tests/conformance.rs`, with the choice left to the fuzzer.

#![no_main]

use libfuzzer_sys::fuzz_target;
use longfat_control::CONTROLLERS;
use longfat_control::conformance::{Operation, check, settings_from_number, start_from_bytes};

fuzz_target!(|data: &[u8]| {
    let Some((head, events)) = data.split_first_chunk::<8>() else { return };
    let [a, b, c, d, start @ ..] = *head;
    let (events, _) = events.as_chunks::<8>();
    let operations: Vec<Operation> = events.iter().copied().map(Operation::from_bytes).collect();
    for controller in CONTROLLERS.iter() {
        let settings = settings_from_number(controller, u32::from_le_bytes([a, b, c, d]));
        if let Err(violation) = check(controller, &settings, &start_from_bytes(start), &operations)
        {
            panic!("{}: {violation}", controller.name);
        }
    }
});
