//! Claude Code sessions, rule by rule.

use sayso::SpeakerKind::{Agent, Owner, Person, System, Tool};
use sayso::{Scope, SpeakerKind};
use sayso_model::{EntryBody, Outcome, PartBody};
use serde_json::{Value, json};

use super::{Sample, assert_counted, parts};
use crate::Importer;

/// A record with an envelope.
pub(super) fn record(kind: &str, uuid: &str, more: Value) -> String {
    let mut record = json!({"type": kind, "uuid": uuid, "sessionId": "s-1", "cwd": "/work/harbour",
        "timestamp": "2026-03-01T10:00:00.250Z"});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record.to_string()
}

pub(super) fn user(uuid: &str, content: Value) -> String {
    record("user", uuid, json!({"message": {"role": "user", "content": content}}))
}

fn user_with(uuid: &str, content: Value, mut more: Value) -> String {
    more["message"] = json!({"role": "user", "content": content});
    record("user", uuid, more)
}

pub(super) fn agent(uuid: &str, blocks: Value) -> String {
    let message = json!({"role": "assistant", "id": "msg_1", "model": "claude-x", "content": blocks});
    record("assistant", uuid, json!({"message": message}))
}

pub(super) fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

pub(super) fn result(call: &str, content: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": call, "content": content}])
}

