//! Agent sessions: a program that is started and spoken with, one line of JSON at a time.

pub mod lines;
mod peer;
pub mod pi;

pub use lines::LinesSession;
pub use peer::{Peer, Start};
pub use pi::{EXTENSION, PiSession};

use sayso_relay::port::RequestId;

/// Stands before the words of a request, on a line of its own; the session shows it again when it starts with them.
fn heading(request: RequestId) -> String {
    format!("[request {request}]\n")
}

/// The request whose heading a message begins with.
fn headed(text: &str) -> Option<RequestId> {
    let (id, _) = text.strip_prefix("[request ")?.split_once("]\n")?;
    id.parse().ok()
}
