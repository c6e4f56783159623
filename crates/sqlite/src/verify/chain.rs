//! Sessions: their rows, and every entry's hash again from what is stored.

use sayso_model::form::{self, Link};
use sayso_model::{Digest, EntryBody, ProjectId, SessionId, UtcMs};
use sayso_store::{Session, SessionHead};

use super::{Look, Where};
use crate::cells::one;
use crate::fault::Fault;
use crate::read::clamp;
use crate::read::load::{Loaded, load};
use crate::read::taken;
use crate::read::turns::{HASH_AT, RUN};
use crate::rows::{SessionRecord, Speakers, Trust, resolve, session_columns};
use crate::write::{is_stub, speakers_of};

const SESSIONS: (&str, &str) =
    ("session", concat!("SELECT ", session_columns!(), " FROM session s WHERE s.erasing = 0 ORDER BY s.id"));
const NEXT: (&str, &str) = ("entry", "SELECT min(seq) FROM entry WHERE session = ?1 AND seq >= ?2");

/// Entries that are held at once.
const PAGE: u64 = 256;

/// How far the walk along one session came, and what it counted.
struct Walk {
    session: SessionId,
    /// The place that comes next.
    next: u64,
    /// The hash before it; `None` where that entry is missing or cannot be read.
    prev: Option<Digest>,
    turns: u64,
    last_at: Option<UtcMs>,
    closed: bool,
    /// The project that the entries say it belongs to, before merges.
    project: ProjectId,
    /// The commitment to the title that the entries say it has.
    title: Digest,
}

