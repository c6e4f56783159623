//! The steps of deliveries over a backend's rows.

use sayso_model::limits::HELD_MS;
use sayso_model::relay::{
    Attempt, Delivery, DeliveryKind, DeliveryState, Ground, ReplyFate, Request, reply_fate,
};
use sayso_model::{DeliveryId, EntryId, Kept, RelayRefusal, UtcMs};

use super::apply::{Done, Put, Rows, find, known, refused};
use super::{Intend, Relayed};
use crate::error::Refusal;

/// What is said of a part that is ready and not yet to be sent.
const BEFORE: &str = "waits for the parts before it";
/// Why a direct delivery is not sent any more.
const INSTEAD: &str = "the reply went out instead";

/// One step of one delivery.
pub(super) fn step<R: Rows>(
    rows: &mut R,
    id: DeliveryId,
    step: impl FnOnce(&mut Delivery) -> Result<(), RelayRefusal>,
) -> Done<R> {
    let mut delivery = find(rows, id)?;
    step(&mut delivery).map_err(refused::<R>)?;
    changed(rows, &delivery)?;
    Ok(Relayed::Changed)
}

/// Writes a delivery, and what later parts of its message wait for.
fn changed<R: Rows>(rows: &mut R, d: &Delivery) -> Result<(), R::Fault> {
    rows.put_delivery(d, Put::Changed)?;
    let why = waits_for(d);
    for mut later in later(rows, d)? {
        let unsent = later.state == DeliveryState::Ready && later.attempts == 0;
        if unsent && later.why.as_ref() != Some(&why) {
            later.why = Some(why.clone());
            rows.put_delivery(&later, Put::Changed)?;
        }
    }
    Ok(())
}

fn waits_for(d: &Delivery) -> String {
    let part = d.part + 1;
    match d.state {
        DeliveryState::Failed => format!("waits for part {part}, which failed"),
        DeliveryState::Parked => format!("waits for part {part}, which is parked"),
        DeliveryState::Unknown => format!("waits for part {part}, which may have arrived"),
        _ => BEFORE.to_owned(),
    }
}

fn is_part_of(other: &Delivery, d: &Delivery) -> bool {
    (other.request, other.kind, &other.key) == (d.request, d.kind, &d.key)
}

/// The later parts of the same message.
fn later<R: Rows>(rows: &mut R, d: &Delivery) -> Result<Vec<Delivery>, R::Fault> {
    if d.part + 1 >= d.parts {
        return Ok(Vec::new());
    }
    let mut all = rows.deliveries(d.request)?;
    all.retain(|other| is_part_of(other, d) && other.part > d.part);
    Ok(all)
}

pub(super) fn intend<R: Rows>(rows: &mut R, c: &Intend, at: UtcMs) -> Done<R> {
    let mut request = known(rows, c.request)?;
    if rows.seq(request.session, c.turn)?.is_none() {
        return Err(Refusal::UnknownTurn(c.turn).into());
    }
    let before = rows.deliveries(request.id)?;
    let same: Vec<&Delivery> = before.iter().filter(|d| d.kind == c.kind && d.key == c.key).collect();
    if !same.is_empty() {
        return join(rows, &same, &before, at);
    }
    match c.kind {
        _ if c.doubt.is_some() => Ok(()),
        DeliveryKind::Reply => request.answer(c.turn),
        DeliveryKind::Fallback => request.fall_back(at),
        DeliveryKind::Direct | DeliveryKind::Progress | DeliveryKind::Notice => Ok(()),
    }
    .map_err(refused::<R>)?;
    match (&request.inlet, c.parts.is_empty()) {
        (None, false) => return Err(refused::<R>(RelayRefusal::NoDestination(request.id))),
        (Some(_), true) => return Err(Refusal::Missing { what: "the message's list of parts" }.into()),
        _ => {}
    }
    rows.put_request(&request, Put::Changed)?;
    put_parts(rows, (&request, c), &before, at)?;
    Ok(Relayed::Changed)
}

