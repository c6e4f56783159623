//! Loading entries: one statement for entries and parts together, and one for each sort of child that occurs.

use std::collections::HashMap;

use rusqlite::{Connection, ToSql};
use sayso_model::{
    Address, Compaction, Digest, Entry, EntryBody, EntryId, Kept, Layout, Mark, MarkKind, Part, ProjectId,
    Reinjection, SaidAt, Salt, SessionId, SpeakerId, Turn, UtcMs,
};

use super::child::{self, CompactionRow, Gone, MarkRow, QuoteRow};
use super::part::{PartRow, kept};
use super::taken;
use crate::cells::{Before, Cells, Next, all, each};
use crate::fault::Fault;
use crate::rows::Speakers;

/// Which entries, as the statements that read them. All of them take the same parameters.
pub(crate) struct Selection {
    pub(crate) entries: &'static str,
    pub(crate) quotes: &'static str,
    pub(crate) hops: &'static str,
    pub(crate) compactions: &'static str,
    pub(crate) reinjections: &'static str,
    pub(crate) marks: &'static str,
}

/// A selection: where the entries `e` come from, what they must satisfy, in which order they are wanted.
macro_rules! selection {
    ($from:literal, $where:literal, $order:literal) => {
        $crate::read::load::Selection {
            entries: concat!(
                "SELECT e.no, e.id, s.project, e.session, e.seq, e.kind, e.recorded_at, e.hash, e.speaker, \
                 e.said_at, e.said_offset, e.reply_to, e.supersedes, e.repairs, ", $crate::read::part::part_columns!(),
                " FROM ", $from, " JOIN session s ON s.id = e.session \
                 LEFT JOIN part p ON p.no BETWEEN e.no * 4096 AND e.no * 4096 + 4095 \
                 WHERE ", $where, " ORDER BY ", $order, ", p.no"
            ),
            quotes: concat!(
                "SELECT e.no, x.state, x.origin, x.origin_kind, x.origin_channel, x.span_start, x.span_len, x.speaker, \
                 x.said_at, x.said_offset, x.kept, x.total, x.cut, x.open_fence, x.nested, x.forwarded_by, \
                 x.forwarded_at, x.source, x.salt, x.commitment, x.text, x.project_title_salt, \
                 x.project_title_commitment, x.project_title, x.session_title_salt, x.session_title_commitment, \
                 x.session_title FROM ", $from, " JOIN quote x ON x.entry = e.no \
                 WHERE e.kind = 'forward' AND ", $where
            ),
            hops: concat!(
                "SELECT e.no, h.address, h.speaker, h.at FROM ", $from, " JOIN hop h ON h.entry = e.no \
                 WHERE e.kind = 'forward' AND ", $where, " ORDER BY ", $order, ", h.place"
            ),
            compactions: concat!(
                "SELECT e.no, x.through, x.salt, x.commitment, x.text FROM ", $from,
                " JOIN compaction x ON x.entry = e.no WHERE e.kind = 'compaction' AND ", $where
            ),
            reinjections: concat!(
                "SELECT e.no, x.compaction, x.layout, i.turn, i.part, i.output, i.stream, i.unit, i.first, i.second, \
                 i.why, i.call_id, i.tool, i.outcome, i.seq, i.at FROM ", $from,
                " JOIN reinjection x ON x.entry = e.no JOIN reinjected i ON i.entry = e.no \
                 WHERE e.kind = 'reinjection' AND ", $where, " ORDER BY e.no, i.place"
            ),
            marks: concat!(
                "SELECT e.no, ", $crate::read::child::mark_columns!(), " FROM ", $from,
                " JOIN mark x ON x.entry = e.no WHERE e.kind = 'mark' AND ", $where
            ),
        }
    };
}
pub(crate) use selection;

/// The column of [`Selection::entries`] where the part starts.
const PART: usize = 14;

/// An entry with what its hash was taken over, and what is wrong with it.
pub(crate) struct Loaded {
    pub(crate) entry: Entry,
    pub(crate) commitments: Vec<Digest>,
    /// The salts of its texts, in the same order; `None` where a text was taken away.
    pub(crate) salts: Vec<Option<Salt>>,
    /// How far a forward got, as its row says.
    pub(crate) state: Option<String>,
    pub(crate) flaws: Vec<String>,
}

