//! Requests and deliveries.

use rusqlite::params;
use sayso_model::canon::commit;
use sayso_model::relay::{self, Delivery, Lease, Request};
use sayso_model::{
    DeliveryId, Digest, EntryBody, EntryId, Kept, Mark, MarkKind, RequestId, Seed, SessionId, TurnId, UtcMs,
};
use sayso_store::relay::apply::{Put, Rows, apply};
use sayso_store::{AppendTurn, Deliveries, Done, Refusal, RelayStep, Scope};

use super::{Write, taken};
use crate::cells::{all, one, run};
use crate::fault::Fault;
use crate::read::relay as read;
use crate::read::{clamp, turns};

const NEW_REQUEST: &str = "INSERT INTO request (id, session, turn, account, update_id, message, channel, destination, \
     accepted_at, injection, fence, lease_until, not_before, attempts, injected_at, deadline, listening, turn_state, \
     answer, answered_by, why, gone, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
     ?17, ?18, ?19, ?20, ?21, ?22, ?23) ON CONFLICT (id) DO NOTHING";
const REQUEST_CHANGED: &str = "UPDATE request SET injection = ?2, fence = ?3, lease_until = ?4, not_before = ?5, \
     attempts = ?6, injected_at = ?7, deadline = ?8, listening = ?9, turn_state = ?10, answer = ?11, answered_by = ?12, \
     why = ?13, gone = ?14, digest = ?15 WHERE id = ?1";
const NEW_DELIVERY: &str = "INSERT INTO delivery (id, request, session, kind, key, part, parts, turn, text, salt, \
     commitment, state, fence, lease_until, not_before, attempts, first_sent_at, repeat_mark, held_until, suppressed_by, \
     receipt, late, why, created_at, uncertain, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
     ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26) ON CONFLICT (id) DO NOTHING";
const DELIVERY_CHANGED: &str = "UPDATE delivery SET state = ?2, fence = ?3, lease_until = ?4, not_before = ?5, \
     attempts = ?6, first_sent_at = ?7, repeat_mark = ?8, suppressed_by = ?9, receipt = ?10, late = ?11, why = ?12, \
     uncertain = ?13, digest = ?14 WHERE id = ?1";
const WORDS: (&str, &str) = ("delivery", "SELECT commitment FROM delivery WHERE id = ?1");
/// Zeros of the same size are written where a text stands; only then is it let go.
const TAKE_WORDS: &[&str] = &[
    "UPDATE delivery SET text = zeroblob(length(text)), salt = zeroblob(16) WHERE id = ?1 AND text IS NOT NULL",
    "UPDATE delivery SET text = NULL, salt = NULL WHERE id = ?1",
];
const BY_UPDATE: (&str, &str) =
    ("request", "SELECT id FROM request WHERE session = ?1 AND account = ?2 AND update_id = ?3");
const BY_TURN: (&str, &str) = ("request", "SELECT id FROM request WHERE turn = ?1");
const TURN: (&str, &str) =
    ("entry", "SELECT seq FROM entry WHERE id = ?1 AND session = ?2 AND kind IN ('turn', 'forward')");
const FORWARD: (&str, &str) = ("entry", "SELECT 1 FROM entry WHERE id = ?1 AND kind = 'forward'");
const PENDING: &str = "r.session = ?1 AND (r.injection <> 'dead' AND (r.injection <> 'injected' OR (r.answer <> 'final' AND r.gone = 0)) OR r.listening = 1)";
const PUT_CURSOR: &str = "INSERT INTO source_cursor (session, account, value, digest) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (session, account) DO UPDATE SET value = excluded.value, digest = excluded.digest";
const PUT_LEASE: &str = "INSERT INTO lease (name, holder, fence, until, about, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = excluded.fence, \
     until = excluded.until, about = excluded.about, digest = excluded.digest";
const DROP_LEASE: &str = "DELETE FROM lease WHERE name = ?1";
const OF_TURN: (&str, &str) = ("delivery", "SELECT id FROM delivery WHERE turn = ?1");
/// What hangs on an entry that is erased, and on its request.
const FORGET_TURN: &[&str] = &[
    "UPDATE delivery SET text = zeroblob(length(text)), salt = zeroblob(16) WHERE text IS NOT NULL \
     AND (turn = ?1 OR request IN (SELECT id FROM request WHERE turn = ?1))",
    "DELETE FROM delivery WHERE turn = ?1 OR request IN (SELECT id FROM request WHERE turn = ?1)",
    "DELETE FROM request WHERE turn = ?1",
];

