//! One process: it appends a turn, forwards it to its neighbour's session, and searches for what it wrote; with keys, so that
//! what was cut off is done again, once.

use anyhow::{Context, Result};
use sayso::model::TurnId;
use sayso::{Destination, ForwardRequest, Ledger, NewTurn, Options, Placed, Scope, Search, SpeakerKind};

use super::journal::{Journal, Line, micros, read};
use super::{PROJECT, Place, now, title};

/// Every so many rounds.
const FORWARD_EVERY: u64 = 3;
const SEARCH_EVERY: u64 = 2;
const AGAIN_EVERY: u64 = 10;

/// Works until told to stop.
pub(super) fn work(place: &Place, n: usize, of: usize) -> Result<()> {
    let mut worker = Worker::new(place, n, of)?;
    while !place.stop().exists() {
        let done = worker.round();
        if let Err(error) = done {
            worker.journal.note(&Line::Error { what: format!("{error:#}") })?;
        }
    }
    Ok(())
}

/// The word by which a turn is found.
pub(super) fn word(n: usize, round: u64) -> String {
    format!("w{n}x{round}")
}

/// The keys of what a round writes.
pub(super) fn turn_key(n: usize, round: u64) -> String {
    format!("turn-{n}-{round}")
}

pub(super) fn forward_key(n: usize, round: u64) -> String {
    format!("forward-{n}-{round}")
}

struct Worker {
    ledger: Ledger,
    journal: Journal,
    n: usize,
    neighbour: usize,
    round: u64,
}

impl Worker {
    /// Goes on where the journal ends: a round that was cut off is done again with the same keys.
    fn new(place: &Place, n: usize, of: usize) -> Result<Self> {
        let path = place.journal(n);
        let begun = read(&path)?.into_iter().filter_map(|line| match line {
            Line::Begin { key } => key.strip_prefix("turn-").and_then(|k| k.rsplit('-').next()?.parse().ok()),
            _ => None,
        });
        let round = begun.max().unwrap_or(0);
        let ledger = Ledger::open(&place.ledger(), &Options::default())?;
        Ok(Self { ledger, journal: Journal::open(&path)?, n, neighbour: (n + 1) % of, round })
    }

    fn round(&mut self) -> Result<()> {
        let round = self.round;
        let turn = self.append(round)?;
        if round.is_multiple_of(FORWARD_EVERY) {
            self.forward(round, turn)?;
        }
        if round.is_multiple_of(SEARCH_EVERY) {
            self.search(round, turn.id)?;
        }
        if round.is_multiple_of(AGAIN_EVERY) {
            let again = self.append(round)?;
            anyhow::ensure!(again == turn, "a retry gave another turn: {again:?} instead of {turn:?}");
        }
        self.round += 1;
        Ok(())
    }

    fn write(
        &mut self,
        key: &str,
        write: impl Fn(&Ledger) -> Result<Placed, sayso::Error>,
    ) -> Result<Placed> {
        self.journal.note(&Line::Begin { key: key.to_owned() })?;
        let start = now();
        let placed = write(&self.ledger)?;
        let took = micros(start.elapsed());
        self.journal.note(&Line::Done { key: key.to_owned(), id: placed.id.to_string(), took })?;
        Ok(placed)
    }

    fn append(&mut self, round: u64) -> Result<Placed> {
        let (n, key) = (self.n, turn_key(self.n, round));
        let text = format!("{} 보고서 {round} {}", word(n, round), "and some more words ".repeat(30));
        let turn = NewTurn::text(SpeakerKind::Agent, title(n), text).with_key(&key);
        self.write(&key, |ledger| {
            ledger.append_to(&Scope::All, PROJECT, &title(n), &turn).map(|(_, placed)| placed)
        })
    }

    fn forward(&mut self, round: u64, turn: Placed) -> Result<Placed> {
        let key = forward_key(self.n, round);
        let to = Destination::New { project: PROJECT.to_owned(), title: title(self.neighbour) };
        let request = ForwardRequest::of(turn, to).by(SpeakerKind::Agent, title(self.n)).note(&key).key(&key);
        let placed = self.write(&key, |ledger| {
            let (_, placed) = ledger.reader(Scope::All).forward(request.clone())?;
            Ok(placed.first().copied().unwrap_or(turn))
        })?;
        anyhow::ensure!(placed.id != turn.id, "a forward wrote nothing");
        Ok(placed)
    }

    /// What this process was told is written must be found at once.
    fn search(&mut self, round: u64, turn: TurnId) -> Result<()> {
        let start = now();
        let search = Search::new(word(self.n, round));
        let hits = self.ledger.reader(Scope::All).search(&search).context("searching")?;
        let line = match hits.iter().any(|hit| hit.placed.id == turn) {
            true => Line::Found { took: micros(start.elapsed()) },
            false => Line::Missed { key: turn_key(self.n, round) },
        };
        self.journal.note(&line)
    }
}
