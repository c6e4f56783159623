//! The questions of the schema's page, put to a real ledger.

use std::path::Path;

use rusqlite::Connection;
use sayso::model::{Outcome, PartBody, ToolResult};
use sayso::store::{Command, OutputState, OutputStream, Run, StoreOutput, StreamKind};
use sayso::{CompactRequest, Forks, NewTurn, Quotes, Scope, SpeakerKind, Target};

use crate::on_sqlite;
use crate::support::World;

const PAGE: &str = include_str!("../../schema/README.md");

/// The statements of the page, each with the line above it.
fn questions() -> Vec<(String, String)> {
    let sql = PAGE.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut asked = String::new();
    let statements: Vec<&str> = sql.flat_map(|block| block.split(";\n")).collect();
    let statements = statements.into_iter().map(str::trim).filter(|s| !s.is_empty());
    statements
        .map(|statement| {
            let (told, sql): (Vec<&str>, Vec<&str>) = statement.lines().partition(|l| l.starts_with("--"));
            if !told.is_empty() {
                asked = told.join(" ");
            }
            (asked.clone(), sql.join("\n"))
        })
        .collect()
}

/// A ledger that has an answer to every question: imported from another one.
fn fill(world: &World) -> [(&'static str, String); 4] {
    let rocky = (SpeakerKind::Agent, "Rocky");
    let first = world.says("Acme/Plan", rocky, "The plan stands.");
    let edited = world.says("Acme/Plan", rocky, "Twenty-for hours.");
    let redacted = world.says("Acme/Plan", (SpeakerKind::Owner, "Mira"), "A secret.");
    let reader = world.all();
    reader.edit(edited.id, &NewTurn::text(SpeakerKind::Agent, "Rocky", "Twenty-four hours.")).unwrap();
    reader.redact(redacted.id, Quotes::Keep).unwrap();
    let forward = world.forward(&first, "Beta/Build");
    let session = world.session("Acme", "Plan");
    let blob = world.ledger.put_blob(&mut "raw bytes".as_bytes()).unwrap();
    let output = world.ledger.fresh_output();
    let store = StoreOutput {
        id: output,
        session: session.id,
        tool: "bash".into(),
        state: OutputState::Complete,
        exit: Some(0),
        streams: vec![OutputStream::new(StreamKind::Stdout, blob)],
        run: Run::default(),
    };
    world.ledger.write(&Scope::All, vec![Command::StoreOutput(store)]).unwrap();
    let result = PartBody::ToolResult(ToolResult {
        call_id: "c".into(),
        tool: "bash".into(),
        outcome: Outcome::Ok,
        text: "raw".into(),
        output: Some(output),
    });
    let mut turn = NewTurn::text(SpeakerKind::Tool, "bash", "");
    turn.parts = vec![(None, result)];
    world.ledger.append(&session, turn).unwrap();
    reader.compact(&CompactRequest::of(session.id, "All is planned.")).unwrap();
    world.says("Acme/Plan", rocky, "After the summary.");
    let fork = reader.fork(session.id, Some(first.id), "Branch").unwrap();
    let erased = world.says("Acme/Plan", rocky, "Gone.");
    reader.erase(Target::Entry(erased.id), Forks::Refuse, Quotes::Keep).unwrap();
    [
        ("01K…SESSION", session.id.to_string()),
        ("01K…FORK", fork.id.to_string()),
        ("01K…FORWARD", forward.id.to_string()),
        ("01K…OUTPUT", output.to_string()),
    ]
}

/// Writes everything out and takes it into another ledger, whose file is opened as anybody may.
fn copied(world: &World, path: &Path) -> Connection {
    let reader = world.all();
    let projects = reader.projects().unwrap().iter().map(|p| p.id).collect();
    let sessions = reader.sessions(None).unwrap().iter().map(|s| s.id).collect();
    let file = path.with_extension("jsonl");
    let mut bytes = Vec::new();
    sayso_import::archive::export(&reader, &projects, &sessions, &mut bytes).unwrap();
    std::fs::write(&file, bytes).unwrap();
    let copy = sayso::Ledger::open(path, &sayso::Options::default()).unwrap();
    sayso_import::import_file(&copy, &file, &mut |_| {}).unwrap();
    Connection::open(path).unwrap()
}

#[test]
fn every_question_of_the_schema_page_has_an_answer() {
    let world = on_sqlite::open();
    let folder = tempfile::tempdir().unwrap();
    let names = fill(&world);
    let file = copied(&world, &folder.path().join("copy.db"));
    let questions = questions();
    assert!(questions.len() >= 14, "{questions:#?}");
    for (asked, sql) in questions {
        let sql = names.iter().fold(sql, |sql, (name, id)| sql.replace(name, id));
        assert!(!sql.contains('…'), "{asked}: {sql}");
        let mut statement = file.prepare(&sql).unwrap_or_else(|e| panic!("{asked}: {e}\n{sql}"));
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let mut found = 0;
        while let Some(row) = rows.next().unwrap_or_else(|e| panic!("{asked}: {e}")) {
            let filled = (0..columns).any(|at| row.get_ref(at).unwrap() != rusqlite::types::ValueRef::Null);
            assert!(filled, "{asked}");
            found += 1;
        }
        assert!(found > 0, "{asked} has no answer\n{sql}");
    }
}
