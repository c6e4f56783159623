//! Small sessions written for these tests, and what they hold.

use std::fs;

use super::pi::Program;
use super::{Counts, Tally, count, count_bytes};

const HEADER: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#;
const FLAT_HEADER: &str = r#"{"id":"s","timestamp":"t","instructions":null}"#;
const PI_HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#;

/// A tally of exactly these texts.
fn tally(texts: &[&str]) -> Tally {
    let mut tally = Tally::default();
    texts.iter().for_each(|text| tally.add(text));
    tally.digests.sort();
    tally
}

fn lines(header: &str, lines: &[String]) -> Counts {
    count_bytes("s.jsonl", format!("{header}\n{}\n", lines.join("\n")).as_bytes())
}

/// Counts a Codex session with these records after the header.
fn codex(records: &[String]) -> Counts {
    lines(HEADER, records)
}

/// Counts a pi session with these entries after the header.
fn pi(entries: &[&str]) -> Counts {
    lines(PI_HEADER, &entries.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>())
}

fn item(payload: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"response_item","payload":{payload}}}"#)
}

fn event(payload: &str) -> String {
    format!(r#"{{"timestamp":"t","type":"event_msg","payload":{payload}}}"#)
}

/// A user item with these blocks of text.
fn user(blocks: &[&str]) -> String {
    let block = |text: &&str| format!(r#"{{"type":"input_text","text":"{text}"}}"#);
    let blocks = blocks.iter().map(block).collect::<Vec<_>>().join(",");
    item(&format!(r#"{{"type":"message","role":"user","content":[{blocks}]}}"#))
}

fn said(text: &str) -> String {
    event(&format!(r#"{{"type":"user_message","message":"{text}"}}"#))
}

fn completed(text: &str) -> String {
    event(&format!(
        r#"{{"type":"item_completed","item":{{"type":"UserMessage","content":[{{"type":"text","text":"{text}"}}]}}}}"#
    ))
}

fn reasoning() -> String {
    item(r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#)
}

/// Asserts what the person and the program said.
fn assert_split(counts: &Counts, human: &[&str], system: &[&str]) {
    assert_eq!((&counts.human, &counts.system), (&tally(human), &tally(system)));
}

#[test]
fn each_codex_item_has_its_speaker() {
    let counts = codex(&[
        item(r#"{"type":"message","role":"developer","content":[{"type":"input_text","text":"d"}]}"#),
        user(&["<environment_context>e", "q"]),
        reasoning(),
        item(r#"{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}"#),
        item(r#"{"type":"function_call_output","call_id":"c","output":"o"}"#),
        item(r#"{"type":"ghost_snapshot"}"#),
        item(
            r#"{"type":"agent_message","content":[{"type":"input_text","text":"m"},{"type":"encrypted_content","encrypted_content":"x"}]}"#,
        ),
        item(
            r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}"#,
        ),
        event(r#"{"type":"agent_message","message":"a"}"#),
        r#"{"type":"compacted","payload":{"message":"s","replacement_history":[]}}"#.to_owned(),
    ]);
    assert_split(&counts, &["<environment_context>e\nq"], &["d"]);
    assert_eq!(counts.agent, tally(&["", "", "m", "a\nb"]));
    assert_eq!(counts.tool, tally(&["o"]));
    assert_eq!((counts.records, counts.compactions, counts.refused), (11, 1, None));
}

#[test]
fn each_form_of_an_output_has_its_text() {
    let forms = [
        (r#""text""#, "text"),
        (r#"[{"type":"input_text","text":"a"},{"type":"input_image"},{"type":"text","text":"b"}]"#, "a\nb"),
        (r#"{"output":"o","content":"c"}"#, "c"),
        (r#"{"output":"o","content":[]}"#, "o"),
        (r#"{"z": 1, "a": [2]}"#, r#"{"z":1,"a":[2]}"#),
        ("null", ""),
    ];
    for (output, text) in forms {
        for kind in ["function_call_output", "custom_tool_call_output", "mcp_tool_call_output"] {
            let counts = codex(&[item(&format!(r#"{{"type":"{kind}","output":{output}}}"#))]);
            assert_eq!(counts.tool, tally(&[text]), "{kind}: {output}");
        }
    }
    let absent = codex(&[item(r#"{"type":"function_call_output"}"#)]);
    assert_eq!(absent.tool, tally(&[""]));
    let search = codex(&[item(r#"{"type":"tool_search_output","tools":[{"name": "n"}]}"#)]);
    assert_eq!(search.tool, tally(&[r#"[{"name":"n"}]"#]));
}

#[test]
fn wrapped_blocks_alone_are_the_programs() {
    let counts = codex(&[
        user(&[" \\n<turn_aborted>x", "# AGENTS.md instructions for /w"]),
        user(&[]),
        item(r#"{"type":"message","role":"user","content":[{"type":"input_image","image_url":"u"}]}"#),
    ]);
    let system = [" \n<turn_aborted>x\n# AGENTS.md instructions for /w", ""];
    assert_split(&counts, &[""], &system);
}

#[test]
fn an_announced_item_is_counted_once_whichever_comes_first() {
    assert_split(&codex(&[user(&["q"]), said("q")]), &["q"], &[]);
    assert_split(&codex(&[completed("q"), user(&["q"])]), &["q"], &[]);
    assert_split(&codex(&[completed("q"), user(&["q"]), said("q")]), &["q"], &[]);
    assert_split(&codex(&[user(&["<skill>s", "p", "q"]), said("p\\nq")]), &["<skill>s\np\nq"], &[]);
    assert_split(&codex(&[user(&["image", "q"]), said("q")]), &["image\nq"], &[]);
}

#[test]
fn an_announced_text_without_an_item_demotes_the_others() {
    let counts = codex(&[
        user(&["injected"]),
        user(&["known"]),
        said("known"),
        said("typed"),
        reasoning(),
        user(&["later"]),
    ]);
    assert_split(&counts, &["known", "typed", "later"], &["injected"]);
}

#[test]
fn the_same_text_twice_needs_two_items() {
    assert_split(&codex(&[said("A"), user(&["A"]), user(&["A"]), said("A")]), &["A", "A"], &[]);
    assert_split(&codex(&[said("A"), user(&["A"]), reasoning(), said("A")]), &["A", "A"], &[]);
    assert_split(&codex(&[user(&["A"]), user(&["A"]), said("A"), said("B")]), &["A", "B"], &["A"]);
}

#[test]
fn an_empty_finished_item_is_no_turn() {
    assert_split(&codex(&[completed(""), user(&["q"])]), &["q"], &[]);
    assert_split(&codex(&[said(""), user(&["q"])]), &["q"], &[]);
}

#[test]
fn flat_codex_items_count_alike() {
    let counts = lines(FLAT_HEADER, &[
        r#"{"record_type":"state"}"#.to_owned(),
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_instructions>"}]}"#.to_owned(),
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}"#.to_owned(),
        r#"{"type":"local_shell_call","call_id":"c"}"#.to_owned(),
        r#"{"type":"function_call_output","call_id":"c","output":"o"}"#.to_owned(),
    ]);
    assert_split(&counts, &["q"], &["<user_instructions>"]);
    assert_eq!((counts.agent, counts.tool, counts.records), (tally(&[""]), tally(&["o"]), 6));
}

#[test]
fn each_pi_entry_has_its_speaker() {
    let counts = pi(&[
        r#"{"type":"message","message":{"role":"user","content":"one"}}"#,
        r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"p"},{"type":"image","data":""},{"type":"text","text":"q"}]}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"},{"type":"toolCall","id":"c"}]}}"#,
        r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c"}]}}"#,
        r#"{"type":"message","message":{"role":"toolResult","content":[{"type":"text","text":"r"},{"type":"text","text":"s"}]}}"#,
        r#"{"type":"message","message":{"role":"bashExecution","command":"ls","output":"f"}}"#,
        r#"{"type":"message","message":{"role":"hookMessage","content":"h"}}"#,
        r#"{"type":"message","message":{"role":"custom","content":[{"type":"text","text":"c"}]}}"#,
        r#"{"type":"custom_message","content":"m","display":true}"#,
        r#"{"type":"branch_summary","fromId":"x","summary":"b"}"#,
        r#"{"type":"compaction","summary":"z"}"#,
        r#"{"type":"custom","customType":"state"}"#,
        r#"{"type":"label","label":"l"}"#,
    ]);
    assert_split(&counts, &["one", "p\nq"], &["h", "c", "m", "b"]);
    assert_eq!((counts.agent, counts.tool), (tally(&["a", ""]), tally(&["r\ns", "f"])));
    assert_eq!((counts.records, counts.compactions, counts.refused), (14, 1, None));
}

#[test]
fn other_files_are_refused_with_zeros() {
    for other in [
        "",
        "\n\0\0",
        "plain text",
        r#"{"type":"user","message":{"role":"user","content":"q"}}"#,
        r#"{"type":"user","sessionId":"s","message":"q"}"#,
        r#"{"type":"started","key":"k","agentId":"a"}"#,
        r#"{"agentType":"a"}"#,
        r#"{"ts":"t","dir":"meta","kind":"session_start"}"#,
        r#"[{"id":"s","timestamp":"t","instructions":null}]"#,
    ] {
        let counts = count_bytes("s.jsonl", other.as_bytes());
        assert!(counts.refused.is_some(), "{other}");
        assert_eq!(Counts { refused: None, ..counts }, Counts::default(), "{other}");
    }
}

#[test]
fn a_file_is_read_and_a_missing_one_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    assert!(count(&path).is_err());
    fs::write(&path, format!("{HEADER}\n{}{}\n{{\"cut", user(&["q"]), said("q"))).unwrap();
    let counts = count(&path).unwrap();
    assert_eq!((counts.records, counts.human.turns, counts.human.digests.len()), (3, 1, 1));
}

/// Counts a session of OpenClaw with these entries after the header.
fn openclaw(entries: &[&str]) -> Counts {
    let text = [&[PI_HEADER], entries].concat().join("\n");
    super::count_bytes_of("s.jsonl", text.as_bytes(), Program::OpenClaw)
}

#[test]
fn openclaw_sets_notes_before_what_was_written() {
    let user = |text: &str| format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#);
    let origin = r"Sender (untrusted metadata):\n```json\n{}\n```";
    let counts = openclaw(&[
        &user("q"),
        &user("[cron:1] look"),
        &user(&format!(r"System: [t] up\n{origin}\n\nq\n")),
        &user("System: [t] up"),
        &user(r"Sender (untrusted metadata):\n```json\nopen"),
    ]);
    let noted = "System: [t] up\nSender (untrusted metadata):\n```json\n{}\n```\n\nq\n";
    let open = "Sender (untrusted metadata):\n```json\nopen";
    assert_split(&counts, &["q", noted, open], &["[cron:1] look", "System: [t] up"]);
    let mut parts = counts.detail.unwrap().parts;
    assert_eq!(parts.len(), 6);
    parts.retain(|part| part.starts_with("human "));
    assert_eq!(parts.len(), 3);
}

#[test]
fn openclaw_speaks_by_models_and_by_where_a_message_comes_from() {
    let counts = openclaw(&[
        r#"{"type":"message","message":{"role":"assistant","model":"gateway-injected","content":"g"}}"#,
        r#"{"type":"message","message":{"role":"assistant","model":"m","content":"a"}}"#,
        r#"{"type":"message","message":{"role":"system","content":"s"}}"#,
        r#"{"type":"message","message":{"role":"user","content":"w","provenance":{"kind":"internal_system"}}}"#,
        r#"{"type":"message","message":{"role":"user","content":"b","provenance":{"kind":"inter_session"}}}"#,
        r#"{"type":"compact"}"#,
        r#"{"type":"new"}"#,
    ]);
    assert_split(&counts, &[], &["g", "s", "w"]);
    assert_eq!((counts.agent, counts.detail.as_ref().unwrap().unknown), (tally(&["a", "b"]), 1));
    assert_eq!(counts.detail.unwrap().skipped.into_iter().collect::<Vec<_>>(), [("compact".to_owned(), 1)]);
}

#[test]
fn openclaw_keeps_its_sessions_in_a_database_and_copies_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw-agent.sqlite");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT)")
        .unwrap();
    let said = r#"{"type":"message","message":{"role":"user","content":"q"}}"#;
    let rows = [("b", 2, "{"), ("a", 1, said), ("a", 0, PI_HEADER), ("b", 1, "{\n\"type\":\"label\"\n}")];
    for row in rows {
        conn.execute("INSERT INTO transcript_events VALUES (?1, ?2, ?3)", row).unwrap();
    }
    let counts = count(&path).unwrap();
    assert_eq!((counts.records, counts.human, counts.header), (3, tally(&["q"]), false));
    let skipped: Vec<_> = counts.detail.unwrap().skipped.into_keys().collect();
    assert_eq!(skipped, ["broken_line", "label", "session"]);
    for name in ["s.checkpoint.1.jsonl", "s.jsonl.bak-1-2", "s.trajectory.jsonl", "sessions.json"] {
        fs::write(folder.path().join(name), PI_HEADER).unwrap();
        assert!(count(&folder.path().join(name)).unwrap().refused.is_some(), "{name}");
    }
    let archive = folder.path().join("s.jsonl.reset.2026-04-13");
    fs::write(&archive, format!("{PI_HEADER}\n{said}")).unwrap();
    assert_eq!(count(&archive).unwrap().human, tally(&["q"]));
}
