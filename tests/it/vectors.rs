//! The published vectors of the canonical form: what they say never changes.

use std::fmt::Write;

use sayso::model::canon::{Form, Salt, commit};
use sayso::model::form::{self, Genesis, Link, Seed};
use sayso::model::row::{self, OutputRow, RunRow, StreamRow};
use sayso::model::{
    Address, Compaction, Cut, Digest, EntryBody, EntryId, Hop, Kept, Layout, LedgerId, Mark, MarkKind,
    Origin, Outcome, OutputId, Part, PartBody, ProjectId, Quote, RangeSource, Reinjected, Reinjection,
    SaidAt, SessionId, SessionKind, Span, Speaker, SpeakerId, SpeakerKind, StreamKind, TextRange, ToolResult,
    Turn, UtcMs, Why,
};

fn speaker(kind: SpeakerKind, id: u128, name: &str) -> Speaker {
    Speaker { id: SpeakerId::from_u128(id), kind, name: name.to_owned() }
}

fn part(by: Option<Speaker>, body: PartBody) -> Part {
    Part { by, body, kept: Kept::Whole }
}

fn turn() -> Turn {
    let result = ToolResult {
        call_id: "call_1".into(),
        tool: "bash".into(),
        outcome: Outcome::Ok,
        text: "북항\r\n솔섬\0".into(),
        output: None,
    };
    Turn {
        speaker: speaker(SpeakerKind::Owner, 4, "Mira"),
        said_at: SaidAt::parse("2026-11-30T18:14:05.250+09:00"),
        reply_to: Some(EntryId::from_u128(9)),
        supersedes: None,
        repairs: 1,
        parts: vec![
            part(None, PartBody::Text("안녕".into())),
            part(Some(speaker(SpeakerKind::Tool, 5, "bash")), PartBody::ToolResult(result)),
        ],
        quote: None,
    }
}

fn bodies() -> Vec<(&'static str, EntryBody)> {
    let compaction = Compaction {
        speaker: speaker(SpeakerKind::Agent, 6, "pi"),
        said_at: None,
        through: 12,
        summary: "So far.".into(),
        kept: Kept::Whole,
    };
    let mark = Mark::new(MarkKind::Offered, Some(EntryId::from_u128(8)), "hook");
    vec![
        ("turn", EntryBody::Turn(turn())),
        ("edit", EntryBody::Turn(Turn { supersedes: Some(EntryId::from_u128(12)), ..turn() })),
        ("compaction", EntryBody::Compaction(compaction)),
        ("mark", EntryBody::Mark(mark)),
        (
            "renaming",
            EntryBody::Mark(Mark { title: Some("Plan".into()), ..Mark::new(MarkKind::Renamed, None, "") }),
        ),
        (
            "move",
            EntryBody::Mark(Mark {
                project: Some(ProjectId::from_u128(2)),
                ..Mark::new(MarkKind::Moved, None, "")
            }),
        ),
        ("re-injection", EntryBody::Reinjection(reinjection())),
        ("forward", EntryBody::Turn(Turn { quote: Some(Box::new(quote())), ..turn() })),
    ]
}

fn reinjection() -> Reinjection {
    let range = |source, range, why| Reinjected {
        turn: EntryId::from_u128(9),
        part: 1,
        source,
        range,
        why,
        call_id: "call_1".into(),
        tool: "bash".into(),
        outcome: Outcome::Failed,
        seq: 1,
        at: UtcMs(1_796_029_190_000),
    };
    let output = RangeSource::Output(OutputId::from_u128(30), StreamKind::Stderr);
    let items = vec![
        range(output, TextRange::Lines { first: 40, last: 52 }, Why::Cited),
        range(RangeSource::Result, TextRange::Bytes { start: 0, len: 9 }, Why::Match),
    ];
    Reinjection { of: Some(EntryId::from_u128(11)), layout: Layout::V1, items }
}

