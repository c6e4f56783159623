//! The transports with real servers on loopback and real programs.

// A failing helper fails its test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

#[cfg(unix)]
mod account;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod pi;
mod telegram;

use sayso_relay::port::Outgoing;

/// One part of an answer.
fn outgoing(destination: &str, text: &str) -> Outgoing {
    Outgoing {
        delivery: "01M8QCWWHAEG1P9BVVXWD331RY".parse().unwrap(),
        key: "key-1".to_owned(),
        part: 0,
        parts: 1,
        channel: "telegram".to_owned(),
        destination: destination.to_owned(),
        reply_to: Some("17".to_owned()),
        text: text.to_owned(),
        repeat_mark: false,
    }
}
