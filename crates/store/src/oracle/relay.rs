//! Requests and deliveries.

use std::collections::BTreeMap;

use sayso_model::relay::{Delivery, DeliveryState, InjectionState, Lease, Request};
use sayso_model::{
    DeliveryId, EntryBody, EntryId, Mark, MarkKind, RelayRefusal, RequestId, Seed, SessionId, TurnId,
};

use super::apply::Write;
use super::state::State;
use crate::command::{AppendTurn, Done};
use crate::error::Refusal;
use crate::query::Scope;
use crate::relay::apply::{Put, Rows, apply};
use crate::relay::{Deliveries, RelayStep, Requests, in_order};

/// What is under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Relay {
    pub(super) requests: BTreeMap<RequestId, Request>,
    pub(super) deliveries: BTreeMap<DeliveryId, Delivery>,
    pub(super) cursors: BTreeMap<(SessionId, String), String>,
    pub(super) leases: BTreeMap<String, Lease>,
}

impl Relay {
    /// Takes away what belongs to sessions that are gone.
    pub(super) fn forget_sessions(&mut self, gone: impl Fn(SessionId) -> bool) {
        self.requests.retain(|_, r| !gone(r.session));
        self.deliveries.retain(|_, d| !gone(d.session));
        self.cursors.retain(|(session, _), _| !gone(*session));
    }

    /// Takes the words along that came from a turn.
    pub(super) fn wipe(&mut self, turn: EntryId) {
        self.deliveries.values_mut().filter(|d| d.turn == turn).for_each(Delivery::take_words);
    }

    /// Takes away the request whose turn is gone.
    pub(super) fn forget_turn(&mut self, turn: EntryId) {
        self.requests.retain(|_, r| r.turn != turn);
        let Self { requests, deliveries, .. } = self;
        deliveries.retain(|_, d| d.turn != turn && requests.contains_key(&d.request));
    }
}

struct Stepping<'w, 'a, 's> {
    write: &'w mut Write<'a>,
    seed: &'s Seed,
}

impl Write<'_> {
    pub(super) fn relay(&mut self, step: &RelayStep, seed: &Seed) -> Result<Done, Refusal> {
        apply(&mut Stepping { write: self, seed }, step).map(Done::Relay)
    }
}

impl Stepping<'_, '_, '_> {
    fn relay(&mut self) -> &mut Relay {
        &mut self.write.state.relay
    }
}

impl Rows for Stepping<'_, '_, '_> {
    type Fault = Refusal;

    fn see(&mut self, session: SessionId) -> Result<(), Refusal> {
        self.write.session(session).map(|_| ())
    }

    fn seq(&mut self, session: SessionId, turn: TurnId) -> Result<Option<u64>, Refusal> {
        let record = self.write.state.entries.get(&turn).filter(|r| r.entry.session == session);
        Ok(record.filter(|r| r.entry.turn().is_some()).map(|r| r.entry.seq))
    }

    fn forwarded(&mut self, turn: TurnId) -> Result<Option<(SessionId, u64)>, Refusal> {
        let record = self.write.state.entry(self.write.scope, turn);
        let record = record.filter(|r| r.entry.turn().is_some_and(|t| t.quote.is_some()));
        Ok(record.map(|r| (r.entry.session, r.entry.seq)))
    }

    fn append(&mut self, turn: &AppendTurn) -> Result<(TurnId, u64), Refusal> {
        match self.write.append_turn(turn, None, self.seed)? {
            Done::Entries(_, placed) => {
                placed.first().map(|p| (p.id, p.seq)).ok_or(Refusal::UnknownTurn(turn.id))
            }
            _ => Err(Refusal::UnknownTurn(turn.id)),
        }
    }

    fn shown(&mut self, id: EntryId, session: SessionId, of: TurnId, route: &str) -> Result<(), Refusal> {
        self.write.free_entry(id)?;
        let mark = Mark::new(MarkKind::Shown, Some(of), route);
        self.write.place(session, id, EntryBody::Mark(mark), self.seed);
        Ok(())
    }

    fn request(&mut self, id: RequestId) -> Result<Option<Request>, Refusal> {
        Ok(self.write.state.request(self.write.scope, id))
    }

    fn update(
        &mut self,
        session: SessionId,
        account: &str,
        update: &str,
    ) -> Result<Option<RequestId>, Refusal> {
        let same = |r: &&Request| {
            let inlet = r.inlet.as_ref().map(|i| (i.account.as_str(), i.update.as_str()));
            r.session == session && inlet == Some((account, update))
        };
        Ok(self.relay().requests.values().find(same).map(|r| r.id))
    }

    fn request_of(&mut self, turn: TurnId) -> Result<Option<RequestId>, Refusal> {
        Ok(self.relay().requests.values().find(|r| r.turn == turn).map(|r| r.id))
    }

    fn pending(&mut self, session: SessionId) -> Result<Vec<Request>, Refusal> {
        let waits = |r: &&Request| {
            let settled = matches!(r.injection, InjectionState::Injected | InjectionState::Dead);
            !settled || r.listening || r.is_owed()
        };
        let of = self.relay().requests.values().filter(|r| r.session == session).filter(waits);
        let mut found: Vec<Request> = of.cloned().collect();
        found.sort_by_key(|r| r.seq);
        Ok(found)
    }

    fn put_request(&mut self, request: &Request, put: Put) -> Result<(), Refusal> {
        let taken = self.relay().requests.contains_key(&request.id);
        self.write.free(put == Put::New && taken, request.id)?;
        self.relay().requests.insert(request.id, request.clone());
        Ok(())
    }

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Refusal> {
        Ok(self.write.state.delivery(self.write.scope, id))
    }

    fn deliveries(&mut self, request: RequestId) -> Result<Vec<Delivery>, Refusal> {
        Ok(self.write.state.deliveries(self.write.scope, Deliveries::Of(request)))
    }

    fn put_delivery(&mut self, delivery: &Delivery, put: Put) -> Result<(), Refusal> {
        let taken = self.relay().deliveries.contains_key(&delivery.id);
        self.write.free(put == Put::New && taken, delivery.id)?;
        self.relay().deliveries.insert(delivery.id, delivery.clone());
        Ok(())
    }

    fn put_cursor(&mut self, session: SessionId, account: &str, cursor: &str) -> Result<(), Refusal> {
        self.relay().cursors.insert((session, account.to_owned()), cursor.to_owned());
        Ok(())
    }

    fn sees_all(&self) -> bool {
        *self.write.scope == Scope::All
    }

    fn lease(&mut self, name: &str) -> Result<Option<Lease>, Refusal> {
        Ok(self.relay().leases.get(name).cloned())
    }

    fn put_lease(&mut self, name: &str, lease: Option<&Lease>) -> Result<(), Refusal> {
        match lease {
            Some(lease) => self.relay().leases.insert(name.to_owned(), lease.clone()),
            None => self.relay().leases.remove(name),
        };
        Ok(())
    }
}

