//! What a tool printed, where the model saw less of it.

use sayso::Scope;
use sayso::store::StreamKind;
use sayso_model::{OutputId, PartBody};
use serde_json::{Value, json};

use super::Sample;
use super::codex::{agent, line, meta};
use super::pi::{header, message};

fn outputs(sample: &Sample) -> Vec<Option<OutputId>> {
    let results = sample.turns().into_iter().flat_map(|t| t.parts);
    let links = results.filter_map(|p| match p.body {
        PartBody::ToolResult(result) => Some(result.output),
        _ => None,
    });
    links.collect()
}

fn read(sample: &Sample, id: OutputId, stream: StreamKind) -> String {
    let mut bytes = Vec::new();
    let reader = sample.ledger.reader(Scope::All);
    assert!(reader.read_output(id, stream, &mut bytes).unwrap());
    String::from_utf8(bytes).unwrap()
}

fn call(id: &str) -> String {
    line("response_item", json!({"type": "function_call", "name": "shell", "call_id": id, "arguments": "{}"}))
}

fn result(id: &str, seen: &str) -> String {
    line("response_item", json!({"type": "function_call_output", "call_id": id, "output": seen}))
}

fn end(id: &str, printed: Value) -> String {
    let mut payload = json!({"type": "exec_command_end", "call_id": id, "exit_code": 3});
    payload.as_object_mut().unwrap().extend(printed.as_object().unwrap().clone());
    line("event_msg", payload)
}

#[test]
fn the_whole_is_kept_whether_it_comes_before_or_after_the_result() {
    let whole = json!({"aggregated_output": "1\n2\n3\n"});
    let orders: [Vec<String>; 4] = [
        vec![meta(), call("a"), end("a", whole.clone()), result("a", "1\n…\n3"), agent("ok")],
        vec![meta(), call("a"), result("a", "1\n…\n3"), end("a", whole.clone()), agent("ok")],
        vec![meta(), call("a"), result("a", "1\n…\n3"), end("a", whole.clone())],
        // Two calls at once.
        vec![meta(), call("b"), call("a"), end("b", json!({})), end("a", whole.clone()), result("a", "…")],
    ];
    for lines in orders {
        let sample = Sample::new();
        sample.import(&lines.join("\n"));
        let id = outputs(&sample)[0].unwrap();
        assert_eq!(read(&sample, id, StreamKind::Stdout), "1\n2\n3\n");
        let output = sample.ledger.reader(Scope::All).output(id).unwrap().unwrap();
        assert_eq!((output.exit, output.tool.as_str()), (Some(3), "shell"));
    }
}

#[test]
fn nothing_is_stored_twice_that_the_model_saw() {
    for seen in ["Exit code: 3\nOutput:\n1\n2", "{\"output\":\"1\\n2\\n\",\"metadata\":{\"exit_code\":3}}"] {
        let sample = Sample::new();
        let ended = end("a", json!({"aggregated_output": "1\n2\n"}));
        sample.import(&[meta(), call("a"), ended, result("a", seen)].join("\n"));
        assert_eq!(outputs(&sample), [None], "{seen}");
    }
}

#[test]
fn streams_without_an_order_stay_apart() {
    let sample = Sample::new();
    let ended = end("a", json!({"stdout": "out", "stderr": "err"}));
    sample.import(&[meta(), call("a"), ended, result("a", "err")].join("\n"));
    let id = outputs(&sample)[0].unwrap();
    assert_eq!(read(&sample, id, StreamKind::Stdout), "out");
    assert_eq!(read(&sample, id, StreamKind::Stderr), "err");
}

#[test]
fn other_events_tell_the_end_of_a_call_too() {
    let content = json!([{"type": "text", "text": "all of it"}]);
    let ends = [
        json!({"type": "mcp_tool_call_end", "call_id": "a", "result": {"Ok": {"content": content}}}),
        json!({"type": "item_completed",
            "item": {"type": "McpToolCall", "id": "a", "result": {"content": content}}}),
        json!({"type": "item_completed",
            "item": {"type": "CommandExecution", "id": "a", "aggregated_output": "all of it"}}),
    ];
    for ended in ends {
        let sample = Sample::new();
        sample.import(&[meta(), call("a"), line("event_msg", ended), result("a", "all …")].join("\n"));
        assert_eq!(read(&sample, outputs(&sample)[0].unwrap(), StreamKind::Stdout), "all of it");
    }
}

#[test]
fn a_file_that_pi_names_is_stored_while_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pi-bash-0123.log");
    std::fs::write(&path, "1\n2\n3\n").unwrap();
    let named = |path: &std::path::Path| {
        let shell = json!({"role": "bashExecution", "command": "seq 3", "output": "…3", "exitCode": 0,
            "fullOutputPath": path});
        let tool = json!({"role": "toolResult", "toolName": "bash", "toolCallId": "t", "isError": false,
            "content": [{"type": "text", "text": "…3"}], "details": {"fullOutputPath": path}});
        [header(), message("a", shell), message("b", tool)].join("\n")
    };
    let sample = Sample::new();
    sample.import(&named(&path));
    for id in outputs(&sample) {
        assert_eq!(read(&sample, id.unwrap(), StreamKind::Stdout), "1\n2\n3\n");
    }
    let gone = Sample::new();
    gone.import(&named(&folder.path().join("pi-bash-gone.log")));
    assert_eq!(outputs(&gone), [None, None]);
    let odd = Sample::new();
    odd.import(&named(folder.path()));
    assert_eq!(outputs(&odd), [None, None]);
}

#[test]
fn a_transcript_cannot_name_any_file_it_likes() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.txt");
    std::fs::write(&secret, "password").unwrap();
    let details = json!({"fullOutputPath": secret});
    let tool = json!({"role": "toolResult", "toolName": "bash", "toolCallId": "t", "isError": false,
        "content": [{"type": "text", "text": "…"}], "details": details});
    let sample = Sample::new();
    sample.import(&[header(), message("a", tool)].join("\n"));
    assert_eq!(outputs(&sample), [None]);
}

#[test]
fn a_file_that_was_kept_beside_the_transcript_is_found_there() {
    let sample = Sample::new();
    let tool = json!({"role": "toolResult", "toolName": "bash", "toolCallId": "t", "isError": false,
        "content": [{"type": "text", "text": "…3"}], "details": {"fullOutputPath": "/no/such/pi-bash-9a65.log"}});
    std::fs::write(sample.folder().join("pi-bash-9a65.log"), "1\n2\n3\n").unwrap();
    sample.import(&[header(), message("a", tool)].join("\n"));
    assert_eq!(read(&sample, outputs(&sample)[0].unwrap(), StreamKind::Stdout), "1\n2\n3\n");
}

#[test]
fn what_codex_itself_cut_is_capped() {
    let cut = "head\n\n... command output truncated for persistence ...\n\ntail";
    let ended = json!({"type": "item_completed",
        "item": {"type": "CommandExecution", "id": "a", "aggregated_output": cut, "exit_code": 0}});
    let sample = Sample::new();
    sample.import(&[meta(), call("a"), line("event_msg", ended), result("a", "head …")].join("\n"));
    let output = sample.ledger.reader(Scope::All).output(outputs(&sample)[0].unwrap()).unwrap().unwrap();
    assert_eq!((output.state, output.exit), (sayso::store::OutputState::Capped, Some(0)));
}
