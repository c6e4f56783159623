//! Any bytes as a marker, as a text that holds markers, and as what is quoted. Run it from the repository's root with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run marker`, or with a nightly compiler.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sayso_view::fuzzing::marker(bytes));
