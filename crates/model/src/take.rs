//! Taking a quote from a source turn: a pure function that the oracle and every backend share.

use crate::address::{Address, Span, SpanError};
use crate::canon::Digest;
use crate::entry::{Kept, Part, PartBody, Turn};
use crate::limits::{QUOTE_CHARS, QUOTE_HOPS};
use crate::quote::{Cut, Hop, Origin, Quote, Titles, What};
use crate::said::UtcMs;
use crate::speaker::{SessionKind, Speaker, SpeakerKind};
use crate::text;

/// The source turn and what stands around it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its address, without a span.
    pub address: Address,
    /// The kind of its session.
    pub session_kind: SessionKind,
    /// The channel of its session.
    pub channel: Option<&'a str>,
    /// The title of its project; may be empty.
    pub project_title: &'a str,
    /// The title of its session; may be empty.
    pub session_title: &'a str,
    /// The turn.
    pub turn: &'a Turn,
    /// The digest of its texts, see [`crate::form::source`].
    pub digest: Digest,
}

/// What is asked of a source turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeRequest {
    /// A part of the text instead of all of it; of the note or of the quote, whichever is taken.
    pub selection: Option<Span>,
    /// What to take of a turn that holds a quote; by default the note when it has one, else the quote.
    pub what: Option<What>,
    /// Whether titles go along.
    pub titles: Titles,
    /// Who forwards.
    pub by: Speaker,
    /// When.
    pub at: UtcMs,
}

/// Why a turn cannot be quoted. Each message names the next action.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuoteRefusal {
    /// There are no words to quote.
    #[error(
        "the turn holds no text that could be forwarded (only calls or attachments): forward the turn with the words"
    )]
    Empty,
    /// The turn holds only reasoning.
    #[error("the turn holds only a model's reasoning, which is not forwarded: forward its answer instead")]
    Reasoning,
    /// The text was redacted.
    #[error("the turn's text was redacted, so there is nothing left to forward")]
    Redacted,
    /// The output is binary.
    #[error(
        "the turn holds binary output ({kind}), not words: forward a text, or save it with `sayso output` and send the file"
    )]
    Binary {
        /// What it was taken for.
        kind: &'static str,
    },
    /// The selection does not fit.
    #[error("the selection does not fit the turn's text")]
    Selection(#[source] SpanError),
    /// The selection holds words of several speakers.
    #[error("the selection crosses from {first}'s words into {second}'s: select words of one speaker")]
    TwoSpeakers {
        /// The kind of the first.
        first: SpeakerKind,
        /// The kind of the second.
        second: SpeakerKind,
    },
    /// The turn holds no quote.
    #[error("the turn holds no quote: leave the choice out, or choose the note")]
    NoQuote,
    /// The turn has no note of its own.
    #[error("the turn has no note beside its quote: choose the quote")]
    NoNote,
    /// The quote has passed too many sessions.
    #[error(
        "the quote has passed {passed} sessions, the most there may be: forward the original instead, at {origin}"
    )]
    TooManyHops {
        /// Sessions passed.
        passed: usize,
        /// Where the original stands.
        origin: Address,
    },
}

/// Takes a quote from a source turn.
///
/// A turn without a quote gives the words of its own speaker (parts by others, such as a harness's reminder, stay
/// behind). A turn with one gives its note, or lets the quote travel on.
///
/// # Errors
///
/// A [`QuoteRefusal`] where nothing can be quoted; nothing is ever quoted in part because of a refusal.
pub fn take(source: &Source<'_>, request: TakeRequest) -> Result<Quote, QuoteRefusal> {
    let note = !own_words(source.turn).text.is_empty();
    match (&source.turn.quote, request.what) {
        (None, Some(What::Quote)) => Err(QuoteRefusal::NoQuote),
        (_, what) if what != Some(What::Quote) && !note && source.turn.is_redacted() => {
            Err(QuoteRefusal::Redacted)
        }
        (Some(inner), Some(What::Quote)) if inner.text.is_empty() => Err(QuoteRefusal::Redacted),
        (Some(inner), Some(What::Quote)) => travel(source, inner, request),
        (Some(inner), None) if !note => travel(source, inner, request),
        (Some(_), _) if !note => Err(QuoteRefusal::NoNote),
        (_, _) => fresh(source, request),
    }
}

/// A run of words of one speaker.
struct Words<'a> {
    text: String,
    speaker: &'a Speaker,
    span: Option<Span>,
    mid_cluster: bool,
}

fn fresh(source: &Source<'_>, request: TakeRequest) -> Result<Quote, QuoteRefusal> {
    let turn = source.turn;
    let words = match request.selection {
        Some(span) => selected(turn, span)?,
        None => own_words(turn),
    };
    refuse_unquotable(turn, &words)?;
    let (kept, cut) = keep(&words.text, words.mid_cluster);
    let titled =
        |title: &str| (request.titles == Titles::Shown && !title.is_empty()).then(|| title.to_owned());
    Ok(Quote {
        origin: Origin {
            address: source.address,
            session_kind: source.session_kind,
            channel: source.channel.map(str::to_owned),
        },
        span: words.span,
        speaker: words.speaker.clone(),
        said_at: turn.said_at,
        project_title: titled(source.project_title),
        session_title: titled(source.session_title),
        kept: kept.chars as u32,
        total: text::chars(&words.text) as u64,
        cut,
        open_fence: text::open_fence(words.text.get(..kept.bytes).unwrap_or_default()),
        text: words.text.get(..kept.bytes).unwrap_or_default().to_owned(),
        hops: Vec::new(),
        nested: turn.quote.as_ref().map(|inner| inner.origin.address),
        forwarded_by: request.by,
        forwarded_at: request.at,
        source: source.digest,
    })
}

