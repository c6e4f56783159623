//! Requests and deliveries: what state they are in, and which steps there are from one to the next.
//!
//! A request is a message that expects an answer; it has three fields that change independently: [`InjectionState`],
//! [`TurnState`] and [`AnswerState`]. A delivery is one part of a message to a person. Every step takes the time and, where
//! somebody works on the row, the fence under which it works; a step that would make a row say what is not so is refused.

mod delivery;
mod refusal;
mod reply;
mod request;
mod row;

pub use delivery::{Attempt, Delivery, DeliveryKind, DeliveryState, Ground};
pub use refusal::RelayRefusal;
pub use reply::{ReplyFate, reply_fate};
pub use request::{AnswerState, InjectionEnd, InjectionState, Inlet, Request, TurnEnd, TurnState};
pub use row::{Lease, cursor, delivery as delivery_row, lease, request as request_row};
