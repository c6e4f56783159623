//! Whole sessions as one file for people: Markdown, or one HTML page that needs nothing else.
//!
//! A [`Book`] gives the pieces of the file in their order, so that a session of any length is written without holding
//! it: [`Book::open`], then for each chapter [`Book::chapter`], its entries and [`Book::end_chapter`], then
//! [`Book::close`]. What hides is shown; what people wrote marks nothing up and links nowhere.

mod bound;
mod html;
mod markdown;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use sayso_model::{
    Address, Compaction, Digest, Entry, EntryBody, LedgerId, Mark, Part, PartBody, Reinjection, SessionId,
    SessionKind, Turn, TurnId, UtcMs,
};

use crate::card::Card;
use crate::marker::is_note;
use crate::names;
use crate::sheet::{Block, Sheet, counted, said, utc};
use crate::turn::{Show, block, kept, served, told as told_of};

/// The forms of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Markdown (CommonMark with tables).
    Markdown,
    /// One HTML5 document without scripts; light or dark as the reader's system says.
    Html,
}

/// A session of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chapter {
    /// The session's id.
    pub session: SessionId,
    /// Its address.
    pub address: Address,
    /// The name of its project.
    pub project: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its kind.
    pub kind: SessionKind,
    /// Its channel.
    pub channel: Option<String>,
    /// The session that it shares its beginning with, and the place up to which; the file does not show that part again.
    pub fork: Option<(SessionId, u64)>,
    /// Whether it takes no more turns.
    pub closed: bool,
    /// Its turns.
    pub turns: u64,
    /// When its last turn was said.
    pub last_at: Option<UtcMs>,
    /// The place of its last entry.
    pub last_seq: u64,
    /// The hash of its last entry.
    pub head: Digest,
}

/// A file in the making.
#[derive(Debug, Clone)]
pub struct Book {
    form: Form,
    ledger: LedgerId,
    sessions: BTreeSet<SessionId>,
}

impl Book {
    /// A file of these sessions.
    #[must_use]
    pub fn new(form: Form, ledger: LedgerId, chapters: &[Chapter]) -> Self {
        Self { form, ledger, sessions: chapters.iter().map(|c| c.session).collect() }
    }

    /// The beginning: what it is, and the table of sessions.
    ///
    /// ```
    /// # use sayso_view::example;
    /// use sayso_view::export::{Book, Form};
    /// let book = Book::new(Form::Html, example::ledger(), &[]);
    /// assert!(book.open(&[]).starts_with("<!DOCTYPE html>"));
    /// ```
    #[must_use]
    pub fn open(&self, chapters: &[Chapter]) -> String {
        match self.form {
            Form::Markdown => markdown::open(self, chapters),
            Form::Html => html::open(self, chapters),
        }
    }

    /// The heading of a session.
    #[must_use]
    pub fn chapter(&self, chapter: &Chapter) -> String {
        match self.form {
            Form::Markdown => markdown::chapter(chapter),
            Form::Html => html::chapter(chapter),
        }
    }

    /// One entry.
    #[must_use]
    pub fn entry(&self, show: &Show<'_>) -> String {
        let page = page(show);
        match self.form {
            Form::Markdown => markdown::entry(self, &page),
            Form::Html => html::entry(self, &page),
        }
    }

    /// A place whose entry does not read, and why; what of it does may follow.
    #[must_use]
    pub fn lost(&self, seq: u64, why: &str) -> String {
        match self.form {
            Form::Markdown => markdown::lost(seq, why),
            Form::Html => html::lost(seq, why),
        }
    }

    /// The end of a session.
    #[must_use]
    pub fn end_chapter(&self) -> &'static str {
        match self.form {
            Form::Markdown => "",
            Form::Html => "</section>\n",
        }
    }

    /// The end of the file.
    #[must_use]
    pub fn close(&self) -> &'static str {
        match self.form {
            Form::Markdown => "",
            Form::Html => "</main>\n</body>\n</html>\n",
        }
    }

    /// The turn of an address, where its session stands in the same file.
    fn inside(&self, address: &Address) -> Option<TurnId> {
        match address {
            // Ids are the same in every copy, whatever ledger the address names.
            Address::Turn(_, _, session, turn, _) if self.sessions.contains(session) => Some(*turn),
            _ => None,
        }
    }
}