struct Stepping<'w, 'a, 's> {
    write: &'w mut Write<'a>,
    seed: &'s Seed,
}

impl Write<'_> {
    pub(super) fn relay(&mut self, step: &RelayStep, seed: &Seed) -> Result<Done, Fault> {
        apply(&mut Stepping { write: self, seed }, step).map(Done::Relay)
    }

    /// Takes the words along that came from a turn.
    pub(super) fn take_words(&self, turn: EntryId) -> Result<(), Fault> {
        for id in all(self.conn, OF_TURN, [turn.to_string()], |c| c.parse::<DeliveryId>())? {
            let found = read::delivery(self.conn, &Scope::All, id)?;
            let Some(mut delivery) = found.filter(|d| d.kept == Kept::Whole) else { continue };
            delivery.take_words();
            TAKE_WORDS.iter().try_for_each(|sql| run(self.conn, sql, [id.to_string()]).map(|_| ()))?;
            self.change_delivery(&delivery)?;
        }
        Ok(())
    }

    /// Takes away what hangs on a turn that is erased.
    pub(super) fn forget_turn(&self, turn: EntryId) -> Result<(), Fault> {
        FORGET_TURN.iter().try_for_each(|sql| run(self.conn, sql, [turn.to_string()]).map(|_| ()))
    }

    fn insert_request(&self, r: &Request) -> Result<(), Fault> {
        let inlet = r.inlet.as_ref();
        let row = params![
            r.id.to_string(),
            r.session.to_string(),
            r.turn.to_string(),
            inlet.map(|i| &i.account),
            inlet.map(|i| &i.update),
            inlet.map(|i| &i.message),
            inlet.map(|i| &i.channel),
            inlet.map(|i| &i.destination),
            r.accepted_at.0,
            r.injection.as_str(),
            clamp(r.fence),
            ms(r.lease_until),
            ms(r.not_before),
            r.attempts,
            ms(r.injected_at),
            ms(r.deadline),
            r.listening,
            r.turn_state.as_str(),
            r.answer.as_str(),
            r.answered_by.map(|id| id.to_string()),
            r.why,
            r.gone,
            relay::request_row(r).0,
        ];
        if run(self.conn, NEW_REQUEST, row)? == 0 { Err(taken(r.id)) } else { Ok(()) }
    }

    fn change_request(&self, r: &Request) -> Result<(), Fault> {
        let row = params![
            r.id.to_string(),
            r.injection.as_str(),
            clamp(r.fence),
            ms(r.lease_until),
            ms(r.not_before),
            r.attempts,
            ms(r.injected_at),
            ms(r.deadline),
            r.listening,
            r.turn_state.as_str(),
            r.answer.as_str(),
            r.answered_by.map(|id| id.to_string()),
            r.why,
            r.gone,
            relay::request_row(r).0,
        ];
        run(self.conn, REQUEST_CHANGED, row).map(|_| ())
    }

    fn insert_delivery(&self, d: &Delivery, seed: &Seed) -> Result<(), Fault> {
        let salt = seed.child(u64::from(d.part)).salt(0);
        let words = commit(&salt, d.text.as_bytes());
        let row = params![
            d.id.to_string(),
            d.request.to_string(),
            d.session.to_string(),
            d.kind.as_str(),
            d.key,
            d.part,
            d.parts,
            d.turn.to_string(),
            d.text.as_bytes(),
            salt.0,
            words.0,
            d.state.as_str(),
            clamp(d.fence),
            ms(d.lease_until),
            ms(d.not_before),
            d.attempts,
            ms(d.first_sent_at),
            d.repeat_mark,
            ms(d.held_until),
            d.suppressed_by,
            d.receipt,
            read::late_text(&d.late),
            d.why,
            d.created_at.0,
            d.uncertain,
            relay::delivery_row(d, words).0,
        ];
        if run(self.conn, NEW_DELIVERY, row)? == 0 { Err(taken(d.id)) } else { Ok(()) }
    }

    fn change_delivery(&self, d: &Delivery) -> Result<(), Fault> {
        let words = one(self.conn, WORDS, [d.id.to_string()], |c| c.digest())?.unwrap_or(Digest::ZERO);
        let row = params![
            d.id.to_string(),
            d.state.as_str(),
            clamp(d.fence),
            ms(d.lease_until),
            ms(d.not_before),
            d.attempts,
            ms(d.first_sent_at),
            d.repeat_mark,
            d.suppressed_by,
            d.receipt,
            read::late_text(&d.late),
            d.why,
            d.uncertain,
            relay::delivery_row(d, words).0,
        ];
        run(self.conn, DELIVERY_CHANGED, row).map(|_| ())
    }
}

