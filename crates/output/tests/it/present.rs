//! Presentation: cases T1 to T36 that are about what is shown.

use sayso_output::{Capture, Ending, Limits, Profile, Stream, StreamName, present};

use crate::support::{ID, both, declared, first, has, lacks, last, profile, shown, within};

const OK: Ending = Ending::Exit(0);
const FAILED: Ending = Ending::Exit(1);

#[test]
fn t1_an_error_after_giant_lines_is_shown() {
    for (wide, lines) in [("W", 12), ("W", 400), ("한", 12), ("🔥", 30)] {
        let noise = format!("{}\n", wide.repeat(5000)).repeat(lines);
        let text = format!("{noise}error: could not compile `x`\n");
        has(&shown(&text, Ending::Exit(101)), "error: could not compile `x`");
        // In front of them and between them too.
        has(&shown(format!("error: first\n{noise}"), FAILED), "error: first");
        has(&shown(format!("{noise}error: between\n{noise}"), FAILED), "error: between");
        has(&both(noise.as_bytes(), noise.as_bytes(), FAILED).bound(&Limits::new(200, 4_000)), "[exit:1");
    }
}

#[test]
fn t2_an_error_in_the_middle_is_shown_with_its_number() {
    for (count, at, error) in [
        (1_000, 600, "error[E0308]"),
        (50_000, 25_003, "실패: 디스크"),
        (400, 390, "Traceback (most recent call last):"),
    ] {
        let lines = (1..=count).map(|n| if n == at { error.to_owned() } else { format!("ok {n}") });
        let text = lines.collect::<Vec<_>>().join("\n");
        let view = shown(&text, FAILED);
        assert!(view.lines(StreamName::Stdout).iter().any(|l| l.number == at && l.to_string() == error));
        if at < count - 50 {
            has(&view, &format!("\n{at}: {error}\n"));
            // Not only where the text is its own clean form.
            has(&shown(format!("\u{1B}[1m{text}"), FAILED), &format!("\n{at}: {error}\n"));
        }
        has(&view.bound(&Limits::new(40, 2_000)), error);
    }
}

#[test]
fn t3_the_footer_is_there_at_every_size() {
    for (unit, count) in [("x", 28_990), ("가", 9_000), ("line\n", 6_000), ("🔥\r\n", 9_000)] {
        let text = format!("{}\nExit Code: 1", unit.repeat(count));
        let view = both(text.as_bytes(), text.as_bytes(), FAILED);
        for kilobytes in 1..=60 {
            let limits = Limits::new(200, kilobytes * 1_000);
            let once = view.bound(&limits);
            assert!(last(&once).starts_with("[exit:1 | 1.2s"), "{kilobytes}: {}", last(&once));
            assert!(once.to_string().len() <= kilobytes * 1_000);
            has(&once, "Exit Code: 1");
            assert_eq!(once.bound(&limits), once);
        }
    }
}

#[test]
fn t5_a_failure_shows_what_it_said() {
    let view = both(b"", b"ls: cannot access '/nonexistent': No such file or directory\n", Ending::Exit(2));
    has(&view, "[stderr]\nls: cannot access '/nonexistent'");
    assert_eq!(last(&view), "[exit:2 | 1.2s]");
}

#[test]
fn t9_no_cut_falls_inside_a_character() {
    let family = "👨\u{200D}👩\u{200D}👧";
    for cluster in ["🔥", "가", "\u{1112}\u{1161}\u{11AB}", family, "🇰🇷", "e\u{301}"] {
        for before in 0..40 {
            let text = format!("{}{}", "a".repeat(100 + before), cluster.repeat(6_000));
            let view = shown(&text, OK).bound(&Limits::new(200, 1_500));
            let whole = first(&view);
            let (head, rest) = whole.split_once("[… ").expect("it is cut");
            let tail = rest.split_once(" …]").expect("it is cut").1;
            let clusters = head.trim_start_matches('a');
            assert_eq!(clusters.replace(cluster, ""), "", "{cluster} {before}");
            assert_eq!(tail.replace(cluster, ""), "", "{cluster} {before}");
        }
    }
}

#[test]
fn t10_one_nul_blanks_nothing() {
    let view = shown("\u{1B}[0m\0hello", OK);
    assert_eq!(first(&view), "hello");
    assert!(view.normalisations().contains(&"1 NUL dropped".to_owned()), "{:?}", view.normalisations());
    let many = format!("{}{}", "한글 ".repeat(5_000), "\0".repeat(100));
    has(&shown(&many, OK), "100 NULs dropped");
    assert!(shown("a\0\0\0b".repeat(9), OK).binary(StreamName::Stdout).is_some());
}

