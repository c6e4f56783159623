//! What the fuzz targets run. Panics where a promise does not hold.

use crate::capture::{Capture, Ending, Stream};
use crate::profile::{Actions, Limits, Profile};
use crate::text::{Charset, Cleaned, Cleaner, Decoder, LineSink, Survey, plan};
use crate::wire::{Found, FrameReader, Nonce, legacy};

const CHARSETS: [&str; 8] =
    ["", "utf-8", "utf-16le", "cp949", "shift_jis", "gbk", "windows-1252", "utf-16be"];

#[derive(Default, PartialEq, Debug)]
struct Lines(Vec<String>, String);

impl LineSink for Lines {
    fn text(&mut self, piece: &str) {
        assert!(!piece.contains('\n'), "a line holds no line feed");
        self.1.push_str(piece);
    }

    fn end(&mut self) {
        self.0.push(std::mem::take(&mut self.1));
    }

    fn restart(&mut self) {
        self.1.clear();
    }
}

/// The first byte picks a charset and a border; the rest is decoded and cleaned in one piece and in two.
pub fn decode(bytes: &[u8]) {
    let Some((pick, body)) = bytes.split_first() else { return };
    let Ok(survey) = Survey::of(&body) else { return };
    let declared = CHARSETS.get(usize::from(pick % 8)).and_then(|name| Charset::named(name));
    let Ok(plan) = plan(&body, &survey, declared) else { return };
    let clean = |border: usize| {
        let (mut lines, mut decoder) = (Lines::default(), Decoder::new(plan));
        let (first, second) = body.split_at_checked(border).unwrap_or((body, &[]));
        let mut cleaner = Cleaner::new(&mut lines);
        for (piece, last) in [(first, false), (second, true)] {
            let mut text = String::new();
            decoder.feed(piece, last, &mut text);
            cleaner.feed(&text);
        }
        let cleaned: Cleaned = cleaner.finish();
        (lines, cleaned, decoder.unexplained)
    };
    assert_eq!(
        clean(0),
        clean(body.len() * usize::from(pick / 8) / 32),
        "borders between pieces do not matter"
    );
}

/// The first two bytes pick the ending and the border between both streams.
pub fn present(bytes: &[u8]) {
    let [pick, border, body @ ..] = bytes else { return };
    let at = body.len() * usize::from(*border) / 256;
    let (stdout, stderr) = body.split_at_checked(at).unwrap_or((body, &[]));
    let mut capture = Capture::of("tool", Stream::whole(&stdout), Ending::Exit(i32::from(pick % 2)));
    capture.stderr = Stream::whole(&stderr);
    let profile =
        Profile { limits: Limits::new(60, 1_000 + usize::from(*pick) * 40), actions: Actions::sayso() };
    let Ok(view) = crate::present(&capture, &profile) else { return };
    for limits in [profile.limits, Limits::new(9, 1_000)] {
        let view = view.bound(&limits);
        let text = view.to_string();
        assert!(text.len() <= limits.max_bytes() && text.split('\n').count() <= limits.max_lines());
        assert!(
            text.rsplit('\n').next().is_some_and(|last| last.starts_with("[exit:") && last.ends_with(']'))
        );
        assert_eq!(view.bound(&limits), view);
    }
}

/// The first byte is the size of the pieces.
pub fn wire(bytes: &[u8]) {
    let Some((piece, body)) = bytes.split_first() else { return };
    let read = |size: usize| {
        let mut text = Vec::new();
        let mut reader = FrameReader::new(Nonce::of([7; 16]), &mut text);
        let fed = body.chunks(size.max(1)).all(|piece| reader.feed(piece).is_ok());
        let found = reader.finish().unwrap_or_default();
        assert!(fed, "memory takes everything");
        (found, text)
    };
    let (found, text) = read(usize::from(*piece));
    assert_eq!((&found, &text), (&read(usize::MAX).0, &read(usize::MAX).1), "pieces do not matter");
    let kept = found.iter().map(|found| match found {
        Found::Whole(sections) => sections.model.len() + sections.user.len(),
        Found::Truncated(bytes) => bytes.len(),
    });
    assert!(kept.sum::<usize>() + text.len() <= body.len());
    if let Some(old) = std::str::from_utf8(body).ok().and_then(legacy) {
        assert!(old.outside.len() <= body.len() && !old.sections.is_empty());
    }
}