fn put_parts<R: Rows>(
    rows: &mut R,
    (request, c): (&Request, &Intend),
    before: &[Delivery],
    at: UtcMs,
) -> Result<(), R::Fault> {
    let answers = c.kind == DeliveryKind::Reply && c.doubt.is_none();
    if answers {
        overtake(rows, before)?;
    }
    let mut goes_out = false;
    for (part, (id, text)) in (0u32..).zip(&c.parts) {
        let delivery = begin(request, c, (part, *id, text), before, at);
        goes_out |= answers && delivery.state == DeliveryState::Ready;
        rows.put_delivery(&delivery, Put::New)?;
    }
    if goes_out { instead(rows, before) } else { Ok(()) }
}

/// The same message once more: what surely failed of it is tried again.
fn join<R: Rows>(rows: &mut R, same: &[&Delivery], all: &[Delivery], at: UtcMs) -> Done<R> {
    for failed in same.iter().filter(|d| d.state == DeliveryState::Failed && d.kept == Kept::Whole) {
        let mut again = (*failed).clone();
        again.retry(again.fence, Ground::Person, at).map_err(refused::<R>)?;
        again.repeat_mark |= is_behind_reply(&again, all);
        changed(rows, &again)?;
    }
    Ok(Relayed::Known)
}

/// Whether the reply that a direct delivery would have stood for went out: then one of the two says that it may be a repeat.
fn is_behind_reply(d: &Delivery, all: &[Delivery]) -> bool {
    d.kind == DeliveryKind::Direct && all.iter().any(|o| o.kind == DeliveryKind::Reply && o.is_out())
}

/// Word that there is no answer does not go out beside the answer, where nobody began to send it.
fn overtake<R: Rows>(rows: &mut R, before: &[Delivery]) -> Result<(), R::Fault> {
    let word = |d: &&Delivery| matches!(d.kind, DeliveryKind::Fallback | DeliveryKind::Notice);
    drop_ready(rows, before.iter().filter(word), "the answer came first")
}

/// A direct delivery does not go out beside the reply, where nobody is sending it.
fn instead<R: Rows>(rows: &mut R, all: &[Delivery]) -> Result<(), R::Fault> {
    drop_ready(rows, all.iter().filter(|d| d.kind == DeliveryKind::Direct), INSTEAD)
}

fn drop_ready<'d, R: Rows>(
    rows: &mut R,
    all: impl Iterator<Item = &'d Delivery>,
    why: &str,
) -> Result<(), R::Fault> {
    for ready in all.filter(|d| d.state == DeliveryState::Ready) {
        let mut ready = ready.clone();
        ready.cancel(ready.fence, why).map_err(refused::<R>)?;
        rows.put_delivery(&ready, Put::Changed)?;
    }
    Ok(())
}

fn begin(
    request: &Request,
    c: &Intend,
    (part, id, text): (u32, DeliveryId, &str),
    before: &[Delivery],
    at: UtcMs,
) -> Delivery {
    let mut delivery = Delivery {
        id,
        request: request.id,
        session: request.session,
        kind: c.kind,
        key: c.key.clone(),
        part,
        parts: u32::try_from(c.parts.len()).unwrap_or(u32::MAX),
        turn: c.turn,
        text: text.to_owned(),
        kept: Kept::Whole,
        state: DeliveryState::Ready,
        fence: 0,
        lease_until: None,
        not_before: None,
        attempts: 0,
        first_sent_at: None,
        uncertain: false,
        repeat_mark: false,
        held_until: None,
        suppressed_by: None,
        receipt: None,
        late: Vec::new(),
        why: None,
        created_at: at,
    };
    if let Some(doubt) = &c.doubt {
        (delivery.state, delivery.why) = (DeliveryState::Parked, Some(doubt.clone()));
    } else if c.kind == DeliveryKind::Reply {
        hold(&mut delivery, before, at);
    }
    wait(&mut delivery);
    delivery
}

