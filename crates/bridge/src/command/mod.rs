//! Any other channel: a program of one's own is run for each step, with one line of JSON on its standard input.
//!
//! # Sending
//!
//! ```json
//! {"version": 1, "action": "send", "delivery": "01K…", "key": "…", "part": 0, "parts": 1, "channel": "mail",
//!  "destination": {"to": "mira"}, "reply_to": "17", "text": "…", "repeat_mark": false}
//! ```
//!
//! It answers with one line on its standard output and exits with 0:
//!
//! ```json
//! {"status": "delivered", "receipt": "message 18"}
//! {"status": "permanent", "why": "there is no such mailbox"}
//! {"status": "temporary", "why": "the server is busy", "retry_after_ms": 5000}
//! {"status": "unknown", "why": "the connection was lost"}
//! ```
//!
//! `temporary` and `permanent` say that it surely did not arrive. No answer, an exit code other than 0 without one, a signal
//! or a timeout are unknown; a program that could not be started at all sent nothing. The `key` is the same for every attempt
//! at this part: a sink whose config says `ability = "key"` has to know it again. With `ability = "probe"` the program is asked,
//! with the same fields and `"action": "probe"`, and answers `delivered`, `not_sent` or `unknown`. `repeat_mark` asks to say
//! visibly that the person may have had this before.
//!
//! # Receiving
//!
//! ```json
//! {"version": 1, "action": "poll", "account": "mail:mira", "after": "17", "wait_ms": 30000}
//! ```
//!
//! It prints a line for each message after `after` (`null` at first), in order, and exits with 0; it may wait so long when there
//! is none.
//!
//! ```json
//! {"update": "18", "message": "18", "destination": {"to": "mira"}, "speaker": {"kind": "owner", "id": "mira", "name": "Mira"},
//!  "said_at": "2026-11-30T09:14:05Z", "text": "…", "cursor": "18"}
//! {"error": "temporary", "why": "the server is busy", "retry_after_ms": 5000}
//! ```
//!
//! `update` is what tells one message from another, for ever. Ids, cursors and destinations have at most 4,096 bytes each. `message`, `said_at` and `cursor` may be left out; then they are
//! `update`, unknown, and `update`. `kind` is `owner` or `person`. An `error` is `temporary`, `conflict` (another program reads this account)
//! or `refused`; it ends the list. A line that is no message is said once and passed over: with a `cursor` or `update` reading goes
//! on behind it, without one those behind it do not wait for it. A program that has nothing and does not wait is asked again after
//! a second.
//!
//! Each stream is read up to 16 MiB. Where the program fails, the last line of its standard error says why.

mod program;
mod sink;
mod source;

pub use program::Program;
pub use sink::CommandSender;
#[cfg(feature = "rehearsal")]
#[doc(hidden)]
pub use source::any_line;
pub use source::{CommandSource, Note};