fn keep(words: &str, mid_cluster: bool) -> (text::CutAt, Cut) {
    let kept = text::cut(words, QUOTE_CHARS);
    let cut = match (kept.mid_cluster || mid_cluster, kept.bytes < words.len()) {
        (true, _) => Cut::MidCluster,
        (false, true) => Cut::Length,
        (false, false) => Cut::None,
    };
    (kept, cut)
}

/// Lets a quote travel on, with one more hop: the session it is forwarded from.
fn travel(source: &Source<'_>, inner: &Quote, request: TakeRequest) -> Result<Quote, QuoteRefusal> {
    if inner.hops.len() >= QUOTE_HOPS {
        return Err(QuoteRefusal::TooManyHops { passed: inner.hops.len(), origin: inner.origin.address });
    }
    let mut quote = inner.clone();
    quote.hops.push(Hop { address: source.address, by: inner.forwarded_by.clone(), at: inner.forwarded_at });
    if request.titles == Titles::Hidden {
        (quote.project_title, quote.session_title) = (None, None);
    }
    quote.forwarded_by = request.by;
    quote.forwarded_at = request.at;
    match request.selection {
        Some(span) => narrow(quote, span),
        None => Ok(quote),
    }
}

/// Keeps only a selection of a travelling quote's text.
fn narrow(mut quote: Quote, span: Span) -> Result<Quote, QuoteRefusal> {
    let words = span.slice(&quote.text).map_err(QuoteRefusal::Selection)?.to_owned();
    let mid_cluster = splits(&quote.text, span);
    let base = quote.span.map_or(0, Span::start);
    quote.span = Some(moved(span, base)?);
    quote.open_fence = text::open_fence(&words);
    quote.kept = span.len();
    quote.total = u64::from(span.len());
    quote.cut = if mid_cluster { Cut::MidCluster } else { Cut::None };
    quote.text = words;
    Ok(quote)
}

fn moved(span: Span, by: u32) -> Result<Span, QuoteRefusal> {
    Span::new(span.start().saturating_add(by), span.len()).map_err(QuoteRefusal::Selection)
}

fn splits(text: &str, span: Span) -> bool {
    let (start, end) = (span.start() as usize, (span.start() + span.len()) as usize);
    [start, end]
        .into_iter()
        .any(|place| text::byte_of(text, place).is_some_and(|at| !text::is_boundary(text, at)))
}

/// The spoken parts with the place of each in the turn's text, in characters.
fn places(turn: &Turn) -> Vec<(u64, u64, &Part)> {
    let spoken = turn.parts.iter().filter_map(|p| Some((p, p.spoken()?)));
    spoken
        .scan(0u64, |at, (part, words)| {
            let start = *at;
            let end = start + text::chars(words) as u64;
            *at = end + 1; // the LF between two parts
            Some((start, end, part))
        })
        .collect()
}

/// The words of the turn's own speaker; their span where they are one run of a text that holds more.
fn own_words(turn: &Turn) -> Words<'_> {
    let own = |part: &Part| turn.speaker_of(part) == &turn.speaker;
    let places = places(turn);
    let mine: Vec<usize> =
        (0..places.len()).filter(|i| places.get(*i).is_some_and(|(_, _, p)| own(p))).collect();
    let run = match (mine.first(), mine.last()) {
        (Some(a), Some(b)) if b - a + 1 == mine.len() && mine.len() < places.len() => {
            places.get(*a).zip(places.get(*b)).map(|(a, b)| (a.0, b.1))
        }
        _ => None,
    };
    let span = run.and_then(|(start, end)| {
        Span::new(u32::try_from(start).ok()?, u32::try_from(end - start).ok()?).ok()
    });
    Words { text: turn.joined(own), speaker: &turn.speaker, span, mid_cluster: false }
}

fn selected(turn: &Turn, span: Span) -> Result<Words<'_>, QuoteRefusal> {
    let text = turn.text();
    let words = span.slice(&text).map_err(QuoteRefusal::Selection)?.to_owned();
    let (start, end) = (u64::from(span.start()), u64::from(span.start()) + u64::from(span.len()));
    let touched = places(turn).into_iter().filter(|(a, b, _)| *a < end && start < *b);
    let mut speakers = touched.map(|(_, _, part)| turn.speaker_of(part));
    let speaker = speakers.next().unwrap_or(&turn.speaker);
    if let Some(other) = speakers.find(|s| *s != speaker) {
        return Err(QuoteRefusal::TwoSpeakers { first: speaker.kind, second: other.kind });
    }
    Ok(Words { mid_cluster: splits(&text, span), text: words, speaker, span: Some(span) })
}

fn refuse_unquotable(turn: &Turn, words: &Words<'_>) -> Result<(), QuoteRefusal> {
    let any = |wanted: fn(&Part) -> bool| turn.parts.iter().any(wanted);
    if words.text.is_empty() {
        return Err(match () {
            () if any(|p| p.kept == Kept::Redacted) => QuoteRefusal::Redacted,
            () if any(|p| matches!(p.body, PartBody::Reasoning(..))) => QuoteRefusal::Reasoning,
            () => QuoteRefusal::Empty,
        });
    }
    let printed = words.speaker.kind == SpeakerKind::Tool;
    match text::binary(&words.text).filter(|_| printed) {
        Some(kind) => Err(QuoteRefusal::Binary { kind }),
        None => Ok(()),
    }
}
