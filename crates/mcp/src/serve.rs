//! A client on standard input and output, until it hangs up.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::DuplexStream;

use crate::client::Client;
use crate::fail::chain;
use crate::input;
use crate::room::{Room, Settings};
use crate::server::{Say, Server};

/// Why the server ended other than by its client hanging up.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The scope that was asked for is not there.
    #[error(transparent)]
    Scope(#[from] sayso::Error),
    /// The system did not give what it takes.
    #[error("the server cannot start")]
    Start(#[source] io::Error),
    /// The client did something that no client may do.
    #[error(
        "the client does not speak the protocol as it should ({what}): start the server from an MCP client"
    )]
    Protocol {
        /// What it did.
        what: String,
    },
}

/// Answers the client on standard input and output until that ends. `say` speaks to the person at this machine: what was
/// not understood, and what went wrong in more words than the client is told.
///
/// A ledger that cannot be opened is no error here: every call tries anew.
///
/// # Errors
///
/// [`ServeError`]: a scope that names no project of the ledger, or a client that does not begin as the protocol says.
pub fn serve(settings: Settings, say: impl Fn(&str) + Send + Sync + 'static) -> Result<(), ServeError> {
    let say: Say = Arc::new(say);
    let room = Room::new(settings);
    if let Some(trouble) = room.look()? {
        say(&format!("the ledger cannot be read yet, every call tries again: {}", chain(&trouble)));
    }
    let server = Server::new(room, Arc::clone(&say));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
    runtime.block_on(answer(server, say))
}

async fn answer(server: Server, say: Say) -> Result<(), ServeError> {
    let (lines, to_server) = tokio::io::duplex(input::AHEAD);
    let (from_server, answers) = tokio::io::duplex(input::AHEAD);
    let client = Client::new();
    input::start(to_server, client.clone(), say).map_err(ServeError::Start)?;
    let passed_on = tokio::spawn(client.pass_on(answers));
    let done = serve_client(server, lines, from_server).await;
    // What was answered last is on its way still. Where nobody reads any more there is nobody to tell.
    let _ = passed_on.await;
    done
}

async fn serve_client(server: Server, lines: DuplexStream, answers: DuplexStream) -> Result<(), ServeError> {
    let running = match server.serve((lines, answers)).await {
        Ok(running) => running,
        // It left before it began, as a client does that only looks whether the program starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Protocol { what: began(&error) }),
    };
    match running.waiting().await {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => Ok(()),
        Ok(other) => Err(ServeError::Protocol { what: format!("{other:?}") }),
        Err(error) => Err(ServeError::Start(io::Error::other(error))),
    }
}

/// How a client began wrongly, without what it sent.
fn began(error: &ServerInitializeError) -> String {
    match error {
        ServerInitializeError::ExpectedInitializeRequest(_) => "it began without initialize".to_owned(),
        ServerInitializeError::InitializeFailed(error) => error.message.to_string(),
        _ => "its first request could not be answered".to_owned(),
    }
}
