//! Every snapshot file of the project, and the settings they are compared with.
//!
//! A snapshot is read before it is accepted: run the tests, look at each `*.snap.new` beside its `*.snap`, and accept
//! with `cargo insta review`.

/// Compares a text with the snapshot of this name in `snaps/`.
///
/// # Panics
///
/// Where they differ, as a failing test does.
pub fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snaps"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
