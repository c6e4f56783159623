//! One process of a load: threads that each do one kind of work after the other.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sayso::model::UtcMs;
use sayso::model::relay::Inlet;
use sayso::store::{Accept, AppendTurn, Command, NewPart, RelayCommand, RelayStep, Session, StreamKind};
use sayso::{
    Destination, Ended, Ending, ForwardRequest, Ledger, NewOutput, NewTurn, Options, Placed, Scope, Search,
    SpeakerKind, SpeakerRef,
};

use crate::soak::now;

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Append,
    Batch,
    Forward,
    Output,
    Search,
    Read,
    Relay,
    List,
}

/// Every kind, in the order in which a thread does them.
pub(super) const KINDS: [Kind; 8] = [
    Kind::Append,
    Kind::Batch,
    Kind::Forward,
    Kind::Output,
    Kind::Search,
    Kind::Read,
    Kind::Relay,
    Kind::List,
];

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Batch => "batch",
            Self::Forward => "forward",
            Self::Output => "output",
            Self::Search => "search",
            Self::Read => "read",
            Self::Relay => "relay",
            Self::List => "list",
        }
    }
}

/// When a thread stops.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// After so long.
    Time(Duration),
    /// After so many pieces of work.
    #[cfg(test)]
    Rounds(usize),
}

/// Works, and gives back the times of each kind: a line for each.
pub(crate) fn work(folder: &Path, process: usize, threads: usize, until: Until) -> Result<String> {
    let patient = Options { wait: Duration::from_secs(120), ..Options::default() };
    let ledger = Ledger::open(&super::ledger(folder), &patient)?;
    let times: Mutex<BTreeMap<Kind, Vec<u64>>> = Mutex::default();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads)
            .map(|n| {
                let (ledger, times) = (&ledger, &times);
                scope.spawn(move || Worker::new(ledger, format!("{process}.{n}"))?.run(until, times))
            })
            .collect();
        all.into_iter().try_for_each(|thread| match thread.join() {
            Ok(done) => done,
            Err(_) => anyhow::bail!("a thread of the load panicked"),
        })
    })?;
    let times = times.into_inner().unwrap_or_default();
    let line = |(kind, times): (&Kind, &Vec<u64>)| {
        let times: Vec<String> = times.iter().map(u64::to_string).collect();
        format!("{} {}\n", kind.word(), times.join(" "))
    };
    Ok(times.iter().map(line).collect())
}

struct Worker<'l> {
    ledger: &'l Ledger,
    name: String,
    session: Session,
    last: Option<Placed>,
    round: usize,
}

impl<'l> Worker<'l> {
    fn new(ledger: &'l Ledger, name: String) -> Result<Self> {
        let session = ledger.session("Load", &format!("Thread {name}"))?;
        Ok(Self { ledger, name, session, last: None, round: 0 })
    }

    fn run(mut self, until: Until, times: &Mutex<BTreeMap<Kind, Vec<u64>>>) -> Result<()> {
        let (start, mut own) = (now(), BTreeMap::<Kind, Vec<u64>>::new());
        while match until {
            Until::Time(time) => start.elapsed() < time,
            #[cfg(test)]
            Until::Rounds(rounds) => self.round < rounds,
        } {
            let kind = KINDS.get(self.round % KINDS.len()).copied().unwrap_or(Kind::Append);
            let begun = now();
            self.does(kind).with_context(|| format!("thread {}, {}", self.name, kind.word()))?;
            let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            own.entry(kind).or_default().push(took);
            self.round += 1;
        }
        let mut times = times.lock().map_err(|_| anyhow::anyhow!("another thread panicked"))?;
        own.into_iter().for_each(|(kind, took)| times.entry(kind).or_default().extend(took));
        Ok(())
    }

    fn does(&mut self, kind: Kind) -> Result<()> {
        match kind {
            Kind::Append => self.append(),
            Kind::Batch => self.batch(),
            Kind::Forward => self.forward(),
            Kind::Output => self.output(),
            Kind::Search => self.search(),
            Kind::Read => self.read(),
            Kind::Relay => self.relay(),
            Kind::List => self.list(),
        }
    }

