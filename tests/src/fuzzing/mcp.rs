//! What reads a cursor, compiled here once more: it belongs to the server.
#![allow(dead_code)]

#[path = "../../../crates/mcp/src/cursor.rs"]
mod cursor;

pub(super) use cursor::Request;
