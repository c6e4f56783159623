//! What hangs on an entry besides its parts: the quote of a forward, the summary of a compaction, a re-injection, a mark.

use std::collections::HashMap;

use rusqlite::{Connection, ToSql};
use sayso_model::{
    Digest, Hop, Mark, Origin, Quote, RangeSource, Reinjected, Reinjection, Salt, Span, SpeakerId, TextRange,
    UtcMs,
};

use super::load::Selection;
use crate::cells::{Broken, Cells, Next, Sealed, all, each};
use crate::fault::Fault;
use crate::rows::Speakers;

/// A quote that was read, its texts opened.
pub(crate) struct QuoteRow {
    pub(crate) quote: Quote,
    pub(crate) state: String,
    pub(crate) commitments: Vec<Digest>,
    pub(crate) salts: Vec<Option<Salt>>,
    /// Whether one of the texts is not what was written.
    pub(crate) broken: bool,
    /// What of its texts is not there.
    pub(crate) gone: Gone,
}

/// Which texts of a quote are gone with their salts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) text: bool,
    pub(crate) project_title: bool,
    pub(crate) session_title: bool,
}

impl Gone {
    pub(crate) const fn any(self) -> bool {
        self.text || self.project_title || self.session_title
    }
}

/// The quotes of a selection, by entry.
pub(crate) fn quotes(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
    speakers: &mut Speakers<'_>,
) -> Result<HashMap<i64, QuoteRow>, Fault> {
    let mut found = HashMap::new();
    each(conn, ("quote", selection.quotes), params, |c| {
        let no = c.int()?;
        found.insert(no, quote(conn, c, speakers)?);
        Ok(Next::Row)
    })?;
    each(conn, ("hop", selection.hops), params, |c| {
        let (no, address, by) = (c.int()?, c.parse()?, c.parse()?);
        let hop = Hop { address, by: speakers.named(conn, by)?, at: UtcMs(c.int()?) };
        if let Some(row) = found.get_mut(&no) {
            row.quote.hops.push(hop);
        }
        Ok(Next::Row)
    })?;
    Ok(found)
}

fn quote(conn: &Connection, c: &mut Cells<'_>, speakers: &mut Speakers<'_>) -> Result<QuoteRow, Fault> {
    let mut by = |id: SpeakerId| speakers.named(conn, id);
    let state = c.text()?;
    let origin = Origin { address: c.parse()?, session_kind: c.parse()?, channel: c.text_opt()? };
    let span = span(c)?;
    let (speaker, said_at) = (by(c.parse()?)?, c.said_at()?);
    let (kept, total, cut, open_fence) = (c.number()?, c.number()?, c.parse()?, c.flag()?);
    let (nested, forwarded_by) = (c.parse_opt()?, by(c.parse()?)?);
    let (forwarded_at, source) = (UtcMs(c.int()?), c.digest()?);
    let mut texts = Texts::default();
    let text = texts.open(Some(c.sealed()?)).unwrap_or_default();
    let text_gone = std::mem::take(&mut texts.gone);
    let project_title = texts.open(c.sealed_opt()?);
    let project_gone = std::mem::take(&mut texts.gone);
    let session_title = texts.open(c.sealed_opt()?);
    let gone = Gone { text: text_gone, project_title: project_gone, session_title: texts.gone };
    let quote = Quote {
        origin,
        span,
        speaker,
        said_at,
        project_title,
        session_title,
        text,
        kept,
        total,
        cut,
        open_fence,
        hops: Vec::new(),
        nested,
        forwarded_by,
        forwarded_at,
        source,
    };
    let Texts { commitments, salts, broken, .. } = texts;
    Ok(QuoteRow { quote, state, commitments, salts, broken, gone })
}

