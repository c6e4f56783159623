//! The example that apps start from runs as it stands.

#[path = "../../crates/sayso/examples/embed.rs"]
mod example;

#[test]
fn the_example_runs_and_is_short() {
    example::main().expect("the example runs");
    let source = include_str!("../../crates/sayso/examples/embed.rs");
    assert!(source.lines().count() <= 40);
}
