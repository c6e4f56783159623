//! Any bytes as a stream in any charset: decoded and cleaned, in one piece and in two.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sayso_output::fuzzing::decode(bytes));
