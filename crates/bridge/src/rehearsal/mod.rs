//! A server on loopback that answers as the Bot API does, or does not: for tests and rehearsals.
//!
//! It keeps apart what a person would see ([`BotServer::seen`]) and what was answered, so that a lost answer is a message that
//! arrived and nobody knows.

mod http;
mod port;

use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

pub use self::port::ClosedPort;

/// What the server does with one `sendMessage`. Those that are not told deliver and say so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The message is delivered, and that is said.
    Deliver,
    /// The message is delivered, and the connection is closed without an answer.
    LoseAnswer,
    /// The message is delivered, and no answer comes; the connection stays open until the client closes it.
    Silence,
    /// The request is read, nothing is delivered, and the connection is closed without an answer.
    Vanish,
    /// Nothing is delivered; the Bot API's own answer is this code, these words and, where there are any, seconds to wait.
    Refuse(u16, &'static str, Option<u64>),
    /// Nothing is delivered; something on the way answers with this status and no JSON.
    Gateway(u16),
}

/// The server; it stops when it is dropped.
#[derive(Debug)]
pub struct BotServer {
    /// Held as long as the server is, also while nobody listens, so that nobody else gets the port.
    port: ClosedPort,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct State {
    token: String,
    stopped: bool,
    updates: Vec<(i64, Value)>,
    next_update: i64,
    acts: VecDeque<Act>,
    otherwise: Option<Act>,
    seen: Vec<Value>,
    calls: Vec<(String, Value)>,
    /// Numbers every poll, so that an earlier one that still waits knows that it is superseded.
    polls: u64,
    forgets: bool,
    replaced: Option<(String, String)>,
}

impl BotServer {
    /// Listens on a free port, for a bot with this token.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn start(token: &str) -> io::Result<Self> {
        let port = ClosedPort::hold()?;
        let listener = TcpListener::bind(port.address())?;
        let state = State { token: token.to_owned(), next_update: 1, ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), news: Condvar::new() });
        let listening = Some(listen(listener, Arc::clone(&shared)));
        Ok(Self { port, shared, listening })
    }

    /// Its address, for a bridge's config.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    fn address(&self) -> SocketAddr {
        self.port.address()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock()
    }

    /// A user writes a text in a chat; gives the update's number, which is also the message's.
    pub fn says(&self, chat: i64, user: i64, text: &str) -> i64 {
        let id = self.state().next_update;
        self.update(json!({"message": {
            "message_id": id, "date": 1_796_029_200, "text": text,
            "from": {"id": user, "is_bot": false, "first_name": "Mira", "last_name": "Lund"},
            "chat": {"id": chat, "type": "private"},
        }}))
    }

    /// Adds an update; its number is put in where it is an object.
    pub fn update(&self, mut update: Value) -> i64 {
        let mut state = self.state();
        let id = state.next_update;
        state.next_update += 1;
        if let Some(fields) = update.as_object_mut() {
            fields.insert("update_id".to_owned(), id.into());
        }
        state.updates.push((id, update));
        drop(state);
        self.shared.news.notify_all();
        id
    }

    /// Adds an update as it is, without a number.
    pub fn bare(&self, update: Value) {
        let mut state = self.state();
        let id = state.next_update;
        state.next_update += 1;
        state.updates.push((id, update));
        drop(state);
        self.shared.news.notify_all();
    }

    /// Writes something else than JSON's writer would: `from`, as it stands in the answers to polls, becomes `to`.
    pub fn replaces(&self, from: &str, to: &str) {
        self.state().replaced = Some((from.to_owned(), to.to_owned()));
    }

    /// What it does with the next messages, in order.
    pub fn acts(&self, acts: impl IntoIterator<Item = Act>) {
        self.state().acts.extend(acts);
    }

    /// What it does with every message that nothing else was told for.
    pub fn otherwise(&self, act: Act) {
        self.state().otherwise = Some(act);
    }

    /// From now on every poll gives all updates again, whatever was confirmed.
    pub fn forgets_what_was_confirmed(&self) {
        self.state().forgets = true;
    }

    /// The messages that a person sees, as they were sent.
    #[must_use]
    pub fn seen(&self) -> Vec<Value> {
        self.state().seen.clone()
    }

    /// The texts that a person sees.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let text =
            |message: &Value| message.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.state().seen.iter().map(text).collect()
    }

    /// Every call so far: method and arguments.
    #[must_use]
    pub fn calls(&self) -> Vec<(String, Value)> {
        self.state().calls.clone()
    }

    /// Waits until what a person sees, or the calls, are as asked; `false` where they are not within that time.
    #[must_use]
    pub fn waits_for(&self, most: Duration, reached: impl Fn(&[Value], &[(String, Value)]) -> bool) -> bool {
        let waited = self
            .shared
            .news
            .wait_timeout_while(self.state(), most, |state| !reached(&state.seen, &state.calls));
        waited.is_ok_and(|(_, timeout)| !timeout.timed_out())
    }

    /// Closes the port: connections are refused from now on.
    pub fn goes_down(&mut self) {
        self.state().stopped = true;
        self.shared.news.notify_all();
        // A connection wakes the listener, which then sees that it is over.
        drop(TcpStream::connect(self.address()));
        if let Some(listening) = self.listening.take() {
            drop(listening.join());
        }
    }

    /// Opens the same port again.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn comes_back(&mut self) -> io::Result<()> {
        let listener = TcpListener::bind(self.address())?;
        self.state().stopped = false;
        self.listening = Some(listen(listener, Arc::clone(&self.shared)));
        Ok(())
    }
}

