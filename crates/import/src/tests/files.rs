//! Several files, refusals, and batches.

use std::fs;

use sayso::Scope;
use serde_json::json;

use super::codex::{agent, meta, user};
use super::pi::{header, message};
use super::{Sample, ledger};
use crate::{ImportError, Importer, import_paths};

#[test]
fn a_refused_file_is_listed_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("1.jsonl"), "{\"type\":\"user\",\"uuid\":\"u\"}\n").unwrap();
    fs::write(at("2.jsonl"), [meta(), user(&["hi"])].join("\n")).unwrap();
    fs::write(at("3.jsonl"), "").unwrap();
    fs::write(at("4.jsonl"), [header(), message("a", json!({"role": "user", "content": "yo"}))].join("\n"))
        .unwrap();
    fs::write(at("5.jsonl"), "{\"type\":\"session_meta\",\"payload\":{}}\n").unwrap();
    fs::write(at("6.jsonl"), b"\x28\xB5\x2F\xFD\0\0").unwrap();
    let ledger = ledger();
    let report = import_paths(&ledger, &[folder.path().to_owned(), at("gone.jsonl")]);
    assert_eq!((report.files, report.records, report.turns_added), (2, 4, 2));
    assert_eq!(report.sessions.len(), 2);
    let why: Vec<_> = report.refused.iter().map(|r| r.why.as_str()).collect();
    let wanted = [
        "starts with a record of type \"user\" with the keys type, uuid",
        "(it is empty)",
        "names no session",
        "compressed with zstd",
        "cannot be read",
    ];
    assert_eq!(why.len(), wanted.len());
    assert!(why.iter().zip(wanted).all(|(why, wanted)| why.contains(wanted)), "{why:?}");
    let again = import_paths(&ledger, &[folder.path().to_owned()]);
    assert_eq!((again.turns_added, again.turns_known, again.sessions.len()), (0, 2, 2));
}

#[test]
fn many_records_go_in_several_batches_and_come_back_whole() {
    let sample = Sample::new();
    let mut lines = vec![meta()];
    lines.extend((0..700).map(|i| agent(&format!("answer {i}"))));
    let report = sample.import(&lines.join("\n"));
    assert_eq!(report.turns_added, 700);
    let texts: Vec<_> = sample.turns().iter().map(|t| t.text()).collect();
    assert!(texts.iter().enumerate().all(|(i, t)| *t == format!("answer {i}")));
}

#[test]
fn a_message_with_more_blocks_than_a_turn_has_parts_keeps_its_text() {
    let sample = Sample::new();
    let texts: Vec<String> = (0..5_000).map(|i| i.to_string()).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    sample.import(&[meta(), user(&borrowed)].join("\n"));
    assert_eq!(sample.turns()[0].text(), texts.join("\n"));
}

#[test]
fn a_session_is_found_wherever_it_stands() {
    let sample = Sample::new();
    let moved = meta().replace("/work/harbour", "/elsewhere/quay");
    let first = sample.import(&[meta(), user(&["hi"])].join("\n"));
    let second = sample.import(&[moved, user(&["hi"]), agent("ok")].join("\n"));
    assert_eq!((second.session, second.turns_added, second.turns_known), (first.session, 1, 1));
    assert_eq!(sample.ledger.reader(Scope::All).projects().unwrap().len(), 1);
}

#[test]
fn progress_adds_up_to_the_file() {
    let sample = Sample::new();
    let text = [meta(), user(&["hi"]), agent("ok")].join("\n") + "\n{\"pend";
    fs::write(sample.path(), &text).unwrap();
    let mut read = 0;
    let importer = Importer::default();
    let report = importer.import_file(&sample.ledger, &sample.path(), &mut |bytes| read += bytes).unwrap();
    assert_eq!((read, report.pending), (text.len() as u64, 6));
}

#[test]
fn a_closed_session_takes_nothing_new_and_the_reason_is_given() {
    let sample = Sample::new();
    let text = [meta(), user(&["hi"])].join("\n");
    let session = sample.import(&text).session.unwrap();
    let close = sayso::store::MarkEntry {
        id: sample.ledger.fresh_entry(),
        session,
        kind: sayso_model::MarkKind::Closed,
        of: None,
        route: String::new(),
    };
    sample.ledger.write(&Scope::All, vec![sayso::store::Command::Mark(close)]).unwrap();
    assert_eq!(sample.import(&text).turns_known, 1);
    let error = sample.try_import((text + "\n" + &agent("ok")).as_bytes()).unwrap_err();
    assert!(matches!(error, ImportError::Ledger { .. }));
}

#[test]
fn a_compressed_file_is_read_where_no_plain_one_stands_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let plain = [meta(), user(&["hi"]), agent("ok")].join("\n");
    let packed = zstd::encode_all(plain.as_bytes(), 0).unwrap();
    fs::write(folder.path().join("a.jsonl.zst"), &packed).unwrap();
    let ledger = super::ledger();
    let import = || import_paths(&ledger, &[folder.path().to_owned()]);
    let report = import();
    assert_eq!((report.files, report.turns_added), (1, 2));
    fs::write(folder.path().join("a.jsonl"), &plain).unwrap();
    let report = import();
    assert_eq!((report.files, report.turns_known, report.turns_added), (1, 2, 0));
    assert!(report.passed_over[0].file.ends_with("a.jsonl.zst"));
    // Half of it gives what is complete.
    fs::write(folder.path().join("b.jsonl.zst"), &packed[..packed.len() / 2]).unwrap();
    let report = import();
    assert_eq!((report.files, report.refused.len()), (1, 1));
}

#[test]
fn a_journal_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let line = json!({"type": "started", "key": "v2:a", "agentId": "b"}).to_string();
    fs::write(folder.path().join("journal.jsonl"), line + "\n").unwrap();
    let report = import_paths(&super::ledger(), &[folder.path().to_owned()]);
    assert_eq!((report.files, report.refused.len(), report.passed_over.len()), (0, 0, 1));
}
