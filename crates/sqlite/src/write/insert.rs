//! Placing an entry in its chain, and the rows that it becomes.

use rusqlite::params;
use sayso_model::canon::commit;
use sayso_model::form::{self, Link};
use sayso_model::{
    Digest, EntryBody, EntryId, Mark, MarkKind, Quote, SaidAt, Salt, Seed, SessionId, SpeakerId, Turn, UtcMs,
    row,
};
use sayso_store::Placed;
use sayso_store::content::KEY_SALT;

use super::{Write, run_kept, taken};
use crate::cells::{Sealed, run};
use crate::fault::Fault;
use crate::read::clamp;
use crate::read::part::PartCells;
use crate::read::turns::state_word;
use crate::search::index;

const NEW_ENTRY: &str = "INSERT INTO entry (id, session, seq, kind, recorded_at, hash, speaker, said_at, \
     said_offset, reply_to, supersedes, repairs) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
     ON CONFLICT (id) DO NOTHING";
const NEW_PART: &str = "INSERT INTO part (no, speaker, kind, seal, call_id, tool, outcome, media_type, \
     output, salt, commitment, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
const NEW_QUOTE: &str = "INSERT INTO quote (entry, session, seq, state, origin, origin_kind, origin_channel, \
     span_start, span_len, speaker, said_at, said_offset, kept, total, cut, open_fence, nested, forwarded_by, \
     forwarded_at, source, text, salt, commitment, project_title, project_title_salt, project_title_commitment, \
     session_title, session_title_salt, session_title_commitment) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
     ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29)";
const NEW_HOP: &str = "INSERT INTO hop (entry, place, address, speaker, at) VALUES (?1, ?2, ?3, ?4, ?5)";
const NEW_COMPACTION: &str = "INSERT INTO compaction (entry, session, seq, through, text, salt, commitment) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const NEW_MARK: &str = "INSERT INTO mark (entry, session, seq, kind, target, route, title, title_salt, title_commitment, project) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const REACHED: &str = "UPDATE quote SET state = ?2 WHERE entry = (SELECT no FROM entry WHERE id = ?1)";
const NEW_KEY: &str = "INSERT INTO caller_key (session, kind, value, salt, content, entry, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const SEEN: &str =
    "INSERT INTO speaker_seen (project, speaker) VALUES (?1, ?2) ON CONFLICT (project, speaker) DO NOTHING";
const ADVANCED: &str = "UPDATE session SET closed = ?2, turns = ?3, last_seq = ?4, head = ?5, last_at = ?6, \
     digest = ?7, project = ?8, title = ?9, title_salt = ?10, title_commitment = ?11 WHERE id = ?1";

/// An entry that was placed, and the number of its row.
pub(super) struct At {
    pub(super) placed: Placed,
    pub(super) no: i64,
}

/// Three columns: text, salt, commitment; without a salt there is no text.
type TextCells<'a> = (Option<&'a [u8]>, Option<[u8; 16]>, [u8; 32]);

/// The texts of a body, each with its salt and commitment, in the order of the chain.
struct Texts<'a>(std::vec::IntoIter<(&'a str, Option<Salt>, Digest)>);

impl<'a> Texts<'a> {
    fn of(body: &'a EntryBody, salts: &[Option<Salt>], commitments: &[Digest]) -> Self {
        let texts = body.texts().into_iter().zip(salts).zip(commitments);
        let all: Vec<_> = texts.map(|((text, salt), commitment)| (text, *salt, *commitment)).collect();
        Self(all.into_iter())
    }

    fn next(&mut self) -> Result<TextCells<'a>, Fault> {
        let (text, salt, commitment) = self
            .0
            .next()
            .ok_or_else(|| Fault::Damaged("an entry has fewer texts than it says".to_owned()))?;
        // A text that was taken away is not there, which is not the same as empty.
        Ok((salt.map(|_| text.as_bytes()), salt.map(|salt| salt.0), commitment.0))
    }
}

