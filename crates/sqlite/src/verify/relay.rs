//! Rows of requests, deliveries, cursors and leases.

use sayso_model::relay::{self, Lease};
use sayso_model::{Digest, EntryId, Kept, MarkKind, SessionId, UtcMs};

use super::{Look, Where};
use crate::cells::one;
use crate::fault::Fault;
use crate::read::relay::{DeliveryRecord, RequestRecord, delivery_columns, request_columns};

const REQUESTS: (&str, &str) = (
    "request",
    concat!(
        "SELECT ",
        request_columns!(),
        ", e.session = r.session AND e.kind IN ('turn', 'forward') FROM request r \
         JOIN session s ON s.id = r.session AND s.erasing = 0 LEFT JOIN entry e ON e.id = r.turn ORDER BY r.id"
    ),
);
const DELIVERIES: (&str, &str) = (
    "delivery",
    concat!(
        "SELECT ",
        delivery_columns!(),
        ", (SELECT r.session FROM request r WHERE r.id = d.request), e.session = d.session AND e.kind IN ('turn', 'forward') \
         FROM delivery d JOIN session s ON s.id = d.session AND s.erasing = 0 LEFT JOIN entry e ON e.id = d.turn ORDER BY d.id"
    ),
);
const LOST: (&str, &str) = (
    "delivery",
    "SELECT 'request', id FROM request r WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.id = r.session) \
     UNION ALL SELECT 'delivery', id FROM delivery d WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.id = d.session) \
     UNION ALL SELECT 'cursor of', account FROM source_cursor c \
     WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.id = c.session)",
);
const SHOWN: (&str, &str) =
    ("mark", "SELECT count(*) FROM mark WHERE target = ?1 AND kind = 'shown' AND session = ?2");
const REDACTED: (&str, &str) =
    ("mark", "SELECT 1 FROM mark WHERE target = ?1 AND kind IN ('redacted', 'erased') LIMIT 1");
const CURSORS: (&str, &str) =
    ("source_cursor", "SELECT session, account, value, digest FROM source_cursor ORDER BY session, account");
const LEASES: (&str, &str) =
    ("lease", "SELECT name, holder, fence, until, about, digest FROM lease ORDER BY name");

impl Look<'_> {
    pub(super) fn relay(&mut self) -> Result<(), Fault> {
        self.rows(REQUESTS, [], |look, c| {
            let record = RequestRecord::read(c)?;
            let at = Where { entry: Some(record.request.turn), ..Where::session(record.request.session) };
            let there = c.int_opt()? == Some(1);
            if !there || relay::request_row(&record.request) != record.digest {
                look.problem(at, format!("the row of request {} is not what was written", record.request.id));
            }
            Ok(())
        })?;
        self.rows(DELIVERIES, [], |look, c| {
            let record = DeliveryRecord::read(c)?;
            let (session, there) = (c.parse_opt::<SessionId>()?, c.int_opt()? == Some(1));
            look.delivery(&record, session, there)
        })?;
        self.rows(LOST, [], |look, c| {
            let (what, which) = (c.text()?, c.text()?);
            look.problem(Where::default(), format!("the session of {what} {which} does not exist"));
            Ok(())
        })?;
        self.cursors_and_leases()
    }

    fn delivery(
        &mut self,
        record: &DeliveryRecord,
        session: Option<SessionId>,
        there: bool,
    ) -> Result<(), Fault> {
        let d = &record.delivery;
        let at = Where { entry: Some(d.turn), ..Where::session(d.session) };
        if !record.is_sound() || !there || session != Some(d.session) {
            self.problem(at, format!("the row of delivery {} is not what was written", d.id));
        } else if d.kept == Kept::Redacted && !self.marked(REDACTED, d.turn)? {
            self.problem(at, format!("the words of delivery {} are gone, and nothing says why", d.id));
        } else if d.receipt.is_some() && !self.shown(d.turn, d.session)? {
            let kind = MarkKind::Shown;
            self.problem(at, format!("delivery {} was delivered, and no mark {kind} says so", d.id));
        }
        Ok(())
    }

    fn marked(&self, query: (&'static str, &str), turn: EntryId) -> Result<bool, Fault> {
        Ok(one(self.conn, query, [turn.to_string()], |c| c.int())?.is_some())
    }

    fn shown(&self, turn: EntryId, session: SessionId) -> Result<bool, Fault> {
        let marks = one(self.conn, SHOWN, (turn.to_string(), session.to_string()), |c| c.int())?;
        Ok(marks.is_some_and(|marks| marks > 0))
    }

    fn cursors_and_leases(&mut self) -> Result<(), Fault> {
        self.rows(CURSORS, [], |look, c| {
            let (session, account, value, digest) = (c.parse()?, c.text()?, c.text()?, c.digest()?);
            if relay::cursor(session, &account, &value) != digest {
                let what = format!("the cursor of {account:?} is not what was written");
                look.problem(Where::session(session), what);
            }
            Ok(())
        })?;
        self.rows(LEASES, [], |look, c| {
            let (name, holder, fence) = (c.text()?, c.text()?, c.number()?);
            let (until, about, digest): (_, _, Digest) = (UtcMs(c.int()?), c.text()?, c.digest()?);
            let lease = Lease { name, holder, fence, until, about };
            if relay::lease(&lease) != digest {
                let what = format!("the lease {:?} is not what was written", lease.name);
                look.problem(Where::default(), what);
            }
            Ok(())
        })
    }
}
