//! Random texts and queries over few letters, so that they meet.

use sayso_model::{Outcome, OutputId, PartBody, SpeakerKind, Titles, ToolResult, UtcMs};
use sayso_store::{
    Command, Forward, ForwardItem, Oracle, OutputState, OutputStream, Run, Scope, Search, Store, StoreOutput,
    StreamKind,
};

use super::{LEDGER, batch, beginning, entry, open, project, session, speaker, turn};
use crate::batches::random::Random;

const LETTERS: &[&str] = &[
    "보",
    "고",
    "서",
    "보고",
    "고서",
    "보고서",
    "会",
    "議",
    "会議",
    "タ",
    "ﾀ",
    "ﾃﾞ",
    "デ",
    "数据",
    "数",
    "a",
    "b",
    "A",
    "ab",
    "Plan",
    "plan",
    "é",
    "e\u{301}",
    "ㅋ",
    "\u{1112}\u{1161}\u{11AB}",
    "한",
    "７",
    "7",
    "ß",
    "Σ",
    "ς",
    "\u{AD}",
    "\u{200B}",
    "ก็",
    "न्",
    "\u{301}",
    "㍿",
    "\0",
];
const BREAKS: &[&str] = &[" ", " ", " ", ".", "\n", "、", "-", "⟦", "👩‍💻"];

fn text(r: &mut Random, length: usize) -> String {
    let letter = |r: &mut Random| *if r.chance(75) { r.pick(LETTERS) } else { r.pick(BREAKS) };
    (0..r.below(length)).map(|_| letter(r)).collect()
}

struct World {
    oracle: Oracle,
    store: sayso_sqlite::SqliteStore,
    turns: usize,
    outputs: Vec<OutputId>,
    found: usize,
}

const SESSIONS: usize = 3;

impl World {
    fn write(&mut self, r: &mut Random) {
        let commands = (0..1 + r.below(3)).filter_map(|_| self.command(r)).collect();
        let batch = batch(1_000 + self.turns as i64 * 7, commands);
        let done = self.oracle.write(&batch);
        assert_eq!(self.store.write(&batch).is_ok(), done.is_ok(), "{batch:#?} {done:?}");
    }

    fn command(&mut self, r: &mut Random) -> Option<Command> {
        match r.below(10) {
            0 if self.turns > 0 => Some(self.forward(r)),
            1 => Some(self.output(r)),
            _ => {
                self.turns += 1;
                let kind = *r.pick(SpeakerKind::ALL);
                let parts = (0..1 + r.below(3)).map(|_| self.part(r)).collect();
                Some(turn(self.turns, session(r.below(SESSIONS)), kind, parts))
            }
        }
    }

    fn part(&self, r: &mut Random) -> (Option<SpeakerKind>, PartBody) {
        let by = r.maybe(30, |r| *r.pick(SpeakerKind::ALL));
        if self.outputs.is_empty() || r.chance(70) {
            return (by, PartBody::Text(text(r, 12)));
        }
        let (call_id, tool, outcome) = (String::new(), String::new(), Outcome::Unknown);
        let output = Some(*r.pick(&self.outputs));
        (by, PartBody::ToolResult(ToolResult { call_id, tool, outcome, text: text(r, 6), output }))
    }

    fn forward(&mut self, r: &mut Random) -> Command {
        let of = entry(1 + r.below(self.turns));
        self.turns += 1;
        let item = ForwardItem { id: entry(self.turns), source: of, selection: None, what: None };
        Command::Forward(Forward {
            session: session(r.below(SESSIONS)),
            by: speaker(*r.pick(SpeakerKind::ALL)),
            items: vec![item],
            note: r.maybe(50, |r| text(r, 8)),
            titles: Titles::Hidden,
            key: None,
            expected_head: None,
        })
    }

    fn output(&mut self, r: &mut Random) -> Command {
        let bytes = text(r, 30).into_bytes();
        let blob = self.oracle.put_blob(&mut bytes.as_slice()).unwrap();
        self.store.put_blob(&mut bytes.as_slice()).unwrap();
        let id = OutputId::from_u128(9_000 + self.outputs.len() as u128);
        self.outputs.push(id);
        Command::StoreOutput(StoreOutput {
            id,
            session: session(r.below(SESSIONS)),
            tool: String::new(),
            state: OutputState::Complete,
            exit: None,
            streams: vec![OutputStream::new(StreamKind::Stdout, blob)],
            run: Run::default(),
        })
    }

    fn search(&mut self, r: &mut Random) {
        let scope = match r.below(3) {
            0 => Scope::All,
            1 => Scope::Projects(vec![project(r.below(SESSIONS))]),
            _ => Scope::Projects((0..r.below(4)).map(project).collect()),
        };
        let search = Search {
            query: text(r, 6),
            project: r.maybe(15, |r| project(r.below(SESSIONS + 1))),
            session: r.maybe(15, |r| session(r.below(SESSIONS + 1))),
            speaker: r.maybe(25, |r| *r.pick(SpeakerKind::ALL)),
            since: r.maybe(15, |r| UtcMs(1_000 + r.below(self.turns * 8 + 1) as i64)),
            outputs: r.chance(40),
            limit: *r.pick(&[0, 1, 3, 20, usize::MAX]),
            before: r.maybe(25, |r| entry(1 + r.below(self.turns + 2))),
        };
        let expected = self.oracle.search(&scope, &search).unwrap();
        assert_eq!(self.store.search(&scope, &search).unwrap(), expected, "{scope:?} {search:#?}");
        self.found += expected.len();
    }
}

#[test]
fn sqlite_finds_what_the_oracle_finds() {
    let mut found = 0;
    for seed in 0..24 {
        let folder = tempfile::tempdir().unwrap();
        let mut r = Random::new(seed);
        let (oracle, store) = (Oracle::new(LEDGER), open(&folder));
        oracle.write(&beginning(SESSIONS)).unwrap();
        store.write(&beginning(SESSIONS)).unwrap();
        let mut world = World { oracle, store, turns: 0, outputs: Vec::new(), found: 0 };
        for _ in 0..40 {
            world.write(&mut r);
            if r.chance(40) {
                world.store.index(1 + r.below(6)).unwrap();
            }
            (0..6).for_each(|_| world.search(&mut r));
        }
        while world.store.index(10).unwrap().left > 0 {}
        (0..40).for_each(|_| world.search(&mut r));
        assert_eq!(world.store.verify(&Scope::All).unwrap().problems, Vec::new());
        found += world.found;
    }
    assert!(found > 3_000, "too few hits to tell anything: {found}");
}
