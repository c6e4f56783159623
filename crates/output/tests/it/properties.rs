//! What holds for any bytes.

use proptest::prelude::*;
use sayso_output::{Capture, Ending, Limits, Stream, StreamName, View, present};

use crate::support::{last, within};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "\\PC{0,30}".prop_map(String::into_bytes),
        "[a-z가-힣🔥\u{301}\u{200D}\r\n\u{8}\u{1B}\\[\\]0-9;KmGC ]{0,60}".prop_map(String::into_bytes),
        Just(b"error: x\n".to_vec()),
        Just("줄\n".repeat(300).into_bytes()),
        Just("🇰🇷".repeat(4_000).into_bytes()),
        Just(vec![0; 5]),
        Just(vec![0xBF, 0xC0, 0xB7, 0xF9, b'\n']),
        Just("\u{1B}[32mgreen\u{1B}[0m \u{9B}K ".repeat(900).into_bytes()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn limits() -> impl Strategy<Value = Limits> {
    (0usize..300, 0usize..70_000, proptest::option::of(0usize..9_000), proptest::option::of(0usize..90_000))
        .prop_map(|(lines, bytes, chars, window)| {
            let limits = Limits::new(lines, bytes);
            let limits = chars.map_or(limits, |c| limits.chars(c));
            window.map_or(limits, |w| limits.window(w))
        })
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![Just(Ending::Exit(0)), Just(Ending::Exit(3)), Just(Ending::Timeout), Just(Ending::Signal(9))]
}

#[expect(clippy::ptr_arg, reason = "a slice is no sized source")]
fn view(stdout: &Vec<u8>, stderr: &Vec<u8>, ending: Ending, limits: Limits) -> View {
    let mut capture = Capture::of("tool", Stream::whole(stdout), ending);
    capture.stderr = Stream::whole(stderr);
    capture.id = Some(crate::support::ID.to_owned());
    present(&capture, &within(limits)).expect("memory can be read")
}

#[track_caller]
fn within_bounds(view: &View, limits: &Limits) {
    let text = view.to_string();
    let chars = text.chars().count();
    let bound = format!("{limits:?}");
    assert!(text.split('\n').count() <= limits.max_lines(), "{bound}");
    assert!(text.len() <= limits.max_bytes(), "{bound}: {}", text.len());
    let most = bound
        .split("chars: Some(")
        .nth(1)
        .and_then(|t| t.split(')').next())
        .map(|n| n.parse::<usize>().unwrap());
    assert!(most.is_none_or(|most| chars <= most), "{bound}: {chars}");
    let tokens = bound
        .split("tokens: Some(")
        .nth(1)
        .and_then(|t| t.split(')').next())
        .map(|n| n.parse::<usize>().unwrap());
    let wide = text.chars().filter(|c| !c.is_ascii()).count();
    assert!(tokens.is_none_or(|most| wide + (chars - wide) / 3 <= most), "{bound}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_view_is_bounded_and_ends_in_its_footer(
        stdout in bytes(), stderr in bytes(), ending in ending(), first in limits(), second in limits(),
    ) {
        let view = view(&stdout, &stderr, ending, first);
        within_bounds(&view, &first);
        let again = view.bound(&second);
        within_bounds(&again, &second);
        prop_assert_eq!(&again.bound(&second), &again);
        for view in [view, again] {
            let text = view.to_string();
            let start = match ending {
                Ending::Exit(code) => format!("[exit:{code}"),
                Ending::Signal(_) => "[signal:SIGKILL".to_owned(),
                _ => "[timeout".to_owned(),
            };
            prop_assert!(last(&view).starts_with(&start) && text.ends_with(']'));
            let hidden = ['\u{1B}', '\0', '\r'];
            prop_assert!(!text.contains(hidden));
        }
    }

    #[test]
    fn what_fits_into_the_share_of_stderr_is_kept(lines in 1usize..60, noise in 0usize..3_000) {
        let stdout = "noise\n".repeat(noise).into_bytes();
        let stderr = (0..lines).map(|n| format!("cause {n}\n")).collect::<String>().into_bytes();
        let view = view(&stdout, &stderr, Ending::Exit(1), Limits::default());
        prop_assert_eq!(view.lines(StreamName::Stderr).len(), lines);
    }

    #[test]
    fn clean_text_that_fits_is_shown_as_it_is(text in "[a-z가-힣 🔥\n]{0,400}") {
        let bytes = text.clone().into_bytes();
        let view = view(&bytes, &Vec::new(), Ending::Exit(0), Limits::new(1_000, 10_000));
        let body = text.strip_suffix('\n').unwrap_or(&text);
        let wanted = if text.is_empty() { "[exit:0]".to_owned() } else { format!("{body}\n[exit:0]") };
        prop_assert_eq!(view.to_string(), wanted);
    }
}
