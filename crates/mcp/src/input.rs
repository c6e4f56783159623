//! Lines of standard input on their way to the protocol. What is no message of it is dropped with a word to the person at
//! this machine; nothing that comes in ends the server but the end of input itself.

use std::io::{self, BufRead, BufReader, Read};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;

use crate::server::Say;

/// Bytes of one message at most: a note of 12,000 characters and 50 addresses are far below.
const LINE_BYTES: usize = 1024 * 1024;
/// Bytes that are read ahead of the protocol.
pub(crate) const AHEAD: usize = 64 * 1024;

/// Stands for a message that was too long: the protocol answers it as no request that it knows.
const TOO_LONG: &[u8] = b"{\"jsonrpc\":\"2.0\"}\n";

/// Starts to read standard input in a thread of its own: such a read cannot be broken off, and must not hold up the end.
pub(crate) fn start(mut to: DuplexStream, say: Say) -> io::Result<()> {
    let runtime = Handle::current();
    let reader = std::thread::Builder::new().name("stdin".to_owned());
    reader.spawn(move || {
        let mut lines = Lines { from: BufReader::new(io::stdin().lock()), begun: false, say };
        while let Some(line) = lines.next_message() {
            if runtime.block_on(to.write_all(&line)).is_err() {
                break;
            }
        }
    })?;
    Ok(())
}

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
}

impl<R: BufRead> Lines<R> {
    /// The next line that the protocol should see; `None` at the end.
    fn next_message(&mut self) -> Option<Vec<u8>> {
        loop {
            let line = match self.next_line() {
                Ok(Some(Line::Whole(line))) => line,
                Ok(Some(Line::TooLong)) => {
                    (self.say)(&format!("a message of more than {LINE_BYTES} bytes was refused"));
                    if self.begun {
                        return Some(TOO_LONG.to_vec());
                    }
                    continue;
                }
                Ok(None) => return None,
                Err(error) => {
                    (self.say)(&format!("standard input cannot be read: {error}"));
                    return None;
                }
            };
            if self.is_message(&line) {
                return Some(line);
            }
        }
    }

    fn is_message(&mut self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        if text.is_empty() {
            return false;
        }
        if serde_json::from_slice::<&RawValue>(text).is_err() {
            (self.say)(
                "a line on standard input is no JSON and was passed over: only an MCP client may write there",
            );
            return false;
        }
        let is_request = serde_json::from_slice::<Head<'_>>(text)
            .is_ok_and(|head| head.id.is_some() && head.method.is_some());
        if !self.begun && !is_request {
            (self.say)("a message before initialize was passed over");
            return false;
        }
        self.begun = true;
        true
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
        let messages = std::iter::from_fn(|| lines.next_message());
        let messages = messages.map(|line| String::from_utf8(line).unwrap()).collect();
        (messages, *said.lock().unwrap())
    }

    #[test]
    fn only_messages_pass_and_the_rest_is_told() {
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(LINE_BYTES));
        let input = format!(
            "hello\n\n\u{0}\u{1}\n{{\"method\":\"x\"}}\n[]\n{{\"id\":1,\"method\":\"initialize\"}}\r\n{long}{{\"a\":1}}\n{{\"id\":2"
        );
        let mut bytes = input.into_bytes();
        bytes.extend(b"\n\xFF\xFE\n{\"id\":3,\"method\":\"m\"}");
        let (messages, said) = messages(&bytes);
        assert_eq!(
            messages,
            [
                "{\"id\":1,\"method\":\"initialize\"}\r\n",
                "{\"jsonrpc\":\"2.0\"}\n",
                "{\"a\":1}\n",
                "{\"id\":3,\"method\":\"m\"}\n"
            ]
        );
        assert_eq!(said, 7);
    }
}
