//! Any bytes as both streams of a capture: the view is bounded and ends in its footer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sayso_output::fuzzing::present(bytes));
