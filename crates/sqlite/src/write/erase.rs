//! The first transaction of erasing: out of sight, and what is to be done written down.

use std::collections::BTreeSet;

use sayso_model::{EntryBody, EntryId, Mark, MarkKind, ProjectId, Seed, SessionId, SpeakerId, UtcMs};
use sayso_store::{Alias, Forks, Placed, Redaction, Refusal};

use super::life::FORKS;
use super::{Write, unknown_turn};
use crate::cells::{all, one, run};
use crate::erase::{plan, tombstone};
use crate::fault::Fault;
use crate::read::turns::place;

const SESSIONS: (&str, &str) =
    ("session", "SELECT id FROM session WHERE project = ?1 AND erasing = 0 ORDER BY id");
const SESSION_ALIASES: (&str, &str) =
    ("session_alias", "SELECT kind, value FROM session_alias WHERE session = ?1 AND kind <> 'name'");
const HIDE_SESSION: &str = "UPDATE session SET erasing = 1 WHERE id = ?1";
const NOTHING_WAITS: &str = "UPDATE quote SET state = 'in_context' WHERE session = ?1";
const HIDE_PROJECT: &str = "UPDATE project SET erasing = 1 WHERE id = ?1";
const LED: (&str, &str) = ("project", "SELECT id FROM project WHERE merged_into = ?1 ORDER BY id");
const SEEN: (&str, &str) = ("speaker_seen", "SELECT speaker FROM speaker_seen WHERE project = ?1");
const KIND: (&str, &str) = ("entry", "SELECT no, kind FROM entry WHERE id = ?1");
const EMPTY: &[&str] = &[
    "DELETE FROM hop WHERE entry = ?1",
    "DELETE FROM quote WHERE entry = ?1",
    "DELETE FROM compaction WHERE entry = ?1",
    "DELETE FROM part WHERE no BETWEEN ?1 * 4096 AND ?1 * 4096 + 4095",
    "UPDATE entry SET kind = 'erased', speaker = NULL, said_at = NULL, said_offset = NULL, reply_to = NULL, \
     supersedes = NULL, repairs = NULL WHERE no = ?1",
];
const TURNS: (&str, &str) =
    ("entry", "SELECT count(*) FROM entry WHERE session = ?1 AND kind IN ('turn', 'forward')");
const LAST_TURN: (&str, &str) = (
    "entry",
    "SELECT coalesce(said_at, recorded_at) FROM entry WHERE session = ?1 AND kind IN ('turn', 'forward') \
     ORDER BY seq DESC LIMIT 1",
);

