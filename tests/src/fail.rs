//! The failures of what is compiled here once more, as far as it makes them.
#![allow(dead_code)]

/// The program's.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn io(what: &str, cause: std::io::Error) -> Self {
        Self(format!("{what}: {cause}"))
    }
}

/// The server's.
#[derive(Debug)]
pub(crate) struct Fault(String);

impl Fault {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
