//! The MCP server, over its standard streams.

mod bounds;
mod client;
mod cursors;
mod everyday;
mod outputs;
mod scope;
mod trouble;

use client::Client;
