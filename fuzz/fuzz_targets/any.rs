//! One target, chosen by `SAYSO_FUZZ`. `cargo xtask fuzz` builds this with coverage and runs every target.
#![no_main]

use std::sync::OnceLock;

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fn target() -> fn(&[u8]) {
    *TARGET.get_or_init(|| {
        let name = std::env::var("SAYSO_FUZZ").unwrap_or_default();
        sayso_tests::fuzzing::target(&name).expect("SAYSO_FUZZ names a target: see tests/src/fuzzing/mod.rs")
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target()(bytes));