fn span(c: &mut Cells<'_>) -> Result<Option<Span>, Fault> {
    match (c.number_opt()?, c.number_opt()?) {
        (Some(start), Some(len)) => {
            let span = Span::new(start, len);
            span.map(Some).map_err(|_| Fault::Damaged("a quote's span is empty".to_owned()))
        }
        _ => Ok(None),
    }
}

/// Opens the texts of one row in turn and keeps their commitments.
#[derive(Default)]
struct Texts {
    commitments: Vec<Digest>,
    salts: Vec<Option<Salt>>,
    broken: bool,
    gone: bool,
}

impl Texts {
    /// A redacted text is empty, not absent: its commitment still stands in the chain.
    fn open(&mut self, text: Option<Sealed>) -> Option<String> {
        let text = text?;
        self.commitments.push(text.commitment);
        self.salts.push(text.salt);
        match text.open_kept() {
            Ok(text) => {
                self.gone |= text.is_none();
                Some(text.unwrap_or_default())
            }
            Err(Broken) => {
                self.broken = true;
                Some(String::new())
            }
        }
    }
}

/// A compaction's boundary and summary.
pub(crate) type CompactionRow = (u64, Sealed);

/// The compactions of a selection, by entry.
pub(crate) fn compactions(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
) -> Result<HashMap<i64, CompactionRow>, Fault> {
    let rows = all(conn, ("compaction", selection.compactions), params, |c| {
        Ok((c.int()?, (c.number()?, c.sealed()?)))
    })?;
    Ok(rows.into_iter().collect())
}

/// The re-injections of a selection, by entry.
pub(crate) fn reinjections(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
) -> Result<HashMap<i64, Reinjection>, Fault> {
    let mut found: HashMap<i64, Reinjection> = HashMap::new();
    each(conn, ("reinjected", selection.reinjections), params, |c| {
        let (no, of, layout) = (c.int()?, c.parse_opt()?, c.parse()?);
        let reinjection = found.entry(no).or_insert_with(|| Reinjection { of, layout, items: Vec::new() });
        reinjection.items.push(reinjected(c)?);
        Ok(Next::Row)
    })?;
    Ok(found)
}

fn reinjected(c: &mut Cells<'_>) -> Result<Reinjected, Fault> {
    let (turn, part) = (c.parse()?, c.number()?);
    let source = match (c.parse_opt()?, c.parse_opt()?) {
        (Some(output), Some(stream)) => RangeSource::Output(output, stream),
        (None, None) => RangeSource::Result,
        _ => return Err(Fault::Damaged("a range of a re-injection has half a source".to_owned())),
    };
    let range = TextRange::of(c.parse()?, c.number()?, c.number()?);
    Ok(Reinjected {
        turn,
        part,
        source,
        range,
        why: c.parse()?,
        call_id: c.text()?,
        tool: c.text()?,
        outcome: c.parse()?,
        seq: c.number()?,
        at: UtcMs(c.int()?),
    })
}

/// A mark, and the title that it gives the session.
pub(crate) struct MarkRow {
    pub(crate) mark: Mark,
    pub(crate) title: Option<Sealed>,
}

/// The marks of a selection, by entry.
pub(crate) fn marks(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
) -> Result<HashMap<i64, MarkRow>, Fault> {
    let rows = all(conn, ("mark", selection.marks), params, |c| Ok((c.int()?, mark(c)?)))?;
    Ok(rows.into_iter().collect())
}

/// The columns of a mark's row, for a `SELECT` that calls the table `x`.
macro_rules! mark_columns {
    () => {
        "x.kind, x.target, x.route, x.title_salt, x.title_commitment, x.title, x.project"
    };
}
pub(crate) use mark_columns;

pub(crate) fn mark(c: &mut Cells<'_>) -> Result<MarkRow, Fault> {
    let mut mark = Mark::new(c.parse()?, c.parse_opt()?, c.text()?);
    let title = c.sealed_opt()?;
    mark.project = c.parse_opt()?;
    Ok(MarkRow { mark, title })
}