impl Drop for BotServer {
    fn drop(&mut self) {
        self.goes_down();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Some(request) = http::read(stream)? else { return Ok(()) };
        let arguments: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let Some(method) = self.method(&request.path) else {
            return refuse(stream, 401, "Unauthorized", None);
        };
        self.lock().calls.push((method.clone(), arguments.clone()));
        self.news.notify_all();
        match method.as_str() {
            "getUpdates" => self.poll(stream, &arguments),
            "sendMessage" => self.send(stream, &arguments),
            _ => refuse(stream, 404, "Not Found", None),
        }
    }

    /// The method of `/bot<token>/<method>`, for this server's token.
    fn method(&self, path: &str) -> Option<String> {
        let (token, method) = path.strip_prefix("/bot")?.split_once('/')?;
        (token == self.lock().token).then(|| method.to_owned())
    }

    /// Long polling: waits for an update as long as it was asked to. A poll that still waits when another comes is refused.
    fn poll(&self, stream: &mut TcpStream, arguments: &Value) -> io::Result<()> {
        let offset = arguments.get("offset").and_then(Value::as_i64).unwrap_or(i64::MIN);
        let wait = Duration::from_secs(arguments.get("timeout").and_then(Value::as_u64).unwrap_or(0));
        let mut state = self.lock();
        state.polls += 1;
        let this = state.polls;
        self.news.notify_all();
        if !state.forgets {
            state.updates.retain(|(id, _)| *id >= offset);
        }
        let idle = |state: &mut State| state.updates.is_empty() && state.polls == this && !state.stopped;
        let waited = self.news.wait_timeout_while(state, wait, idle);
        let state = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        if state.polls != this {
            drop(state);
            let words = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
            return refuse(stream, 409, words, None);
        }
        let updates: Vec<Value> = state.updates.iter().take(100).map(|(_, update)| update.clone()).collect();
        let replaced = state.replaced.clone();
        drop(state);
        let body = json!({"ok": true, "result": updates}).to_string();
        match replaced {
            Some((from, to)) => http::json(stream, 200, &body.replace(&from, &to)),
            None => http::json(stream, 200, &body),
        }
    }

    fn send(&self, stream: &mut TcpStream, arguments: &Value) -> io::Result<()> {
        let mut state = self.lock();
        let act = state.acts.pop_front().or_else(|| state.otherwise.clone()).unwrap_or(Act::Deliver);
        if let Some(words) = fault(arguments).filter(|_| delivers(&act)) {
            drop(state);
            return refuse(stream, 400, words, None);
        }
        if delivers(&act) {
            state.seen.push(arguments.clone());
        }
        let id = 1_000 + state.seen.len();
        drop(state);
        self.news.notify_all();
        match act {
            Act::Deliver => {
                let message = json!({"message_id": id, "text": arguments.get("text")});
                http::json(stream, 200, &json!({"ok": true, "result": message}).to_string())
            }
            Act::Refuse(code, words, wait) => refuse(stream, code, words, wait),
            Act::Gateway(status) => http::text(stream, status, "<html>no</html>"),
            Act::LoseAnswer | Act::Vanish => Ok(()),
            Act::Silence => http::until_closed(stream),
        }
    }
}

fn delivers(act: &Act) -> bool {
    matches!(act, Act::Deliver | Act::LoseAnswer | Act::Silence)
}

/// What the Bot API would say against a message.
fn fault(arguments: &Value) -> Option<&'static str> {
    let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
    let units: usize = text.chars().map(char::len_utf16).sum();
    match () {
        () if text.trim().is_empty() => Some("Bad Request: message text is empty"),
        () if units > 4_096 => Some("Bad Request: message is too long"),
        () if arguments.get("chat_id").and_then(Value::as_i64).is_none() => {
            Some("Bad Request: chat not found")
        }
        () => None,
    }
}

fn refuse(stream: &mut TcpStream, code: u16, words: &str, wait: Option<u64>) -> io::Result<()> {
    let mut body = json!({"ok": false, "error_code": code, "description": words});
    if let (Some(seconds), Some(fields)) = (wait, body.as_object_mut()) {
        fields.insert("parameters".to_owned(), json!({"retry_after": seconds}));
    }
    http::json(stream, code, &body.to_string())
}

fn listen(listener: TcpListener, shared: Arc<Shared>) -> JoinHandle<()> {
    thread::spawn(move || {
        for stream in listener.incoming() {
            if shared.lock().stopped {
                return;
            }
            let Ok(mut stream) = stream else { continue };
            let shared = Arc::clone(&shared);
            // What a client breaks off is nothing to report.
            thread::spawn(move || drop(shared.answer(&mut stream)));
        }
    })
}
