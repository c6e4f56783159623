//! Lines of standard input on their way to the protocol. What is no message of it is answered as JSON-RPC has it, or passed
//! over, with a word to the person at this machine; nothing that comes in ends the server but the end of input itself.

use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;

use crate::client::Client;
use crate::server::Say;

/// Bytes of one message at most: a note of 12,000 characters and 50 addresses are far below.
const LINE_BYTES: usize = 1024 * 1024;
/// Bytes that are read ahead of the protocol.
pub(crate) const AHEAD: usize = 64 * 1024;

/// Starts to read standard input in a thread of its own: such a read cannot be broken off, and must not hold up the end.
/// What is answered here goes to `client`.
pub(crate) fn start(mut to: DuplexStream, client: Client, say: Say) -> io::Result<()> {
    let runtime = Handle::current();
    let reader = std::thread::Builder::new().name("stdin".to_owned());
    reader.spawn(move || {
        let mut lines = Lines { from: BufReader::new(io::stdin().lock()), begun: false, say };
        while let Some(next) = lines.next_message() {
            let done = match &next {
                Next::Message(line) => runtime.block_on(to.write_all(line)),
                Next::Answer(line) => runtime.block_on(client.line(line)),
            };
            if done.is_err() {
                break;
            }
        }
    })?;
    Ok(())
}

/// What becomes of a line.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// The protocol sees it.
    Message(Vec<u8>),
    /// It is none, and this is the answer. Where its id cannot be told, it is null, as JSON-RPC has it.
    Answer(Vec<u8>),
}

impl Next {
    fn error(id: Option<&RawValue>, code: i32, message: &str) -> Self {
        let id = id.map_or("null", RawValue::get);
        let error = serde_json::json!({"code": code, "message": message});
        Self::Answer(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").into_bytes())
    }
}

/// The codes of JSON-RPC for a text that is no JSON, for what is no request, and for parameters that do not fit.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const INVALID_PARAMS: i32 = -32_602;

struct Lines<R> {
    from: R,
    /// Whether a request has come: before that, nothing else may.
    begun: bool,
    say: Say,
}

/// As much of a message as is looked at.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Head<'_> {
    /// Whether it is a request, a notification or an answer.
    const fn is_message(&self) -> bool {
        self.method.is_some() || self.id.is_some() && (self.result.is_some() || self.error.is_some())
    }

    const fn is_request(&self) -> bool {
        self.id.is_some() && self.method.is_some()
    }

    /// Whether its parameters are something that no method takes.
    fn params_are_odd(&self) -> bool {
        self.is_request() && self.params.is_some_and(|params| !params.get().starts_with(['{', 'n']))
    }
}

impl<R: BufRead> Lines<R> {
    /// What becomes of the next line that is not passed over; `None` at the end.
    fn next_message(&mut self) -> Option<Next> {
        loop {
            let line = match self.next_line() {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::TooLong)) => {
                    (self.say)(&format!("a message of more than {LINE_BYTES} bytes was refused"));
                    let message =
                        format!("this message is too long: one may have {LINE_BYTES} bytes at most");
                    return Some(Next::error(None, INVALID_REQUEST, &message));
                }
                Ok(None) => return None,
                Err(error) => {
                    (self.say)(&format!("standard input cannot be read: {error}"));
                    return None;
                }
            };
            if let Some(next) = self.taken(line) {
                return Some(next);
            }
        }
    }

    /// What becomes of a line; `None` where it is passed over.
    fn taken(&mut self, line: Vec<u8>) -> Option<Next> {
        let text = line.trim_ascii();
        if text.is_empty() {
            return None;
        }
        if serde_json::from_slice::<&RawValue>(text).is_err() {
            (self.say)(
                "a line on standard input is no JSON and was refused: only an MCP client may write there",
            );
            return Some(Next::error(None, PARSE_ERROR, "this line is no JSON: write one message a line"));
        }
        let head = serde_json::from_slice::<Head<'_>>(text).ok();
        if !head.as_ref().is_some_and(Head::is_message) {
            (self.say)("a line on standard input is no message of the protocol and was refused");
            return Some(Next::error(
                None,
                INVALID_REQUEST,
                "this is no request: give an object with id and method",
            ));
        }
        if !self.begun && !head.as_ref().is_some_and(Head::is_request) {
            (self.say)("a message before initialize was passed over");
            return None;
        }
        self.begun = true;
        match head.filter(Head::params_are_odd) {
            Some(head) => {
                Some(Next::error(head.id, INVALID_PARAMS, "the parameters do not fit: give an object"))
            }
            None => Some(Next::Message(line)),
        }
    }

    fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let limit = LINE_BYTES as u64 + 1;
        (&mut self.from).take(limit).read_until(b'\n', &mut line)?;
        if line.last() == Some(&b'\n') || line.len() < LINE_BYTES {
            if line.last().is_some_and(|last| *last != b'\n') {
                line.push(b'\n');
            }
            return Ok((!line.is_empty()).then_some(Line::Whole(line)));
        }
        self.from.skip_until(b'\n')?;
        Ok(Some(Line::TooLong))
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong,
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn messages(input: &[u8]) -> (Vec<String>, usize) {
        let said = Arc::new(Mutex::new(0));
        let count = Arc::clone(&said);
        let say: Say = Arc::new(move |_| *count.lock().unwrap() += 1);
        let mut lines = Lines { from: input, begun: false, say };
        let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
        let messages = std::iter::from_fn(|| lines.next_message()).map(|next| match next {
            Next::Message(line) => text(line),
            Next::Answer(line) => format!("answered: {}", text(line)),
        });
        let messages = messages.collect();
        (messages, *said.lock().unwrap())
    }

    const NO_JSON: &str = "answered: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"this line is no JSON: \
                           write one message a line\"}}\n";

    const NO_REQUEST: &str = "answered: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"this is \
                              no request: give an object with id and method\"}}\n";

    #[test]
    fn only_messages_pass_and_the_rest_is_answered_or_told() {
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(LINE_BYTES));
        let input = format!(
            "hello\n\n{{\"method\":\"x\"}}\n[]\n{{\"id\":1,\"method\":\"initialize\"}}\r\n{long}{{\"a\":1}}\n{{\"id\":2"
        );
        let mut bytes = input.into_bytes();
        bytes.extend(b"\n\xFF\xFE\n{\"id\":3,\"method\":\"m\"}");
        let (messages, said) = messages(&bytes);
        let too_long = format!(
            "answered: {{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{{\"code\":-32600,\"message\":\"this message is too long: \
             one may have {LINE_BYTES} bytes at most\"}}}}\n"
        );
        assert_eq!(
            messages,
            [
                NO_JSON,
                NO_REQUEST,
                "{\"id\":1,\"method\":\"initialize\"}\r\n",
                &too_long,
                NO_REQUEST,
                NO_JSON,
                NO_JSON,
                "{\"id\":3,\"method\":\"m\"}\n"
            ]
        );
        assert_eq!(said, 7);
    }

    #[test]
    fn parameters_that_no_method_takes_are_answered_with_the_id() {
        for (params, passes) in [("{}", true), ("null", true), ("7", false), ("[1]", false), ("\"x\"", false)]
        {
            let line = format!("{{\"id\":\"a\",\"method\":\"m\",\"params\":{params}}}\n");
            let (messages, _) = messages(line.as_bytes());
            let answer = messages[0]
                .starts_with("answered: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32602,");
            assert_eq!((messages[0] == line, answer), (passes, !passes), "{params}");
        }
    }
}
