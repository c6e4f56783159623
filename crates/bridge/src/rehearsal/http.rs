//! As much of HTTP/1.1 as the server needs: a request with a length, and an answer that ends with the connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// One request, read whole.
pub(super) struct Request {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// Reads one request; `None` where the other side hangs up without one.
pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    loop {
        if let Some((path, head, length)) = parse(&bytes)?
            && bytes.len() >= head + length
        {
            return Ok(Some(Request { path, body: bytes.split_off(head) }));
        }
        let mut piece = [0; 16 * 1024];
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Ok(None);
        }
        bytes.extend(piece.iter().take(count));
    }
}

/// The path, the length of the head, and that of the body.
fn parse(bytes: &[u8]) -> io::Result<Option<(String, usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let length = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.trim().parse().ok());
    Ok(Some((request.path.unwrap_or_default().to_owned(), head, length.unwrap_or(0))))
}

pub(super) fn json(stream: &mut TcpStream, status: u16, body: &str) -> io::Result<()> {
    answer(stream, status, "application/json", body)
}

pub(super) fn text(stream: &mut TcpStream, status: u16, body: &str) -> io::Result<()> {
    answer(stream, status, "text/html", body)
}

fn answer(stream: &mut TcpStream, status: u16, kind: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )?;
    stream.flush()
}

/// Says nothing, until the other side closes the connection.
pub(super) fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut piece = [0; 1_024];
    while stream.read(&mut piece)? > 0 {}
    Ok(())
}
