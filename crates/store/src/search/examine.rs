//! Whether a turn is a hit.

use sayso_model::limits::SEARCHED_BYTES;
use sayso_model::text::{binary, repair};
use sayso_model::{Entry, OutputId, Part, PartBody, SaidAt, Speaker, SpeakerKind, Turn};

use super::excerpt::Excerpt;
use super::query::Query;
use super::{Found, Hit, Search};
use crate::command::Placed;
use crate::query::{Scope, StreamKind};

/// Whether an entry lies where a search looks, whatever it says.
#[must_use]
pub fn passes(scope: &Scope, search: &Search, entry: &Entry) -> bool {
    let Some(turn) = entry.turn() else { return false };
    let at = turn.said_at.map_or(entry.recorded_at.0, SaidAt::ms);
    scope.sees(entry.project)
        && search.project.is_none_or(|p| p == entry.project)
        && search.session.is_none_or(|s| s == entry.session)
        && search.since.is_none_or(|since| at >= since.0)
}

/// The hit that an entry is, if its texts have the query. `output` gives the text of an output's stream, where there is one
/// to be searched.
///
/// # Errors
///
/// Those of `output`.
pub fn examine<E>(
    entry: &Entry,
    search: &Search,
    query: &Query,
    mut output: impl FnMut(OutputId, StreamKind) -> Result<Option<String>, E>,
) -> Result<Option<Hit>, E> {
    let Some(turn) = entry.turn() else { return Ok(None) };
    let hit = Candidate { entry, turn, query, kind: search.speaker };
    if let Some(hit) = hit.own().or_else(|| hit.quote()) {
        return Ok(Some(hit));
    }
    if !search.outputs {
        return Ok(None);
    }
    for (part, id) in named(turn).filter(|(part, _)| hit.counts(turn.speaker_of(part))) {
        for stream in [StreamKind::Stdout, StreamKind::Stderr] {
            let Some(text) = output(id, stream)? else { continue };
            if let Some(excerpt) = hit.excerpt(&text) {
                return Ok(Some(hit.found(
                    Found::Output(id, stream),
                    turn.speaker_of(part),
                    turn.said_at,
                    excerpt,
                )));
            }
        }
    }
    Ok(None)
}

/// The outputs that a turn names, in the order of its parts.
fn named(turn: &Turn) -> impl Iterator<Item = (&Part, OutputId)> {
    turn.parts.iter().filter_map(|part| {
        let output = match &part.body {
            PartBody::ToolResult(result) => result.output,
            PartBody::Attachment(attachment) => attachment.output,
            PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
        };
        output.map(|id| (part, id))
    })
}

struct Candidate<'a> {
    entry: &'a Entry,
    turn: &'a Turn,
    query: &'a Query,
    kind: Option<SpeakerKind>,
}

impl Candidate<'_> {
    fn counts(&self, speaker: &Speaker) -> bool {
        self.kind.is_none_or(|kind| kind == speaker.kind)
    }

    fn excerpt(&self, text: &str) -> Option<Excerpt> {
        self.query.find(text).map(|words| Excerpt::around(text, words))
    }

    fn own(&self) -> Option<Hit> {
        let counts = |part: &Part| self.counts(self.turn.speaker_of(part));
        let text = self.turn.joined(counts);
        let words = self.query.find(&text)?;
        let speaker = self.sayer(words.start, counts);
        Some(self.found(Found::Text, speaker, self.turn.said_at, Excerpt::around(&text, words)))
    }

    /// Who says what stands at a byte of the joined texts.
    fn sayer(&self, at: usize, counts: impl Fn(&Part) -> bool) -> &Speaker {
        let mut end = 0;
        let spoken = self.turn.parts.iter().filter(|p| counts(p) && p.spoken().is_some());
        let mut ends = spoken.map(|part| {
            end += part.spoken().map_or(0, str::len) + 1;
            (end, part)
        });
        ends.find(|(end, _)| at < *end).map_or(&self.turn.speaker, |(_, part)| self.turn.speaker_of(part))
    }

    fn quote(&self) -> Option<Hit> {
        let quote = self.turn.quote.as_deref().filter(|q| self.counts(&q.speaker))?;
        let excerpt = self.excerpt(&quote.text)?;
        Some(self.found(Found::Quote, &quote.speaker, quote.said_at, excerpt))
    }

    fn found(&self, text: Found, speaker: &Speaker, said_at: Option<SaidAt>, excerpt: Excerpt) -> Hit {
        let Entry { id, project, session, seq, hash, recorded_at, .. } = *self.entry;
        let placed = Placed { id, project, session, seq, hash };
        Hit { placed, text, speaker: speaker.clone(), said_at, recorded_at, excerpt }
    }
}

/// The text of an output's stream that is searched: the beginning of its bytes, repaired where they are no UTF-8. `None`
/// where they are binary, or more than a tenth of the characters had to be repaired.
#[must_use]
pub fn searchable(mut bytes: Vec<u8>) -> Option<String> {
    bytes.truncate(SEARCHED_BYTES);
    let (text, repairs) = repair(bytes);
    let repaired = usize::try_from(repairs).unwrap_or(usize::MAX);
    let foreign = repaired > 1 && repaired.saturating_mul(10) > text.chars().count();
    (!foreign && binary(&text).is_none()).then_some(text)
}