fn quote() -> Quote {
    let turn = |id| {
        Address::Turn(LedgerId::from_u128(1), ProjectId::from_u128(2), SessionId::from_u128(3), id, None)
    };
    let owner = speaker(SpeakerKind::Owner, 4, "Mira");
    Quote {
        origin: Origin {
            address: turn(EntryId::from_u128(20)),
            session_kind: SessionKind::Conversation,
            channel: Some("telegram".into()),
        },
        span: Some(Span::new(4, 9).expect("not empty")),
        speaker: speaker(SpeakerKind::Agent, 6, "pi"),
        said_at: SaidAt::parse("2026-11-30T09:14:05Z"),
        project_title: None,
        session_title: Some("Plan".into()),
        text: ":thinking".into(),
        kept: 9,
        total: 9,
        cut: Cut::None,
        open_fence: false,
        hops: vec![Hop { address: turn(EntryId::from_u128(21)), by: owner.clone(), at: UtcMs(1) }],
        nested: Some(turn(EntryId::from_u128(22))),
        forwarded_by: owner,
        forwarded_at: UtcMs(2),
        source: Digest([0xCD; 32]),
    }
}

fn link() -> Link {
    Link {
        session: SessionId::from_u128(3),
        seq: 2,
        id: EntryId::from_u128(7),
        recorded_at: UtcMs(1_796_029_200_000),
        prev: Digest([0xAB; 32]),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(32) {
        line.iter().for_each(|b| write!(text, "{b:02x}").expect("a String takes all"));
        text.push('\n');
    }
    text
}

#[test]
fn output_rows() {
    let begin = Form::recorded;
    let streams = [
        StreamRow { kind: "stdout", hash: Digest([1; 32]), bytes: 1_024, total: None },
        StreamRow { kind: "stderr", hash: Digest([2; 32]), bytes: 3, total: None },
    ];
    let plain = OutputRow {
        id: OutputId::from_u128(1),
        session: SessionId::from_u128(3),
        tool: "bash",
        state: "capped",
        exit: Some(-1),
        recorded_at: UtcMs(1_796_029_200_000),
        streams: &streams,
        run: RunRow::default(),
    };
    let run = RunRow {
        command: Some("make check"),
        signal: Some(9),
        timed_out: true,
        duration: Some(2_000),
        pipe_held: true,
        charset: Some("euc-kr"),
        order: "o1000 e3 o24",
    };
    let capped = [StreamRow { total: Some(2_048), ..streams[0] }, streams[1]];
    let rows = [
        ("of a ledger that knows nothing of how its tool was run", plain),
        ("with all that can be known", OutputRow { exit: None, run, streams: &capped, ..plain }),
    ];
    let mut page = String::new();
    for (name, row) in rows {
        let form = row::output_form(&row, begin);
        assert_eq!(form.hash(), row::output(&row));
        writeln!(page, "{name}: {}\n{}", form.hash(), hex(form.bytes())).unwrap();
    }
    sayso_snapshots::check("output_rows", &page);
}

#[test]
fn canonical_forms() {
    let seed = Seed([7; 32]);
    let names = |id: SpeakerId| commit(&Salt([1; 16]), id.to_string().as_bytes());
    let mut page = String::new();
    for (name, body) in bodies() {
        let salts = form::salts(&seed, &body);
        let commitments = form::commitments(&salts, &body);
        let written = form::entry(Form::recorded("sayso.entry.v1"), &link(), &body, &commitments, &names);
        assert_eq!(written.hash(), form::entry_hash(&link(), &body, &commitments, &names));
        assert_eq!(written.hash().0, *blake3::hash(written.bytes()).as_bytes());
        writeln!(page, "{name}: {}\n{}", written.hash(), hex(written.bytes())).unwrap();
    }
    let genesis = form::genesis(&Genesis {
        ledger: LedgerId::from_u128(1),
        project: ProjectId::from_u128(2),
        session: SessionId::from_u128(3),
        kind: SessionKind::Conversation,
        channel: Some("telegram"),
        title: commit(&Salt([2; 16]), b"Plan"),
        created_at: UtcMs(0),
        fork: None,
    });
    writeln!(page, "session: {genesis}").unwrap();
    writeln!(page, "commitment of \"x\" under 16 bytes of 01: {}", commit(&Salt([1; 16]), b"x")).unwrap();
    writeln!(page, "salt 0 of a seed of 32 bytes of 07: {}", hex(&seed.salt(0).0).trim()).unwrap();
    sayso_snapshots::check("canonical_forms", &page);
}
