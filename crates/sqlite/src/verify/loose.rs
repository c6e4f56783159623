//! Rows that no longer hang together: children without an entry, entries without a session, states without a mark.

use super::{Look, Where};
use crate::erase::tombstone;
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
        "the session stands in a project that was merged into another",
        "SELECT s.id, NULL, NULL, NULL FROM session s JOIN project p ON p.id = s.project \
         WHERE p.merged_into IS NOT NULL",
    ),
    (
        "an entry stands before the place where its session was forked off",
        "SELECT e.session, e.seq, e.id, e.no FROM session s JOIN entry e ON e.session = s.id \
         WHERE s.parent IS NOT NULL AND e.seq <= s.fork_seq",
    ),
    (
        "the session is out of sight, and nothing is to be erased",
        "SELECT s.id, NULL, NULL, NULL FROM session s WHERE s.erasing = 1 AND NOT EXISTS (SELECT 1 FROM erasure)",
    ),
    (
        "the entry is empty, and no mark says that it was erased",
        "SELECT e.session, e.seq, e.id, e.no FROM entry e WHERE e.kind = 'erased' AND NOT EXISTS (SELECT 1 FROM mark m \
         WHERE m.target = e.id AND m.kind = 'erased')",
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
         JOIN session s ON s.id = q.session AND s.erasing = 0 WHERE q.state <> coalesce( \
         (SELECT m.kind FROM mark m WHERE m.target = e.id \
         AND m.kind IN ('offered', 'in_context') ORDER BY m.seq DESC LIMIT 1), 'recorded')",
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
        "a re-injection's row does not fit its entry",
        "SELECT r.session, r.seq, e.id, r.entry FROM reinjection r LEFT JOIN entry e ON e.no = r.entry \
         WHERE e.no IS NULL OR e.kind <> 'reinjection' OR e.session <> r.session OR e.seq <> r.seq",
    ),
    (
        "a range belongs to no re-injection",
        "SELECT e.session, e.seq, e.id, i.entry FROM reinjected i LEFT JOIN entry e ON e.no = i.entry \
         WHERE NOT EXISTS (SELECT 1 FROM reinjection r WHERE r.entry = i.entry)",
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
        "a stream belongs to no output",
        "SELECT NULL, NULL, NULL, NULL FROM output_stream t \
         WHERE NOT EXISTS (SELECT 1 FROM output o WHERE o.id = t.output)",
    ),
    (
        "a growing stream belongs to no output, or to one that is not partial",
        "SELECT NULL, NULL, NULL, g.blob FROM growing_stream g \
         WHERE NOT EXISTS (SELECT 1 FROM output o WHERE o.id = g.output AND o.state = 'partial')",
    ),
    (
        "a growing stream does not fit the blob that it is written into",
        "SELECT NULL, NULL, NULL, g.blob FROM growing_stream g \
         WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.no = g.blob AND b.hash IS NULL AND b.bytes = g.bytes)",
    ),
    (
        "a chunk belongs to no blob",
        "SELECT NULL, NULL, NULL, c.no FROM chunk c \
         WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.no = c.no >> 24)",
    ),
];

