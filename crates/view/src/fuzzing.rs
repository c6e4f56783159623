//! What must hold for any bytes, shared by the fuzz target and the test that runs its corpus.

use sayso_model::{SpeakerKind, hidden};

use crate::guard::{guard, unguard};
use crate::marker::{Marker, Message, Profile, find, join, parse, parse_json, render, split};
use crate::{card::Card, example};

/// Checks the bytes as a marker, as a text that holds markers, and as the words, names and note of a quote.
///
/// # Panics
///
/// Where something does not hold.
pub fn marker(bytes: &[u8]) {
    if let Ok(marker) = parse(bytes) {
        assert_eq!(marker.render(Profile::V1).as_bytes(), bytes, "a marker that parses renders to its bytes");
        assert_eq!(parse_json(&marker.render_json()).ok(), Some(marker), "its JSON form holds the same");
    }
    let text = String::from_utf8_lossy(bytes);
    as_transcript(&text);
    as_words(&text);
}

fn as_transcript(text: &str) {
    for found in find(text) {
        assert!(text.get(found.range).is_some_and(|t| t.starts_with("<quote ")), "a place that is none");
    }
    if let Ok(markers) = split(text) {
        let rendered: Vec<String> = markers.iter().map(|m| m.render(Profile::V1)).collect();
        assert_eq!(join(&rendered), text, "what comes apart joins to the same text");
    }
    if let Ok(marker) = parse_json(text) {
        assert_eq!(marker.render_json(), text, "a line that parses renders to its bytes");
    }
}

fn as_words(text: &str) {
    assert_eq!(hidden::unshow(&hidden::show(text)).as_deref(), Ok(text), "shown words come back");
    assert_eq!(unguard(&guard(text)).as_deref(), Ok(text), "guarded words come back");
    let mut quote = example::quote(text);
    quote.speaker.name = text.to_owned();
    let agent = example::speaker(SpeakerKind::Agent, text);
    let message = Message { id: example::turn_id(), quote: &quote, speaker: &agent, note: text.into() };
    let rendered = render(&message, Profile::V1);
    assert_eq!(parse(rendered.as_bytes()).ok(), Some(Marker::of(&message)), "a rendered marker comes back");
    let found = find(&rendered).map(|found| found.id);
    assert_eq!(found.collect::<Vec<_>>(), [message.id], "one marker is one marker");
    let card = Card::of(example::ledger(), &example::forward(1, text, text), None);
    assert!(card.is_some_and(|card| !card.terminal(40).contains('\u{1B}')), "no escape reaches a terminal");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[test]
    fn every_file_of_the_corpus_holds() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/marker");
        let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(files.len() >= 10, "the corpus is missing: {}", files.len());
        for file in files {
            super::marker(&std::fs::read(file).unwrap());
        }
    }

    #[test]
    fn files_that_are_named_valid_parse() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/marker");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let named = files
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("valid-")));
        for path in named {
            let bytes = std::fs::read(&path).unwrap();
            assert!(crate::marker::parse(&bytes).is_ok(), "{path:?}");
        }
    }

    /// Valid markers and loose pieces, cut up and put together again.
    fn pieces() -> impl Strategy<Value = String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/marker");
        let files =
            std::fs::read_dir(folder).unwrap().map(|file| std::fs::read(file.unwrap().path()).unwrap());
        let lines = files
            .flat_map(|bytes| bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>());
        let lines: Vec<String> = lines.map(|line| String::from_utf8_lossy(&line).into_owned()).collect();
        let hidden = "\u{AD}\u{200B}\u{200D}\u{FE0F}\u{202E}\u{E0067}\u{E007F}\u{1F3F4}⟦⟧\u{0}\t";
        let hidden: Vec<String> = hidden.chars().map(String::from).collect();
        let piece = prop_oneof![
            prop::sample::select(lines),
            prop::sample::select(hidden),
            any::<char>().prop_map(String::from)
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_mixture_holds(text in pieces()) {
            super::marker(text.as_bytes());
        }
    }
}