/// What stands at an entry's place in the file.
struct Page {
    id: TurnId,
    seq: u64,
    /// A class name: a kind of speaker, `compaction`, `reinjection` or `mark`.
    class: &'static str,
    kind: &'static str,
    name: String,
    facts: Vec<String>,
    /// The entry that this one answers or marks.
    about: Option<(&'static str, TurnId)>,
    card: Option<Quoted>,
    pieces: Vec<Piece>,
    address: Address,
}

/// A card, and where its origin stands.
struct Quoted {
    sheet: Sheet,
    origin: Address,
}

/// Words; those of tools and models' thoughts are folded away, and shortened where they are long.
struct Piece {
    block: Block,
    fold: bool,
    /// How much is folded away.
    extent: String,
    /// What stands for the middle that was left out, and the end.
    rest: Option<(String, String)>,
    /// The stored output behind it.
    output: Option<String>,
}

fn page(show: &Show<'_>) -> Page {
    match &show.entry.body {
        EntryBody::Turn(turn) => turn_page(show, turn),
        EntryBody::Compaction(compaction) => compaction_page(show, compaction),
        EntryBody::Reinjection(reinjection) => reinjection_page(show, reinjection),
        EntryBody::Mark(mark) => mark_page(show, mark),
    }
}

fn blank(show: &Show<'_>, class: &'static str, kind: &'static str, name: String) -> Page {
    let Entry { id, seq, .. } = show.entry;
    let address = crate::card::address(show.ledger, show.entry);
    let (facts, pieces) = (Vec::new(), Vec::new());
    Page { id: *id, seq: *seq, class, kind, name, facts, about: None, card: None, pieces, address }
}

fn turn_page(show: &Show<'_>, turn: &Turn) -> Page {
    let kind = turn.speaker.kind.as_str();
    let mut page = blank(show, kind, kind, names::speaker(&turn.speaker));
    page.facts.push(when(turn, show.entry));
    if turn.repairs > 0 {
        page.facts.push(format!("{} repaired to U+FFFD", turn.repairs));
    }
    page.about = turn.supersedes.map(|id| ("takes the place of", id));
    page.about = page.about.or(turn.reply_to.map(|id| ("answers", id)));
    page.facts.extend(show.superseded_by.map(|now| format!("edited, now {now}")));
    let card = Card::of(show.ledger, show.entry, show.state);
    let held = card.is_some();
    page.pieces = turn.parts.iter().filter(|p| !(held && is_note(turn, p))).map(|p| piece(turn, p)).collect();
    page.card = card.map(|card| Quoted { origin: card.origin, sheet: card.sheet() });
    page
}

/// When it was said; a turn without a time says when it was recorded.
fn when(turn: &Turn, entry: &Entry) -> String {
    match turn.said_at {
        Some(at) => said(Some(at)),
        None => format!("recorded {}", utc(entry.recorded_at)),
    }
}

fn piece(turn: &Turn, part: &Part) -> Piece {
    let output = match &part.body {
        PartBody::ToolResult(result) => result.output,
        PartBody::Attachment(attachment) => attachment.output,
        PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
    };
    let fold = !matches!(part.body, PartBody::Text(_) | PartBody::Attachment(_));
    let output = output.map(|id| id.to_string());
    if fold { folded(block(turn, part), output) } else { open_piece(block(turn, part), output) }
}

fn open_piece(block: Block, output: Option<String>) -> Piece {
    Piece { block, fold: false, extent: String::new(), rest: None, output }
}

fn folded(block: Block, output: Option<String>) -> Piece {
    let extent = extent(&block.text);
    let rest = bound::shorten(&block.text).map(|short| {
        let note = format!("{} left out here", counted(short.left_out, "byte"));
        (short.head.to_owned(), (note, short.tail.to_owned()))
    });
    match rest {
        Some((head, rest)) => {
            let block = Block { label: block.label, text: head };
            Piece { block, fold: true, extent, rest: Some(rest), output }
        }
        None => Piece { block, fold: true, extent, rest: None, output },
    }
}

fn compaction_page(show: &Show<'_>, compaction: &Compaction) -> Page {
    let who = &compaction.speaker;
    let mut page = blank(show, "compaction", who.kind.as_str(), names::speaker(who));
    let date = compaction.said_at.map_or_else(|| utc(show.entry.recorded_at), |at| said(Some(at)));
    page.facts = vec![date, format!("summary of the entries up to {}", compaction.through)];
    let text = kept(compaction.kept, &compaction.summary).to_owned();
    page.pieces.push(open_piece(Block { label: String::new(), text }, None));
    page
}

fn reinjection_page(show: &Show<'_>, reinjection: &Reinjection) -> Page {
    let name = counted(reinjection.items.len() as u64, "range");
    let mut page = blank(show, "reinjection", "re-injection", name);
    page.facts = vec![utc(show.entry.recorded_at), served(reinjection).to_owned()];
    page.about = reinjection.of.map(|id| ("of", id));
    let ranges: Vec<String> = reinjection.items.iter().map(told_of).collect();
    let block = Block { label: String::new(), text: ranges.join("\n") };
    page.pieces.push(folded(block, None));
    page
}

fn mark_page(show: &Show<'_>, mark: &Mark) -> Page {
    let mut page = blank(show, "mark", "mark", mark.kind.to_string());
    page.facts.push(utc(show.entry.recorded_at));
    page.facts.extend(mark.title.as_deref().map(names::shown));
    page.facts.extend(mark.project.map(|id| Address::Project(show.ledger, id).to_string()));
    page.facts.extend((!mark.route.is_empty()).then(|| names::shown(&mark.route)));
    page.about = mark.of.map(|id| ("of", id));
    page
}

/// A session's title for people.
fn title(chapter: &Chapter) -> String {
    if chapter.title.is_empty() { "Untitled session".to_owned() } else { names::shown(&chapter.title) }
}

/// Kind, channel, state, counts and head of a session.
fn told(chapter: &Chapter) -> Vec<String> {
    let mut told = vec![chapter.kind.to_string()];
    told.extend(chapter.channel.as_deref().map(names::shown));
    told.extend(chapter.closed.then(|| "closed".to_owned()));
    told.push(counted(chapter.turns, "turn"));
    told.extend(chapter.last_at.map(|at| format!("last {}", utc(at))));
    told
}

/// How much is folded away.
fn extent(text: &str) -> String {
    let lines = crate::guard::lines(text).count() as u64;
    if lines > 1 {
        counted(lines, "line")
    } else {
        counted(sayso_model::text::chars(text) as u64, "character")
    }
}
