//! One HTTP request, with the one thing a sender has to know of a failure: whether the other side can have read it whole.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ureq::{Agent, SendBody};

/// Bytes of an answer that are read at most: 100 updates of Telegram have less than a tenth of it.
const ANSWER_BYTES: u64 = 16 * 1024 * 1024;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) status: u16,
    /// The body; `None` where it broke off.
    pub(crate) body: Option<Vec<u8>>,
}

/// There was no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The request cannot have been read: not all of it was given out of hand.
    Unsent(&'static str),
    /// It may have been read, and done.
    Unanswered(&'static str),
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// For the name to be resolved and the connection to be made.
    pub connect: Duration,
    /// For the answer to a request that is answered at once.
    pub answer: Duration,
}

impl Default for Waits {
    /// 10 seconds to connect, 30 seconds for an answer.
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), answer: Duration::from_secs(30) }
    }
}

/// A client. Every request has a connection of its own: one that was kept may have been closed by the other side meanwhile,
/// and then nobody could tell whether a request was read.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    agent: Agent,
    waits: Waits,
}

impl Client {
    pub(crate) fn new(waits: Waits) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(0)
            .timeout_resolve(Some(waits.connect))
            .timeout_connect(Some(waits.connect))
            .user_agent(concat!("sayso/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), waits }
    }

    /// Sends JSON and waits for the answer, for `beyond` longer than for others.
    pub(crate) fn post(&self, url: &str, json: &[u8], beyond: Duration) -> Result<Answer, Lost> {
        let sent = Arc::new(AtomicBool::new(false));
        let mut body = Watched { rest: json, sent: Arc::clone(&sent) };
        let request = self.agent.post(url).config().timeout_recv_response(Some(self.waits.answer + beyond));
        let request = request.timeout_recv_body(Some(self.waits.answer)).build();
        let request = request
            .header("content-type", "application/json")
            .header("content-length", json.len().to_string());
        let answered = request.send(SendBody::from_reader(&mut body));
        let mut response = match answered {
            Ok(response) => response,
            Err(error) if sent.load(Ordering::Relaxed) => return Err(Lost::Unanswered(reason(&error))),
            Err(error) => return Err(Lost::Unsent(reason(&error))),
        };
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_vec().ok();
        Ok(Answer { status, body })
    }

    /// Breaks off whatever waits, in any thread.
    pub(crate) fn stop(&self) {
        self.agent.clone().shutdown();
    }
}

/// A body that notes when it is asked for. The client asks for it once the connection stands and the head is written, so a
/// request whose body nobody asked for was not read whole by anyone.
struct Watched<'a> {
    rest: &'a [u8],
    sent: Arc<AtomicBool>,
}

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.sent.store(true, Ordering::Relaxed);
        self.rest.read(into)
    }
}

/// The kind of a failure, in words that hold nothing of the request: its path has the token.
fn reason(error: &ureq::Error) -> &'static str {
    match error {
        ureq::Error::HostNotFound => "there is no such host",
        ureq::Error::Timeout(ureq::Timeout::Resolve) => "the host's name was not resolved in time",
        ureq::Error::Timeout(ureq::Timeout::Connect) => "no connection was made in time",
        ureq::Error::Timeout(_) => "no answer came in time",
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) => {
            "the server's certificate or encryption is not accepted"
        }
        ureq::Error::BadUri(_) => "the address is not one of a server",
        ureq::Error::Io(error) => io_reason(error.kind()),
        _ => "the connection failed",
    }
}

const fn io_reason(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::ConnectionRefused => "the connection was refused",
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown => {
            "the network does not reach the server"
        }
        io::ErrorKind::TimedOut => "no answer came in time",
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            "the connection was lost before an answer came"
        }
        _ => "the connection failed",
    }
}