#[test]
fn t11_utf16_is_text() {
    for text in ["ok", "두 줄\n오류 하나\n", "日本語の ログ\n", "naïve café\r\nx", "🔥 hot\n"]
    {
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, mark, name) in [(little, [0xFF, 0xFE], "UTF-16LE"), (big, [0xFE, 0xFF], "UTF-16BE")] {
            for given in [[mark.to_vec(), bytes.clone()].concat(), bytes.clone()] {
                let view = shown(&given, OK);
                assert_eq!(first(&view), text.lines().next().unwrap(), "{given:02X?}");
                has(&view, &format!("decoded from {name}"));
            }
        }
    }
}

#[test]
fn t11_what_has_nuls_otherwise_is_not_utf16() {
    let listed = "./src/main.rs\0./src/lib.rs\0./a\0".repeat(5);
    lacks(&shown(&listed, OK), "UTF-16");
    let numbers: Vec<u8> = (0..400u32).flat_map(u32::to_le_bytes).collect();
    assert!(shown(&numbers, OK).binary(StreamName::Stdout).is_some());
}

#[test]
fn t12_old_charsets_are_decoded_or_escaped() {
    let korean = [0xBF, 0xC0, 0xB7, 0xF9];
    assert_eq!(first(&declared(&korean, Some("CP949"))), "오류");
    let cases = [
        ("euc-kr", "빌드 오류: 파일을 찾을 수 없습니다.\n경고 3개, 오류 1개\n"),
        ("shift_jis", "エラー: ファイルが見つかりません。\nビルドに失敗しました。\n"),
        ("gbk", "错误：找不到文件。\n编译失败，请检查配置。\n"),
        ("windows-1251", "Ошибка: файл не найден. Сборка не удалась.\n"),
    ];
    for (charset, text) in cases {
        let encoding = encoding_rs::Encoding::for_label(charset.as_bytes()).unwrap();
        let (bytes, _, _) = encoding.encode(text);
        let told = declared(&bytes, Some(charset));
        assert_eq!(first(&told), text.lines().next().unwrap());
        let long = bytes.repeat(2_000);
        for view in [declared(&bytes, None), shown(&long, FAILED), told] {
            assert!(view.binary(StreamName::Stdout).is_none(), "{charset}");
            let line = first(&view);
            assert!(line == text.lines().next().unwrap() || line.contains("\\x"), "{charset}: {line}");
        }
    }
    for short in [&korean[..], &[0xE9], &[b'a', 0xFF, b'b'], &[0x80, 0x81, 0xFE]] {
        let view = declared(short, None);
        assert!(view.binary(StreamName::Stdout).is_none());
        lacks(&view, "\u{FFFD}");
    }
}

#[test]
fn t12_utf8_with_a_broken_byte_stays_utf8() {
    let mut bytes = "정상적인 한국어 출력입니다.\n".repeat(50).into_bytes();
    bytes.splice(100..100, [0xFF]);
    let view = shown(&bytes, OK);
    has(&view, "정상적인 한국어 출력입니다.");
    has(&view, "\\xFF");
    // And a declared charset that cannot be true does not garble it.
    has(&declared("오류입니다".as_bytes(), Some("shift_jis")), "오류입니다");
}

#[test]
fn t14_colour_is_text_on_a_page_and_in_the_whole() {
    let page = "\u{1B}[32m.\u{1B}[0m".repeat(500);
    for text in [format!("first\n{page}\nlast\n"), page.clone(), page.repeat(300)] {
        let view = shown(&text, OK);
        assert!(view.binary(StreamName::Stdout).is_none());
        has(&view, &".".repeat(500));
    }
    let link = "\u{1B}]8;;http://x\u{1B}\\name\u{1B}]8;;\u{1B}\\ \u{1B}]0;title\u{7}\u{1B}(B\u{9B}1mx";
    assert_eq!(first(&shown(link, OK)), "name x");
}

#[test]
fn t16_a_line_over_the_budget_is_shown_at_both_ends() {
    for unit in ["1234567", "한글", "🔥"] {
        let text = format!("{{\"first\":\"{}\",\"last\":1}}", unit.repeat(60_000 / unit.len()));
        for view in [shown(&text, OK), shown(&text, FAILED), shown(format!("\u{1B}[m{text}"), OK)] {
            let line = first(&view);
            assert!(line.starts_with("{\"first\":") && line.ends_with("\"last\":1}"), "{unit}");
            assert!(line.len() > 40_000, "the room is used: {}", line.len());
            has(&view, &format!("whole: sayso output {ID} | parts: add --lines A:B, --bytes A:B, "));
        }
    }
}

