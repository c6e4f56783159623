//! Standard output: the protocol's messages, and those of the input, a whole line at a time.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Stdout};
use tokio::sync::Mutex;

/// The way to the client.
#[derive(Clone)]
pub(crate) struct Client(Arc<Mutex<Stdout>>);

impl Client {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(tokio::io::stdout())))
    }

    /// One line, which nothing else comes in between.
    pub(crate) async fn line(&self, line: &[u8]) -> io::Result<()> {
        let mut stdout = self.0.lock().await;
        stdout.write_all(line).await?;
        stdout.flush().await
    }

    /// Passes on the lines that come, until there are no more.
    pub(crate) async fn pass_on(self, from: DuplexStream) -> io::Result<()> {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).await? > 0 {
            self.line(&line).await?;
            line.clear();
        }
        Ok(())
    }
}