impl Write<'_> {
    /// Appends an entry to its session's chain.
    pub(super) fn place(
        &mut self,
        session: SessionId,
        id: EntryId,
        body: &EntryBody,
        seed: &Seed,
    ) -> Result<At, Fault> {
        let link = self.link(session, id)?;
        let salts = form::salts(seed, body);
        let commitments = form::commitments(&salts, body);
        let hash = form::entry_hash(&link, body, &commitments, &|s| self.speakers.commitment(s));
        let salts: Vec<Option<Salt>> = salts.into_iter().map(Some).collect();
        self.place_as(&link, hash, body, &salts, &commitments)
    }

    /// Where the next entry of a session stands.
    pub(super) fn link(&mut self, session: SessionId, id: EntryId) -> Result<Link, Fault> {
        let recorded_at = self.at;
        let record = &self.session(session)?.session;
        Ok(Link { session, seq: record.last_seq + 1, id, recorded_at, prev: record.head })
    }

    /// Writes an entry whose hash is known.
    pub(super) fn place_as(
        &mut self,
        link: &Link,
        hash: Digest,
        body: &EntryBody,
        salts: &[Option<Salt>],
        commitments: &[Digest],
    ) -> Result<At, Fault> {
        let Link { session, seq, id, .. } = *link;
        let project = self.session(session)?.session.project;
        let title = titled(body, salts, commitments);
        let placed = Placed { id, project, session, seq, hash };
        let no = self.insert_entry(&placed, body)?;
        let at = At { placed, no };
        if !is_stub(body) {
            self.insert_body(&at, body, Texts::of(body, salts, commitments))?;
        }
        self.insert_seen(&placed, body)?;
        self.advance(&placed, body, title)?;
        Ok(at)
    }

    fn insert_entry(&self, placed: &Placed, body: &EntryBody) -> Result<i64, Fault> {
        let (kind, speaker, said_at): (_, _, Option<SaidAt>) = match body {
            EntryBody::Turn(t) => {
                (if t.quote.is_some() { "forward" } else { "turn" }, Some(t.speaker.id), t.said_at)
            }
            EntryBody::Compaction(c) => ("compaction", Some(c.speaker.id), c.said_at),
            EntryBody::Mark(_) if is_stub(body) => ("erased", None, None),
            EntryBody::Reinjection(_) => ("reinjection", None, None),
            EntryBody::Mark(_) => ("mark", None, None),
        };
        let turn = if let EntryBody::Turn(turn) = body { Some(turn) } else { None };
        let row = params![
            placed.id.to_string(),
            placed.session.to_string(),
            clamp(placed.seq),
            kind,
            self.at.0,
            placed.hash.0,
            speaker.map(|s| s.to_string()),
            said_at.map(SaidAt::ms),
            said_at.map(SaidAt::offset_minutes),
            turn.and_then(|t| t.reply_to).map(|id| id.to_string()),
            turn.and_then(|t| t.supersedes).map(|id| id.to_string()),
            turn.map(|t| t.repairs),
        ];
        match run_kept(&self.hot.entry, self.conn, NEW_ENTRY, row)? {
            0 => Err(taken(placed.id)),
            _ => Ok(self.conn.last_insert_rowid()),
        }
    }

    fn insert_body(&self, at: &At, body: &EntryBody, mut texts: Texts<'_>) -> Result<(), Fault> {
        match body {
            EntryBody::Turn(turn) => self.insert_turn(at, turn, &mut texts),
            EntryBody::Compaction(compaction) => {
                let (text, salt, commitment) = texts.next()?;
                let (session, seq) = (at.placed.session.to_string(), clamp(at.placed.seq));
                let through = clamp(compaction.through);
                let row = params![at.no, session, seq, through, text, salt, commitment];
                run(self.conn, NEW_COMPACTION, row).map(|_| ())
            }
            EntryBody::Reinjection(reinjection) => self.insert_reinjection(at, reinjection),
            EntryBody::Mark(mark) => self.insert_mark(at, mark, &mut texts),
        }
    }

    fn insert_turn(&self, at: &At, turn: &Turn, texts: &mut Texts<'_>) -> Result<(), Fault> {
        for (place, part) in (0i64..).zip(&turn.parts) {
            let cells = PartCells::of(part);
            let (text, salt, commitment) = texts.next()?;
            let row = params![
                at.no * 4096 + place,
                part.by.as_ref().map(|s| s.id.to_string()),
                cells.kind,
                cells.seal,
                cells.call_id,
                cells.tool,
                cells.outcome,
                cells.media_type,
                cells.output.map(|id| id.to_string()),
                salt,
                commitment,
                text,
            ];
            run_kept(&self.hot.part, self.conn, NEW_PART, row)?;
        }
        turn.quote.as_ref().map_or(Ok(()), |quote| self.insert_quote(at, quote, texts))
    }

    fn insert_quote(&self, at: &At, q: &Quote, texts: &mut Texts<'_>) -> Result<(), Fault> {
        let (text, salt, commitment) = texts.next()?;
        let project = q.project_title.as_ref().map(|_| texts.next()).transpose()?;
        let session = q.session_title.as_ref().map(|_| texts.next()).transpose()?;
        let row = params![
            at.no,
            at.placed.session.to_string(),
            clamp(at.placed.seq),
            state_word(None),
            q.origin.address.to_string(),
            q.origin.session_kind.as_str(),
            q.origin.channel,
            q.span.map(sayso_model::Span::start),
            q.span.map(sayso_model::Span::len),
            q.speaker.id.to_string(),
            q.said_at.map(SaidAt::ms),
            q.said_at.map(SaidAt::offset_minutes),
            q.kept,
            clamp(q.total),
            q.cut.as_str(),
            q.open_fence,
            q.nested.map(|a| a.to_string()),
            q.forwarded_by.id.to_string(),
            q.forwarded_at.0,
            q.source.0,
            text,
            salt,
            commitment,
            project.and_then(|t| t.0),
            project.and_then(|t| t.1),
            project.map(|t| t.2),
            session.and_then(|t| t.0),
            session.and_then(|t| t.1),
            session.map(|t| t.2),
        ];
        run(self.conn, NEW_QUOTE, row)?;
        for (place, hop) in (0i64..).zip(&q.hops) {
            let by = hop.by.id.to_string();
            run(self.conn, NEW_HOP, params![at.no, place, hop.address.to_string(), by, hop.at.0])?;
        }
        Ok(())
    }

    fn insert_mark(&self, at: &At, mark: &Mark, texts: &mut Texts<'_>) -> Result<(), Fault> {
        let (session, seq) = (at.placed.session.to_string(), clamp(at.placed.seq));
        let target = mark.of.map(|id| id.to_string());
        let title = mark.title.as_ref().map(|_| texts.next()).transpose()?;
        let row = params![
            at.no,
            session,
            seq,
            mark.kind.as_str(),
            target,
            mark.route,
            title.and_then(|t| t.0),
            title.and_then(|t| t.1),
            title.map(|t| t.2),
            mark.project.map(|id| id.to_string()),
        ];
        run(self.conn, NEW_MARK, row)?;
        if let Some(target) = target.filter(|_| mark.kind.is_delivery()) {
            // So that what waits is found without reading the marks of every forward.
            run(self.conn, REACHED, (target, state_word(Some(mark.kind))))?;
        }
        Ok(())
    }

    fn insert_seen(&mut self, placed: &Placed, body: &EntryBody) -> Result<(), Fault> {
        for speaker in speakers_of(body) {
            let row = (placed.project, speaker);
            let known = !self.recounted && self.memory.seen.contains(&row);
            if !known && self.seen.insert(row) {
                run(self.conn, SEEN, (placed.project.to_string(), speaker.to_string()))?;
            }
        }
        Ok(())
    }

    fn advance(&mut self, placed: &Placed, body: &EntryBody, title: Option<Sealed>) -> Result<(), Fault> {
        let at = self.at;
        let record = self.session(placed.session)?;
        if let (Some(title), EntryBody::Mark(mark)) = (title, body) {
            record.session.title = mark.title.clone().unwrap_or_default();
            record.title = title;
        }
        let session = &mut record.session;
        (session.last_seq, session.head) = (placed.seq, placed.hash);
        match body {
            EntryBody::Turn(turn) => {
                session.turns += 1;
                session.last_at = Some(turn.said_at.map_or(at, |said| UtcMs(said.ms())));
            }
            EntryBody::Mark(mark) => session.closed = mark.closes().unwrap_or(session.closed),
            EntryBody::Compaction(_) | EntryBody::Reinjection(_) => {}
        }
        self.changed.insert(placed.session);
        Ok(())
    }

    /// Writes the rows of the sessions that gained entries.
    pub(crate) fn flush(&mut self) -> Result<(), Fault> {
        for id in std::mem::take(&mut self.changed) {
            let Some(record) = self.sessions.get(&id) else { continue };
            let s = &record.session;
            let row = params![
                id.to_string(),
                s.closed,
                clamp(s.turns),
                clamp(s.last_seq),
                s.head.0,
                s.last_at.map(|at| at.0),
                record.row_digest().0,
                s.project.to_string(),
                record.title.text,
                record.title.salt.map(|salt| salt.0),
                record.title.commitment.0,
            ];
            run(self.conn, ADVANCED, row)?;
        }
        if self.forgot.take() { index::start_over(self.conn) } else { Ok(()) }
    }

    /// Keeps what a key stands for.
    pub(super) fn remember(
        &self,
        at: &At,
        kind: &'static str,
        key: Option<&str>,
        content: impl FnOnce() -> Vec<u8>,
        seed: &Seed,
    ) -> Result<(), Fault> {
        let Some(key) = key else { return Ok(()) };
        let salt = seed.salt(KEY_SALT);
        let content = commit(&salt, &content());
        let session = at.placed.session;
        self.insert_key(session, (kind, key), (salt, content), (at.no, at.placed.id))
    }

    pub(super) fn insert_key(
        &self,
        session: SessionId,
        (kind, key): (&str, &str),
        (salt, content): (Salt, Digest),
        (no, entry): (i64, EntryId),
    ) -> Result<(), Fault> {
        let digest = row::key(session, kind, key, content, entry);
        let row = params![session.to_string(), kind, key, salt.0, content.0, no, digest.0];
        run(self.conn, NEW_KEY, row).map(|_| ())
    }
}

/// The title that an entry gives its session, as the session's row keeps it.
fn titled(body: &EntryBody, salts: &[Option<Salt>], commitments: &[Digest]) -> Option<Sealed> {
    let EntryBody::Mark(Mark { title: Some(title), .. }) = body else { return None };
    let (salt, commitment) = (salts.first().copied().flatten(), *commitments.first()?);
    Some(Sealed { text: salt.map(|_| title.as_bytes().to_vec()), salt, commitment })
}

/// Whether only place and hash are left of an entry.
pub(crate) fn is_stub(body: &EntryBody) -> bool {
    matches!(body, EntryBody::Mark(Mark { kind: MarkKind::Erased, of: None, .. }))
}

/// Everyone who stands in an entry.
pub(crate) fn speakers_of(body: &EntryBody) -> Vec<SpeakerId> {
    body.speakers().into_iter().map(|speaker| speaker.id).collect()
}
