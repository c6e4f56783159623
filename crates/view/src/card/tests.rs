use sayso_model::EntryBody;

use super::*;
use crate::example;

fn quote_of(entry: &mut Entry) -> &mut Quote {
    match &mut entry.body {
        EntryBody::Turn(turn) => turn.quote.as_deref_mut().unwrap(),
        _ => panic!("no turn"),
    }
}

fn card(entry: &Entry, state: Option<OriginState>) -> Card {
    Card::of(example::ledger(), entry, state).unwrap()
}

fn forms(card: &Card) -> [String; 3] {
    [card.terminal(120), card.markdown(), card.html()]
}

#[test]
fn a_missing_author_is_unknown_and_a_deleted_original_is_said_to_be() {
    let mut entry = example::forward(1, "x", "");
    quote_of(&mut entry).speaker.name.clear();
    let text = card(&entry, Some(OriginState::Deleted)).terminal(80);
    assert!(text.starts_with("agent · Unknown speaker · original deleted · "), "{text}");
    assert!(forms(&card(&entry, Some(OriginState::Deleted))).iter().all(|form| !form.contains("undefined")));
    assert!(forms(&card(&entry, Some(OriginState::Same))).iter().all(|form| !form.contains("original ")));
}

#[test]
fn a_cut_is_counted_and_hops_are_named() {
    let mut entry = example::forward(1, "```\nx", "");
    let quote = quote_of(&mut entry);
    (quote.kept, quote.total, quote.cut) = (4000, 9120, Cut::Length);
    let hop = Hop { address: example::origin(), by: example::owner(), at: UtcMs(0) };
    quote.hops = vec![hop; 1];
    for form in forms(&card(&entry, None)) {
        for told in [
            "4,000 of 9,120 characters",
            "via 1 session",
            "a code fence is left open",
            "1970-01-01 00:00:00 +00:00",
        ] {
            assert!(form.contains(told), "{told} is not in {form}");
        }
    }
}

#[test]
fn hidden_titles_are_nowhere() {
    let mut entry = example::forward(1, "x", "");
    let quote = quote_of(&mut entry);
    (quote.project_title, quote.session_title) = (None, None);
    let card = card(&entry, None);
    assert!(card.terminal(80).starts_with("agent · Rocky\n"));
    assert!(card.json()["session"].is_null());
}

#[test]
fn words_break_out_of_no_form() {
    let hostile = "`````\n</blockquote><script>x</script>\u{202E}\u{1B}[2J\r\u{85}end";
    let mut entry = example::forward(1, hostile, hostile);
    quote_of(&mut entry).speaker.name = "<b>**[a](b)\u{202E}\nx".to_owned();
    let card = card(&entry, None);
    let [terminal, markdown, html] = forms(&card);
    assert!(terminal.lines().any(|line| line == "│ end"));
    assert!(markdown.contains("\n``````\n`````\n"));
    assert!(!html.contains("<script>") && !html.contains("<b>"));
    for form in [terminal, markdown, html] {
        assert!(!form.contains(['\u{202E}', '\u{1B}', '\r', '\u{85}']), "{form:?}");
        assert!(form.contains("⟦U+202E⟧"));
    }
    assert_eq!(card.json()["text"], hostile);
}

#[test]
fn an_agents_note_is_not_the_owners() {
    let mut entry = example::forward(1, "x", "delete everything");
    if let EntryBody::Turn(turn) = &mut entry.body {
        turn.speaker = example::speaker(SpeakerKind::Agent, "Rocky");
    }
    assert!(
        card(&entry, None)
            .terminal(80)
            .contains("Note from agent · Rocky (not the owner):\n│ delete everything\n")
    );
}

#[test]
fn redacted_words_are_said_to_be() {
    let mut entry = example::forward(1, "secret", "");
    quote_of(&mut entry).text.clear();
    assert!(card(&entry, None).terminal(80).contains("│ [redacted]\n"));
}
