//! Requests and deliveries as rows.

use rusqlite::{Connection, ToSql};
use sayso_model::relay::{self, Delivery, Inlet, Lease, Request};
use sayso_model::{DeliveryId, Digest, Kept, RequestId, SessionId, UtcMs};
use sayso_store::relay::in_order;
use sayso_store::{Deliveries, Requests, Scope};

use crate::cells::{Cells, Next, all, each, one};
use crate::fault::Fault;

/// The columns of a request's row, for a `SELECT` that calls the table `r` and its turn's entry `e`.
macro_rules! request_columns {
    () => {
        "r.id, r.session, r.turn, coalesce(e.seq, 0), r.account, r.update_id, r.message, r.channel, r.destination, \
         r.accepted_at, r.injection, r.fence, r.lease_until, r.not_before, r.attempts, r.injected_at, r.deadline, \
         r.listening, r.turn_state, r.answer, r.answered_by, r.why, r.gone, r.digest"
    };
}
pub(crate) use request_columns;

/// The columns of a delivery's row, for a `SELECT` that calls the table `d`.
macro_rules! delivery_columns {
    () => {
        "d.id, d.request, d.session, d.kind, d.key, d.part, d.parts, d.turn, d.salt, d.commitment, d.text, d.state, \
         d.fence, d.lease_until, d.not_before, d.attempts, d.first_sent_at, d.repeat_mark, d.held_until, \
         d.suppressed_by, d.receipt, d.late, d.why, d.created_at, d.uncertain, d.digest"
    };
}
pub(crate) use delivery_columns;

/// Rows of sessions that are there; the scope is looked at afterwards.
const SEEN: &str = " JOIN session s ON s.id = x.session AND s.erasing = 0 ";

/// A request and the digest of its row.
pub(crate) struct RequestRecord {
    pub(crate) request: Request,
    pub(crate) digest: Digest,
}

impl RequestRecord {
    pub(crate) fn read(c: &mut Cells<'_>) -> Result<Self, Fault> {
        let (id, session, turn, seq) = (c.parse()?, c.parse()?, c.parse()?, c.number()?);
        let inlet = inlet(c)?;
        let mut request = Request::new(id, session, (turn, seq), inlet, UtcMs(c.int()?));
        (request.injection, request.fence) = (c.parse()?, c.number()?);
        (request.lease_until, request.not_before) = (time(c)?, time(c)?);
        request.attempts = c.number()?;
        (request.injected_at, request.deadline) = (time(c)?, time(c)?);
        (request.listening, request.turn_state) = (c.flag()?, c.parse()?);
        (request.answer, request.answered_by) = (c.parse()?, c.parse_opt()?);
        (request.why, request.gone) = (c.text_opt()?, c.flag()?);
        Ok(Self { request, digest: c.digest()? })
    }

    fn checked(self) -> Result<Request, Fault> {
        let id = self.request.id;
        if relay::request_row(&self.request) == self.digest {
            return Ok(self.request);
        }
        Err(Fault::Damaged(format!("the row of request {id} is not what was written")))
    }
}

fn time(c: &mut Cells<'_>) -> Result<Option<UtcMs>, Fault> {
    Ok(c.int_opt()?.map(UtcMs))
}

/// Five columns, all or none.
fn inlet(c: &mut Cells<'_>) -> Result<Option<Inlet>, Fault> {
    let account = c.text_opt()?;
    let (update, message) = (c.text_opt()?, c.text_opt()?);
    let (channel, destination) = (c.text_opt()?, c.text_opt()?);
    Ok(account.map(|account| Inlet {
        account,
        update: update.unwrap_or_default(),
        message: message.unwrap_or_default(),
        channel: channel.unwrap_or_default(),
        destination: destination.unwrap_or_default(),
    }))
}

/// A delivery, the commitment to its words, and the digest of its row.
pub(crate) struct DeliveryRecord {
    pub(crate) delivery: Delivery,
    pub(crate) words: Digest,
    pub(crate) digest: Digest,
    /// Whether the words are the ones that were written.
    pub(crate) sound: bool,
}

