//! The steps over a backend's rows, the same on every backend. Refused in this order: the row (unknown and out of scope are the
//! same), its session, its fence, its state, the time, other rows, and last whether ids are free.

use sayso_model::limits::HELD_MS;
use sayso_model::relay::{Delivery, DeliveryKind, DeliveryState, Lease, ReplyFate, Request, reply_fate};
use sayso_model::{DeliveryId, EntryId, Kept, RelayRefusal, RequestId, SessionId, TurnId, UtcMs};

use super::{Accept, Intend, RelayCommand, RelayStep, Relayed};
use crate::command::{AppendTurn, Fate};
use crate::error::Refusal;

/// Whether a row is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is: its id must be free.
    New,
    /// It was read before.
    Changed,
}

/// The rows of a backend, as far as a batch may see them. Every method fails as its backend does, and with a refusal where it says so.
#[allow(clippy::missing_errors_doc)]
pub trait Rows {
    /// What can go wrong.
    type Fault: From<Refusal>;

    /// Refuses a session that the scope does not see.
    fn see(&mut self, session: SessionId) -> Result<(), Self::Fault>;
    /// The place of a turn of a session.
    fn seq(&mut self, session: SessionId, turn: TurnId) -> Result<Option<u64>, Self::Fault>;
    /// The session and the place of a turn that holds a quote, where the scope sees it.
    fn forwarded(&mut self, turn: TurnId) -> Result<Option<(SessionId, u64)>, Self::Fault>;
    /// Appends a turn; its place.
    fn append(&mut self, turn: &AppendTurn) -> Result<(TurnId, u64), Self::Fault>;
    /// Appends the mark that words of a turn were shown.
    fn shown(&mut self, id: EntryId, session: SessionId, of: TurnId, route: &str) -> Result<(), Self::Fault>;
    /// A request, where the scope sees it.
    fn request(&mut self, id: RequestId) -> Result<Option<Request>, Self::Fault>;
    /// The request of an update.
    fn update(
        &mut self,
        session: SessionId,
        account: &str,
        update: &str,
    ) -> Result<Option<RequestId>, Self::Fault>;
    /// The request of a turn.
    fn request_of(&mut self, turn: TurnId) -> Result<Option<RequestId>, Self::Fault>;
    /// The requests of a session that are neither injected nor dead, and the one that listens.
    fn pending(&mut self, session: SessionId) -> Result<Vec<Request>, Self::Fault>;
    /// Writes a request.
    fn put_request(&mut self, request: &Request, put: Put) -> Result<(), Self::Fault>;
    /// A delivery, where the scope sees it.
    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Self::Fault>;
    /// The deliveries of a request.
    fn deliveries(&mut self, request: RequestId) -> Result<Vec<Delivery>, Self::Fault>;
    /// Writes a delivery.
    fn put_delivery(&mut self, delivery: &Delivery, put: Put) -> Result<(), Self::Fault>;
    /// Writes a cursor.
    fn put_cursor(&mut self, session: SessionId, account: &str, cursor: &str) -> Result<(), Self::Fault>;
    /// Whether the batch may see the whole ledger.
    fn sees_all(&self) -> bool;
    /// A lease.
    fn lease(&mut self, name: &str) -> Result<Option<Lease>, Self::Fault>;
    /// Writes a lease; `None` takes it away.
    fn put_lease(&mut self, name: &str, lease: Option<&Lease>) -> Result<(), Self::Fault>;
}

type Done<R> = Result<Relayed, <R as Rows>::Fault>;