type Parts = Vec<(SpeakerKind, &'static str, String)>;

/// Speaker and parts of every turn of a session with these lines.
fn turns(lines: &[String]) -> Vec<(SpeakerKind, String, Parts)> {
    let sample = Sample::new();
    sample.import(&lines.join("\n"));
    sample.turns().iter().map(|t| (t.speaker.kind, t.speaker.name.clone(), parts(t))).collect()
}

fn kinds(lines: &[String]) -> Vec<SpeakerKind> {
    turns(lines).into_iter().map(|(kind, ..)| kind).collect()
}

fn part(kind: SpeakerKind, word: &'static str, text: &str) -> (SpeakerKind, &'static str, String) {
    (kind, word, text.to_owned())
}

#[test]
fn a_session_has_its_file_project_title_times_and_names() {
    let sample = Sample::new();
    let lines = [
        json!({"type": "permission-mode", "permissionMode": "ask", "sessionId": "s-2"}).to_string(),
        user("a", json!("\n Plan the move \nsoon")),
        agent("b", text("Yes.")),
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!((sample.title(), report.skipped["permission-mode"]), ("Plan the move".to_owned(), 1));
    let reader = sample.ledger.reader(Scope::All);
    assert_eq!(reader.project(report.project.unwrap()).unwrap().unwrap().name, "harbour");
    let alias = sayso::store::Alias::new("claude-code", "s-2/session");
    assert_eq!(reader.sessions_as(&alias).unwrap()[0].id, report.session.unwrap());
    let turns = sample.turns();
    assert_eq!(turns.iter().map(|t| t.speaker.name.as_str()).collect::<Vec<_>>(), ["Mira", "claude-x"]);
    assert_eq!(turns[0].said_at.unwrap().utc(), "2026-03-01T10:00:00.250Z");
}

#[test]
fn whose_words_a_message_holds_is_told_part_by_part() {
    let reminder = "<system-reminder>r</system-reminder>";
    let blocks = json!([
        {"type": "text", "text": "<ide_opened_file>x</ide_opened_file>"},
        {"type": "text", "text": format!("hi\n{reminder}")},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]);
    let lines = [
        user("a", blocks),
        user("b", json!(reminder)),
        user("c", json!("<local-command-stdout>x</local-command-stdout>")),
        user("d", text("[Request interrupted by user for tool use]")),
        user("e", json!("<teammate-message teammate_id=\"bob\">done</teammate-message>")),
        user("f", json!("<channel source=\"telegram\" user=\"Mia\">hello</channel>")),
        user("g", json!("<command-name>/go</command-name>\n<command-args>fast</command-args>")),
    ];
    let found = turns(&lines);
    let speakers: Vec<_> = found.iter().map(|(kind, name, _)| (*kind, name.as_str())).collect();
    let program = (System, "Claude Code");
    let wanted =
        [(Owner, "Mira"), program, program, program, (Agent, "bob"), (Person, "Mia"), (Owner, "Mira")];
    assert_eq!(speakers, wanted);
    let mixed = [
        part(System, "text", "<ide_opened_file>x</ide_opened_file>"),
        part(Owner, "text", "hi"),
        part(System, "text", reminder),
        part(Owner, "attachment", ""),
    ];
    assert_eq!(found[0].2, mixed);
    let echo = [
        part(System, "text", "<command-name>/go</command-name>\n<command-args>"),
        part(Owner, "text", "fast"),
        part(System, "text", "</command-args>"),
    ];
    assert_eq!(found[6].2, echo);
}

#[test]
fn what_a_record_says_of_itself_counts_more() {
    let lines = [
        user_with("a", text("Base directory"), json!({"isMeta": true})),
        user_with("b", json!("Implement the following plan:"), json!({"planContent": "# Plan"})),
        user_with("c", json!("hi"), json!({"origin": {"kind": "human"}, "isSidechain": true})),
        user_with("d", json!("done"), json!({"origin": {"kind": "task-notification"}})),
        user_with("e", json!("look"), json!({"origin": {"kind": "peer", "from": "bob"}})),
        record("assistant", "f", json!({"message": {"model": "<synthetic>", "content": text("API Error")}})),
        record(
            "assistant",
            "g",
            json!({"isApiErrorMessage": true, "message": {"model": "m", "content": "no"}}),
        ),
        record(
            "system",
            "h",
            json!({"subtype": "local_command", "content": "<command-name>/x</command-name>"}),
        ),
    ];
    let found = kinds(&lines);
    // The one of a side chain stands in a session of its own.
    assert_eq!(found.iter().filter(|kind| **kind == Owner).count(), 1);
    assert_eq!(found.iter().filter(|kind| **kind == Agent).count(), 1);
    assert_eq!(found.iter().filter(|kind| **kind == System).count(), 6);
}

#[test]
fn an_answer_keeps_thoughts_calls_and_their_order() {
    let blocks = json!([
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "one"},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
        {"type": "fallback", "from": {}, "to": {}},
    ]);
    let lines = [agent("a", blocks), agent("b", json!([])), agent("c", text("two")), agent("c", text("two"))];
    let found = turns(&lines);
    let wanted = [
        part(Agent, "open", "hm"),
        part(Agent, "sealed", "sig"),
        part(Agent, "sealed", "xx"),
        part(Agent, "text", "one"),
        part(Agent, "call", "{\"command\":\"ls\"}"),
        part(Agent, "attachment", "fallback"),
    ];
    assert_eq!(found[0].2, wanted);
    // A repeated record is not dropped.
    assert_eq!(found[1..].iter().map(|t| t.2[0].2.as_str()).collect::<Vec<_>>(), ["", "two", "two"]);
}

#[test]
fn results_are_the_tools_also_beside_words() {
    let sample = Sample::new();
    let call = |id: &str, name: &str| json!({"type": "tool_use", "id": id, "name": name, "input": {}});
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let listed = json!([{"type": "text", "text": "x"}, image, {"type": "tool_reference", "tool_name": "Foo"},
        {"type": "text", "text": "y"}]);
    let both = json!([
        {"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": "no"},
        {"type": "tool_result", "tool_use_id": "2", "content": listed},
        {"type": "text", "text": "stop"},
    ]);
    let lines = [
        agent("a", json!([call("1", "Bash"), call("2", "Read")])),
        user_with("b", both, json!({"isMeta": false})),
        user("c", json!([{"type": "tool_result", "tool_use_id": "gone"}])),
    ];
    sample.import(&lines.join("\n"));
    let turns = sample.turns();
    assert_eq!((turns[1].speaker.kind, turns[1].speaker.name.as_str()), (Tool, "Bash"));
    assert_eq!(turns[1].text(), "no\nx\ny\nstop");
    let found: Vec<_> = parts(&turns[1]).into_iter().map(|(kind, word, _)| (kind, word)).collect();
    let wanted =
        [(Tool, "result"), (Tool, "result"), (Tool, "attachment"), (Tool, "attachment"), (Owner, "text")];
    assert_eq!(found, wanted);
    let outcomes = turns.iter().flat_map(|t| &t.parts).filter_map(|p| match &p.body {
        PartBody::ToolResult(result) => Some((result.tool.clone(), result.outcome)),
        _ => None,
    });
    let result = |tool: &str, outcome| (tool.to_owned(), outcome);
    let wanted = [result("Bash", Outcome::Failed), result("Read", Outcome::Ok), result("", Outcome::Ok)];
    assert_eq!(outcomes.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_summary_stands_for_what_came_before_it() {
    let boundary = |kept: Value| {
        let about = json!({"preservedSegment": {"headUuid": kept}});
        record("system", "x", json!({"subtype": "compact_boundary", "compactMetadata": about}))
    };
    let summary = |uuid: &str| user_with(uuid, json!("This session is"), json!({"isCompactSummary": true}));
    let sample = Sample::new();
    let progress = record("progress", "p", json!({"parentUuid": "a", "data": {"type": "hook_progress"}}));
    let lines = [
        user("a", json!("one")),
        progress,
        agent("b", text("two")),
        boundary(json!(null)),
        summary("c"),
        user("d", json!("three")),
        boundary(json!("b")),
        summary("e"),
        boundary(json!("p")),
        summary("f"),
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.compactions, report.turns_added), (3, 3));
    let found: Vec<_> = sample
        .entries()
        .into_iter()
        .filter_map(|e| match e.body {
            EntryBody::Compaction(c) => Some((e.seq, c.through, c.speaker.name, c.summary)),
            _ => None,
        })
        .collect();
    let wanted = |seq, through| (seq, through, "claude-x".to_owned(), "This session is".to_owned());
    assert_eq!(found, [wanted(3, 2), wanted(5, 1), wanted(6, 1)]);
}

#[test]
fn parents_are_kept_as_answers_and_select_nothing() {
    let sample = Sample::new();
    let child = |uuid: &str, parent: &str| {
        record("user", uuid, json!({"parentUuid": parent, "message": {"content": uuid}}))
    };
    let progress = record("progress", "p", json!({"parentUuid": "a", "data": {"type": "bash_progress"}}));
    let lines = [child("a", "lost"), child("b", "a"), progress, child("c", "p"), child("d", "later")];
    sample.import(&lines.join("\n"));
    let entries = sample.entries();
    let answered: Vec<_> = sample.turns().iter().map(|t| t.reply_to).collect();
    assert_eq!(answered, [None, Some(entries[0].id), Some(entries[0].id), None]);
}

#[test]
fn side_chains_have_sessions_of_their_own() {
    let sample = Sample::new();
    let side = |uuid: &str, parent: Value, words: &str| {
        let message = json!({"role": "user", "content": words});
        let more = json!({"isSidechain": true, "parentUuid": parent, "message": message});
        record("user", uuid, more)
    };
    let lines = [
        user("a", json!("hi")),
        side("b", json!(null), "find it"),
        side("c", json!(null), "count it"),
        side("d", json!("b"), "more of the first"),
        side("e", json!("lost"), "after the last"),
        user("f", json!("thanks")),
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.beside.len(), report.turns_added), (2, 6));
    let reader = sample.ledger.reader(Scope::All);
    let texts =
        |id| reader.entries(id, 0, 10).unwrap().into_iter().filter_map(|e| e.turn().map(|t| t.text()));
    let session = |id| reader.session(id).unwrap().unwrap();
    assert_eq!(texts(report.session.unwrap()).collect::<Vec<_>>(), ["hi", "thanks"]);
    assert_eq!(
        texts(report.beside[0]).collect::<Vec<_>>(),
        ["find it", "more of the first", "after the last"]
    );
    assert_eq!(session(report.beside[0]).title, "find it");
    assert_eq!(session(report.beside[1]).title, "count it");
    assert!(sample.turns().iter().filter(|t| t.speaker.kind == Agent).count() == 4);
}

#[test]
fn a_sub_agents_file_belongs_to_the_session_that_called_it() {
    let sample = Sample::new();
    let parent = "11111111-2222-4333-8444-555555555555";
    let folder = sample.folder().join(parent).join("subagents");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |path: &std::path::Path, line: String| std::fs::write(path, line + "\n").unwrap();
    write(&sample.folder().join(format!("{parent}.jsonl")), user("a", json!("hi")));
    let path = folder.join("agent-12ab.jsonl");
    let asked = user_with("b", json!("find it"), json!({"isSidechain": true, "cwd": "/work/worktree"}));
    write(&path, asked);
    write(
        &folder.join("agent-12ab.meta.json"),
        json!({"agentType": "Explore", "description": "Find it"}).to_string(),
    );
    let report = Importer::new("Mira").import_file(&sample.ledger, &path, &mut |_| {}).unwrap();
    assert_counted(&report);
    let reader = sample.ledger.reader(Scope::All);
    let session = reader.session(report.session.unwrap()).unwrap().unwrap();
    assert_eq!((session.title.as_str(), report.beside.len()), ("Find it", 0));
    assert_eq!(reader.project(session.project).unwrap().unwrap().name, "harbour");
    assert_eq!(sample.said(), [(Agent, "Claude Code".to_owned(), "find it".to_owned())]);
}

#[test]
fn what_holds_no_turn_is_counted_by_kind_and_the_rest_is_unknown() {
    let sample = Sample::new();
    let lines = [
        json!({"type": "summary", "summary": "s", "leafUuid": "l"}).to_string(),
        record("system", "a", json!({"subtype": "turn_duration"})),
        record("system", "b", json!({"content": "Running hook"})),
        record("system", "c", json!({"subtype": "brand_new"})),
        record("attachment", "d", json!({"attachment": {"type": "file"}})),
        record("attachment", "e", json!({"attachment": {"type": "brand_new"}})),
        record("progress", "f", json!({"data": {"type": "agent_progress", "message": {"content": "x"}}})),
        record("progress", "g", json!({"content": "x"})),
        record("progress", "h", json!({"data": {"type": "brand_new"}})),
        record("user", "i", json!({"message": "no object"})),
        record("brand-new", "j", json!({})),
        json!(7).to_string() + "\n",
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.records, report.turns_added, report.unknown), (12, 0, 6));
    let skipped: Vec<_> = report.skipped.keys().map(String::as_str).collect();
    let wanted = [
        "attachment/file",
        "progress",
        "progress/agent_progress",
        "summary",
        "system",
        "system/turn_duration",
    ];
    assert_eq!(skipped, wanted);
}

