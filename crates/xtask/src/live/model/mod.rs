//! A model on loopback that follows a script and remembers every request, so that a check can say what the model was shown.

mod chat;
mod http;
mod responses;
mod script;

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

pub(crate) use script::Step;

/// The name under which the programs know the model.
pub(crate) const MODEL: &str = "scripted";

/// One request for an answer, as the program sent it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The JSON body.
    pub(crate) body: Value,
}

/// One answer, ready to be streamed in either protocol.
struct Answer {
    number: usize,
    step: Step,
    usage: Usage,
}

struct Usage {
    input: u64,
    output: u64,
}

impl Answer {
    fn call_id(&self, index: usize) -> String {
        format!("call_{}_{index}", self.number)
    }
}

/// The pause between two looks at what came.
const LOOK: Duration = Duration::from_millis(20);

struct State {
    script: script::Script,
    requests: Vec<Request>,
    unscripted: usize,
    log: File,
}

/// The running model; it stops when it is dropped.
pub(crate) struct Model {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    /// Listens on a free port of the loopback address; `log` takes every request body, one a line.
    pub(crate) fn start(log: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let state = Arc::new(Mutex::new(State {
            script: script::Script::default(),
            requests: Vec::new(),
            unscripted: 0,
            log: File::create(log).with_context(|| format!("cannot write {}", log.display()))?,
        }));
        let stop = Arc::new(AtomicBool::new(false));
        let address = listener.local_addr()?;
        let thread = std::thread::spawn({
            let (state, stop) = (Arc::clone(&state), Arc::clone(&stop));
            move || serve(&listener, &state, &stop)
        });
        Ok(Self { address, state, stop, thread: Some(thread) })
    }

    /// The base address that both protocols hang from.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Starts another script: the answers, and the summaries for a program that compacts. What was left of the one before
    /// is dropped, so that a run that went wrong does not spoil the next.
    pub(crate) fn play(&self, steps: Vec<Step>, summaries: Vec<String>) {
        lock(&self.state).script = script::Script::new(steps, summaries);
    }

    /// Every request so far, oldest first.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.state).requests.clone()
    }

    /// Waits until there are so many requests; whether they came within that time.
    pub(crate) fn waits_for(&self, requests: usize, most: Duration) -> bool {
        let looks = most.as_millis() / LOOK.as_millis();
        (0..looks).any(|_| {
            let came = lock(&self.state).requests.len() >= requests;
            if !came {
                std::thread::sleep(LOOK);
            }
            came
        })
    }

    /// Fails unless the programs asked for exactly the answers that the script had.
    pub(crate) fn finished(&self) -> Result<()> {
        let state = lock(&self.state);
        let (left, unscripted) = (state.script.left(), state.unscripted);
        anyhow::ensure!(
            left == 0 && unscripted == 0,
            "the script did not fit: {left} answers were not asked for, {unscripted} were asked for beyond it"
        );
        Ok(())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // A connection wakes the listener, which then sees that it is over.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: &TcpListener, state: &Arc<Mutex<State>>, stop: &AtomicBool) {
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        let state = Arc::clone(state);
        std::thread::spawn(move || {
            if let Err(error) = handle(&mut stream, &state) {
                eprintln!("scripted model: {error:#}");
            }
        });
    }
}

fn handle(stream: &mut TcpStream, state: &Mutex<State>) -> Result<()> {
    let Some(incoming) = http::read(stream)? else {
        return Ok(());
    };
    let is_chat = incoming.path.ends_with("/chat/completions");
    if !is_chat && !incoming.path.ends_with("/responses") {
        return models(stream, &incoming.path);
    }
    let body: Value = serde_json::from_slice(&incoming.body)?;
    let answer = next_answer(state, is_chat, body)?;
    let mut events = http::Events::start(stream)?;
    if is_chat { chat::answer(&mut events, &answer) } else { responses::answer(&mut events, &answer) }
}

fn models(stream: &mut TcpStream, path: &str) -> Result<()> {
    if path.contains("/models") {
        let list = json!({"object": "list", "data": [{"id": MODEL, "object": "model"}]});
        http::json(stream, "200 OK", &list.to_string())
    } else {
        http::json(stream, "404 Not Found", "{}")
    }
}

fn next_answer(state: &Mutex<State>, is_chat: bool, body: Value) -> Result<Answer> {
    let size = body.to_string().chars().count() as u64;
    let asks_for_summary =
        if is_chat { chat::asks_for_summary(&body) } else { responses::asks_for_summary(&body) };
    let mut state = lock(state);
    writeln!(state.log, "{body}")?;
    state.requests.push(Request { body });
    let step = if asks_for_summary { state.script.summary() } else { state.script.next() };
    let step = step.unwrap_or_else(|| {
        state.unscripted += 1;
        Step::say("The script has no more to say.")
    });
    let usage = Usage {
        // Four characters a token: near enough for a program that only compares it with its window.
        input: step.input_tokens.unwrap_or(size / 4),
        output: step.say.chars().count() as u64 / 4 + 12 * step.calls.len() as u64 + 1,
    };
    Ok(Answer { number: state.requests.len(), step, usage })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// What the model answers to `body`, as the bytes on the wire.
    fn ask(model: &Model, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(model.address).unwrap();
        let length = body.len();
        write!(stream, "POST /v1/{path} HTTP/1.1\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn both_protocols_follow_the_script_and_requests_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let model = Model::start(&folder.path().join("log")).unwrap();
        let step = Step::say("안녕").call("one", json!({"a": 1})).call("two", json!({}));
        model.play(vec![step.clone(), step], vec!["a summary".to_owned()]);
        let chat = ask(&model, "chat/completions", r#"{"messages":[]}"#);
        assert!(chat.contains("안녕") && chat.contains("call_1_1") && chat.ends_with("[DONE]\n\n"));
        let compacting = r#"{"input":[{"text":"CONTEXT CHECKPOINT COMPACTION"}]}"#;
        assert!(ask(&model, "responses", compacting).contains("a summary"));
        assert!(model.finished().is_err());
        let responses = ask(&model, "responses", r#"{"input":[]}"#);
        assert!(responses.contains("안녕") && responses.contains("call_3_1"));
        model.finished().unwrap();
        assert_eq!(model.requests().len(), 3);
        ask(&model, "responses", r#"{"input":[]}"#);
        assert!(model.finished().is_err());
    }
}
