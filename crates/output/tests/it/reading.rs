//! Reading parts of an output, and searching it.

use proptest::prelude::*;
use sayso_output::Source;
use sayso_output::read::{Count, Grep, Hit, Range, bytes, head, lines, tail};

fn text_of(read: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    read(&mut out);
    String::from_utf8(out).unwrap()
}

fn hits(grep: &Grep, text: &[u8]) -> Vec<Hit> {
    let mut hits = Vec::new();
    grep.search(&mut &text[..], &mut |hit| {
        hits.push(hit);
        true
    })
    .unwrap();
    hits
}

#[test]
fn t16_bytes_of_a_giant_line_are_readable() {
    let json = format!("{{\"k\":\"{}\"}}", "0123456789".repeat(6_000)).into_bytes();
    let range = "30000:31023".parse::<Range>().unwrap();
    let mut out = Vec::new();
    assert_eq!(bytes(&json, range, &mut out).unwrap(), 1_024);
    assert_eq!(out, &json[30_000..=31_023]);
    out.clear();
    assert_eq!(bytes(&json, "99999999:".parse().unwrap(), &mut out).unwrap(), 0);
}

#[test]
fn ranges_are_read_or_refused() {
    for wrong in ["", "a", "5:4", "1:2:3", ":", "-1", "1:x"] {
        assert!(wrong.parse::<Range>().is_err(), "{wrong}");
    }
}

#[test]
fn a_giant_line_is_searched_too() {
    for (before, after) in
        [(3_000_000, 3_000_000), (0, 2_000_000), (1_048_570, 0), (1_048_576 - 4_096 - 3, 50)]
    {
        let text = format!("first\n{}needle{}\nlast needle\n", "x".repeat(before), "y".repeat(after));
        let found = hits(&Grep::new("needle").unwrap(), text.as_bytes());
        let numbers: Vec<u64> = found.iter().map(|h| h.number).collect();
        assert_eq!(numbers, [2, 3], "{before} {after}");
        assert_eq!((found[0].offset, found[1].offset), (6, 6 + (before + 6 + after + 1) as u64));
        assert!(found.iter().all(|h| h.line.len() <= 4_096 && h.line[h.at..].starts_with(b"needle")));
        assert_eq!(hits(&Grep::new("^xneedle$|^y").unwrap(), text.as_bytes()), []);
    }
}

#[test]
fn patterns_stay_within_a_line() {
    let found = hits(&Grep::ignoring_case(r"b\s+C|^$").unwrap(), b"a b\nc\n\nB c\n");
    assert_eq!(found.iter().map(|h| h.number).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(hits(&Grep::fixed("a.b").unwrap(), b"axb\na.b").len(), 1);
    assert_eq!(hits(&Grep::new("보고").unwrap(), "x\n보고서\n".as_bytes())[0].number, 2);
    assert!(Grep::new("(").unwrap_err().to_string().contains("cannot be read"));
    let mut seen = 0;
    let first = Grep::new("a").unwrap().search(&mut &b"a\na\na\n"[..], &mut |_| {
        seen += 1;
        false
    });
    assert_eq!((first.unwrap(), seen), (1, 1));
}

/// Lines, one in twelve of them giant.
fn pieces(usual: &'static str, giant: usize) -> impl Strategy<Value = Vec<String>> {
    let line = prop_oneof![11 => usual, 1 => Just(0).prop_map(move |_| "b".repeat(giant))];
    proptest::collection::vec(line, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn parts_are_what_splitting_gives(
        pieces in pieces("[ab]{0,3}|가{0,2}", 90_000),
        ended: bool, first in 1u64..9, more in 0u64..9, count in 0u64..14,
    ) {
        let mut text = pieces.join("\n");
        if ended && !text.is_empty() { text.push('\n'); }
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let (from, to) = ((first - 1) as usize, (first + more) as usize);
        let wanted = all.get(from.min(all.len())..to.min(all.len())).unwrap().concat();
        let range = Range { first, last: Some(first + more) };
        let mut count_of = Count::default();
        let got = text_of(|out| count_of = lines(&mut text.as_bytes(), range, out).unwrap());
        prop_assert_eq!(&got, &wanted);
        prop_assert_eq!(count_of.lines as usize, got.split_inclusive('\n').count());
        let few = (count as usize).min(all.len());
        prop_assert_eq!(text_of(|out| assert!(head(&mut text.as_bytes(), count, out).is_ok())), all[..few].concat());
        let source: &dyn Source = &text.clone().into_bytes();
        prop_assert_eq!(text_of(|out| assert!(tail(source, count, out).is_ok())), all[all.len() - few..].concat());
    }

    #[test]
    fn a_search_finds_the_lines_that_match(pieces in pieces("[ab]{0,4}", 1_300_000), pattern in proptest::sample::select(vec!["a", "ab", "b+$", "^a", "b{5}"])) {
        let text = pieces.join("\n");
        let regex = regex::Regex::new(pattern).unwrap();
        let wanted: Vec<u64> = text.lines().zip(1..).filter(|(l, _)| regex.is_match(l)).map(|(_, n)| n).collect();
        let found = hits(&Grep::new(pattern).unwrap(), text.as_bytes());
        prop_assert_eq!(found.iter().map(|h| h.number).collect::<Vec<_>>(), wanted);
        for hit in found.iter().filter(|h| !h.cut) {
            prop_assert!(text.as_bytes()[hit.offset as usize..].starts_with(&hit.line));
        }
    }
}
