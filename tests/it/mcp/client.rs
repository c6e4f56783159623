//! A small client of the protocol: one JSON-RPC message a line.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::Home;

/// How long an answer may take before the test gives up on it.
const PATIENCE: Duration = Duration::from_secs(120);

/// Bytes that an answer says it has at most.
pub(crate) const ANSWER_BYTES: usize = 64 * 1024;

/// The running server and both ends of its streams.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    id: u64,
    /// The longest answer so far, in bytes.
    pub(crate) longest: usize,
}

impl Client {
    /// Starts the server and says hello.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let mut client = Self::silent(home, args);
        client.hello();
        client
    }

    /// Starts the server and says nothing.
    pub(crate) fn silent(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command();
        command.arg("mcp").args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let (send, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let mut stderr = child.stderr.take().expect("stderr is piped");
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, stderr: Some(stderr), id: 0, longest: 0 }
    }

    pub(crate) fn hello(&mut self) -> Value {
        let info = json!({"name": "tester", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        let answer = self.request("initialize", params);
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        answer
    }

    /// Whether it has asked for nothing yet.
    pub(crate) fn is_new(&self) -> bool {
        self.id == 0
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).and_then(|()| stdin.flush()).expect("the server reads");
    }

    /// The next line that the server writes.
    #[track_caller]
    pub(crate) fn line(&mut self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// A request and its whole answer, as the line that came.
    #[track_caller]
    pub(crate) fn raw(&mut self, method: &str, params: &Value) -> String {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.send(format!("{message}\n").as_bytes());
        let line = self.line();
        self.longest = self.longest.max(line.len());
        assert!(line.len() <= ANSWER_BYTES || method == "tools/list", "{} bytes of {method}", line.len());
        line
    }

    /// A request and its answer: the result, or the error.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let line = self.raw(method, &params);
        let mut answer: Value = serde_json::from_str(&line).expect("an answer is JSON");
        assert_eq!(answer["id"], self.id, "{line}");
        let key = if answer.get("error").is_some() { "error" } else { "result" };
        answer[key].take()
    }

    /// A tool's answer.
    #[track_caller]
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// The structured form of a tool's answer, which must be no error.
    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut answer = self.tool(name, arguments);
        assert_eq!(answer["isError"], false, "{answer}");
        answer["structuredContent"].take()
    }

    /// The text of a tool's answer, which must be no error.
    #[track_caller]
    pub(crate) fn text(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.tool(name, arguments);
        assert_eq!(answer["isError"], false, "{answer}");
        text_of(&answer)
    }

    /// The message of a tool's answer, which must be an error.
    #[track_caller]
    pub(crate) fn refused(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.tool(name, arguments);
        assert_eq!(answer["isError"], true, "{answer}");
        text_of(&answer)
    }

    /// Every page of a tool's answer, until there is no cursor.
    #[track_caller]
    pub(crate) fn pages(&mut self, name: &str, arguments: &Value) -> Vec<Value> {
        let (mut pages, mut given) = (Vec::new(), arguments.clone());
        loop {
            let page = self.call(name, given.clone());
            let next = page["next"].clone();
            pages.push(page);
            if next.is_null() {
                return pages;
            }
            given["cursor"] = next;
            assert!(pages.len() < 5_000, "paging does not end");
        }
    }

    /// The id of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Ends the server's input; its answers can still be read.
    pub(crate) fn hang_up(&mut self) {
        drop(self.stdin.take());
    }

    /// Hangs up; how the server ended, and what it said on the side.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let status = self.child.wait().expect("the server ends");
        let said = self.stderr.take().expect("stderr was taken once").join().expect("stderr is read");
        (status.code(), said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// The text of an answer.
pub(crate) fn text_of(answer: &Value) -> String {
    answer["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}")).to_owned()
}