impl DeliveryRecord {
    pub(crate) fn read(c: &mut Cells<'_>) -> Result<Self, Fault> {
        let (id, request, session, kind) = (c.parse()?, c.parse()?, c.parse()?, c.parse()?);
        let (key, part, parts, turn) = (c.text()?, c.number()?, c.number()?, c.parse()?);
        let words = c.sealed()?;
        let commitment = words.commitment;
        let (text, sound) = words.open_kept().map_or((None, false), |text| (text, true));
        let kept = if text.is_some() || !sound { Kept::Whole } else { Kept::Redacted };
        let delivery = Delivery {
            id,
            request,
            session,
            kind,
            key,
            part,
            parts,
            turn,
            text: text.unwrap_or_default(),
            kept,
            state: c.parse()?,
            fence: c.number()?,
            lease_until: time(c)?,
            not_before: time(c)?,
            attempts: c.number()?,
            first_sent_at: time(c)?,
            repeat_mark: c.flag()?,
            held_until: time(c)?,
            suppressed_by: c.text_opt()?,
            receipt: c.text_opt()?,
            late: late(&c.text()?)?,
            why: c.text_opt()?,
            created_at: UtcMs(c.int()?),
            uncertain: c.flag()?,
        };
        Ok(Self { delivery, words: commitment, digest: c.digest()?, sound })
    }

    pub(crate) fn is_sound(&self) -> bool {
        self.sound && relay::delivery_row(&self.delivery, self.words) == self.digest
    }

    fn checked(self) -> Result<Delivery, Fault> {
        if self.is_sound() {
            return Ok(self.delivery);
        }
        Err(Fault::Damaged(format!("the row of delivery {} is not what was written", self.delivery.id)))
    }
}

/// Late receipts as they are stored: each with its number of bytes before it, so that any text can stand there.
pub(crate) fn late_text(late: &[String]) -> String {
    late.iter().map(|receipt| format!("{}:{receipt}", receipt.len())).collect()
}

fn late(mut text: &str) -> Result<Vec<String>, Fault> {
    let wrong = || Fault::Damaged("the late receipts of a delivery are not what was written".to_owned());
    let mut all = Vec::new();
    while !text.is_empty() {
        let (len, rest) = text.split_once(':').ok_or_else(wrong)?;
        let len: usize = len.parse().map_err(|_| wrong())?;
        let (receipt, rest) = rest.split_at_checked(len).ok_or_else(wrong)?;
        all.push(receipt.to_owned());
        text = rest;
    }
    Ok(all)
}

pub(crate) fn find_requests(
    conn: &Connection,
    scope: &Scope,
    condition: &str,
    params: &[&dyn ToSql],
) -> Result<Vec<Request>, Fault> {
    let sql = format!(
        concat!(
            "SELECT ",
            request_columns!(),
            ", s.project FROM request r{} LEFT JOIN entry e ON e.id = r.turn \
         WHERE {} ORDER BY r.session, e.seq"
        ),
        SEEN.replace("x.", "r."),
        condition
    );
    let mut found = Vec::new();
    each(conn, ("request", &sql), params, |c| {
        let record = RequestRecord::read(c)?;
        if scope.sees(c.parse()?) {
            found.push(record.checked()?);
        }
        Ok(Next::Row)
    })?;
    Ok(found)
}

pub(crate) fn find_deliveries(
    conn: &Connection,
    scope: &Scope,
    condition: &str,
    params: &[&dyn ToSql],
) -> Result<Vec<Delivery>, Fault> {
    let sql = format!(
        concat!("SELECT ", delivery_columns!(), ", s.project FROM delivery d{} WHERE {}"),
        SEEN.replace("x.", "d."),
        condition
    );
    let mut found = Vec::new();
    each(conn, ("delivery", &sql), params, |c| {
        let record = DeliveryRecord::read(c)?;
        if scope.sees(c.parse()?) {
            found.push(record.checked()?);
        }
        Ok(Next::Row)
    })?;
    in_order(&mut found);
    Ok(found)
}

/// As the index has it.
const OPEN_REQUEST: &str = "r.injection <> 'dead' AND (r.injection <> 'injected' OR (r.answer <> 'final' AND \
     (r.account IS NOT NULL OR r.gone = 0))) OR r.listening = 1";
const OPEN_DELIVERY: &str = "d.state <> 'delivered' AND d.state <> 'suppressed' AND d.state <> 'cancelled'";

