//! What a tool of Claude Code printed, where the model saw less of it.

use sayso::Scope;
use sayso::store::{OutputState, StreamKind};
use sayso_model::{OutputId, PartBody};
use serde_json::{Value, json};

use super::Sample;
use super::claude::{record, result};

fn answered(seen: &str, told: Value) -> String {
    record("user", "a", json!({"message": {"content": result("t", seen)}, "toolUseResult": told}))
}

fn output(sample: &Sample) -> Option<OutputId> {
    sample.turns().into_iter().flat_map(|t| t.parts).find_map(|p| match p.body {
        PartBody::ToolResult(result) => result.output,
        _ => None,
    })
}

fn read(sample: &Sample, stream: StreamKind) -> String {
    let mut bytes = Vec::new();
    let reader = sample.ledger.reader(Scope::All);
    assert!(reader.read_output(output(sample).unwrap(), stream, &mut bytes).unwrap());
    String::from_utf8(bytes).unwrap()
}

const PREVIEW: &str = "<persisted-output>\nOutput too large (30 bytes). Full output saved to: /home/x/tool-results/b1.txt\n\n\
    Preview (first 2KB):\n0\n...\n</persisted-output>";

#[test]
fn the_whole_is_kept_beside_a_preview() {
    let whole = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15";
    let blocks = json!([{"type": "text", "text": whole}]);
    let told = [
        json!({"stdout": whole, "stderr": ""}),
        json!({"mode": "content", "content": whole}),
        json!({"type": "text", "file": {"content": whole}}),
        json!({"result": whole}),
        json!({"content": blocks}),
        blocks,
        json!(whole),
    ];
    for told in told {
        let sample = Sample::new();
        sample.import(&answered(PREVIEW, told.clone()));
        assert_eq!(read(&sample, StreamKind::Stdout), whole, "{told}");
        let output = sample.ledger.reader(Scope::All).output(output(&sample).unwrap()).unwrap().unwrap();
        assert_eq!(output.state, OutputState::Complete);
    }
}

#[test]
fn less_than_was_saved_is_called_capped() {
    let sample = Sample::new();
    sample.import(&answered(PREVIEW, json!({"stdout": "0\n1\n2", "stderr": "warned", "exitCode": 2})));
    assert_eq!(read(&sample, StreamKind::Stderr), "warned");
    let output = sample.ledger.reader(Scope::All).output(output(&sample).unwrap()).unwrap().unwrap();
    assert_eq!((output.state, output.exit), (OutputState::Capped, Some(2)));
}

#[test]
fn the_file_that_was_saved_is_taken_while_it_is_there() {
    let sample = Sample::new();
    let folder = sample.folder().join("session/tool-results");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("b1.txt"), "everything").unwrap();
    sample.import(&answered(PREVIEW, json!({"stdout": "0\n1"})));
    assert_eq!(read(&sample, StreamKind::Stdout), "everything");
}

#[test]
fn what_the_model_saw_is_not_stored_again() {
    let told = [
        ("a\nb", json!({"stdout": "a\nb\n", "stderr": ""})),
        ("     1→a", json!({"type": "text", "file": {"content": "a"}})),
        ("Found 2 files", json!({"mode": "files", "content": "much more", "filenames": ["x", "y"]})),
        (PREVIEW, json!({"content": []})),
        (PREVIEW, json!(null)),
    ];
    for (seen, told) in told {
        let sample = Sample::new();
        sample.import(&answered(seen, told.clone()));
        assert_eq!(output(&sample), None, "{told}");
    }
}