impl Loaded {
    /// The entry, if nothing is wrong with it.
    pub(crate) fn sound(self) -> Result<Self, Fault> {
        match self.flaws.first() {
            Some(flaw) => Err(Fault::Damaged(format!(
                "entry {} of session {}, {}: {flaw}",
                self.entry.seq, self.entry.session, self.entry.id
            ))),
            None => Ok(self),
        }
    }
}

/// Entries with all that hangs on them; flaws are kept beside each.
pub(crate) fn load(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
    speakers: &mut Speakers<'_>,
) -> Result<Vec<Loaded>, Fault> {
    let raw = raw_entries(conn, selection, params)?;
    let any = |kind: Kind| raw.iter().any(|r| r.kind == kind);
    let mut children = Children::default();
    if any(Kind::Forward) {
        children.quotes = child::quotes(conn, selection, params, speakers)?;
    }
    if any(Kind::Compaction) {
        children.compactions = child::compactions(conn, selection, params)?;
    }
    if any(Kind::Reinjection) {
        children.reinjections = child::reinjections(conn, selection, params)?;
    }
    if any(Kind::Mark) {
        children.marks = child::marks(conn, selection, params)?;
    }
    raw.into_iter().map(|r| r.assemble(conn, &mut children, speakers)).collect()
}

/// The same; the first flaw is an error.
pub(crate) fn load_sound(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
    speakers: &mut Speakers<'_>,
) -> Result<Vec<Loaded>, Fault> {
    load(conn, selection, params, speakers)?.into_iter().map(Loaded::sound).collect()
}

#[derive(Default)]
struct Children {
    quotes: HashMap<i64, QuoteRow>,
    compactions: HashMap<i64, CompactionRow>,
    reinjections: HashMap<i64, Reinjection>,
    marks: HashMap<i64, MarkRow>,
}

/// What an entry's row says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Turn,
    Forward,
    Compaction,
    Reinjection,
    Mark,
    Erased,
}

impl Kind {
    fn read(word: &str) -> Option<Self> {
        match word {
            "turn" => Some(Self::Turn),
            "forward" => Some(Self::Forward),
            "compaction" => Some(Self::Compaction),
            "reinjection" => Some(Self::Reinjection),
            "mark" => Some(Self::Mark),
            "erased" => Some(Self::Erased),
            _ => None,
        }
    }
}

/// An entry's row with its parts.
struct Raw {
    no: i64,
    id: EntryId,
    project: ProjectId,
    session: SessionId,
    seq: u64,
    kind: Kind,
    recorded_at: UtcMs,
    hash: Digest,
    speaker: Option<SpeakerId>,
    said_at: Option<SaidAt>,
    reply_to: Option<EntryId>,
    supersedes: Option<EntryId>,
    repairs: Option<u32>,
    parts: Vec<PartRow>,
}

fn raw_entries(conn: &Connection, selection: &Selection, params: &[&dyn ToSql]) -> Result<Vec<Raw>, Fault> {
    let mut found: Vec<Raw> = Vec::new();
    let mut before = Shared::default();
    each(conn, ("entry", selection.entries), params, |c| {
        let no = c.int()?;
        if found.last().is_none_or(|last| last.no != no) {
            found.push(Raw::read(no, c, &mut before)?);
        }
        c.skip_to(PART);
        if let (Some(last), Some(part)) = (found.last_mut(), PartRow::read(c, &mut before.by)?) {
            last.parts.push(part);
        }
        Ok(Next::Row)
    })?;
    Ok(found)
}

/// Ids that rows in a row mostly share.
#[derive(Default)]
struct Shared {
    project: Before<ProjectId>,
    session: Before<SessionId>,
    speaker: Before<SpeakerId>,
    by: Before<SpeakerId>,
}

