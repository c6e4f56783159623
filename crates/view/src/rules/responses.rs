//! OpenAI Responses: a call stands before its output, exactly one output for each call, nothing between calls and outputs
//! but calls and outputs; reasoning stands right before what came of it.

use serde_json::Value;

use super::{Found, list, text};

pub(super) fn faults(items: &[Value]) -> Vec<String> {
    let mut found = Found::default();
    let mut open: Vec<String> = Vec::new();
    // A run of calls ends with its first output; the next call then needs all of them answered.
    let mut answering = false;
    for (at, item) in items.iter().enumerate() {
        let id = text(item, "call_id").to_owned();
        match text(item, "type") {
            "function_call" => {
                found.unless(!answering || open.is_empty(), || format!("call {id} stands among outputs"));
                call(&mut found, item);
                answering = false;
                open.push(id);
            }
            "function_call_output" => {
                found.unless(open.contains(&id), || format!("output {id} has no open call"));
                output(&mut found, item);
                answering = true;
                open.retain(|call| *call != id);
            }
            "reasoning" => reasoning(&mut found, items.get(at + 1)),
            _ => {
                found.unless(open.is_empty(), || {
                    format!("a message stands between {open:?} and their outputs")
                });
                message(&mut found, item);
            }
        }
    }
    found.unless(open.is_empty(), || format!("calls {open:?} have no output"));
    found.faults
}

fn call(found: &mut Found, call: &Value) {
    found.fields(call, &["type", "id", "call_id", "name", "arguments"]);
    found.id(text(call, "call_id"), |_| true);
    found.tool(text(call, "name"));
    found.unless(call.get("arguments").is_some_and(Value::is_string), || format!("arguments of {call}"));
}

fn output(found: &mut Found, output: &Value) {
    found.fields(output, &["type", "call_id", "output"]);
    let given = output.get("output");
    let blocks = list(output, "output");
    let good = given.is_some_and(Value::is_string)
        || !blocks.is_empty() && blocks.iter().all(|block| text(block, "type") == "input_text");
    found.unless(good, || format!("output of {output}"));
}

/// What comes of reasoning is a call or words of the assistant.
fn reasoning(found: &mut Found, next: Option<&Value>) {
    let follows =
        next.is_some_and(|item| text(item, "type") == "function_call" || text(item, "role") == "assistant");
    found.unless(follows, || "nothing came of a reasoning item".to_owned());
}

fn message(found: &mut Found, message: &Value) {
    found.fields(message, &["type", "role", "content"]);
    let kind = match text(message, "role") {
        "assistant" => "output_text",
        "user" | "system" | "developer" => "input_text",
        other => return found.faults.push(format!("role {other:?}")),
    };
    let blocks = list(message, "content");
    let good = blocks.iter().all(|block| text(block, "type") == kind && !text(block, "text").is_empty());
    found.unless(text(message, "type") == "message" && good && !blocks.is_empty(), || format!("{message}"));
}