/// A reply waits for the direct deliveries that stand before it.
fn hold(reply: &mut Delivery, before: &[Delivery], at: UtcMs) {
    let until = UtcMs(at.0.saturating_add(HELD_MS));
    reply.held_until = Some(until);
    match reply_fate(before, until, at) {
        ReplyFate::Release { repeat_mark } => reply.repeat_mark = repeat_mark,
        ReplyFate::Hold => reply.state = DeliveryState::Held,
        ReplyFate::Suppress { by } => {
            (reply.state, reply.suppressed_by) = (DeliveryState::Suppressed, Some(by));
        }
    }
}

/// A part that is ready says what it waits for.
fn wait(d: &mut Delivery) {
    if d.state == DeliveryState::Ready && d.part > 0 {
        d.why = Some(BEFORE.to_owned());
    }
}

pub(super) fn claim<R: Rows>(
    rows: &mut R,
    id: DeliveryId,
    claim: impl FnOnce(&mut Delivery) -> Result<(), RelayRefusal>,
) -> Done<R> {
    let mut delivery = find(rows, id)?;
    claim(&mut delivery).map_err(refused::<R>)?;
    let all = rows.deliveries(delivery.request)?;
    if let Some(part) = goes_first(&all, &delivery) {
        return Err(refused::<R>(RelayRefusal::PartsInOrder(part)));
    }
    rows.put_delivery(&delivery, Put::Changed)?;
    Ok(Relayed::Changed)
}

/// The part of the same message that has to arrive before this one.
#[must_use]
pub fn goes_first(all: &[Delivery], delivery: &Delivery) -> Option<u32> {
    let earlier = all.iter().filter(|d| is_part_of(d, delivery) && d.part < delivery.part);
    earlier.filter(|d| d.state != DeliveryState::Delivered).map(|d| d.part).min()
}

pub(super) fn attempted<R: Rows>(
    rows: &mut R,
    id: DeliveryId,
    (fence, attempt): (u64, &Attempt),
    mark: EntryId,
) -> Done<R> {
    let mut d = find(rows, id)?;
    let counts = d.attempted(fence, attempt).map_err(refused::<R>)?;
    if counts && d.state == DeliveryState::Ready && is_behind_reply(&d, &rows.deliveries(d.request)?) {
        d.cancel(d.fence, INSTEAD).map_err(refused::<R>)?;
    }
    if counts && d.state == DeliveryState::Delivered {
        rows.put_delivery(&d, Put::Changed)?;
        shown(rows, &d, mark)?;
    } else {
        changed(rows, &d)?;
    }
    Ok(if counts { Relayed::Changed } else { Relayed::Evidence })
}

pub(super) fn resolve<R: Rows>(
    rows: &mut R,
    id: DeliveryId,
    (fence, receipt): (u64, &str),
    mark: EntryId,
) -> Done<R> {
    let mut d = find(rows, id)?;
    let doubt = d.is_in_doubt();
    d.resolve(fence, receipt).map_err(refused::<R>)?;
    if doubt {
        answers(rows, &d)?;
    }
    changed(rows, &d)?;
    shown(rows, &d, mark)?;
    Ok(Relayed::Changed)
}

pub(super) fn retry<R: Rows>(
    rows: &mut R,
    id: DeliveryId,
    (fence, ground): (u64, Ground),
    at: UtcMs,
) -> Done<R> {
    let mut d = find(rows, id)?;
    let (doubt, failed) = (d.is_in_doubt(), d.state == DeliveryState::Failed);
    d.retry(fence, ground, at).map_err(refused::<R>)?;
    let all = rows.deliveries(d.request)?;
    if doubt {
        return settle(rows, d, &all, at);
    }
    d.repeat_mark |= failed && is_behind_reply(&d, &all);
    changed(rows, &d)?;
    Ok(Relayed::Changed)
}

/// A person said that a message is for its request: all of it goes out.
fn settle<R: Rows>(rows: &mut R, d: Delivery, all: &[Delivery], at: UtcMs) -> Done<R> {
    answers(rows, &d)?;
    let marked = match d.kind {
        DeliveryKind::Reply => reply_fate(all, at, at) != ReplyFate::Release { repeat_mark: false },
        _ => is_behind_reply(&d, all),
    };
    if d.kind == DeliveryKind::Reply {
        instead(rows, all)?;
    }
    for part in all.iter().filter(|o| is_part_of(o, &d) && o.is_in_doubt()) {
        let mut part = part.clone();
        part.retry(part.fence, Ground::Person, at).map_err(refused::<R>)?;
        part.repeat_mark = marked;
        wait(&mut part);
        rows.put_delivery(&part, Put::Changed)?;
    }
    Ok(Relayed::Changed)
}

