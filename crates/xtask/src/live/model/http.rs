//! As much of HTTP/1.1 as a model on loopback needs: a request with a length, and an answer that ends with the connection.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// One request, read whole.
pub(super) struct Incoming {
    /// The path that was asked for.
    pub(super) path: String,
    /// The body, as sent.
    pub(super) body: Vec<u8>,
}

struct Head {
    path: String,
    size: usize,
    length: usize,
}

/// Reads one request; `None` when the other side hangs up without one.
pub(super) fn read(stream: &mut TcpStream) -> Result<Option<Incoming>> {
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(head) = parse(&bytes)? {
            break head;
        }
        if more(stream, &mut bytes)? == 0 {
            return Ok(None);
        }
    };
    while bytes.len() < head.size + head.length {
        if more(stream, &mut bytes)? == 0 {
            bail!("the request ended early");
        }
    }
    let body = bytes.split_off(head.size);
    Ok(Some(Incoming { path: head.path, body }))
}

fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Result<usize> {
    let mut piece = [0; 16 * 1024];
    let count = stream.read(&mut piece)?;
    bytes.extend(piece.iter().take(count));
    Ok(count)
}

fn parse(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(size) = request.parse(bytes)? else {
        return Ok(None);
    };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = match length {
        Some(header) => std::str::from_utf8(header.value)?.trim().parse()?,
        None => 0,
    };
    let path = request.path.context("a request without a path")?.to_owned();
    Ok(Some(Head { path, size, length }))
}

/// Answers with one JSON document.
pub(super) fn json(stream: &mut TcpStream, status: &str, body: &str) -> Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )?;
    Ok(stream.flush()?)
}

/// An answer of server-sent events, each written out at once.
pub(super) struct Events<'a> {
    stream: &'a mut TcpStream,
}

impl<'a> Events<'a> {
    /// Starts the answer.
    pub(super) fn start(stream: &'a mut TcpStream) -> Result<Self> {
        stream.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-store\r\nconnection: close\r\n\r\n",
        )?;
        Ok(Self { stream })
    }

    /// Sends one event, with a name where the protocol has names.
    pub(super) fn send(&mut self, name: Option<&str>, data: &str) -> Result<()> {
        if let Some(name) = name {
            writeln!(self.stream, "event: {name}")?;
        }
        write!(self.stream, "data: {data}\n\n")?;
        Ok(self.stream.flush()?)
    }
}

/// The text in pieces, as a model streams it.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(240).map(|piece| piece.iter().collect()).collect()
}
