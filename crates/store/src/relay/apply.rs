//! The steps over a backend's rows, the same on every backend. Refused in this order: the row (unknown and out of scope are the
//! same), its session, its fence, its state, the time, other rows, and last whether ids are free.

use sayso_model::relay::{Delivery, Lease, Request};
use sayso_model::{DeliveryId, EntryId, RelayRefusal, RequestId, SessionId, TurnId, UtcMs};

use super::deliver as of;
pub use super::deliver::{goes_first, route};
use super::{Accept, RelayCommand, RelayStep, Relayed};
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
    /// The requests of a session that are neither injected nor dead, the one that listens, and those whose answer may still come.
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

pub(super) type Done<R> = Result<Relayed, <R as Rows>::Fault>;

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
        RelayCommand::SessionGone { session, why } => session_gone(rows, *session, why, at),
        RelayCommand::EndTurn { request, end } => on_request(rows, *request, |r| r.end_turn(end)),
        RelayCommand::Intend(c) => of::intend(rows, c, at),
        RelayCommand::ClaimDelivery { delivery, fence, until, key_ttl_ms } => {
            of::claim(rows, *delivery, |d| d.claim(*fence, *key_ttl_ms, (*until, at)))
        }
        RelayCommand::Attempted { delivery, fence, attempt, mark } => {
            of::attempted(rows, *delivery, (*fence, attempt), *mark)
        }
        RelayCommand::ExpireDelivery { delivery, fence } => {
            of::step(rows, *delivery, |d| d.expire(*fence, at))
        }
        RelayCommand::Resolve { delivery, fence, receipt, mark } => {
            of::resolve(rows, *delivery, (*fence, receipt), *mark)
        }
        RelayCommand::Retry { delivery, fence, ground } => of::retry(rows, *delivery, (*fence, *ground), at),
        RelayCommand::Park { delivery, fence, why } => of::step(rows, *delivery, |d| d.park(*fence, why)),
        RelayCommand::Cancel { delivery, fence, why } => of::cancel(rows, *delivery, (*fence, why)),
        RelayCommand::Release { delivery, repeat_mark } => of::release(rows, *delivery, *repeat_mark, at),
        RelayCommand::Suppress { delivery, by } => of::suppress(rows, *delivery, by, at),
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

pub(super) fn refused<R: Rows>(refusal: RelayRefusal) -> R::Fault {
    Refusal::from(refusal).into()
}

pub(super) fn known<R: Rows>(rows: &mut R, id: RequestId) -> Result<Request, R::Fault> {
    rows.request(id)?.ok_or_else(|| refused::<R>(RelayRefusal::UnknownRequest(id)))
}

pub(super) fn find<R: Rows>(rows: &mut R, id: DeliveryId) -> Result<Delivery, R::Fault> {
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

fn session_gone<R: Rows>(rows: &mut R, session: SessionId, why: &str, at: UtcMs) -> Done<R> {
    rows.see(session)?;
    let mut news = Relayed::Known;
    for before in rows.pending(session)? {
        let mut request = before.clone();
        request.end_session(why, at);
        if request != before {
            rows.put_request(&request, Put::Changed)?;
            news = Relayed::Changed;
        }
    }
    Ok(news)
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
