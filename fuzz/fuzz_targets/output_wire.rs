//! Any bytes as a stream with frames, in pieces, and as an output with the old markers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sayso_output::fuzzing::wire(bytes));