impl Look<'_> {
    pub(super) fn sessions(&mut self) -> Result<(), Fault> {
        let mut speakers = Speakers::new(Trust::AsItStands);
        self.rows(SESSIONS, [], |look, c| {
            let record = SessionRecord::read(c)?;
            look.session_row(&record)?;
            let session = &record.session;
            look.report.heads.push(SessionHead {
                project: session.project,
                session: session.id,
                seq: session.last_seq,
                hash: session.head,
            });
            let walk = look.walk(&record, &mut speakers)?;
            look.compare(session, &walk);
            look.compare_row(&record, &walk)
        })
    }

    fn session_row(&mut self, record: &SessionRecord) -> Result<(), Fault> {
        let at = Where::session(record.session.id);
        if record.digest != record.row_digest() {
            self.problem(at, "the session's row is not what was written");
        }
        if record.genesis != record.genesis_again(self.ledger) {
            self.problem(at, "the session's beginning is not what was written");
        }
        if let Some(fork) = record.session.fork {
            let point = one(self.conn, HASH_AT, (fork.session.to_string(), clamp(fork.seq)), |c| c.digest());
            if !matches!(point, Ok(found) if found == record.fork_hash) {
                self.problem(at, "the entry where the session was forked off is not what it was");
            }
        }
        let title = record.title.clone().open_kept();
        let gone = matches!(title, Ok(None));
        if title.is_err() || (gone && !taken::in_view(self.conn, record.session.id)?) {
            self.problem(at, "the session's title is not what was written");
        }
        Ok(())
    }

    fn walk(&mut self, record: &SessionRecord, speakers: &mut Speakers<'_>) -> Result<Walk, Fault> {
        let session = record.session.id;
        let mut walk = Walk {
            session,
            next: record.session.fork.map_or(0, |f| f.seq) + 1,
            prev: Some(record.fork_hash.unwrap_or(record.genesis)),
            turns: 0,
            last_at: None,
            closed: false,
            project: record.first_project,
            title: record.first_title,
        };
        let id = session.to_string();
        while let Some(first) =
            one(self.conn, NEXT, (&id, clamp(walk.next)), |c| c.number_opt::<u64>())?.flatten()
        {
            let last = first.saturating_add(PAGE - 1);
            self.gap(&mut walk, first);
            walk.next = first;
            match load(self.conn, &RUN, &[&id, &clamp(first), &clamp(last)], speakers) {
                Ok(page) => page.iter().for_each(|loaded| self.entry(&mut walk, loaded, speakers)),
                // One row of the page cannot be read: each is looked at by itself.
                Err(Fault::Damaged(_)) => self.one_by_one(&mut walk, first, last, speakers)?,
                Err(other) => return Err(other),
            }
            if walk.next == first {
                return Err(Fault::Damaged(format!(
                    "entry {first} of session {session} cannot be found again"
                )));
            }
        }
        Ok(walk)
    }

    fn one_by_one(
        &mut self,
        walk: &mut Walk,
        first: u64,
        last: u64,
        speakers: &mut Speakers<'_>,
    ) -> Result<(), Fault> {
        let id = walk.session.to_string();
        for seq in first..=last {
            let loaded = load(self.conn, &RUN, &[&id, &clamp(seq), &clamp(seq)], speakers);
            match self.note(Where::place(walk.session, seq, None), loaded)? {
                Some(found) => found.iter().for_each(|loaded| self.entry(walk, loaded, speakers)),
                None => {
                    self.gap(walk, seq);
                    (walk.next, walk.prev) = (seq + 1, None);
                }
            }
        }
        Ok(())
    }

    /// Names what is missing before a place.
    fn gap(&mut self, walk: &mut Walk, seq: u64) {
        if walk.next < seq {
            let what = match seq - walk.next {
                1 => "the entry is missing".to_owned(),
                n => format!("{n} entries are missing from here"),
            };
            self.problem(Where::place(walk.session, walk.next, None), what);
            walk.prev = None;
        }
    }

    fn entry(&mut self, walk: &mut Walk, loaded: &Loaded, speakers: &Speakers<'_>) {
        let entry = &loaded.entry;
        let at = Where::place(entry.session, entry.seq, Some(entry.id));
        self.report.entries += 1;
        self.gap(walk, entry.seq);
        for flaw in &loaded.flaws {
            self.problem(at, flaw.clone());
        }
        // Of an erased entry only place and hash are left.
        if let Some(prev) = walk.prev.filter(|_| !is_stub(&entry.body)) {
            let link = Link {
                session: entry.session,
                seq: entry.seq,
                id: entry.id,
                recorded_at: entry.recorded_at,
                prev,
            };
            let names = |id| speakers.commitment(id);
            if form::entry_hash(&link, &entry.body, &loaded.commitments, &names) != entry.hash {
                self.problem(at, "its hash does not fit what is stored, or the entry before it");
            }
        }
        for speaker in speakers_of(&entry.body) {
            self.seen.insert((entry.project, speaker));
        }
        walk.take(loaded);
    }

    fn compare(&mut self, session: &Session, walk: &Walk) {
        let found = walk.next - 1;
        if found < session.last_seq {
            let what = match session.last_seq - found {
                1 => "the session's last entry is missing".to_owned(),
                n => format!("the session's last {n} entries are missing"),
            };
            self.problem(Where::place(session.id, walk.next, None), what);
            return;
        }
        let at = Where::place(session.id, found, None);
        if found > session.last_seq {
            self.problem(at, format!("the session's row says it ends at {}", session.last_seq));
        } else if walk.prev.is_some_and(|prev| prev != session.head) {
            self.problem(at, "the session's head is not the hash of its last entry");
        }
        let counted = (walk.turns, walk.last_at, walk.closed);
        if counted != (session.turns, session.last_at, session.closed) {
            self.problem(at, "the session's row does not fit its entries (turns, last time or closed)");
        }
    }
}

impl Look<'_> {
    /// What entries and merges say, against the session's row.
    fn compare_row(&mut self, record: &SessionRecord, walk: &Walk) -> Result<(), Fault> {
        let session = &record.session;
        let at = Where::session(session.id);
        if walk.title != record.title.commitment {
            self.problem(at, "the session's title is not the one that its entries gave it");
        }
        let project = self.note(at, resolve(self.conn, walk.project))?;
        if project.is_some_and(|found| found != Some(session.project)) {
            self.problem(at, "the session's project is not the one that its entries and merges name");
        }
        Ok(())
    }
}

impl Walk {
    fn take(&mut self, loaded: &Loaded) {
        let entry = &loaded.entry;
        (self.next, self.prev) = (entry.seq + 1, Some(entry.hash));
        match &entry.body {
            EntryBody::Turn(turn) => {
                self.turns += 1;
                self.last_at = Some(turn.said_at.map_or(entry.recorded_at, |said| UtcMs(said.ms())));
            }
            EntryBody::Mark(mark) => {
                self.closed = mark.closes().unwrap_or(self.closed);
                self.project = mark.project.unwrap_or(self.project);
                self.title = loaded.commitments.first().copied().unwrap_or(self.title);
            }
            EntryBody::Compaction(_) | EntryBody::Reinjection(_) => {}
        }
    }
}