/// Words that were in doubt answer their request now.
fn answers<R: Rows>(rows: &mut R, d: &Delivery) -> Result<(), R::Fault> {
    let mut request = known(rows, d.request)?;
    if d.kind != DeliveryKind::Reply || request.answered_by == Some(d.turn) {
        return Ok(());
    }
    request.answer(d.turn).map_err(refused::<R>)?;
    rows.put_request(&request, Put::Changed)?;
    let all = rows.deliveries(d.request)?;
    overtake(rows, &all)
}

pub(super) fn cancel<R: Rows>(rows: &mut R, id: DeliveryId, (fence, why): (u64, &str)) -> Done<R> {
    let mut d = find(rows, id)?;
    d.cancel(fence, why).map_err(refused::<R>)?;
    rows.put_delivery(&d, Put::Changed)?;
    let unsent = |o: &Delivery| {
        matches!(o.state, DeliveryState::Held | DeliveryState::Ready | DeliveryState::Failed)
            || o.is_in_doubt()
    };
    for mut later in later(rows, &d)?.into_iter().filter(unsent) {
        later.cancel(later.fence, &format!("part {} was cancelled", d.part + 1)).map_err(refused::<R>)?;
        rows.put_delivery(&later, Put::Changed)?;
    }
    Ok(Relayed::Changed)
}

/// By which way a part was shown.
#[must_use]
pub fn route(channel: &str, delivery: &Delivery) -> String {
    match delivery.parts {
        1 => channel.to_owned(),
        parts => format!("{channel} {}/{parts}", delivery.part + 1),
    }
}

fn shown<R: Rows>(rows: &mut R, delivery: &Delivery, mark: EntryId) -> Result<(), R::Fault> {
    let request = known(rows, delivery.request)?;
    let channel = request.inlet.as_ref().map_or("", |inlet| &inlet.channel);
    rows.shown(mark, delivery.session, delivery.turn, &route(channel, delivery))
}

pub(super) fn release<R: Rows>(rows: &mut R, id: DeliveryId, repeat_mark: bool, at: UtcMs) -> Done<R> {
    let mut reply = find(rows, id)?;
    let all = rows.deliveries(reply.request)?;
    reply.release(repeat_mark).map_err(refused::<R>)?;
    let word = match reply_fate(&all, reply.held_until.unwrap_or(at), at) {
        ReplyFate::Release { repeat_mark: marked } if marked == repeat_mark => None,
        ReplyFate::Release { repeat_mark: true } => Some("released with the mark of a repeat"),
        ReplyFate::Release { repeat_mark: false } => Some("released without a mark"),
        ReplyFate::Hold => Some("held"),
        ReplyFate::Suppress { .. } => Some("suppressed"),
    };
    if let Some(word) = word {
        return Err(refused::<R>(RelayRefusal::ReplyGoesOtherwise(word)));
    }
    wait(&mut reply);
    rows.put_delivery(&reply, Put::Changed)?;
    instead(rows, &all)?;
    Ok(Relayed::Changed)
}

pub(super) fn suppress<R: Rows>(rows: &mut R, id: DeliveryId, by: &str, at: UtcMs) -> Done<R> {
    let mut reply = find(rows, id)?;
    let all = rows.deliveries(reply.request)?;
    reply.suppress(by).map_err(refused::<R>)?;
    let named = all.iter().any(|d| d.kind == DeliveryKind::Direct && d.key == by);
    let fate = reply_fate(&all, reply.held_until.unwrap_or(at), at);
    if !named || !matches!(fate, ReplyFate::Suppress { .. }) {
        return Err(refused::<R>(RelayRefusal::NotConfirmed));
    }
    rows.put_delivery(&reply, Put::Changed)?;
    Ok(Relayed::Changed)
}
