//! Rows that no longer hang together: children without an entry, entries without a session, states without a mark.

use super::{Look, Where};
use crate::fault::Fault;

/// What is wrong with the rows that a query finds: session, seq, id of the entry, and a number that names the row.
const LOOSE: &[(&str, &str)] = &[
    (
        "the entry's session does not exist",
        "SELECT e.session, e.seq, e.id, e.no FROM entry e \
         WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.id = e.session)",
    ),
    (
        "the session's project does not exist",
        "SELECT s.id, NULL, NULL, NULL FROM session s \
         WHERE NOT EXISTS (SELECT 1 FROM project p WHERE p.id = s.project)",
    ),
    (
        "a part belongs to no turn",
        "SELECT e.session, e.seq, e.id, p.no FROM part p LEFT JOIN entry e ON e.no = p.no >> 12 \
         WHERE e.no IS NULL OR e.kind NOT IN ('turn', 'forward')",
    ),
    (
        "a quote's row does not fit its entry",
        "SELECT q.session, q.seq, e.id, q.entry FROM quote q LEFT JOIN entry e ON e.no = q.entry \
         WHERE e.no IS NULL OR e.kind <> 'forward' OR e.session <> q.session OR e.seq <> q.seq",
    ),
    (
        "a quote's row does not fit its marks",
        "SELECT q.session, q.seq, e.id, q.entry FROM quote q JOIN entry e ON e.no = q.entry \
         WHERE q.state <> coalesce((SELECT m.kind FROM mark m WHERE m.target = e.id \
         AND m.kind IN ('offered', 'in_context') ORDER BY m.seq DESC LIMIT 1), \
         'recorded')",
    ),
    (
        "a hop belongs to no quote",
        "SELECT e.session, e.seq, e.id, h.entry FROM hop h LEFT JOIN entry e ON e.no = h.entry \
         WHERE NOT EXISTS (SELECT 1 FROM quote q WHERE q.entry = h.entry)",
    ),
    (
        "a compaction's row does not fit its entry",
        "SELECT c.session, c.seq, e.id, c.entry FROM compaction c LEFT JOIN entry e ON e.no = c.entry \
         WHERE e.no IS NULL OR e.kind <> 'compaction' OR e.session <> c.session OR e.seq <> c.seq",
    ),
    (
        "a mark's row does not fit its entry",
        "SELECT m.session, m.seq, e.id, m.entry FROM mark m LEFT JOIN entry e ON e.no = m.entry \
         WHERE e.no IS NULL OR e.kind <> 'mark' OR e.session <> m.session OR e.seq <> m.seq",
    ),
    (
        "an output's session does not exist",
        "SELECT o.session, NULL, NULL, NULL FROM output o \
         WHERE NOT EXISTS (SELECT 1 FROM session s WHERE s.id = o.session)",
    ),
    (
        "the output that a part names does not exist",
        "SELECT e.session, e.seq, e.id, p.no FROM part p JOIN entry e ON e.no = p.no >> 12 \
         WHERE p.output IS NOT NULL AND NOT EXISTS (SELECT 1 FROM output o WHERE o.id = p.output)",
    ),
    (
        "a stream belongs to no output",
        "SELECT NULL, NULL, NULL, NULL FROM output_stream t \
         WHERE NOT EXISTS (SELECT 1 FROM output o WHERE o.id = t.output)",
    ),
    (
        "a chunk belongs to no blob",
        "SELECT NULL, NULL, NULL, c.no FROM chunk c \
         WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.no = c.no >> 24)",
    ),
];

impl Look<'_> {
    pub(super) fn loose_rows(&mut self) -> Result<(), Fault> {
        for (what, sql) in LOOSE {
            self.rows(("the tables", sql), [], |look, c| {
                let at = Where { session: c.parse_opt()?, seq: c.number_opt()?, entry: c.parse_opt()? };
                let row = c.int_opt()?.map(|no| format!(" (row {no})")).unwrap_or_default();
                look.problem(at, format!("{what}{row}"));
                Ok(())
            })?;
        }
        Ok(())
    }
}