/// Applies a step.
///
/// # Errors
///
/// A refusal, or what goes wrong in the rows.
pub fn apply<R: Rows>(rows: &mut R, step: &RelayStep) -> Done<R> {
    let at = step.at;
    match &step.what {
        RelayCommand::Accept(c) => accept(rows, c, at),
        RelayCommand::MoveCursor { session, account, cursor } => {
            rows.see(*session)?;
            rows.put_cursor(*session, account, cursor)?;
            Ok(Relayed::Changed)
        }
        RelayCommand::Enroll { id, turn } => enroll(rows, *id, *turn, at),
        RelayCommand::ClaimInjection { request, fence, until } => claim(rows, *request, *fence, (*until, at)),
        RelayCommand::EndInjection { request, fence, end } => {
            on_request(rows, *request, |r| r.end_injection(*fence, end, at).map(|()| true))
        }
        RelayCommand::ExpireInjection { request, fence } => {
            on_request(rows, *request, |r| r.expire(*fence, at).map(|()| true))
        }
        RelayCommand::Started { session, request } => started(rows, *session, *request, at),
        RelayCommand::EndTurn { request, end } => on_request(rows, *request, |r| r.end_turn(end)),
        RelayCommand::Intend(c) => intend(rows, c, at),
        RelayCommand::ClaimDelivery { delivery, fence, until } => {
            claim_delivery(rows, *delivery, *fence, (*until, at))
        }
        RelayCommand::Attempted { delivery, fence, attempt, mark } => {
            let mut d = find(rows, *delivery)?;
            let counts = d.attempted(*fence, attempt).map_err(refused::<R>)?;
            rows.put_delivery(&d, Put::Changed)?;
            if d.state == DeliveryState::Delivered && counts {
                shown(rows, &d, *mark)?;
            }
            Ok(if counts { Relayed::Changed } else { Relayed::Evidence })
        }
        RelayCommand::ExpireDelivery { delivery, fence } => {
            on_delivery(rows, *delivery, |d| d.expire(*fence, at))
        }
        RelayCommand::Resolve { delivery, fence, receipt, mark } => {
            let mut d = find(rows, *delivery)?;
            d.resolve(*fence, receipt).map_err(refused::<R>)?;
            rows.put_delivery(&d, Put::Changed)?;
            shown(rows, &d, *mark)?;
            Ok(Relayed::Changed)
        }
        RelayCommand::Retry { delivery, fence, ground } => {
            on_delivery(rows, *delivery, |d| d.retry(*fence, *ground, at))
        }
        RelayCommand::Park { delivery, fence, why } => on_delivery(rows, *delivery, |d| d.park(*fence, why)),
        RelayCommand::Cancel { delivery, fence, why } => {
            on_delivery(rows, *delivery, |d| d.cancel(*fence, why))
        }
        RelayCommand::Release { delivery, repeat_mark } => release(rows, *delivery, *repeat_mark, at),
        RelayCommand::Suppress { delivery, by } => suppress(rows, *delivery, by, at),
        RelayCommand::TakeLease { name, holder, until, about } => {
            let lease = Lease {
                name: name.clone(),
                holder: holder.clone(),
                fence: 1,
                until: *until,
                about: about.clone(),
            };
            take_lease(rows, lease, at)
        }
        RelayCommand::DropLease { name, holder } => drop_lease(rows, name, holder),
    }
}

fn refused<R: Rows>(refusal: RelayRefusal) -> R::Fault {
    Refusal::from(refusal).into()
}

fn known<R: Rows>(rows: &mut R, id: RequestId) -> Result<Request, R::Fault> {
    rows.request(id)?.ok_or_else(|| refused::<R>(RelayRefusal::UnknownRequest(id)))
}

fn find<R: Rows>(rows: &mut R, id: DeliveryId) -> Result<Delivery, R::Fault> {
    rows.delivery(id)?.ok_or_else(|| refused::<R>(RelayRefusal::UnknownDelivery(id)))
}

fn on_request<R: Rows>(
    rows: &mut R,
    id: RequestId,
    step: impl FnOnce(&mut Request) -> Result<bool, RelayRefusal>,
) -> Done<R> {
    let mut request = known(rows, id)?;
    let news = step(&mut request).map_err(refused::<R>)?;
    rows.put_request(&request, Put::Changed)?;
    Ok(if news { Relayed::Changed } else { Relayed::Known })
}

fn on_delivery<R: Rows>(
    rows: &mut R,
    id: DeliveryId,
    step: impl FnOnce(&mut Delivery) -> Result<(), RelayRefusal>,
) -> Done<R> {
    let mut delivery = find(rows, id)?;
    step(&mut delivery).map_err(refused::<R>)?;
    rows.put_delivery(&delivery, Put::Changed)?;
    Ok(Relayed::Changed)
}