impl Write<'_> {
    pub(crate) fn erase_project(&mut self, given: ProjectId, forks: Forks) -> Result<(), Fault> {
        let id = self.project(given)?;
        let sessions = all(self.conn, SESSIONS, [id.to_string()], |c| c.parse())?;
        self.hide_sessions(id, &sessions, forks)?;
        self.hide_project(id)?;
        plan(self.conn, "project", &id.to_string())?;
        self.plan_speakers()
    }

    fn hide_project(&self, id: ProjectId) -> Result<(), Fault> {
        run(self.conn, HIDE_PROJECT, [id.to_string()])?;
        tombstone::set(self.conn, &tombstone::project(id))?;
        for led in all(self.conn, LED, [id.to_string()], |c| c.parse())? {
            self.hide_project(led)?;
        }
        Ok(())
    }

    pub(crate) fn erase_session(&mut self, id: SessionId, forks: Forks) -> Result<(), Fault> {
        let project = self.session(id)?.session.project;
        self.hide_sessions(project, &[id], forks)?;
        self.plan_speakers()
    }

    /// Puts sessions and, where that is asked, their forks out of sight. Forks are erased before what they share.
    fn hide_sessions(
        &mut self,
        project: ProjectId,
        sessions: &[SessionId],
        forks: Forks,
    ) -> Result<(), Fault> {
        let before = self.seen_in(project)?;
        let mut list: Vec<SessionId> = sessions.to_vec();
        let mut known: BTreeSet<SessionId> = sessions.iter().copied().collect();
        loop {
            let mut outside = BTreeSet::new();
            for session in &known {
                let found = all(self.conn, FORKS, [session.to_string()], |c| c.parse::<SessionId>())?;
                outside.extend(found.into_iter().filter(|f| !known.contains(f)).map(|fork| (fork, *session)));
            }
            if outside.is_empty() {
                break;
            }
            if let (Some((fork, session)), Forks::Refuse) = (outside.first(), forks) {
                return Err(Refusal::HasForks { session: *session, fork: *fork }.into());
            }
            known.extend(outside.iter().map(|(fork, _)| *fork));
            list.extend(outside.into_iter().map(|(fork, _)| fork));
        }
        for session in self.forks_first(list)? {
            self.hide_session(session)?;
        }
        self.recount_seen(&[project])?;
        let after = self.seen_in(project)?;
        self.leaving.extend(before.difference(&after));
        Ok(())
    }

    /// The same sessions, each after those that were forked off it.
    fn forks_first(&self, sessions: Vec<SessionId>) -> Result<Vec<SessionId>, Fault> {
        let mut left: BTreeSet<SessionId> = sessions.into_iter().collect();
        let mut ordered = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let mut next = Vec::new();
            for session in &left {
                let forks = all(self.conn, FORKS, [session.to_string()], |c| c.parse::<SessionId>())?;
                if !forks.iter().any(|fork| left.contains(fork)) {
                    next.push(*session);
                }
            }
            if next.is_empty() {
                return Err(Fault::Damaged("sessions were forked off each other in a circle".to_owned()));
            }
            left.retain(|session| !next.contains(session));
            ordered.extend(next);
        }
        Ok(ordered)
    }

    fn hide_session(&mut self, id: SessionId) -> Result<(), Fault> {
        let text = id.to_string();
        let aliases = all(self.conn, SESSION_ALIASES, [&text], |c| Ok(Alias::new(c.text()?, c.text()?)))?;
        for alias in aliases {
            tombstone::set(self.conn, &tombstone::alias(&alias))?;
        }
        tombstone::set(self.conn, &tombstone::session(id))?;
        run(self.conn, HIDE_SESSION, [&text])?;
        run(self.conn, NOTHING_WAITS, [&text])?;
        self.sessions.remove(&id);
        plan(self.conn, "session", &text)
    }

    pub(super) fn seen_in(&self, project: ProjectId) -> Result<BTreeSet<SpeakerId>, Fault> {
        Ok(all(self.conn, SEEN, [project.to_string()], |c| c.parse())?.into_iter().collect())
    }

    /// Who stood in what is erased may stand nowhere else; that is looked at when the rest is gone.
    fn plan_speakers(&mut self) -> Result<(), Fault> {
        for id in std::mem::take(&mut self.leaving) {
            plan(self.conn, "speaker", &id.to_string())?;
        }
        Ok(())
    }

    pub(crate) fn erase_entry(&mut self, id: EntryId, mark: EntryId, seed: &Seed) -> Result<(), Fault> {
        let Some(placed) = place(self.conn, self.scope, id)? else { return Err(unknown_turn(id)) };
        let row = one(self.conn, KIND, [id.to_string()], |c| Ok((c.int()?, c.text()?)))?;
        let (no, kind) = row.ok_or_else(|| unknown_turn(id))?;
        if !["turn", "forward", "compaction"].contains(&kind.as_str()) {
            return Err(Refusal::NothingToRedact(id).into());
        }
        let before = self.seen_in(placed.project)?;
        self.empty(no, &placed)?;
        let body = EntryBody::Mark(Mark::new(MarkKind::Erased, Some(id), ""));
        self.place(placed.session, mark, &body, seed)?;
        self.left(placed.project, &before)
    }

    /// Leaves only place and hash of an entry.
    pub(super) fn empty(&mut self, no: i64, placed: &Placed) -> Result<(), Fault> {
        self.wipe(no, placed, Redaction::Whole)?;
        EMPTY.iter().try_for_each(|sql| run(self.conn, sql, [no]).map(|_| ()))?;
        self.forget_turn(placed.id)?;
        tombstone::set(self.conn, &tombstone::entry(placed.id))?;
        self.count_turns(placed.session)
    }

    /// Finds out again who stands in a project, and plans for those that left it.
    pub(super) fn left(&mut self, project: ProjectId, before: &BTreeSet<SpeakerId>) -> Result<(), Fault> {
        self.recount_seen(&[project])?;
        let after = self.seen_in(project)?;
        self.leaving.extend(before.difference(&after));
        self.plan_speakers()
    }

    fn count_turns(&mut self, id: SessionId) -> Result<(), Fault> {
        let text = id.to_string();
        let turns = one(self.conn, TURNS, [&text], |c| c.number())?.unwrap_or(0);
        let last_at = one(self.conn, LAST_TURN, [&text], |c| c.int())?.map(UtcMs);
        let session = &mut self.session(id)?.session;
        (session.turns, session.last_at) = (turns, last_at);
        Ok(())
    }
}
