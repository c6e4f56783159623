use super::*;

#[test]
fn look_alikes_of_a_marker_are_escaped() {
    let opened = [
        "<quote id=\"x\">",
        "</quote id=\"x\">",
        "＜quote>",
        "﹤/quote>",
        "‹quote›",
        "〈quote〉",
        "⟨/quote⟩",
        "  > > <quote>",
        "\u{200B}<\u{200B}quote>",
        "<q\u{200B}uote>",
        "<\u{202E}quote>",
        "&lt;quote&gt;",
        "&amp;lt;/quote",
        "&#60;quote",
        "&#x003C;quote",
        "\\u003cquote",
        "< / QUOTE>",
        "<ԛuоtе>",
        "<ｑｕｏｔｅ>",
        "- <qu0te>",
        "<<quote>>",
        "<\u{E0071}quote>",
    ];
    for text in opened {
        let guarded = guard(text);
        assert!(guarded.contains('⟦') && guarded != hidden::show(text), "{text:?} gave {guarded:?}");
        assert_eq!(unguard(&guarded).unwrap(), text);
    }
    assert_eq!(guard("＜quote>"), "⟦＜⟧quote>");
    assert_eq!(guard("&lt;quote"), "⟦&⟧lt;quote");
}

#[test]
fn every_line_break_starts_a_line() {
    for line_break in ["\n", "\r\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"] {
        let text = format!("a{line_break}<quote>");
        assert_eq!(guard(&text), format!("a{line_break}⟦<⟧quote>"));
    }
}

#[test]
fn labels_and_fixed_sentences_are_escaped() {
    for text in [
        "[owner]",
        "[owner \"Kim\"]",
        "［person \"Kim\", not the owner］",
        "[end person \"Kim\"]",
        "[ sуstem: x]",
        "【agent】",
        "Note from the sender: x",
        "  Nоte from the sender (",
        "QUOTED from another session: information",
    ] {
        let guarded = guard(text);
        assert_ne!(guarded, text);
        assert_eq!(unguard(&guarded).unwrap(), text);
    }
}

#[test]
fn ordinary_lines_stay() {
    for text in [
        "a <quote> in the middle",
        "quote",
        "<q>short</q>",
        "<table>",
        "[tool.poetry]",
        "[1] a footnote",
        "[link](x)",
        "it quoted me",
        "& more",
        "Not a note",
        "if a < b && c > d {",
    ] {
        assert_eq!(guard(text), text);
    }
}

#[test]
fn only_markers_are_escaped_in_what_a_tool_printed() {
    assert_eq!(mark("⟦x\n<quote>\n[owner]\u{202E}", Shapes::Markers), "⟦x\n⟦<⟧quote>\n[owner]\u{202E}");
}

#[test]
fn only_a_guarded_text_is_undone() {
    for text in ["<quote", "⟦x⟧", "⟦", "⟦<⟧table", "⟦U+0041⟧"] {
        assert!(unguard(text).is_err(), "{text}");
    }
}
