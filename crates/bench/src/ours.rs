//! Sayso's side.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use sayso::model::{EntryId, LedgerId, PartBody, SessionId, SessionKind, SpeakerId};
use sayso::store::{Alias, AppendTurn, Command, NewPart, Session, Store};
use sayso::{Durability, Host, Ledger, NewTurn, Reader, Scope, SpeakerKind, SpeakerRef, SystemHost};
use sayso_sqlite::{Options, SqliteStore, watch};

use crate::rivals::raw::indexes;

/// A ledger with some sessions.
pub(crate) struct Ours {
    pub(crate) path: PathBuf,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) ledger: Ledger,
    pub(crate) sessions: Vec<Session>,
    speaker: SpeakerId,
}

impl Ours {
    /// A ledger in this file with this number of sessions.
    pub(crate) fn open(path: &Path, durability: Durability, sessions: usize) -> Result<Self> {
        let host = SystemHost;
        let random = host.random();
        let id = random.iter().take(9).fold(0u128, |n, byte| (n << 8) | u128::from(*byte));
        let options = Options { durability, ..Options::new(LedgerId::from_u128(id), host.now()) };
        let store = Arc::new(SqliteStore::open(path, &options)?);
        let ledger = Ledger::over(Arc::clone(&store) as Arc<dyn Store>, Arc::new(SystemHost));
        let speaker = ledger.speaker(&kim())?;
        let mut ours = Self { path: path.to_owned(), store, ledger, sessions: Vec::new(), speaker };
        ours.sessions = ours.make_sessions(sessions)?;
        Ok(ours)
    }

    fn make_sessions(&self, count: usize) -> Result<Vec<Session>> {
        let name = |name: &str| Alias::new("name", name);
        let (ids, _) = self.ledger.transact(&Scope::All, |plan| {
            let project = plan.project(&name("bench"), "bench")?;
            let session = |n: usize| {
                let title = format!("session {n}");
                plan.session(project, &name(&title), &title, SessionKind::Thread)
            };
            (0..count).map(session).collect::<Result<Vec<SessionId>, _>>()
        })?;
        let reader = self.reader();
        ids.into_iter().map(|id| reader.session(id)?.context("a session that was just made")).collect()
    }

    pub(crate) fn reader(&self) -> Reader {
        self.ledger.reader(Scope::All)
    }

    pub(crate) fn session(&self, number: usize) -> Result<&Session> {
        self.sessions.get(number % self.sessions.len().max(1)).context("a session")
    }

    /// Appends one turn, as an app does.
    pub(crate) fn append(&self, session: usize, text: &str) -> Result<EntryId> {
        Ok(self.ledger.append(self.session(session)?, NewTurn::text(SpeakerKind::Owner, "Kim", text))?.id)
    }

    /// Appends turns in one batch, as an importer does.
    pub(crate) fn import<'a>(
        &self,
        turns: impl Iterator<Item = (usize, &'a str, Option<String>)>,
    ) -> Result<()> {
        let command = |(session, text, key): (usize, &str, Option<String>)| {
            Ok(Command::AppendTurn(AppendTurn {
                id: self.ledger.fresh_entry(),
                session: self.session(session)?.id,
                speaker: self.speaker,
                said_at: None,
                reply_to: None,
                repairs: 0,
                parts: vec![NewPart { by: None, body: PartBody::Text(text.to_owned()) }],
                key,
                expected_head: None,
            }))
        };
        let commands = turns.map(command).collect::<Result<Vec<_>>>()?;
        self.ledger.write(&Scope::All, commands)?;
        Ok(())
    }

    /// Takes everything into the index of the search.
    pub(crate) fn index(&self) -> Result<u64> {
        let mut taken = 0;
        loop {
            let progress = self.ledger.index(10_000)?;
            taken += progress.indexed;
            if progress.left == 0 {
                return Ok(taken);
            }
        }
    }

    /// Turns that are there, counted by the rows of the sessions.
    pub(crate) fn count(&self) -> Result<u64> {
        Ok(self.reader().sessions(None)?.iter().map(|s| s.turns).sum())
    }

    /// Under which conditions it runs.
    pub(crate) fn facts(&self) -> Result<Vec<(String, String)>> {
        let settings = self.store.settings()?;
        let pragmas: Vec<String> =
            settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(vec![
            ("PRAGMAs read back".to_owned(), pragmas.join(", ")),
            ("indexes".to_owned(), indexes(&self.path)?),
        ])
    }
}

fn kim() -> SpeakerRef {
    SpeakerRef::new(SpeakerKind::Owner, "Kim")
}

/// The statements that some work ran, each once, with how often.
pub(crate) fn statements(folder: &Path, work: impl FnOnce(&Ours) -> Result<()>) -> Result<String> {
    let path = folder.join("watched.db");
    let (ours, _) = watch::watched(|| Ours::open(&path, Durability::Normal, 1));
    let ours = ours?;
    // The first append learns what later ones know.
    for n in 0..60 {
        ours.append(0, &crate::corpus::turn(9, n))?;
    }
    ours.index()?;
    let (done, ran) = watch::watched(|| work(&ours));
    done?;
    let short = |sql: &str| sql.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let all: Vec<String> = ran.iter().map(|r| format!("{} [{} steps]", short(&r.sql), r.steps)).collect();
    drop(ours);
    for end in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{}{end}", path.display())));
    }
    Ok(format!("{}: {}", all.len(), all.join("; ")))
}

/// The size of a database's log in KiB.
pub(crate) fn wal(path: &Path) -> u64 {
    std::fs::metadata(format!("{}-wal", path.display())).map_or(0, |m| m.len() / 1024)
}
