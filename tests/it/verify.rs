//! What `verify` finds when somebody edits the file, and what only a head kept elsewhere shows.

mod columns;
pub(crate) mod relay;
mod rich;
pub(crate) mod sample;

use sayso_model::canon::{Salt, commit};
use sayso_model::{Digest, EntryId, Seed, SessionId, UtcMs};
use sayso_store::{Batch, Command, Problem, Redact, Redaction, Report, Scope, Store, StoreError};

use sample::{AGENT, APART, OUTPUT, OWNER, PROJECT, SOURCE, Sample, TARGET, entry};

/// Whether a problem is named at this place, with these words in it.
fn names(report: &Report, session: Option<SessionId>, seq: Option<u64>, words: &str) -> bool {
    let here = |p: &&Problem| p.session == session && p.seq == seq && p.what.contains(words);
    report.problems.iter().any(|p| here(&p))
}

fn entry_in(session: SessionId, seq: u64) -> String {
    format!("(SELECT no FROM entry WHERE session = '{session}' AND seq = {seq})")
}

fn part_of(session: SessionId, seq: u64, place: u64) -> String {
    format!("no = {} * 4096 + {place}", entry_in(session, seq))
}

#[test]
fn a_ledger_as_it_was_written_is_sound() {
    let sample = Sample::new("second");
    let report = sample.report();
    assert_eq!(report.problems, Vec::new());
    assert_eq!(report.entries, 10);
    let store = sample.store();
    for head in &report.heads {
        let hash = store.hash_at(&Scope::All, head.session, head.seq).unwrap();
        assert_eq!(hash, Some(head.hash));
    }
}

