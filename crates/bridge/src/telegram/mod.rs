//! Telegram's Bot API: messages by long polling, answers as replies to them.
//!
//! A plain blocking client does it, not one of the client crates: of a failed `sendMessage` a sender has to know whether the
//! server can have read it, which they do not tell, and one update that cannot be read must not take the others with it,
//! which their types for whole answers do.
//!
//! # Outcomes
//!
//! | what happened | outcome |
//! |---|---|
//! | `ok` with a message's id | delivered |
//! | 429 | temporary, with what the server asks to wait |
//! | 401, 404: the token is not accepted; 5xx by the Bot API itself; 3xx; 503 | temporary: it was surely not sent |
//! | no connection, refused, no such host, no encryption | temporary: the request was not given out of hand |
//! | any other 4xx: 400, 403, … | permanent |
//! | no answer after the request was given out of hand, or one that does not tell (502 and 504 of a gateway) | unknown |

mod api;
mod sender;
mod source;
mod token;
mod update;

pub use api::BASE_URL;
pub use sender::TelegramSender;
pub use source::{Note, TelegramSource};
pub use token::{NoToken, Token};
pub use update::People;
#[cfg(feature = "rehearsal")]
#[doc(hidden)]
pub use update::any_update;

use crate::http::{Client, Waits};
use api::Api;

/// The channel's name.
pub const CHANNEL: &str = "telegram";

/// UTF-16 code units of one message at most ("1-4096 characters after entities parsing", Bot API, `sendMessage`).
pub const MESSAGE_UNITS: usize = 4_096;

/// A bot: makes the source of its messages and the sender of its answers.
#[derive(Debug, Clone)]
pub struct Bot(Api);

impl Bot {
    /// The bot with this token, at the server with this address (such as [`BASE_URL`]). Nothing is asked of the server yet.
    #[must_use]
    pub fn new(base: &str, token: Token, waits: Waits) -> Self {
        Self(Api::new(Client::new(waits), base, token))
    }

    /// Breaks off whatever waits for the server, in any thread; calls after that fail.
    pub fn stop(&self) {
        self.0.client().stop();
    }
}