fn accept<R: Rows>(rows: &mut R, c: &Accept, at: UtcMs) -> Done<R> {
    let session = c.turn.session;
    rows.see(session)?;
    let before = rows.update(session, &c.inlet.account, &c.inlet.update)?;
    let fate = match before {
        Some(before) => Relayed::Request(Fate::Known, before),
        None => {
            let (turn, seq) = rows.append(&c.turn)?;
            // Under a key the turn may be another request's.
            if rows.request_of(turn)?.is_some() {
                return Err(Refusal::IdTaken(turn.to_string()).into());
            }
            let request = Request::new(c.id, session, (turn, seq), Some(c.inlet.clone()), at);
            rows.put_request(&request, Put::New)?;
            Relayed::Request(Fate::New, c.id)
        }
    };
    if let Some(cursor) = &c.cursor {
        rows.put_cursor(session, &c.inlet.account, cursor)?;
    }
    Ok(fate)
}

fn enroll<R: Rows>(rows: &mut R, id: RequestId, turn: TurnId, at: UtcMs) -> Done<R> {
    let found = rows.forwarded(turn)?;
    let (session, seq) = found.ok_or_else(|| refused::<R>(RelayRefusal::NotForwarded(turn)))?;
    if let Some(before) = rows.request_of(turn)? {
        return Ok(Relayed::Request(Fate::Known, before));
    }
    rows.put_request(&Request::new(id, session, (turn, seq), None, at), Put::New)?;
    Ok(Relayed::Request(Fate::New, id))
}

fn claim<R: Rows>(rows: &mut R, id: RequestId, fence: u64, (until, at): (UtcMs, UtcMs)) -> Done<R> {
    let mut request = known(rows, id)?;
    request.claim(fence, until, at).map_err(refused::<R>)?;
    let queued = |other: &Request| {
        other.seq < request.seq && other.injection == sayso_model::relay::InjectionState::Queued
    };
    let pending = rows.pending(request.session)?;
    if let Some(other) = pending.iter().find(|o| o.id != id && (o.holds_back(at) || queued(o))) {
        return Err(refused::<R>(RelayRefusal::NotItsTurn(other.id)));
    }
    rows.put_request(&request, Put::Changed)?;
    Ok(Relayed::Changed)
}

fn started<R: Rows>(rows: &mut R, session: SessionId, request: Option<RequestId>, at: UtcMs) -> Done<R> {
    rows.see(session)?;
    let wanted = request.map(|id| known(rows, id)).transpose()?;
    if let Some(other) = wanted.as_ref().filter(|r| r.session != session) {
        return Err(refused::<R>(RelayRefusal::UnknownRequest(other.id)));
    }
    for mut other in rows.pending(session)? {
        if other.listening && Some(other.id) != request {
            other.listening = false;
            // Two turns of one session never go on at once.
            if other.turn_state == sayso_model::relay::TurnState::Open {
                other.turn_state = sayso_model::relay::TurnState::Settled;
            }
            rows.put_request(&other, Put::Changed)?;
        }
    }
    let Some(mut wanted) = wanted else { return Ok(Relayed::Changed) };
    let news = wanted.start(at);
    rows.put_request(&wanted, Put::Changed)?;
    Ok(if news { Relayed::Changed } else { Relayed::Known })
}