    /// The word by which what was said last is found.
    fn word(&self) -> String {
        format!("w{}x{}", self.name.replace('.', "t"), self.round / KINDS.len())
    }

    fn turn(&self, text: String) -> NewTurn {
        NewTurn::text(SpeakerKind::Agent, "Rocky", text).with_key(format!("{} {}", self.name, self.round))
    }

    fn append(&mut self) -> Result<()> {
        let text = format!("{} 보고서 {}", self.word(), "and some more words ".repeat(self.round % 60));
        self.last = Some(self.ledger.append(&self.session, self.turn(text))?);
        Ok(())
    }

    fn batch(&mut self) -> Result<()> {
        let session = self.session.id;
        let build = |plan: &mut sayso::Plan<'_>| {
            (0..3).try_for_each(|at| {
                let turn = NewTurn::text(SpeakerKind::Owner, "Mira", format!("{at} of a batch"));
                plan.append(session, turn).map(drop)
            })
        };
        self.ledger.transact(&Scope::All, build)?;
        Ok(())
    }

    fn forward(&mut self) -> Result<()> {
        let Some(last) = self.last else { return Ok(()) };
        let to = Destination::New { project: "Load".to_owned(), title: format!("Inbox {}", self.round % 4) };
        let request = ForwardRequest::of(last, to).by(SpeakerKind::Agent, "Rocky").note("look");
        self.ledger.reader(Scope::All).forward(request)?;
        Ok(())
    }

    fn output(&mut self) -> Result<()> {
        let mut output = self.ledger.start_output(&self.session, NewOutput::of("load"))?;
        let line = format!("{} a line of an output that is like the others\n", self.word());
        output.write(StreamKind::Stdout, line.repeat(400).as_bytes())?;
        output.finish(Ended::by(Ending::Exit(0)))?;
        self.ledger.append(&self.session, self.turn("a tool ran".to_owned()))?;
        Ok(())
    }

    fn search(&self) -> Result<()> {
        let Some(last) = self.last else { return Ok(()) };
        let hits = self.ledger.reader(Scope::All).search(&Search::new(self.word()))?;
        ensure!(hits.iter().any(|hit| hit.placed.id == last.id), "what was just said is not found");
        Ok(())
    }

    fn read(&self) -> Result<()> {
        let Some(last) = self.last else { return Ok(()) };
        let reader = self.ledger.reader(Scope::All);
        let mut entries = reader.walk(self.session.id, last.seq.saturating_sub(30));
        entries.try_for_each(|entry| entry.map(drop))?;
        Ok(())
    }

    /// A message comes in by a source of its own.
    fn relay(&self) -> Result<()> {
        let (id, session, at) = (self.ledger.fresh_request(), self.session.id, self.ledger.now());
        let update = self.round.to_string();
        let build = |plan: &mut sayso::Plan<'_>| {
            let turn = AppendTurn {
                id: plan.entry_id(),
                session,
                speaker: plan.speaker(&SpeakerRef::new(SpeakerKind::Person, "Sam"))?,
                said_at: None,
                reply_to: None,
                repairs: 0,
                parts: vec![NewPart {
                    by: None,
                    body: sayso::model::PartBody::Text("is it done?".to_owned()),
                }],
                key: None,
                expected_head: None,
            };
            let inlet = Inlet {
                account: self.name.clone(),
                update: update.clone(),
                message: update.clone(),
                channel: "load".to_owned(),
                destination: "5".to_owned(),
            };
            let what =
                RelayCommand::Accept(Box::new(Accept { id, turn, inlet, cursor: Some(update.clone()) }));
            plan.push(Command::Relay(RelayStep { at: UtcMs(at.0), what }));
            Ok(())
        };
        self.ledger.transact(&Scope::All, build)?;
        Ok(())
    }

    fn list(&self) -> Result<()> {
        let reader = self.ledger.reader(Scope::All);
        ensure!(!reader.sessions(None)?.is_empty(), "there are sessions");
        reader.inbox(Some(self.session.id))?;
        Ok(())
    }
}
