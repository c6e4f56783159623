//! Requests in every state, and deliveries: every column of their tables has a value somewhere.

use sayso_model::relay::{Attempt, Ground, InjectionEnd, Inlet, TurnEnd};
use sayso_model::{DeliveryId, DeliveryKind, RequestId, Seed, SessionId, UtcMs};
use sayso_sqlite::SqliteStore;
use sayso_store::{Accept, Batch, Command, Intend, RelayCommand, RelayStep, Scope, Store};

use super::sample::entry;

fn request(n: u128) -> RequestId {
    RequestId::from_u128(200 + n)
}

fn delivery(n: u128) -> DeliveryId {
    DeliveryId::from_u128(300 + n)
}

fn step(store: &SqliteStore, at: i64, what: RelayCommand) {
    let commands = vec![Command::Relay(RelayStep { at: UtcMs(at), what })];
    let seed = Seed([at as u8; 32]);
    store.write(&Batch { scope: Scope::All, at: UtcMs(at), seed, commands }).unwrap();
}

fn accept(n: u128, session: SessionId) -> RelayCommand {
    let inlet = Inlet {
        account: "bot".into(),
        update: format!("{n}"),
        message: format!("message {n}"),
        channel: "telegram".into(),
        destination: "{\"chat_id\":5}".into(),
    };
    let turn = super::rich::question(80 + n, session);
    RelayCommand::Accept(Box::new(Accept { id: request(n), turn, inlet, cursor: Some(format!("{n}")) }))
}

fn intend(n: u128, kind: DeliveryKind, key: &str, parts: &[u128]) -> RelayCommand {
    RelayCommand::Intend(Intend {
        request: request(n),
        kind,
        key: key.into(),
        turn: entry(80 + n),
        parts: parts.iter().map(|part| (delivery(*part), format!("words {part}"))).collect(),
        doubt: None,
    })
}

fn claim(n: u128, fence: u64, until: i64) -> RelayCommand {
    RelayCommand::ClaimDelivery { delivery: delivery(n), fence, until: UtcMs(until), key_ttl_ms: None }
}

fn word(n: u128, fence: u64, attempt: Attempt) -> RelayCommand {
    RelayCommand::Attempted { delivery: delivery(n), fence, attempt, mark: entry(400 + n) }
}

pub(crate) fn fill(store: &SqliteStore) {
    let session = super::rich::TOOLS;
    let started = |n| RelayCommand::Started { session, request: Some(request(n)) };
    let claim_request =
        |n, fence| RelayCommand::ClaimInjection { request: request(n), fence, until: UtcMs(9_900) };
    let broke_off = TurnEnd::Interrupted { why: "the session ended".into() };
    let busy = InjectionEnd::Failed { why: "starting".into(), not_before: UtcMs(9_800) };
    let delivered = || Attempt::Delivered { receipt: "m1".into() };
    let steps = [
        accept(1, session),
        accept(2, session),
        accept(3, session),
        accept(4, super::sample::TARGET),
        claim_request(4, 0),
        started(1),
        intend(1, DeliveryKind::Direct, "listing x", &[1]),
        intend(1, DeliveryKind::Reply, "reply", &[2, 3]),
        claim(1, 0, 9_500),
        word(1, 1, delivered()),
        RelayCommand::Suppress { delivery: delivery(2), by: "listing x".into() },
        RelayCommand::Suppress { delivery: delivery(3), by: "listing x".into() },
        intend(1, DeliveryKind::Progress, "one", &[4, 5]),
        claim(4, 0, 9_500),
        word(4, 1, Attempt::Unknown { why: "no answer".into() }),
        RelayCommand::Park { delivery: delivery(4), fence: 1, why: "nobody knows".into() },
        RelayCommand::Retry { delivery: delivery(4), fence: 1, ground: Ground::Person },
        claim(4, 1, 9_500),
        word(4, 1, delivered()),
        // It may have arrived before, and still may.
        word(4, 2, Attempt::Retry { why: "503".into(), not_before: UtcMs(9_700) }),
        RelayCommand::SessionGone { session, why: "the session ended".into() },
        started(2),
        RelayCommand::EndTurn { request: request(2), end: broke_off },
        intend(2, DeliveryKind::Notice, "queued", &[6]),
        claim(6, 0, 9_600),
        RelayCommand::MoveCursor { session, account: "other bot".into(), cursor: "7".into() },
        RelayCommand::TakeLease {
            name: "telegram bot".into(),
            holder: "one".into(),
            until: UtcMs(9_900),
            about: "{}".into(),
        },
        RelayCommand::TakeLease {
            name: "telegram other".into(),
            holder: "two".into(),
            until: UtcMs(9_901),
            about: "{\"version\":1}".into(),
        },
    ];
    for (at, what) in (9_000..).zip(steps) {
        step(store, at, what);
    }
    // The second is not answered, and its time is over: then the third has its turn.
    let late = RelayCommand::ClaimInjection { request: request(3), fence: 0, until: UtcMs(300_000) };
    step(store, 200_000, late);
    step(store, 200_001, RelayCommand::EndInjection { request: request(3), fence: 1, end: busy });
}
