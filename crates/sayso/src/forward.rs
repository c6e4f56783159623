//! Forwarding turns from one session to another.

use sayso_model::{Address, SessionId, SessionKind, Span, SpeakerKind, Titles, What};
use sayso_store::{Alias, Command, Done, Fate, Forward, ForwardItem, Placed};

use crate::error::Error;
use crate::ledger::SpeakerRef;
use crate::plan::Plan;
use crate::reader::Reader;
use crate::resolve::{Named, unknown};

/// Which part of a source's text is forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// These characters.
    Span(Span),
    /// These words, which must stand there exactly once.
    Words(String),
}

/// Where turns are forwarded to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A session that is there.
    Session(SessionId),
    /// The session of this title in the project of this name, made by the same batch where it is not there.
    New {
        /// The project's name.
        project: String,
        /// The session's title.
        title: String,
    },
}

/// A forward of one turn or several.
#[derive(Debug, Clone)]
pub struct ForwardRequest {
    /// The destination.
    pub to: Destination,
    /// Who forwards.
    pub by: SpeakerRef,
    /// The turns, in order; see [`Reader::find_turn`]. A span of an address selects that part.
    pub turns: Vec<Named>,
    /// A part of the only turn.
    pub selection: Option<Selection>,
    /// What of a turn that holds a quote.
    pub what: Option<What>,
    /// What the forwarder adds.
    pub note: Option<String>,
    /// Whether the titles of the origin go along.
    pub titles: Titles,
    /// The idempotency key.
    pub key: Option<String>,
}

impl ForwardRequest {
    /// A forward of one whole turn, by the owner without a name.
    #[must_use]
    pub fn of(turn: Placed, to: Destination) -> Self {
        Self {
            to,
            by: SpeakerRef::new(SpeakerKind::Owner, ""),
            turns: vec![Named { placed: turn, span: None, given: None }],
            selection: None,
            what: None,
            note: None,
            titles: Titles::Shown,
            key: None,
        }
    }

    /// The same by this speaker.
    #[must_use]
    pub fn by(mut self, kind: SpeakerKind, name: impl Into<String>) -> Self {
        self.by = SpeakerRef::new(kind, name);
        self
    }

    /// The same with a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// The same with an idempotency key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

impl Reader {
    /// Forwards turns that this reader sees into a session that it sees: one new turn each, in order, all or none.
    ///
    /// # Errors
    ///
    /// [`Error::Erased`] for an erased turn; [`Error::Store`] with the refusal: a turn cannot be quoted, the session is
    /// closed, the key was used for other content, too much at once; [`Error::Selection`] where the words to select are not there exactly once.
    pub fn forward(&self, request: ForwardRequest) -> Result<(Fate, Vec<Placed>), Error> {
        let selection = self.selection(&request)?;
        let written = self.ledger.transact(&self.scope, |plan| {
            let items = request.turns.iter().map(|named| ForwardItem {
                id: plan.entry_id(),
                source: named.placed.id,
                selection: selection.or(named.span),
                what: request.what,
            });
            let items = items.collect();
            let session = self.destination(plan, &request.to)?;
            let forward = Forward {
                session,
                by: plan.speaker(&request.by)?,
                items,
                note: request.note.clone(),
                titles: request.titles,
                key: request.key.clone(),
                expected_head: None,
            };
            plan.push(Command::Forward(forward));
            Ok(())
        });
        let ((), done) = written.map_err(|error| self.or_erased(error))?;
        match done.into_iter().last() {
            Some(Done::Entries(fate, placed)) => Ok((fate, placed)),
            _ => Ok((Fate::New, Vec::new())),
        }
    }

    fn destination(&self, plan: &mut Plan<'_>, to: &Destination) -> Result<SessionId, Error> {
        match to {
            Destination::Session(id) => Ok(*id),
            Destination::New { project, title } => {
                let project = plan.project(&Alias::new("name", project), project)?;
                plan.session(project, &Alias::new("name", title), title, SessionKind::Thread)
            }
        }
    }

    fn selection(&self, request: &ForwardRequest) -> Result<Option<Span>, Error> {
        match (&request.selection, request.turns.first()) {
            (Some(Selection::Span(span)), _) => Ok(Some(*span)),
            (Some(Selection::Words(words)), Some(named)) => {
                let text = self.selectable(named, request.what)?;
                Span::find(&text, words).map(Some).map_err(Error::Selection)
            }
            _ => Ok(None),
        }
    }

    /// The text that a selection counts over: the turn's own, or that of the quote that travels on.
    fn selectable(&self, named: &Named, what: Option<What>) -> Result<String, Error> {
        let entry = self.entry(named.placed.id)?;
        let missing = || unknown("turn", &named.placed.id.to_string(), Vec::new());
        let entry = entry.ok_or_else(missing)?;
        let turn = entry.turn().ok_or_else(missing)?;
        let text = turn.text();
        match (&turn.quote, what) {
            (Some(quote), Some(What::Quote)) => Ok(quote.text.clone()),
            (Some(quote), None) if text.is_empty() => Ok(quote.text.clone()),
            _ => Ok(text),
        }
    }

    /// The address of a placed entry.
    #[must_use]
    pub fn address_of(&self, placed: &Placed) -> Address {
        self.ledger.address(placed)
    }
}
