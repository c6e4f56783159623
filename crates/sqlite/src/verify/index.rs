//! The index of the search: its tables are there and can be asked, and every turn that they should hold is found.

use sayso_model::SessionId;

use super::{Look, Where};
use crate::cells::{all, one};
use crate::fault::Fault;
use crate::search::words;

const SESSIONS: (&str, &str) = ("session", "SELECT id FROM session WHERE erasing = 0 ORDER BY id");
/// Turns of a session that are said to be in the index and are not found there.
const HIDDEN: (&str, &str) = (
    "turn_words",
    "SELECT count(*) FROM entry WHERE session = ?1 AND kind IN ('turn', 'forward') \
     AND no <= (SELECT indexed FROM search_state) \
     AND no NOT IN (SELECT rowid FROM turn_words WHERE turn_words MATCH ?2)",
);
const OUTPUTS: (&str, &str) =
    ("output_words", "SELECT count(*) FROM output_words WHERE output_words MATCH ?1");

impl Look<'_> {
    /// Damage in the index is named as such: the index can be made anew, and what was said is not part of it.
    pub(super) fn index(&mut self) -> Result<(), Fault> {
        let done = self.hidden();
        let before = self.report.problems.len();
        self.note(Where::default(), done)?;
        for problem in self.report.problems.iter_mut().skip(before) {
            problem.what = format!("the index of the search is damaged ({}): {NEXT}", problem.what);
        }
        Ok(())
    }

    fn hidden(&mut self) -> Result<(), Fault> {
        one(self.conn, OUTPUTS, [words::asked(SessionId::from_u128(0))], |c| c.int())?;
        for session in all(self.conn, SESSIONS, [], |c| c.text())? {
            // A row without an id is named where sessions are looked at.
            let Ok(session) = session.parse::<SessionId>() else { continue };
            let asked = (session.to_string(), words::asked(session));
            let hidden = one(self.conn, HIDDEN, asked, |c| c.int())?.unwrap_or(0);
            if hidden > 0 {
                let what = format!("{hidden} turns are missing from the index of the search: {NEXT}");
                self.problem(Where::session(session), what);
            }
        }
        Ok(())
    }
}

const NEXT: &str = "`sayso doctor --reindex` makes it anew from the turns";