#[test]
fn a_plan_that_is_handed_on_is_not_the_owners() {
    let plan = "Implement the following plan:\n\n# Plan: move the files";
    let at = |uuid: &str, parent: Value, content: Value, more: Value| {
        let mut more = more;
        more["parentUuid"] = parent;
        user_with(uuid, content, more)
    };
    let editor = "<ide_opened_file>f</ide_opened_file>";
    let note = "[Request interrupted by user for tool use]";
    let mut hook = json!({"data": {"type": "hook_progress"}, "parentUuid": null});
    hook["hookName"] = json!("SessionStart:clear");
    let cases: [(&str, Vec<String>, SpeakerKind); 9] = [
        ("at the start", vec![at("a", Value::Null, json!(plan), json!({}))], System),
        (
            "behind a hook and a note",
            vec![
                record("progress", "h", hook),
                at("n", json!("h"), text(note), json!({})),
                at(
                    "a",
                    json!("n"),
                    json!([{"type": "text", "text": plan}, {"type": "text", "text": editor}]),
                    json!({}),
                ),
            ],
            System,
        ),
        (
            "behind a gap",
            vec![user("o", json!("hi")), at("a", json!("gone"), json!(plan), json!({}))],
            System,
        ),
        (
            "in a later conversation",
            vec![user("o", json!("hi")), at("a", Value::Null, json!(plan), json!({}))],
            System,
        ),
        ("in the middle", vec![user("o", json!("hi")), at("a", json!("o"), json!(plan), json!({}))], Owner),
        ("without parents", vec![user("o", json!("hi")), user("a", json!(plan))], Owner),
        (
            "behind an answer",
            vec![agent("o", text("hi")), at("a", json!("o"), json!(plan), json!({}))],
            Owner,
        ),
        ("told", vec![at("a", Value::Null, json!(plan), json!({"origin": {"kind": "human"}}))], Owner),
        (
            "about a plan",
            vec![at("a", Value::Null, json!("Implement the following plan: a, then b"), json!({}))],
            Owner,
        ),
    ];
    for (name, lines, wanted) in cases {
        assert_eq!(kinds(&lines).pop(), Some(wanted), "{name}");
    }
}

