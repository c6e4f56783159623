//! What may come back: the tool results of a session, as far back as is looked, with what is known of each.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use sayso_model::limits::{LOOK_BACK_ENTRIES, SEARCHED_BYTES};
use sayso_model::{
    Entry, EntryBody, EntryId, Kept, MarkKind, Outcome, OutputId, PartBody, RangeSource, SessionId,
    StreamKind, TextRange, ToolResult, Why,
};
use sayso_store::Output;
use sayso_store::search::searchable;
use sayso_view::context::shown_results;

use super::choose::{Candidate, Held, Reason};
use super::cite::{self, Names};
use crate::error::Error;
use crate::reader::Reader;

/// Bytes of all texts together that are looked at; the newest come first.
const LOOKED_AT: usize = 16 << 20;
/// Failures, and outputs that were read again, that are thought of: the newest.
const NEWEST: usize = 2;

/// A tool's result in the session.
struct Found {
    turn: EntryId,
    part: u32,
    seq: u64,
    call_id: String,
    tool: String,
    arguments: String,
    /// The entry that made the call.
    called_by: Option<EntryId>,
    outcome: Outcome,
    text: String,
    output: Option<Output>,
    /// It names an output that is not there.
    gone: Option<OutputId>,
    shown: bool,
    reasons: Vec<Reason>,
}

impl Found {
    fn failed(&self) -> bool {
        let exit = self.output.as_ref().and_then(|output| output.exit);
        self.outcome == Outcome::Failed || exit.is_some_and(|exit| exit != 0)
    }

    fn output_id(&self) -> Option<OutputId> {
        self.output.as_ref().map(|output| output.id).or(self.gone)
    }

    fn add(&mut self, why: Why) {
        self.reasons.push(Reason { why, line: None, words: String::new() });
    }
}

/// Gives each result the reasons that do not depend on new words, and reads the texts.
pub(super) fn candidates(
    reader: &Reader,
    session: SessionId,
    shown: &[Entry],
    summary: &str,
) -> Result<Vec<Candidate>, Error> {
    let mut found = results(reader, session, shown)?;
    pins(&mut found, &reader.pinned(session)?.into_iter().map(|p| p.id).collect());
    failures(&mut found);
    citations(&mut found, summary);
    let again = read_again(&mut found);
    let brought = brought(shown);
    texts(reader, found, &again, &brought)
}

/// The results that stand within reach, oldest first; not those of turns that were taken back.
fn results(reader: &Reader, session: SessionId, shown: &[Entry]) -> Result<Vec<Found>, Error> {
    let last = reader.session(session)?.map_or(0, |s| s.last_seq);
    let visible = shown_results(shown);
    let (mut found, mut calls, mut out) = (Vec::new(), HashMap::new(), HashSet::new());
    for entry in reader.walk(session, last.saturating_sub(LOOK_BACK_ENTRIES)) {
        let entry = entry?;
        match &entry.body {
            EntryBody::Turn(_) => of_turn(reader, &entry, &visible, &mut calls, &mut found)?,
            EntryBody::Mark(mark) => match (mark.kind, mark.of) {
                (MarkKind::RolledBack | MarkKind::Abandoned, Some(of)) => _ = out.insert(of),
                (MarkKind::Restored, Some(of)) => _ = out.remove(&of),
                _ => {}
            },
            EntryBody::Compaction(_) | EntryBody::Reinjection(_) => {}
        }
    }
    found.retain(|result: &Found| !out.contains(&result.turn));
    Ok(found)
}

/// A call: its tool, its arguments, and the entry that made it.
type Calls = HashMap<String, (String, String, EntryId)>;

fn of_turn(
    reader: &Reader,
    entry: &Entry,
    visible: &HashSet<(EntryId, usize)>,
    calls: &mut Calls,
    found: &mut Vec<Found>,
) -> Result<(), Error> {
    let Some(turn) = entry.turn() else { return Ok(()) };
    for (at, part) in turn.parts.iter().enumerate().filter(|(_, part)| part.kept == Kept::Whole) {
        match &part.body {
            PartBody::ToolCall(call) => {
                let made = (call.tool.clone(), call.arguments.clone(), entry.id);
                calls.insert(call.call_id.clone(), made);
            }
            PartBody::ToolResult(result) => {
                let shown = visible.contains(&(entry.id, at));
                found.push(of_result(reader, entry, at, result, calls.get(&result.call_id), shown)?);
            }
            PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::Attachment(_) => {}
        }
    }
    Ok(())
}

