//! The program starts and names itself; being here, this makes `cargo test --workspace` build it.

use std::process::Command;

#[test]
fn it_starts() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_sayso")).arg("--version").output().expect("the program runs");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), concat!("sayso ", env!("CARGO_PKG_VERSION"), "\n"));
}