#[test]
fn what_the_providers_own_tools_answer_is_kept() {
    let blocks = json!([
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "web_search_result", "title": "t"}]},
        {"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": "found"}, {"type": "image"}]},
        {"type": "web_fetch_tool_result", "tool_use_id": "u", "content": {"type": "web_fetch_tool_result_error"}},
        {"type": "text", "text": "So it is."},
        {"type": "brand_new", "words": "kept"},
    ]);
    let sample = Sample::new();
    sample.import(&agent("a", blocks));
    let turn = &sample.turns()[0];
    let wanted = [
        part(Agent, "call", "{\"query\":\"q\"}"),
        part(Tool, "result", "[{\"type\":\"web_search_result\",\"title\":\"t\"}]"),
        part(Tool, "result", "found"),
        part(Tool, "attachment", ""),
        part(Tool, "result", "{\"type\":\"web_fetch_tool_result_error\"}"),
        part(Agent, "text", "So it is."),
        part(Agent, "attachment", "brand_new"),
    ];
    assert_eq!((turn.speaker.kind, parts(turn)), (Agent, wanted.to_vec()));
    let results = turn.parts.iter().filter_map(|p| match &p.body {
        PartBody::ToolResult(result) => Some((result.tool.as_str(), result.outcome)),
        _ => None,
    });
    let results: Vec<_> = results.collect();
    assert_eq!(results, [("web_search", Outcome::Ok), ("", Outcome::Ok), ("", Outcome::Failed)]);
    let Some(PartBody::Attachment(unknown)) = turn.parts.last().map(|p| &p.body) else { panic!() };
    let mut bytes = Vec::new();
    let reader = sample.ledger.reader(Scope::All);
    reader.read_output(unknown.output.unwrap(), sayso::store::StreamKind::Stdout, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "{\"type\":\"brand_new\",\"words\":\"kept\"}");
}

#[test]
fn words_under_other_types_than_expected_are_kept() {
    let said = |content: Value| turns(&[user("a", content)]).remove(0).2;
    assert_eq!(
        said(json!([{"type": "text", "text": {"value": "x"}}])),
        [part(Owner, "text", "{\"value\":\"x\"}")]
    );
    assert_eq!(said(json!({"type": "text", "text": "x"})), [part(Owner, "text", "x")]);
    assert_eq!(
        said(json!({"type": "tool_result", "content": {"a": 1}})),
        [part(Tool, "result", "{\"a\":1}")]
    );
    assert_eq!(said(json!(7)), [part(Owner, "attachment", "")]);
    assert_eq!(said(Value::Null), [part(Owner, "text", "")]);
}