impl State {
    fn sees(&self, scope: &Scope, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|s| scope.sees(s.project))
    }

    pub(super) fn request(&self, scope: &Scope, id: RequestId) -> Option<Request> {
        self.relay.requests.get(&id).filter(|r| self.sees(scope, r.session)).cloned()
    }

    pub(super) fn requests(&self, scope: &Scope, which: Requests) -> Vec<Request> {
        let of = |r: &&Request| {
            which.session().is_none_or(|s| s == r.session)
                && !(matches!(which, Requests::Open(_)) && r.is_done())
        };
        let all = self.relay.requests.values().filter(|r| self.sees(scope, r.session)).filter(of);
        let mut found: Vec<Request> = all.cloned().collect();
        found.sort_by_key(|r| (r.session, r.seq));
        found
    }

    pub(super) fn delivery(&self, scope: &Scope, id: DeliveryId) -> Option<Delivery> {
        self.relay.deliveries.get(&id).filter(|d| self.sees(scope, d.session)).cloned()
    }

    pub(super) fn deliveries(&self, scope: &Scope, which: Deliveries) -> Vec<Delivery> {
        let over = [DeliveryState::Delivered, DeliveryState::Suppressed, DeliveryState::Cancelled];
        let wanted = |d: &&Delivery| match which {
            Deliveries::Of(request) => d.request == request,
            Deliveries::All(session) => session.is_none_or(|s| s == d.session),
            Deliveries::Open(session) => session.is_none_or(|s| s == d.session) && !over.contains(&d.state),
        };
        let all = self.relay.deliveries.values().filter(wanted).filter(|d| self.sees(scope, d.session));
        let mut found: Vec<Delivery> = all.cloned().collect();
        in_order(&mut found);
        found
    }

    pub(super) fn find_deliveries(&self, scope: &Scope, suffix: &str, limit: usize) -> Vec<DeliveryId> {
        let all = self.relay.deliveries.values().filter(|d| self.sees(scope, d.session)).map(|d| d.id);
        all.filter(|id| id.to_string().ends_with(suffix)).take(limit).collect()
    }

    pub(super) fn cursor(&self, scope: &Scope, session: SessionId, account: &str) -> Option<String> {
        let there = self.sees(scope, session);
        self.relay.cursors.get(&(session, account.to_owned())).filter(|_| there).cloned()
    }

    pub(super) fn leases(&self, scope: &Scope) -> Vec<Lease> {
        let all = *scope == Scope::All;
        self.relay.leases.values().filter(|_| all).cloned().collect()
    }
}

impl From<RelayRefusal> for Refusal {
    fn from(refusal: RelayRefusal) -> Self {
        Self::Relay(refusal)
    }
}