#[test]
fn t19_what_was_capped_is_said() {
    for (kept, of, said) in
        [(1_024, 2_048, "first 1,024 of 2,048 bytes"), (10, 1_000_000, "first 10 of 1,000,000 bytes")]
    {
        let bytes = vec![b'x'; kept];
        let mut capture = Capture::of("cat", Stream::capped(&bytes, of), OK);
        has(&present(&capture, &profile()).unwrap(), said);
        capture.stdout = Stream::partial(&bytes);
        has(&present(&capture, &profile()).unwrap(), "stdout partial");
        capture.stdout = Stream::capped(&bytes, kept as u64);
        assert_eq!(last(&present(&capture, &profile()).unwrap()), "[exit:0]");
    }
}

#[test]
fn t23_marks_of_others_are_plain_text() {
    for text in
        ["[5 compressed hash=aaaaaaaaaaaaaaaaaaaaaaaa]", "<persisted-output>x</persisted-output>", "__END__"]
    {
        assert_eq!(shown(text, OK).to_string(), format!("{text}\n[exit:0 | 1.2s]"));
    }
}

#[test]
fn t30_controls_are_counted_in_characters() {
    for text in ["한글 출력", "Ĉŝ ĝĵ", "日本語", "\u{1F525}"] {
        assert!(shown(text.repeat(4_000), OK).binary(StreamName::Stdout).is_none());
    }
    assert!(shown("\u{1}a\u{2}b\u{3}c".repeat(30), OK).binary(StreamName::Stdout).is_some());
    assert!(
        shown("\u{1}a\u{2}b\u{3}c".repeat(10), OK).binary(StreamName::Stdout).is_none(),
        "under 64 characters"
    );
}

#[test]
fn t35_a_line_that_looks_like_a_footer_is_content() {
    for text in ["[exit:0 | 1s]", "[timeout | 2.0s]", "[stderr]", "[… lines 1 to 2 of 3 are left out …]"]
    {
        let view = shown(format!("work\n{text}\n"), FAILED);
        assert_eq!(view.to_string(), format!("work\n{text}\n[exit:1 | 1.2s]"));
        let again = view.bound(&Limits::new(8, 1_000));
        assert_eq!(again, view);
    }
}

#[test]
fn t36_stderr_of_a_success_is_short() {
    let view = both(b"", b"cat: missing: No such file or directory\n", OK);
    has(&view, "[stderr]\ncat: missing: No such file or directory\n[exit:0");
    let long = (1..=500).map(|n| format!("warning {n}\n")).collect::<String>();
    let view = both(b"done\n", long.as_bytes(), OK);
    has(&view, "warning 1\n");
    has(&view, "warning 500\n");
    assert!(view.lines(StreamName::Stderr).len() <= 10);
    assert!(view.to_string().len() < 2_000);
}