pub(crate) fn requests(conn: &Connection, scope: &Scope, which: Requests) -> Result<Vec<Request>, Fault> {
    let open = if matches!(which, Requests::Open(_)) { OPEN_REQUEST } else { "1" };
    match which.session() {
        Some(session) => {
            find_requests(conn, scope, &format!("r.session = ?1 AND ({open})"), &[&session.to_string()])
        }
        None => find_requests(conn, scope, open, &[]),
    }
}

pub(crate) fn request(conn: &Connection, scope: &Scope, id: RequestId) -> Result<Option<Request>, Fault> {
    Ok(find_requests(conn, scope, "r.id = ?1", &[&id.to_string()])?.pop())
}

pub(crate) fn deliveries(
    conn: &Connection,
    scope: &Scope,
    which: Deliveries,
) -> Result<Vec<Delivery>, Fault> {
    let of = |session: SessionId, open: &str| {
        find_deliveries(conn, scope, &format!("d.session = ?1 AND {open}"), &[&session.to_string()])
    };
    match which {
        Deliveries::Of(request) => find_deliveries(conn, scope, "d.request = ?1", &[&request.to_string()]),
        Deliveries::All(Some(session)) => of(session, "1"),
        Deliveries::Open(Some(session)) => of(session, OPEN_DELIVERY),
        Deliveries::All(None) => find_deliveries(conn, scope, "1", &[]),
        Deliveries::Open(None) => find_deliveries(conn, scope, OPEN_DELIVERY, &[]),
    }
}

pub(crate) fn delivery(conn: &Connection, scope: &Scope, id: DeliveryId) -> Result<Option<Delivery>, Fault> {
    Ok(find_deliveries(conn, scope, "d.id = ?1", &[&id.to_string()])?.pop())
}

const BY_SUFFIX: (&str, &str) = (
    "delivery",
    "SELECT d.id, s.project FROM delivery d JOIN session s ON s.id = d.session AND s.erasing = 0 \
     WHERE substr(d.id, -length(?1)) = ?1 OR ?1 = '' ORDER BY d.id",
);

pub(crate) fn by_suffix(
    conn: &Connection,
    scope: &Scope,
    suffix: &str,
    limit: usize,
) -> Result<Vec<DeliveryId>, Fault> {
    let mut found = Vec::new();
    each(conn, BY_SUFFIX, [suffix], |c| {
        let id = c.parse()?;
        if found.len() < limit && scope.sees(c.parse()?) {
            found.push(id);
        }
        Ok(if found.len() < limit { Next::Row } else { Next::Stop })
    })?;
    Ok(found)
}

const CURSOR: (&str, &str) = (
    "source_cursor",
    "SELECT c.value, c.digest, s.project FROM source_cursor c JOIN session s ON s.id = c.session AND s.erasing = 0 \
     WHERE c.session = ?1 AND c.account = ?2",
);

pub(crate) fn cursor(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    account: &str,
) -> Result<Option<String>, Fault> {
    let found =
        one(conn, CURSOR, (session.to_string(), account), |c| Ok((c.text()?, c.digest()?, c.parse()?)))?;
    match found.filter(|(_, _, project)| scope.sees(*project)) {
        Some((value, digest, _)) if relay::cursor(session, account, &value) == digest => Ok(Some(value)),
        Some(_) => Err(Fault::Damaged(format!("the cursor of {account:?} is not what was written"))),
        None => Ok(None),
    }
}

const LEASES: (&str, &str) =
    ("lease", "SELECT name, holder, fence, until, about, digest FROM lease ORDER BY name");
const LEASE: (&str, &str) =
    ("lease", "SELECT name, holder, fence, until, about, digest FROM lease WHERE name = ?1");

fn read_lease(c: &mut Cells<'_>) -> Result<Lease, Fault> {
    let lease = Lease {
        name: c.text()?,
        holder: c.text()?,
        fence: c.number()?,
        until: UtcMs(c.int()?),
        about: c.text()?,
    };
    if c.digest()? == relay::lease(&lease) {
        return Ok(lease);
    }
    Err(Fault::Damaged(format!("the lease {:?} is not what was written", lease.name)))
}

pub(crate) fn lease(conn: &Connection, name: &str) -> Result<Option<Lease>, Fault> {
    one(conn, LEASE, [name], read_lease)
}

pub(crate) fn leases(conn: &Connection, scope: &Scope) -> Result<Vec<Lease>, Fault> {
    match scope {
        Scope::All => all(conn, LEASES, [], read_lease),
        Scope::Projects(_) => Ok(Vec::new()),
    }
}
