//! Requests and deliveries: a message from a person goes into an agent's session, and the answer goes back to where the
//! message came from.
//!
//! Nothing here opens a socket or a process: sources, senders, sessions and the clock come in through [`port`].

pub mod port;