fn of_result(
    reader: &Reader,
    entry: &Entry,
    at: usize,
    result: &ToolResult,
    call: Option<&(String, String, EntryId)>,
    shown: bool,
) -> Result<Found, Error> {
    let (tool, arguments, by) = match call.filter(|_| !result.call_id.is_empty()) {
        Some((tool, arguments, by)) => (tool.clone(), arguments.clone(), Some(*by)),
        None => (String::new(), String::new(), None),
    };
    let output = result.output.map(|id| reader.output(id)).transpose()?.flatten();
    Ok(Found {
        turn: entry.id,
        part: u32::try_from(at).unwrap_or(u32::MAX),
        seq: entry.seq,
        call_id: result.call_id.clone(),
        tool: if result.tool.is_empty() { tool } else { result.tool.clone() },
        arguments,
        called_by: by,
        outcome: result.outcome,
        text: result.text.clone(),
        gone: result.output.filter(|_| output.is_none()),
        output,
        shown,
        reasons: Vec::new(),
    })
}

/// A pin on the turn with the result, or on the one with the call.
fn pins(found: &mut [Found], pinned: &BTreeSet<EntryId>) {
    for result in found {
        if pinned.contains(&result.turn) || result.called_by.is_some_and(|by| pinned.contains(&by)) {
            result.add(Why::Pin);
        }
    }
}

/// The newest of those that failed and said why, where the same call did not work later.
fn failures(found: &mut [Found]) {
    let mut worked: HashSet<(String, String)> = HashSet::new();
    let mut left = NEWEST;
    for result in found.iter_mut().rev() {
        let call = (result.tool.clone(), result.arguments.split_whitespace().collect::<Vec<_>>().join(" "));
        let known = !call.1.is_empty();
        if !result.failed() {
            worked.insert(call);
        } else if known && left > 0 && !result.text.trim().is_empty() && !worked.contains(&call) {
            result.add(Why::Failure);
            worked.insert(call);
            left -= 1;
        }
    }
}

/// What the summary names; of calls that share a path, the newest.
fn citations(found: &mut [Found], summary: &str) {
    let lines = cite::lines(summary);
    let mut paths: HashSet<&str> = HashSet::new();
    for result in found.iter_mut().rev() {
        let ids: Vec<String> =
            result.output_id().iter().map(ToString::to_string).chain([result.turn.to_string()]).collect();
        let names = Names { ids: &ids, call_id: &result.call_id, arguments: &result.arguments };
        let Some(citation) = cite::citation(&lines, &names) else { continue };
        if citation.by_path && !paths.insert(citation.text) {
            continue;
        }
        let words = citation.text.to_owned();
        result.reasons.push(Reason { why: Why::Cited, line: citation.line, words });
    }
}

/// Outputs that more than one result names: which text of a later result was read again.
fn read_again(found: &mut [Found]) -> BTreeMap<OutputId, String> {
    let (mut first, mut again) = (HashSet::new(), BTreeMap::new());
    for result in found.iter() {
        let Some(id) = result.output_id() else { continue };
        if !first.insert(id) {
            again.insert(id, (result.seq, result.text.clone()));
        }
    }
    let mut newest: Vec<(u64, OutputId)> = again.iter().map(|(id, (seq, _))| (*seq, *id)).collect();
    newest.sort_unstable_by(|a, b| b.cmp(a));
    newest.truncate(NEWEST);
    again.retain(|id, _| newest.iter().any(|(_, kept)| kept == id));
    for result in found.iter_mut() {
        if result.output_id().is_some_and(|id| again.contains_key(&id)) {
            result.add(Why::Read);
        }
    }
    again.into_iter().map(|(id, (_, text))| (id, text)).collect()
}

/// Ranges that the context shows since they were brought back, by what they are ranges of.
type Brought = HashMap<(Option<(EntryId, u32)>, RangeSource), Vec<TextRange>>;

/// An output is one thing, whichever turn names it; the text of a result is its turn's.
const fn place(turn: EntryId, part: u32, source: RangeSource) -> (Option<(EntryId, u32)>, RangeSource) {
    match source {
        RangeSource::Output(..) => (None, source),
        RangeSource::Result => (Some((turn, part)), source),
    }
}

fn brought(shown: &[Entry]) -> Brought {
    let mut brought = Brought::new();
    let through = shown.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Compaction(compaction) => Some(compaction.through),
        _ => None,
    });
    for entry in shown.iter().filter(|entry| entry.seq > through.unwrap_or(0)) {
        let EntryBody::Reinjection(reinjection) = &entry.body else { continue };
        for item in &reinjection.items {
            brought.entry(place(item.turn, item.part, item.source)).or_default().push(item.range);
        }
    }
    brought
}

/// One candidate for each stream of each output, and for each result without one. Of several turns that name an output the
/// last one speaks for it, and it is shown where any of them is.
fn texts(
    reader: &Reader,
    found: Vec<Found>,
    again: &BTreeMap<OutputId, String>,
    brought: &Brought,
) -> Result<Vec<Candidate>, Error> {
    let shown: HashSet<OutputId> = found.iter().filter(|r| r.shown).filter_map(Found::output_id).collect();
    let mut reasons: HashMap<OutputId, Vec<Reason>> = HashMap::new();
    for result in &found {
        if let Some(id) = result.output_id() {
            reasons.entry(id).or_default().extend(result.reasons.iter().cloned());
        }
    }
    let (mut done, mut left, mut candidates) = (HashSet::new(), LOOKED_AT, Vec::new());
    for mut result in found.into_iter().rev() {
        let Some(id) = result.output_id() else {
            candidates.push(of_text(result, &mut left, brought));
            continue;
        };
        if !done.insert(id) {
            continue;
        }
        result.shown = shown.contains(&id);
        result.reasons = reasons.remove(&id).unwrap_or_default();
        candidates.extend(of_output(reader, &result, id, again.get(&id), &mut left, brought)?);
    }
    Ok(candidates)
}

