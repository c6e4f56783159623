//! What becomes of the ordinary reply beside direct deliveries.

use std::collections::BTreeMap;

use super::delivery::{Delivery, DeliveryKind, DeliveryState};
use crate::said::UtcMs;

/// What becomes of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyFate {
    /// It goes out.
    Release {
        /// Whether it says that it may be a repeat.
        repeat_mark: bool,
    },
    /// It waits for word of the direct deliveries.
    Hold,
    /// It does not go out: the person surely has what stands for it.
    Suppress {
        /// The key of the direct delivery that was confirmed last.
        by: String,
    },
}

/// Whether every part of a message is there and was delivered.
fn whole(parts: &[&Delivery]) -> bool {
    let expected = parts.first().map_or(u32::MAX, |d| d.parts);
    parts.len() as u64 == u64::from(expected) && parts.iter().all(|d| d.state == DeliveryState::Delivered)
}

/// What becomes of a request's reply, by its direct deliveries. Only when all of them were confirmed in all their parts they
/// stand for it; one that surely failed releases it, and so does one of which nobody knows, or the end of the time
/// that it waits; it says that it may be a repeat where some of it may have arrived.
#[must_use]
pub fn reply_fate(deliveries: &[Delivery], held_until: UtcMs, at: UtcMs) -> ReplyFate {
    let mut messages: BTreeMap<(UtcMs, &str), Vec<&Delivery>> = BTreeMap::new();
    for d in deliveries.iter().filter(|d| d.kind == DeliveryKind::Direct) {
        messages.entry((d.created_at, d.key.as_str())).or_default().push(d);
    }
    let Some(((_, last), _)) = messages.last_key_value() else {
        return ReplyFate::Release { repeat_mark: false };
    };
    let open: Vec<&Delivery> = messages.values().filter(|parts| !whole(parts)).flatten().copied().collect();
    if open.is_empty() {
        return ReplyFate::Suppress { by: (*last).to_owned() };
    }
    let any = |states: &[DeliveryState]| open.iter().any(|d| states.contains(&d.state));
    let waits = any(&[DeliveryState::Held, DeliveryState::Ready, DeliveryState::Sending]);
    let gone = any(&[DeliveryState::Failed, DeliveryState::Cancelled, DeliveryState::Parked]);
    let unclear = any(&[DeliveryState::Unknown]);
    if waits && !gone && !unclear && at < held_until {
        return ReplyFate::Hold;
    }
    let seen = |d: &&Delivery| d.state == DeliveryState::Delivered || d.may_have_arrived();
    let repeat_mark = messages.values().flatten().any(seen);
    ReplyFate::Release { repeat_mark }
}
