//! The index finds exactly what looking at every text finds, whatever it holds so far.

mod large;
mod random;

use sayso_model::{
    EntryId, LedgerId, PartBody, ProjectId, Seed, SessionId, SessionKind, SpeakerId, SpeakerKind, UtcMs,
};
use sayso_sqlite::{Durability, Options, SqliteStore};
use sayso_store::{AppendTurn, Batch, Command, CreateProject, CreateSession, CreateSpeaker, NewPart, Scope};

const LEDGER: LedgerId = LedgerId::from_u128(7);

fn open(folder: &tempfile::TempDir) -> SqliteStore {
    let options = Options { durability: Durability::Normal, ..Options::new(LEDGER, UtcMs(0)) };
    SqliteStore::open(folder.path().join("ledger.db"), &options).unwrap()
}

fn project(n: usize) -> ProjectId {
    ProjectId::from_u128(1_000 + n as u128)
}

fn session(n: usize) -> SessionId {
    SessionId::from_u128(2_000 + n as u128)
}

fn speaker(kind: SpeakerKind) -> SpeakerId {
    SpeakerId::from_u128(3_000 + kind as u128)
}

fn entry(n: usize) -> EntryId {
    // Ids that do not grow with time: order is the store's, never an id's.
    EntryId::from_u128((n as u128 * 0x9E37_79B9) % 0xFFFF_FFFB + (1 << 40))
}

fn batch(at: i64, commands: Vec<Command>) -> Batch {
    Batch { scope: Scope::All, at: UtcMs(at), seed: Seed([5; 32]), commands }
}

/// Projects with one session each, and a speaker of every kind.
fn beginning(projects: usize) -> Batch {
    let mut commands = Vec::new();
    for kind in SpeakerKind::ALL {
        let (id, name) = (speaker(*kind), kind.as_str().to_owned());
        commands.push(Command::CreateSpeaker(CreateSpeaker { id, kind: *kind, name }));
    }
    for n in 0..projects {
        let (name, alias) = (format!("project {n}"), None);
        commands.push(Command::CreateProject(CreateProject { id: project(n), name, alias }));
        commands.push(Command::CreateSession(CreateSession {
            id: session(n),
            project: project(n),
            kind: SessionKind::Conversation,
            channel: None,
            title: String::new(),
            alias: None,
        }));
    }
    batch(1, commands)
}

fn turn(
    n: usize,
    session: SessionId,
    kind: SpeakerKind,
    parts: Vec<(Option<SpeakerKind>, PartBody)>,
) -> Command {
    let parts = parts.into_iter().map(|(by, body)| NewPart { by: by.map(speaker), body });
    Command::AppendTurn(AppendTurn {
        id: entry(n),
        session,
        speaker: speaker(kind),
        said_at: None,
        reply_to: None,
        repairs: 0,
        parts: parts.collect(),
        key: None,
        expected_head: None,
    })
}