/// Rows with values that their kind never has, or with half of what belongs together: session, seq, id of the entry, and a
/// number that names the row. They alter no answer of Sayso's, but what people see who open the file.
const STRAY: &[(&str, &str)] = &[
    (
        "the entry's row holds what its kind never has",
        "SELECT e.session, e.seq, e.id, e.no FROM entry e \
         WHERE (e.kind IN ('turn', 'forward') AND e.repairs IS NULL) \
         OR (e.kind NOT IN ('turn', 'forward') AND coalesce(e.reply_to, e.supersedes, e.repairs) IS NOT NULL) \
         OR (e.kind IN ('mark', 'reinjection', 'erased') AND coalesce(e.speaker, e.said_at, e.said_offset) IS NOT NULL)",
    ),
    (
        "a part's row holds what its kind never has",
        "SELECT e.session, e.seq, e.id, p.no FROM part p LEFT JOIN entry e ON e.no = p.no >> 12 \
         WHERE (p.seal IS NOT NULL AND p.kind <> 'reasoning') \
         OR (coalesce(p.call_id, p.tool) IS NOT NULL AND p.kind NOT IN ('tool_call', 'tool_result')) \
         OR (p.outcome IS NOT NULL AND p.kind <> 'tool_result') \
         OR (p.media_type IS NOT NULL AND p.kind <> 'attachment') \
         OR (p.output IS NOT NULL AND p.kind NOT IN ('tool_result', 'attachment'))",
    ),
    (
        "a mark's row holds what its kind never has",
        "SELECT m.session, m.seq, e.id, m.entry FROM mark m LEFT JOIN entry e ON e.no = m.entry \
         WHERE (m.kind <> 'renamed' AND coalesce(m.title, m.title_salt, m.title_commitment) IS NOT NULL) \
         OR (m.kind <> 'moved' AND m.project IS NOT NULL)",
    ),
    (
        "a quote's row holds half of a selection",
        "SELECT q.session, q.seq, e.id, q.entry FROM quote q LEFT JOIN entry e ON e.no = q.entry \
         WHERE (q.span_start IS NULL) <> (q.span_len IS NULL)",
    ),
    (
        "the hops of a quote are not numbered from 0",
        "SELECT e.session, e.seq, e.id, h.entry FROM hop h LEFT JOIN entry e ON e.no = h.entry \
         GROUP BY h.entry HAVING min(h.place) <> 0 OR max(h.place) <> count(*) - 1",
    ),
    (
        "the ranges of a re-injection are not numbered from 0",
        "SELECT e.session, e.seq, e.id, i.entry FROM reinjected i LEFT JOIN entry e ON e.no = i.entry \
         GROUP BY i.entry HAVING min(i.place) <> 0 OR max(i.place) <> count(*) - 1",
    ),
    (
        "the session's row holds a part of a fork point",
        "SELECT s.id, NULL, NULL, NULL FROM session s \
         WHERE (s.parent IS NULL) <> (s.fork_seq IS NULL) OR (s.parent IS NULL) <> (s.fork_hash IS NULL)",
    ),
    (
        "a key has no salt, and its text was not taken away",
        "SELECT k.session, e.seq, e.id, NULL FROM caller_key k LEFT JOIN entry e ON e.no = k.entry \
         WHERE k.salt IS NULL AND k.value NOT LIKE 'forgotten %'",
    ),
];

const WITHOUT_OUTPUT: (&str, &str) = (
    "part",
    "SELECT e.session, e.seq, e.id, p.no, p.output FROM part p JOIN entry e ON e.no = p.no >> 12 \
     JOIN session s ON s.id = e.session \
     WHERE p.output IS NOT NULL AND p.salt IS NOT NULL AND s.origin IS NULL AND NOT EXISTS (SELECT 1 FROM output o WHERE o.id = p.output)",
);

const RANGES_WITHOUT_OUTPUT: (&str, &str) = (
    "reinjected",
    "SELECT e.session, e.seq, e.id, i.place, i.output FROM reinjected i JOIN entry e ON e.no = i.entry \
     JOIN session s ON s.id = e.session \
     WHERE i.output IS NOT NULL AND s.origin IS NULL AND NOT EXISTS (SELECT 1 FROM output o WHERE o.id = i.output)",
);

impl Look<'_> {
    /// Outputs that parts and re-injections name and that are not there, unless they were erased, went with the
    /// text of the part, or are of a session that came through an export and may not have come along.
    pub(super) fn outputs_named(&mut self) -> Result<(), Fault> {
        self.missing_outputs(WITHOUT_OUTPUT, "the output that a part names does not exist")?;
        self.missing_outputs(RANGES_WITHOUT_OUTPUT, "the output that a re-injection names does not exist")
    }

    fn missing_outputs(&mut self, query: (&'static str, &str), what: &str) -> Result<(), Fault> {
        self.rows(query, [], |look, c| {
            let at = Where { session: c.parse_opt()?, seq: c.number_opt()?, entry: c.parse_opt()? };
            let (row, output) = (c.int()?, c.parse()?);
            if !tombstone::stands(look.conn, &tombstone::output(output))? {
                look.problem(at, format!("{what} (row {row})"));
            }
            Ok(())
        })
    }

    pub(super) fn loose_rows(&mut self) -> Result<(), Fault> {
        for (what, sql) in LOOSE.iter().chain(STRAY) {
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