/// An edit, and where and in which words it must be named.
type Case = (String, Option<SessionId>, Option<u64>, &'static str);

fn entry_cases() -> Vec<Case> {
    let here = |seq| (Some(SOURCE), Some(seq));
    let case =
        |sql: String, (session, seq): (Option<SessionId>, Option<u64>), words| (sql, session, seq, words);
    let second = part_of(SOURCE, 2, 0);
    vec![
        case(
            format!("UPDATE part SET text = CAST('x' AS BLOB) WHERE {second}"),
            here(2),
            "the text of part 0",
        ),
        case(
            format!("UPDATE part SET text = NULL, salt = zeroblob(16) WHERE {second}"),
            here(2),
            "the text of part 0",
        ),
        case(
            format!("UPDATE part SET text = NULL, salt = NULL WHERE {second}"),
            here(2),
            "the text of part 0",
        ),
        case(format!("UPDATE part SET speaker = '{AGENT}' WHERE {second}"), here(2), "hash"),
        case(format!("UPDATE part SET kind = 'reasoning', seal = 'open' WHERE {second}"), here(2), "hash"),
        case(format!("UPDATE part SET kind = 'reasoning' WHERE {second}"), here(2), "no known kind"),
        case(format!("DELETE FROM part WHERE {second}"), here(2), "hash"),
        case(format!("DELETE FROM part WHERE {}", part_of(SOURCE, 3, 0)), here(3), "part 0 is missing"),
        case(format!("DELETE FROM part WHERE {}", part_of(SOURCE, 3, 1)), here(3), "hash"),
        case(format!("DELETE FROM entry WHERE session = '{SOURCE}' AND seq = 2"), here(2), "missing"),
        case(
            format!("UPDATE entry SET hash = zeroblob(32) WHERE session = '{SOURCE}' AND seq = 2"),
            here(3),
            "hash",
        ),
        case(
            format!("UPDATE entry SET recorded_at = 5 WHERE session = '{SOURCE}' AND seq = 2"),
            here(2),
            "hash",
        ),
        case(
            format!("UPDATE entry SET speaker = '{AGENT}' WHERE session = '{SOURCE}' AND seq = 2"),
            here(2),
            "hash",
        ),
        case(
            format!("UPDATE entry SET speaker = '{}' WHERE session = '{SOURCE}' AND seq = 2", entry(1)),
            here(2),
            "missing",
        ),
        case(
            format!("UPDATE entry SET kind = 'forward' WHERE session = '{SOURCE}' AND seq = 2"),
            here(2),
            "quote is missing",
        ),
        case(
            format!("UPDATE entry SET id = '{}' WHERE session = '{SOURCE}' AND seq = 2", entry(77)),
            here(2),
            "hash",
        ),
        case(format!("UPDATE entry SET seq = 9 WHERE session = '{SOURCE}' AND seq = 2"), here(2), "missing"),
        case("UPDATE compaction SET through = 5".into(), here(6), "hash"),
        case("UPDATE compaction SET text = zeroblob(3)".into(), here(6), "summary"),
        case("DELETE FROM compaction".into(), here(6), "summary is missing"),
    ]
}

fn quote_cases() -> Vec<Case> {
    let at = |sql: String, seq, words| (sql, Some(TARGET), Some(seq), words);
    let quote = |set: &str| format!("UPDATE quote SET {set} WHERE session = '{TARGET}' AND seq = 1");
    vec![
        at(quote(&format!("speaker = '{AGENT}'")), 1, "hash"),
        at(quote(&format!("forwarded_by = '{OWNER}'")), 1, "hash"),
        at(quote("text = CAST('other' AS BLOB)"), 1, "quote"),
        at(quote("session_title = CAST('other' AS BLOB)"), 1, "quote"),
        at(quote("origin_channel = NULL"), 1, "hash"),
        at(quote("kept = 1"), 1, "hash"),
        at(quote("source = zeroblob(32)"), 1, "hash"),
        at(quote("state = 'in_context'"), 1, "marks"),
        at(quote("seq = 8"), 8, "does not fit its entry"),
        at(format!("DELETE FROM quote WHERE session = '{TARGET}' AND seq = 1"), 1, "quote is missing"),
        at(format!("UPDATE hop SET speaker = '{OWNER}'"), 2, "hash"),
        at("DELETE FROM hop".into(), 2, "hash"),
        at("UPDATE mark SET route = 'elsewhere'".into(), 3, "hash"),
        at("DELETE FROM mark".into(), 3, "mark is missing"),
    ]
}

fn row_cases() -> Vec<Case> {
    let row = |sql: String, words| (sql, None, None, words);
    let of = |sql: String, session, words| (sql, Some(session), None, words);
    let key = |set: &str| format!("UPDATE caller_key SET {set} WHERE value = 'key 2'");
    vec![
        row(format!("UPDATE speaker SET kind = 'person' WHERE id = '{OWNER}'"), "the row of speaker"),
        row(
            format!("UPDATE speaker SET name = CAST('x' AS BLOB) WHERE id = '{OWNER}'"),
            "the name of speaker",
        ),
        row("UPDATE project SET name = CAST('x' AS BLOB)".into(), "the name of project"),
        row("UPDATE project SET created_at = 5".into(), "the row of project"),
        row("UPDATE project_alias SET value = '/work/other'".into(), "the alias"),
        row("DELETE FROM speaker_seen".into(), "not listed"),
        row(format!("INSERT INTO speaker_seen VALUES ('{}', '{OWNER}')", entry(1)), "never spoke"),
        of(
            format!("UPDATE session_alias SET session = '{APART}' WHERE session = '{SOURCE}'"),
            APART,
            "the alias",
        ),
        of(format!("UPDATE session SET title = CAST('x' AS BLOB) WHERE id = '{SOURCE}'"), SOURCE, "title"),
        of(format!("UPDATE session SET closed = 1 WHERE id = '{SOURCE}'"), SOURCE, "row"),
        of(format!("UPDATE session SET kind = 'live' WHERE id = '{SOURCE}'"), SOURCE, "beginning"),
        of(
            format!("UPDATE session SET project = '{}' WHERE id = '{SOURCE}'", entry(1)),
            SOURCE,
            "project does not exist",
        ),
        of(key(&format!("entry = {}", entry_in(SOURCE, 3))), SOURCE, "key"),
        of(key("kind = 'compact'"), SOURCE, "key"),
        of(key("content = zeroblob(32)"), SOURCE, "key"),
        of("UPDATE output SET exit = 1".into(), SOURCE, "the rows of output"),
        of("DELETE FROM output_stream".into(), SOURCE, "the rows of output"),
        row("UPDATE chunk SET data = zeroblob(9) WHERE place = 1".into(), "chunk 1"),
        row("UPDATE chunk SET cv = zeroblob(32) WHERE place = 1".into(), "chunks"),
        row("DELETE FROM chunk WHERE place = 0".into(), "chunk 0 is missing"),
        row("DELETE FROM chunk WHERE place = 2".into(), "chunks"),
        of("UPDATE blob SET bytes = 5".into(), SOURCE, "stdout"),
        of("DELETE FROM blob".into(), SOURCE, "stdout"),
    ]
}

#[test]
fn every_edit_is_named_where_it_was_made() {
    for (sql, session, seq, words) in entry_cases().into_iter().chain(quote_cases()).chain(row_cases()) {
        let sample = Sample::new("second");
        sample.edit(&sql);
        let report = sample.report();
        assert!(names(&report, session, seq, words), "{sql}\n{:#?}", report.problems);
    }
}

#[test]
fn it_goes_on_after_the_first_problem() {
    let sample = Sample::new("second");
    sample.edit("UPDATE part SET text = zeroblob(1); UPDATE speaker SET kind = 'tool'; DELETE FROM chunk");
    let report = sample.report();
    for seq in 1..=5 {
        assert!(names(&report, Some(SOURCE), Some(seq), "text"), "{:#?}", report.problems);
    }
    assert!(names(&report, Some(APART), Some(1), "text"));
    for speaker in [OWNER, AGENT] {
        assert!(names(&report, None, None, &format!("the row of speaker {speaker}")));
    }
    assert!(names(&report, None, None, "blob"));
    assert_eq!(report.heads.len(), 3);
}

#[test]
fn swapped_entries_are_both_named() {
    let sample = Sample::new("second");
    sample.edit(&format!(
        "UPDATE entry SET seq = 90 WHERE session = '{SOURCE}' AND seq = 2;
         UPDATE entry SET seq = 2 WHERE session = '{SOURCE}' AND seq = 3;
         UPDATE entry SET seq = 3 WHERE session = '{SOURCE}' AND seq = 90;"
    ));
    let report = sample.report();
    assert!(names(&report, Some(SOURCE), Some(2), "hash"), "{:#?}", report.problems);
    assert!(names(&report, Some(SOURCE), Some(3), "hash"), "{:#?}", report.problems);
}

/// Deletes the last entry of the source session with all its rows.
const CUT: &str = "DELETE FROM compaction; DELETE FROM entry WHERE kind = 'compaction';";

#[test]
fn a_session_that_was_cut_off_is_named() {
    let sample = Sample::new("second");
    sample.edit(CUT);
    assert!(names(&sample.report(), Some(SOURCE), Some(6), "last entry is missing"));
    // The counters are set back as well: the row's digest still tells.
    sample.edit(&format!(
        "UPDATE session SET last_seq = 5, head = (SELECT hash FROM entry WHERE session = '{SOURCE}' AND seq = 5)
         WHERE id = '{SOURCE}'"
    ));
    let report = sample.report();
    assert!(names(&report, Some(SOURCE), None, "row"), "{:#?}", report.problems);
}

#[test]
fn one_flipped_bit_is_found_by_verify_and_by_reading() {
    let sample = Sample::new("second");
    let conn = sample.raw();
    let wanted = part_of(SOURCE, 2, 0);
    let mut text: Vec<u8> =
        conn.query_row(&format!("SELECT text FROM part WHERE {wanted}"), [], |row| row.get(0)).unwrap();
    text[3] ^= 1;
    conn.execute(&format!("UPDATE part SET text = ?1 WHERE {wanted}"), [text]).unwrap();
    drop(conn);
    assert!(names(&sample.report(), Some(SOURCE), Some(2), "the text of part 0"));
    let store = sample.store();
    let damaged = |e: EntryId| matches!(store.entry(&Scope::All, e), Err(StoreError::Damaged { .. }));
    assert!(damaged(entry(2)) && !damaged(entry(1)));
    let run = store.entries(&Scope::All, SOURCE, 0, 10);
    assert!(matches!(run, Err(StoreError::Damaged { what, .. }) if what.contains(&SOURCE.to_string())));
}

#[test]
fn a_text_with_a_commitment_of_its_own_breaks_the_chain() {
    let sample = Sample::new("second");
    let (salt, text) = ([1; 16], "another");
    let Digest(commitment) = commit(&Salt(salt), text.as_bytes());
    let sql =
        format!("UPDATE part SET text = ?1, salt = ?2, commitment = ?3 WHERE {}", part_of(SOURCE, 2, 0));
    sample.raw().execute(&sql, (text.as_bytes(), salt, commitment)).unwrap();
    let report = sample.report();
    assert!(names(&report, Some(SOURCE), Some(2), "hash"), "{:#?}", report.problems);
}

/// Whoever rewrites a session with all its hashes leaves nothing that contradicts itself: only a head that was kept
/// elsewhere shows it.
#[test]
fn a_session_rewritten_as_a_whole_only_shows_against_kept_heads() {
    let kept = Sample::new("second").report().heads;
    let rewritten = Sample::new("never said");
    assert_eq!(rewritten.report().problems, Vec::new());
    let store = rewritten.store();
    let holds = |session: SessionId| {
        let head = kept.iter().find(|h| h.session == session).unwrap();
        store.hash_at(&Scope::All, session, head.seq).unwrap() == Some(head.hash)
    };
    assert!(!holds(SOURCE));
    assert!(!holds(TARGET), "it quotes the rewritten turn");
    assert!(holds(APART));
}

/// An append would write the row's digest anew over what somebody changed.
#[test]
fn a_session_whose_row_is_damaged_takes_no_more_writes() {
    let sample = Sample::new("second");
    sample.edit(&format!("UPDATE session SET turns = 1 WHERE id = '{SOURCE}'"));
    let store = sample.store();
    let damaged = |error: StoreError| matches!(error, StoreError::Damaged { .. });
    assert!(store.session(&Scope::All, SOURCE).is_err_and(damaged));
    assert!(store.write(&sample::one_more(SOURCE)).is_err_and(damaged));
    assert!(store.write(&sample::one_more(APART)).is_ok());
    assert!(store.project(&Scope::All, PROJECT).unwrap().is_some());
    assert!(store.output(&Scope::All, OUTPUT).unwrap().is_some());
}

fn redact(sample: &Sample, of: u128, what: Redaction) {
    let id = entry(900 + of);
    let batch = Batch {
        scope: Scope::All,
        at: UtcMs(9),
        seed: Seed([9; 32]),
        commands: vec![Command::Redact(Redact { id, of: entry(of), what })],
    };
    sample.store().write(&batch).unwrap();
}

/// A text may only be gone where a mark says so, and only as much of it as the mark says.
#[test]
fn a_text_is_gone_only_where_a_mark_says_so() {
    let sample = Sample::new("second");
    redact(&sample, 2, Redaction::Whole);
    assert_eq!(sample.report().problems, Vec::new());
    sample.edit("UPDATE mark SET kind = 'quote_redacted' WHERE kind = 'redacted'");
    assert!(names(&sample.report(), Some(SOURCE), Some(2), "the text of part 0"));
    sample.edit("DELETE FROM mark WHERE kind = 'quote_redacted'");
    assert!(names(&sample.report(), Some(SOURCE), Some(2), "the text of part 0"));
    let read = sample.store().entry(&Scope::All, entry(2));
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
}

#[test]
fn titles_and_names_are_never_gone() {
    for (table, text) in [("speaker", "name"), ("project", "name"), ("session", "title")] {
        let sample = Sample::new("second");
        sample.edit(&format!("UPDATE {table} SET {text} = NULL, {text}_salt = NULL"));
        let report = sample.report();
        assert!(report.problems.iter().any(|p| p.what.contains(text)), "{table}: {:#?}", report.problems);
    }
}

/// What a re-injection says of a range stands in the chain, and its rows belong to it.
#[test]
fn every_edit_of_a_re_injection_is_named() {
    let of = |sql: &str, seq, words| (sql.to_owned(), Some(APART), Some(seq), words);
    let cases = [
        of("UPDATE reinjected SET first = 2 WHERE place = 0", 3, "hash"),
        of("UPDATE reinjected SET why = 'pin'", 3, "hash"),
        of("UPDATE reinjected SET tool = 'other'", 3, "hash"),
        of("UPDATE reinjected SET output = NULL, stream = NULL", 3, "hash"),
        of("UPDATE reinjected SET turn = '00000000000000000000000000'", 3, "hash"),
        of("DELETE FROM reinjected WHERE place = 1", 3, "hash"),
        of("UPDATE reinjection SET compaction = '00000000000000000000000000'", 3, "hash"),
        of("UPDATE reinjection SET seq = 9", 9, "does not fit its entry"),
        of("DELETE FROM reinjection", 3, "ranges are missing"),
        of("DELETE FROM reinjection", 3, "belongs to no re-injection"),
        of("DELETE FROM output_stream; DELETE FROM output", 3, "the output that a re-injection names"),
    ];
    for (sql, session, seq, words) in cases {
        let sample = Sample::new("second");
        sample.store().write(&sample::brought_back()).unwrap();
        assert_eq!(sample.report().problems, Vec::new());
        sample.edit(&sql);
        let report = sample.report();
        assert!(names(&report, session, seq, words), "{sql}\n{:#?}", report.problems);
    }
}

#[test]
fn an_output_may_only_be_gone_where_it_was_erased() {
    let sample = Sample::new("second");
    let named = part_of(SOURCE, 2, 0);
    sample.edit(&format!(
        "UPDATE part SET output = '{OUTPUT}' WHERE {named}; DELETE FROM output_stream; DELETE FROM output"
    ));
    let report = sample.report();
    let named = report.problems.iter().any(|p| p.what.contains("the output that a part names"));
    assert!(named, "{:#?}", report.problems);
}