impl Raw {
    fn read(no: i64, c: &mut Cells<'_>, before: &mut Shared) -> Result<Self, Fault> {
        let missing = || Fault::Damaged("an entry has no session".to_owned());
        Ok(Self {
            no,
            id: c.parse()?,
            project: c.parse_again(&mut before.project)?.ok_or_else(missing)?,
            session: c.parse_again(&mut before.session)?.ok_or_else(missing)?,
            seq: c.number()?,
            kind: c.word(Kind::read)?,
            recorded_at: UtcMs(c.int()?),
            hash: c.digest()?,
            speaker: c.parse_again(&mut before.speaker)?,
            said_at: c.said_at()?,
            reply_to: c.parse_opt()?,
            supersedes: c.parse_opt()?,
            repairs: c.number_opt()?,
            parts: Vec::new(),
        })
    }

    fn assemble(
        self,
        conn: &Connection,
        children: &mut Children,
        speakers: &mut Speakers<'_>,
    ) -> Result<Loaded, Fault> {
        let (no, id, project, session) = (self.no, self.id, self.project, self.session);
        let (seq, recorded_at, hash) = (self.seq, self.recorded_at, self.hash);
        let mut body = Assembly {
            conn,
            speakers,
            commitments: Vec::new(),
            salts: Vec::new(),
            flaws: Vec::new(),
            state: None,
            id,
            session,
            redacted: None,
        };
        let built = match self.kind {
            Kind::Compaction => body.compaction(self, children.compactions.remove(&no))?,
            Kind::Reinjection => body.reinjection(children.reinjections.remove(&no)),
            Kind::Mark => body.mark(children.marks.remove(&no))?,
            Kind::Erased => EntryBody::Mark(Mark::new(MarkKind::Erased, None, "")),
            Kind::Turn | Kind::Forward => body.turn(self, children.quotes.remove(&no))?,
        };
        let Assembly { commitments, salts, flaws, state, .. } = body;
        let entry = Entry { id, project, session, seq, recorded_at, hash, body: built };
        Ok(Loaded { entry, commitments, salts, state, flaws })
    }
}

/// Puts a body together and notes what is wrong on the way.
struct Assembly<'a, 's> {
    conn: &'a Connection,
    speakers: &'a mut Speakers<'s>,
    commitments: Vec<Digest>,
    salts: Vec<Option<Salt>>,
    flaws: Vec<String>,
    state: Option<String>,
    id: EntryId,
    session: SessionId,
    /// The redactions of the entry, once they were looked up.
    redacted: Option<Vec<MarkKind>>,
}

const REDACTIONS: (&str, &str) = (
    "mark",
    "SELECT kind FROM mark WHERE target = ?1 AND kind IN ('redacted', 'quote_redacted') ORDER BY seq",
);

impl Assembly<'_, '_> {
    fn speaker(&mut self, id: Option<SpeakerId>) -> Result<sayso_model::Speaker, Fault> {
        let id = id.ok_or_else(|| Fault::Damaged("an entry has no speaker".to_owned()))?;
        self.speakers.named(self.conn, id)
    }

    fn turn(&mut self, raw: Raw, quote: Option<QuoteRow>) -> Result<EntryBody, Fault> {
        let speaker = self.speaker(raw.speaker)?;
        let forward = raw.kind == Kind::Forward;
        let parts = raw.parts.into_iter().enumerate();
        let parts = parts.map(|(place, row)| self.part(place, row)).collect::<Result<_, _>>()?;
        if forward && quote.is_none() {
            self.flaws.push("the row of its quote is missing".to_owned());
        }
        let quote = quote.map(|q| self.quote(q)).transpose()?.map(Box::new);
        Ok(EntryBody::Turn(Turn {
            speaker,
            said_at: raw.said_at,
            reply_to: raw.reply_to,
            supersedes: raw.supersedes,
            repairs: raw.repairs.unwrap_or(0),
            parts,
            quote,
        }))
    }