#[test]
fn binary_output_is_named_with_what_can_be_done() {
    let png = [b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR".to_vec(), vec![0; 186_000]].concat();
    let view = shown(&png, OK);
    assert_eq!(
        first(&view),
        format!("[error] cat: binary image file (182KB). Use: sayso output {ID} --to FILE")
    );
    has(&view, "image/png");
    // Nothing is named that does not exist.
    let capture = Capture::of("cat", Stream::whole(&png), OK);
    assert_eq!(
        first(&present(&capture, &Profile::default()).unwrap()),
        "[error] cat: binary image file (182KB)."
    );
    has(&both(b"text\n", &png, FAILED), "[stderr]\n[error] cat: stderr is a binary image file");
    has(&both(b"text\n", &png, FAILED), "text\n");
}

#[test]
fn words_that_look_like_a_format_are_text() {
    for text in [
        "BM is short for benchmark",
        "MZ\n",
        "ID3 tags: none",
        "PK",
        "%!PS is PostScript",
        "GIF8 is not enough",
    ] {
        assert_eq!(first(&shown(text, OK)), text.trim_end());
    }
    has(&shown(b"%PDF-1.7\nplain", OK), "binary document file");
}

#[test]
fn what_a_terminal_would_show_is_shown() {
    for (raw, clean) in [
        ("10%\r20%\r100%\n", "100%"),
        ("Downloading 1\rDone\u{1B}[K\n", "Done"),
        ("abc\rX\n", "Xbc"),
        ("가나다\rab\n", "ab나다"),
        ("windows\r\n", "windows"),
        ("N\u{8}NA\u{8}AM\u{8}ME\u{8}E", "NAME"),
        ("_\u{8}u_\u{8}n", "un"),
        ("가\u{8}\u{8}가", "가"),
        ("x\u{8}_", "x"),
        ("spin |\u{8}/\u{8}-\u{8}done", "spin done"),
        ("a\u{1B}[3Cb", "a   b"),
        ("\u{1B}]0;never ended\nnext", "]0;never ended"),
        ("e\u{301}\rx", "x"),
        ("bell\u{7}", "bell⟦U+0007⟧"),
        ("a\u{202E}b", "a⟦U+202E⟧b"),
        ("a\u{2028}b", "a⟦U+2028⟧b"),
    ] {
        assert_eq!(first(&shown(raw, OK)), clean, "{raw:?}");
    }
    let bar = (0..=9_000).map(|n| format!("\r{n} of 9000 {}", "#".repeat(60))).collect::<String>();
    assert_eq!(first(&shown(&bar, OK)), format!("9000 of 9000 {}", "#".repeat(60)));
    let wide = format!("{}\rshort\n", "x".repeat(100_000));
    assert_eq!(first(&shown(&wide, OK)), "short", "a line too long to be gone back in is replaced");
}

#[test]
fn what_is_left_out_of_stderr_is_read_by_the_call_that_is_named() {
    let (few, many) = (b"1\n".as_slice(), "x\n".repeat(400));
    let whole = format!("| whole: sayso output {ID}");
    let view = both(few, many.as_bytes(), Ending::Exit(1));
    has(
        &view,
        &format!("[not all is shown: stderr has 400 lines, 800 bytes {whole} --stderr | parts: add --lines"),
    );
    lacks(&view, "of stderr:");
    let view = both(many.as_bytes(), few, Ending::Exit(1));
    has(&view, &format!("[not all is shown: stdout has 400 lines, 800 bytes {whole} | parts: add --lines"));
    lacks(&view, "--stderr");
    let view = both(many.as_bytes(), many.as_bytes(), Ending::Exit(1));
    has(&view, &format!("{whole} | parts: add --lines"));
    has(&view, "| of stderr: add --stderr]");
    let view = both(few, b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", Ending::Exit(1));
    has(&view, &format!("Use: sayso output {ID} --to FILE --stderr"));
}

#[test]
fn overflow_says_how_to_go_on() {
    let text = (1..=1_000).map(|n| format!("line {n}\n")).collect::<String>();
    let view = shown(&text, OK);
    has(&view, "line 195\n");
    lacks(&view, "line 201\n");
    for part in ["1,000 lines", "8,893 bytes", "--lines A:B", "--grep PATTERN", "--head N", "--tail N"] {
        has(&view, part);
    }
    assert_eq!(last(&view), format!("[exit:0 | 1.2s | 1,000 lines | 8,893 bytes | {ID}]"));
    assert!(view.to_string().lines().count() <= 200);
    // Just below and just above.
    let fits = "x\n".repeat(199);
    lacks(&shown(&fits, OK), "not all is shown");
    has(&shown("x\n".repeat(201), OK), "not all is shown: stdout has 201 lines, 402 bytes");
}

#[test]
fn stderr_keeps_its_share() {
    let noise = "stdout noise\n".repeat(100_000);
    let errors = (1..=20).map(|n| format!("cause {n}: {}\n", "detail ".repeat(20))).collect::<String>();
    let view = both(noise.as_bytes(), errors.as_bytes(), FAILED);
    assert_eq!(view.lines(StreamName::Stderr).len(), 20, "what fits into its share is kept whole");
    let view = both(noise.as_bytes(), noise.as_bytes(), FAILED).bound(&Limits::new(100, 4_000));
    let kept = view.lines(StreamName::Stderr).len();
    assert!((20..40).contains(&kept), "{kept}");
}

#[test]
fn a_view_fits_the_window() {
    let korean = "한국어 출력은 토큰이 많다. ".repeat(20_000);
    let mut capture = Capture::of("cat", Stream::whole(const { &Vec::new() }), OK);
    let bytes = korean.into_bytes();
    capture.stdout = Stream::whole(&bytes);
    let view = present(&capture, &within(Limits::default().window(32_000))).unwrap();
    let text = view.to_string();
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    assert!((2_500..=4_000).contains(&wide), "an eighth of the window: {wide}");
    let view = present(&capture, &within(Limits::default().chars(2_000))).unwrap();
    assert!(view.to_string().chars().count() <= 2_000);
}

#[test]
fn endings_are_named() {
    for (ending, said) in [
        (Ending::Signal(9), "[signal:SIGKILL | 1.2s]"),
        (Ending::Signal(64), "[signal:64 | 1.2s]"),
        (Ending::Timeout, "[timeout | 1.2s]"),
        (Ending::Unknown, "[exit unknown | 1.2s]"),
        (Ending::Exit(-1), "[exit:-1 | 1.2s]"),
    ] {
        assert_eq!(shown("", ending).to_string(), said);
    }
}
