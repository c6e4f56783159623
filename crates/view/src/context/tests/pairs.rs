//! Which result answers which call, and what a boundary between them does.

use super::*;

fn rendered(entries: &[Entry]) -> Vec<String> {
    let input = openai_responses(entries);
    assert_eq!(faults(Provider::OpenAiResponses, &input), [""; 0]);
    let more = |item: &Value| match (item["output"].as_str(), item["content"][0]["text"].as_str()) {
        (Some(output), _) => format!(" = {output}"),
        (None, Some(text)) => format!(" = {}", text.lines().next().unwrap_or_default()),
        _ => String::new(),
    };
    let items = input.as_array().unwrap().iter();
    outline(&input).into_iter().zip(items).map(|(name, item)| name + &more(item)).collect()
}

const WAITS_FOR_NONE: &str = "user = [tool \"bash\", not the owner; no call in this context waits for it]";

#[test]
fn a_result_stored_before_its_call_is_moved_to_it() {
    let mut turns = vec![
        (owner(), vec![text("q")]),
        (tool(), vec![result("a", "A")]),
        (agent(), vec![text("looking"), call("a")]),
        (owner(), vec![text("next")]),
    ];
    let wanted = ["user = q", "assistant = looking", "call a", "output a = A", "user = next"];
    assert_eq!(rendered(&session(turns.clone())), wanted);
    // Until the call is there, it stands as words.
    turns.truncate(2);
    assert_eq!(rendered(&session(turns)), ["user = q", WAITS_FOR_NONE]);
}

#[test]
fn a_second_result_is_not_taken_for_one_stored_early() {
    let entries = session(vec![
        (agent(), vec![call("a")]),
        (tool(), vec![result("a", "1"), result("a", "again")]),
        (agent(), vec![call("a")]),
    ]);
    let made = format!("call_{}_0", entries[2].id);
    let missing = format!("output {made} = [no result was recorded for this call]");
    assert_eq!(
        rendered(&entries),
        ["call a", "output a = 1", WAITS_FOR_NONE, &format!("call {made}"), &missing]
    );
}

#[test]
fn a_result_behind_the_call_is_preferred_to_one_before_it() {
    let mut turns = vec![
        (tool(), vec![result("a", "stray")]),
        (agent(), vec![call("a"), call("b")]),
        (tool(), vec![result("a", "A"), result("b", "B")]),
    ];
    let wanted = [WAITS_FOR_NONE, "call a", "call b", "output a = A", "output b = B"];
    assert_eq!(rendered(&session(turns.clone())), wanted);
    // Nothing more is said of a call whose result stands before it, so the next one stands apart.
    turns.truncate(2);
    let missing = "output b = [no result was recorded for this call]";
    assert_eq!(rendered(&session(turns)), ["call a", "output a = stray", "call b", missing]);
}

#[test]
fn a_result_that_lies_far_before_a_call_is_not_its() {
    let turns = |between: usize| {
        let words = (0..between).map(|_| (owner(), vec![text("w")]));
        let mut turns = vec![(tool(), vec![result("a", "A")])];
        turns.extend(words);
        turns.push((agent(), vec![call("a")]));
        rendered(&session(turns)).pop().unwrap()
    };
    assert_eq!(turns(63), "output a = A");
    assert_eq!(turns(64), "output a = [no result was recorded for this call]");
}

#[test]
fn results_without_an_id_answer_the_last_run_only() {
    let entries = session(vec![
        (agent(), vec![call(""), text("and")]),
        (agent(), vec![call(""), call("")]),
        (tool(), vec![result("", "1"), result("", "2"), result("", "3")]),
    ]);
    let outputs: Vec<String> = rendered(&entries).into_iter().filter(|item| item.contains(" = ")).collect();
    assert!(outputs[0].ends_with("no result was recorded for this call]"), "{outputs:?}");
    assert!(outputs[2].ends_with(" = 1") && outputs[3].ends_with(" = 2"), "{outputs:?}");
    assert_eq!(outputs[4], WAITS_FOR_NONE);
}

/// Entries with a compaction through a place, appended at their end.
fn compacted(turns: Vec<(Speaker, Vec<Part>)>, through: u64) -> Vec<Entry> {
    let mut entries = session(turns);
    entries.push(compaction(entries.len() as u64 + 1, through, "s"));
    entries
}

const SUMMARY: &str =
    "user = [summary by agent \"Rocky\", stands for the earlier turns; not the owner's words]";

#[test]
fn a_boundary_between_call_and_result_leaves_both() {
    let turns = || {
        vec![
            (agent(), vec![call("old"), call("a"), call("b")]),
            (tool(), vec![result("b", "B")]),
            (owner(), vec![text("go on")]),
            (tool(), vec![result("a", "A")]),
            (owner(), vec![text("next")]),
        ]
    };
    // Neither: the boundary lies behind all that is there of them.
    assert_eq!(rendered(&compacted(turns(), 4)), [SUMMARY, "user = next"]);
    // Both, and the calls beside it too, where the result stands that the summary does not cover.
    let lost = "output old = [no result was recorded for this call]";
    let all = ["call old", "call a", "call b", lost, "output a = A", "output b = B"];
    let expected: Vec<&str> =
        [SUMMARY, "user = go on"].into_iter().chain(all).chain(["user = next"]).collect();
    assert_eq!(rendered(&compacted(turns(), 2)), expected);
    // A boundary among the results.
    let expected: Vec<&str> =
        [SUMMARY].into_iter().chain(all).chain(["user = go on", "user = next"]).collect();
    assert_eq!(rendered(&compacted(turns(), 1)), expected);
}

#[test]
fn a_boundary_between_parallel_calls_leaves_both() {
    let turns = vec![
        (agent(), vec![call("a")]),
        (agent(), vec![call("b")]),
        (tool(), vec![result("a", "A"), result("b", "B")]),
    ];
    let expected = [SUMMARY, "call a", "call b", "output a = A", "output b = B"];
    assert_eq!(rendered(&compacted(turns, 1)), expected);
}

#[test]
fn a_boundary_between_an_early_result_and_its_call_leaves_both() {
    let turns = vec![(tool(), vec![result("a", "A")]), (agent(), vec![call("a")])];
    assert_eq!(rendered(&compacted(turns, 1)), [SUMMARY, "call a", "output a = A"]);
}

#[test]
fn looking_back_is_for_what_misses_its_other_half() {
    let later = |turns: Vec<(Speaker, Vec<Part>)>| {
        let mut entries = session(turns);
        entries.iter_mut().for_each(|entry| entry.seq += 100);
        entries
    };
    let words = || (owner(), vec![text("w")]);
    let pair = || vec![(agent(), vec![call("a")]), (tool(), vec![result("a", "A")])];
    let cases = [
        (vec![words()], false),
        (std::iter::once(words()).chain(pair()).collect(), false),
        // The run may have begun earlier.
        (pair(), true),
        (vec![(tool(), vec![result("a", "A")])], true),
        (vec![words(), (tool(), vec![result("", "A")])], true),
        (vec![words(), (agent(), vec![call("a")])], true),
        // Too far from the beginning for a result that was stored before it.
        ((0..66).map(|_| words()).chain([(agent(), vec![call("a")])]).collect(), false),
        // An early result may be a second one.
        (vec![words(), (tool(), vec![result("a", "A")]), (agent(), vec![call("a")])], true),
    ];
    for (turns, wanted) in cases {
        let entries = later(turns);
        assert_eq!(looks_back(&entries), wanted, "{entries:?}");
    }
    assert!(!looks_back(&session(pair())), "nothing stands before the first entry");
    assert!(!looks_back(&[]));
}