    fn part(&mut self, place: usize, row: PartRow) -> Result<Part, Fault> {
        if usize::try_from(row.no & 4095) != Ok(place) {
            self.flaws.push(format!("part {place} is missing"));
        }
        let by = row.speaker.map(|id| self.speakers.named(self.conn, id)).transpose()?;
        self.commitments.push(row.text.commitment);
        self.salts.push(row.text.salt);
        let text = row.text.text;
        if text.is_err() || (matches!(text, Ok(None)) && !self.is_redacted()?) {
            self.flaws.push(format!("the text of part {place} is not what was written"));
        }
        let text = text.unwrap_or(None);
        let (text, kept) = kept(text);
        let body = row.shape.into_body(text);
        let body = body.ok_or_else(|| Fault::Damaged(format!("part {place} is of no known kind")))?;
        Ok(Part { by, body, kept })
    }

    fn quote(&mut self, row: QuoteRow) -> Result<sayso_model::Quote, Fault> {
        self.state = Some(row.state);
        self.commitments.extend(row.commitments);
        self.salts.extend(row.salts);
        if row.broken || (row.gone.any() && !self.may_be_gone(row.gone, &row.quote.origin.address)?) {
            self.flaws.push("the text or a title of its quote is not what was written".to_owned());
        }
        Ok(row.quote)
    }

    /// Whether what is gone of a quote was taken away: all of it, its text, or a title that repeated words which went.
    fn may_be_gone(&mut self, gone: Gone, origin: &Address) -> Result<bool, Fault> {
        let whole = self.is_redacted()?;
        let of_quote = !self.redactions()?.is_empty();
        let title = gone.session_title && !of_quote;
        Ok(whole
            || (!gone.project_title
                && (!gone.text || of_quote)
                && (!title || taken::recorded(self.conn, self.session, origin)?)))
    }

    /// Whether a mark says that all texts of the entry were taken away.
    fn is_redacted(&mut self) -> Result<bool, Fault> {
        Ok(self.redactions()?.contains(&MarkKind::Redacted))
    }

    /// The marks that say that texts of the entry were taken away. Looked up once for each entry that lacks one.
    fn redactions(&mut self) -> Result<&[MarkKind], Fault> {
        if self.redacted.is_none() {
            let marks = all(self.conn, REDACTIONS, [self.id.to_string()], |c| c.parse::<MarkKind>())?;
            self.redacted = Some(marks);
        }
        Ok(self.redacted.as_deref().unwrap_or_default())
    }

    fn compaction(&mut self, raw: Raw, row: Option<CompactionRow>) -> Result<EntryBody, Fault> {
        let speaker = self.speaker(raw.speaker)?;
        let mut body = Compaction {
            speaker,
            said_at: raw.said_at,
            through: 0,
            summary: String::new(),
            kept: Kept::Whole,
        };
        match row {
            Some((through, summary)) => {
                body.through = through;
                self.commitments.push(summary.commitment);
                self.salts.push(summary.salt);
                let text = summary.open_kept();
                if text.is_err() || (matches!(text, Ok(None)) && !self.is_redacted()?) {
                    self.flaws.push("its summary is not what was written".to_owned());
                }
                (body.summary, body.kept) = kept(text.unwrap_or(None));
            }
            None => self.flaws.push("the row of its summary is missing".to_owned()),
        }
        Ok(EntryBody::Compaction(body))
    }

    fn reinjection(&mut self, row: Option<Reinjection>) -> EntryBody {
        EntryBody::Reinjection(row.unwrap_or_else(|| {
            self.flaws.push("the rows of its ranges are missing".to_owned());
            Reinjection { of: None, layout: Layout::V1, items: Vec::new() }
        }))
    }

    fn mark(&mut self, row: Option<MarkRow>) -> Result<EntryBody, Fault> {
        let Some(MarkRow { mut mark, title }) = row else {
            self.flaws.push("the row of its mark is missing".to_owned());
            return Ok(EntryBody::Mark(Mark::new(MarkKind::Closed, None, "")));
        };
        if let Some(title) = title {
            self.commitments.push(title.commitment);
            self.salts.push(title.salt);
            let text = title.open_kept();
            if text.is_err() || (matches!(text, Ok(None)) && !taken::in_view(self.conn, self.session)?) {
                self.flaws.push("its title is not what was written".to_owned());
            }
            // One that is gone is empty: its commitment stands in the chain.
            mark.title = Some(text.ok().flatten().unwrap_or_default());
        }
        Ok(EntryBody::Mark(mark))
    }
}