fn intend<R: Rows>(rows: &mut R, c: &Intend, at: UtcMs) -> Done<R> {
    let mut request = known(rows, c.request)?;
    if rows.seq(request.session, c.turn)?.is_none() {
        return Err(Refusal::UnknownTurn(c.turn).into());
    }
    let before = rows.deliveries(request.id)?;
    let same: Vec<&Delivery> = before.iter().filter(|d| d.kind == c.kind && d.key == c.key).collect();
    if !same.is_empty() {
        return join(rows, &same, at);
    }
    match c.kind {
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
    if c.kind == DeliveryKind::Reply {
        overtake(rows, &before)?;
    }
    rows.put_request(&request, Put::Changed)?;
    for (part, (id, text)) in (0u32..).zip(&c.parts) {
        let delivery = begin(&request, c, (part, *id, text), &before, at);
        rows.put_delivery(&delivery, Put::New)?;
    }
    Ok(Relayed::Changed)
}

/// The same message once more: what surely failed of it is tried again.
fn join<R: Rows>(rows: &mut R, same: &[&Delivery], at: UtcMs) -> Done<R> {
    for failed in same.iter().filter(|d| d.state == DeliveryState::Failed && d.kept == Kept::Whole) {
        let mut again = (*failed).clone();
        again.retry(again.fence, sayso_model::relay::Ground::Person, at).map_err(refused::<R>)?;
        rows.put_delivery(&again, Put::Changed)?;
    }
    Ok(Relayed::Known)
}

/// Word that there is no answer does not go out beside the answer, where nobody began to send it.
fn overtake<R: Rows>(rows: &mut R, before: &[Delivery]) -> Result<(), R::Fault> {
    let word = |d: &&Delivery| matches!(d.kind, DeliveryKind::Fallback | DeliveryKind::Notice);
    for late in before.iter().filter(word).filter(|d| d.state == DeliveryState::Ready) {
        let mut late = late.clone();
        late.cancel(late.fence, "the answer came first").map_err(refused::<R>)?;
        rows.put_delivery(&late, Put::Changed)?;
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
        repeat_mark: false,
        held_until: None,
        suppressed_by: None,
        receipt: None,
        late: Vec::new(),
        why: None,
        created_at: at,
    };
    if c.kind == DeliveryKind::Reply {
        let until = UtcMs(at.0.saturating_add(HELD_MS));
        delivery.held_until = Some(until);
        match reply_fate(before, until, at) {
            ReplyFate::Release { repeat_mark } => delivery.repeat_mark = repeat_mark,
            ReplyFate::Hold => delivery.state = DeliveryState::Held,
            ReplyFate::Suppress { by } => {
                (delivery.state, delivery.suppressed_by) = (DeliveryState::Suppressed, Some(by));
            }
        }
    }
    delivery
}

fn claim_delivery<R: Rows>(rows: &mut R, id: DeliveryId, fence: u64, (until, at): (UtcMs, UtcMs)) -> Done<R> {
    let mut delivery = find(rows, id)?;
    delivery.claim(fence, until, at).map_err(refused::<R>)?;
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
    let earlier = all.iter().filter(|d| {
        (d.request, d.kind, &d.key) == (delivery.request, delivery.kind, &delivery.key)
            && d.part < delivery.part
    });
    let waits = |d: &&Delivery| !matches!(d.state, DeliveryState::Delivered | DeliveryState::Cancelled);
    earlier.filter(waits).map(|d| d.part).min()
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

fn release<R: Rows>(rows: &mut R, id: DeliveryId, repeat_mark: bool, at: UtcMs) -> Done<R> {
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
    rows.put_delivery(&reply, Put::Changed)?;
    let unsent = |d: &&Delivery| d.kind == DeliveryKind::Direct && d.state == DeliveryState::Ready;
    for direct in all.iter().filter(unsent) {
        let mut direct = direct.clone();
        direct.cancel(direct.fence, "the reply went out instead").map_err(refused::<R>)?;
        rows.put_delivery(&direct, Put::Changed)?;
    }
    Ok(Relayed::Changed)
}

fn suppress<R: Rows>(rows: &mut R, id: DeliveryId, by: &str, at: UtcMs) -> Done<R> {
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

fn take_lease<R: Rows>(rows: &mut R, mut lease: Lease, at: UtcMs) -> Done<R> {
    if !rows.sees_all() {
        return Err(refused::<R>(RelayRefusal::NeedsWholeLedger));
    }
    if lease.until <= at {
        return Err(refused::<R>(RelayRefusal::NoTime));
    }
    let mut taken = Relayed::Changed;
    match rows.lease(&lease.name)? {
        Some(Lease { name, holder, until, about, .. }) if holder != lease.holder && until > at => {
            return Err(refused::<R>(RelayRefusal::LeaseHeld { name, holder, about, until }));
        }
        Some(before) if before.holder == lease.holder => {
            lease.fence = before.fence;
            taken = Relayed::Known;
        }
        Some(before) => lease.fence = before.fence + 1,
        None => {}
    }
    rows.put_lease(&lease.name.clone(), Some(&lease))?;
    Ok(taken)
}

fn drop_lease<R: Rows>(rows: &mut R, name: &str, holder: &str) -> Done<R> {
    if !rows.sees_all() {
        return Err(refused::<R>(RelayRefusal::NeedsWholeLedger));
    }
    match rows.lease(name)? {
        Some(lease) if lease.holder == holder => {
            rows.put_lease(name, None)?;
            Ok(Relayed::Changed)
        }
        _ => Ok(Relayed::Known),
    }
}
