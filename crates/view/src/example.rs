//! Values for the examples and tests of this crate.

use sayso_model::{
    Address, Cut, Digest, Entry, EntryBody, EntryId, Kept, LedgerId, Origin, Part, PartBody, ProjectId,
    Quote, SaidAt, SessionId, SessionKind, Speaker, SpeakerId, SpeakerKind, Turn, TurnId, UtcMs,
};

/// A turn's id.
#[must_use]
pub fn turn_id() -> TurnId {
    EntryId::from_u128(0x0193_7A5C_0000_1111_2222_3333_4444_5555)
}

/// The ledger of the example.
#[must_use]
pub fn ledger() -> LedgerId {
    LedgerId::from_u128(0x0193_7A5C_0000_0000_0000_0000_0000_0001)
}

/// A speaker.
#[must_use]
pub fn speaker(kind: SpeakerKind, name: &str) -> Speaker {
    Speaker { id: SpeakerId::from_u128(kind as u128 + 1), kind, name: name.to_owned() }
}

/// The owner.
#[must_use]
pub fn owner() -> Speaker {
    speaker(SpeakerKind::Owner, "Kim")
}

/// The address of another session's turn.
#[must_use]
pub fn origin() -> Address {
    let turn = EntryId::from_u128(0x0193_7A5B_0000_0000_0000_0000_0000_0009);
    Address::Turn(ledger(), ProjectId::from_u128(7), SessionId::from_u128(8), turn, None)
}

/// A quote of an agent's words.
#[must_use]
pub fn quote(text: &str) -> Quote {
    let kept = sayso_model::text::chars(text);
    Quote {
        origin: Origin { address: origin(), session_kind: SessionKind::Thread, channel: None },
        span: None,
        speaker: speaker(SpeakerKind::Agent, "Rocky"),
        said_at: SaidAt::parse("2026-11-30T18:14:05+09:00"),
        project_title: Some("Acme".to_owned()),
        session_title: Some("Plan".to_owned()),
        kept: u32::try_from(kept).unwrap_or(u32::MAX),
        total: kept as u64,
        cut: Cut::None,
        open_fence: sayso_model::text::open_fence(text),
        text: text.to_owned(),
        hops: Vec::new(),
        nested: None,
        forwarded_by: owner(),
        forwarded_at: UtcMs(1_796_202_900_000),
        source: Digest::ZERO,
    }
}

/// A part that the turn's speaker says.
#[must_use]
pub fn part(body: PartBody) -> Part {
    Part { by: None, body, kept: Kept::Whole }
}

/// A turn at a place of a session.
#[must_use]
pub fn entry(seq: u64, speaker: Speaker, parts: Vec<Part>) -> Entry {
    let turn = Turn {
        speaker,
        said_at: SaidAt::parse("2026-12-01T09:15:00+09:00"),
        reply_to: None,
        supersedes: None,
        repairs: 0,
        parts,
        quote: None,
    };
    Entry {
        id: EntryId::from_u128(0x0193_7A5C_0000_0000_0000_0000_0000_0100 + u128::from(seq)),
        project: ProjectId::from_u128(5),
        session: SessionId::from_u128(6),
        seq,
        recorded_at: UtcMs(1_796_202_900_000),
        hash: Digest::ZERO,
        body: EntryBody::Turn(turn),
    }
}

/// The owner's turn that forwards these words with this note.
#[must_use]
pub fn forward(seq: u64, text: &str, note: &str) -> Entry {
    let mut entry = entry(seq, owner(), vec![part(PartBody::Text(note.to_owned()))]);
    if let EntryBody::Turn(turn) = &mut entry.body {
        turn.quote = Some(Box::new(quote(text)));
    }
    entry
}
