//! What reads a hook's input, compiled here once more: it belongs to the program.
#![allow(dead_code)]

#[path = "../../../crates/cli/src/hook/input.rs"]
mod input;

/// Whether it is an input.
pub(super) fn read(bytes: &[u8]) -> bool {
    input::Input::take(bytes)
}

impl input::Input {
    fn take(bytes: &[u8]) -> bool {
        Self::read(bytes).is_ok()
    }
}