fn candidate(result: &Found, source: RangeSource, text: Held, brought: &Brought) -> Candidate {
    Candidate {
        turn: result.turn,
        part: result.part,
        seq: result.seq,
        source,
        tool: result.tool.clone(),
        arguments: result.arguments.clone(),
        text,
        reasons: result.reasons.clone(),
        shown: result.shown,
        brought: brought.get(&place(result.turn, result.part, source)).cloned().unwrap_or_default(),
    }
}

fn of_text(mut result: Found, left: &mut usize, brought: &Brought) -> Candidate {
    let text = std::mem::take(&mut result.text);
    let held = match left.checked_sub(text.len()) {
        _ if sayso_model::text::binary(&text).is_some() => Held::Binary,
        Some(rest) => {
            *left = rest;
            Held::Text(text, true)
        }
        None => Held::Unread,
    };
    candidate(&result, RangeSource::Result, held, brought)
}

fn of_output(
    reader: &Reader,
    result: &Found,
    id: OutputId,
    again: Option<&String>,
    left: &mut usize,
    brought: &Brought,
) -> Result<Vec<Candidate>, Error> {
    let Some(output) = &result.output else {
        let source = RangeSource::Output(id, StreamKind::Stdout);
        return Ok(vec![candidate(result, source, Held::Gone, brought)]);
    };
    let mut candidates = Vec::new();
    for stream in output.streams.iter().filter(|stream| stream.blob.bytes > 0) {
        let source = RangeSource::Output(id, stream.kind);
        let held = read(reader, id, stream.kind, result.shown, left)?;
        candidates.push(candidate(result, source, held, brought));
    }
    let several = candidates.len() > 1;
    for candidate in &mut candidates {
        let stderr = candidate.source.stream() == Some(StreamKind::Stderr);
        // What failed says so on standard error; the rest is meant of standard output.
        candidate.reasons.retain(|reason| !several || stderr == (reason.why == Why::Failure));
        where_read(candidate, again);
    }
    Ok(candidates)
}

fn read(
    reader: &Reader,
    id: OutputId,
    stream: StreamKind,
    shown: bool,
    left: &mut usize,
) -> Result<Held, Error> {
    if shown || *left == 0 {
        return Ok(Held::Unread);
    }
    let Some(head) = head(reader, id, stream)? else { return Ok(Held::Gone) };
    *left = left.saturating_sub(head.len());
    let exact = std::str::from_utf8(&head).is_ok();
    Ok(searchable(head).map_or(Held::Binary, |text| Held::Text(text, exact)))
}

/// The beginning of a stream, as much of it as a search looks at: whole lines, where there are any.
fn head(reader: &Reader, id: OutputId, stream: StreamKind) -> Result<Option<Vec<u8>>, Error> {
    let Some(mut bytes) = reader.open_output(id, stream)? else { return Ok(None) };
    let mut head = Vec::new();
    bytes.range(0, SEARCHED_BYTES as u64, &mut head)?;
    if bytes.size() > SEARCHED_BYTES as u64 {
        let end = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |at| at + 1);
        head.truncate(end);
    }
    Ok(Some(head))
}

/// Where a later result has text of the output, that is what was read again.
fn where_read(candidate: &mut Candidate, again: Option<&String>) {
    let (Some(again), Held::Text(text, _)) = (again, &candidate.text) else { return };
    let telling = |line: &&str| line.trim().chars().count() >= 8;
    let line = again.lines().filter(telling).find_map(|wanted| {
        let at = text.lines().position(|line| line == wanted)?;
        Some(at as u64 + 1)
    });
    candidate.reasons.iter_mut().filter(|r| r.why == Why::Read).for_each(|reason| reason.line = line);
}

/// What stands before the next words, in a key: the last turn or summary.
pub(super) fn last_said(reader: &Reader, session: SessionId) -> Result<Option<EntryId>, Error> {
    let mut end = reader.session(session)?.map_or(0, |s| s.last_seq);
    while end > 0 {
        let start = end.saturating_sub(64);
        let page = reader.entries(session, start, usize::try_from(end - start).unwrap_or(64))?;
        let said = |entry: &&Entry| matches!(entry.body, EntryBody::Turn(_) | EntryBody::Compaction(_));
        if let Some(last) = page.iter().rev().find(said) {
            return Ok(Some(last.id));
        }
        end = start;
    }
    Ok(None)
}