fn ms(at: Option<UtcMs>) -> Option<i64> {
    at.map(|at| at.0)
}

impl Rows for Stepping<'_, '_, '_> {
    type Fault = Fault;

    fn see(&mut self, session: SessionId) -> Result<(), Fault> {
        self.write.session(session).map(|_| ())
    }

    fn seq(&mut self, session: SessionId, turn: TurnId) -> Result<Option<u64>, Fault> {
        one(self.write.conn, TURN, (turn.to_string(), session.to_string()), |c| c.number())
    }

    fn forwarded(&mut self, turn: TurnId) -> Result<Option<(SessionId, u64)>, Fault> {
        let Some(placed) = turns::place(self.write.conn, self.write.scope, turn)? else { return Ok(None) };
        let forward = one(self.write.conn, FORWARD, [turn.to_string()], |c| c.int())?;
        Ok(forward.map(|_| (placed.session, placed.seq)))
    }

    fn append(&mut self, turn: &AppendTurn) -> Result<(TurnId, u64), Fault> {
        let placed = match self.write.append_turn(turn, None, self.seed)? {
            Done::Entries(_, placed) => placed.first().map(|p| (p.id, p.seq)),
            _ => None,
        };
        placed.ok_or_else(|| Refusal::UnknownTurn(turn.id).into())
    }

    fn shown(&mut self, id: EntryId, session: SessionId, of: TurnId, route: &str) -> Result<(), Fault> {
        let mark = EntryBody::Mark(Mark::new(MarkKind::Shown, Some(of), route));
        self.write.place(session, id, &mark, self.seed).map(|_| ())
    }

    fn request(&mut self, id: RequestId) -> Result<Option<Request>, Fault> {
        read::request(self.write.conn, self.write.scope, id)
    }

    fn update(
        &mut self,
        session: SessionId,
        account: &str,
        update: &str,
    ) -> Result<Option<RequestId>, Fault> {
        one(self.write.conn, BY_UPDATE, (session.to_string(), account, update), |c| c.parse())
    }

    fn request_of(&mut self, turn: TurnId) -> Result<Option<RequestId>, Fault> {
        one(self.write.conn, BY_TURN, [turn.to_string()], |c| c.parse())
    }

    fn pending(&mut self, session: SessionId) -> Result<Vec<Request>, Fault> {
        read::find_requests(self.write.conn, &Scope::All, PENDING, &[&session.to_string()])
    }

    fn put_request(&mut self, request: &Request, put: Put) -> Result<(), Fault> {
        match put {
            Put::New => self.write.insert_request(request),
            Put::Changed => self.write.change_request(request),
        }
    }

    fn delivery(&mut self, id: DeliveryId) -> Result<Option<Delivery>, Fault> {
        read::delivery(self.write.conn, self.write.scope, id)
    }

    fn deliveries(&mut self, request: RequestId) -> Result<Vec<Delivery>, Fault> {
        read::deliveries(self.write.conn, self.write.scope, Deliveries::Of(request))
    }

    fn put_delivery(&mut self, delivery: &Delivery, put: Put) -> Result<(), Fault> {
        match put {
            Put::New => self.write.insert_delivery(delivery, self.seed),
            Put::Changed => self.write.change_delivery(delivery),
        }
    }

    fn put_cursor(&mut self, session: SessionId, account: &str, cursor: &str) -> Result<(), Fault> {
        let digest = relay::cursor(session, account, cursor);
        run(self.write.conn, PUT_CURSOR, params![session.to_string(), account, cursor, digest.0]).map(|_| ())
    }

    fn sees_all(&self) -> bool {
        *self.write.scope == Scope::All
    }

    fn lease(&mut self, name: &str) -> Result<Option<Lease>, Fault> {
        read::lease(self.write.conn, name)
    }

    fn put_lease(&mut self, name: &str, lease: Option<&Lease>) -> Result<(), Fault> {
        let Some(l) = lease else { return run(self.write.conn, DROP_LEASE, [name]).map(|_| ()) };
        let row = params![l.name, l.holder, clamp(l.fence), l.until.0, l.about, relay::lease(l).0];
        run(self.write.conn, PUT_LEASE, row).map(|_| ())
    }
}
