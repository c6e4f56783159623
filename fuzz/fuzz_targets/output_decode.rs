//! Any bytes as a stream in any charset: decoded and cleaned, in one piece and in two.
//! Run it from the repository's root with `cargo +nightly fuzz run output_decode`, the two others likewise.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sayso_output::fuzzing::decode(bytes));
