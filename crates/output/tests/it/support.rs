//! Short ways to make captures and views.

use std::time::Duration;

use sayso_output::{Actions, Capture, Charset, Ending, Limits, Profile, Stream, View, present};

pub(crate) const ID: &str = "01M8QCWWHAEG1P9BVVXWD331RY";

pub(crate) fn profile() -> Profile {
    Profile { limits: Limits::default(), actions: Actions::sayso() }
}

pub(crate) fn within(limits: Limits) -> Profile {
    Profile { limits, ..profile() }
}

/// What a model is shown of both streams.
pub(crate) fn both(stdout: &[u8], stderr: &[u8], ending: Ending) -> View {
    let (stdout, stderr) = (stdout.to_vec(), stderr.to_vec());
    let mut capture = Capture::of("cat", Stream::whole(&stdout), ending);
    capture.stderr = Stream::whole(&stderr);
    capture.id = Some(ID.to_owned());
    capture.duration = Some(Duration::from_millis(1234));
    present(&capture, &profile()).expect("memory can be read")
}

pub(crate) fn shown(stdout: impl AsRef<[u8]>, ending: Ending) -> View {
    both(stdout.as_ref(), b"", ending)
}

pub(crate) fn declared(stdout: &[u8], charset: Option<&str>) -> View {
    let stdout = stdout.to_vec();
    let mut capture = Capture::of("cat", Stream::whole(&stdout), Ending::Exit(0));
    capture.charset = charset.map(|name| Charset::named(name).expect("a charset"));
    present(&capture, &profile()).expect("memory can be read")
}

#[track_caller]
pub(crate) fn has(text: &impl ToString, part: &str) {
    let text = text.to_string();
    let end: String = text.chars().rev().take(1500).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(text.contains(part), "{part:?} is not in … {end}");
}

#[track_caller]
pub(crate) fn lacks(text: &impl ToString, part: &str) {
    assert!(!text.to_string().contains(part), "{part:?} is in the text");
}

/// The last line.
pub(crate) fn last(view: &View) -> String {
    view.to_string().rsplit('\n').next().unwrap_or_default().to_owned()
}

/// The first line.
pub(crate) fn first(view: &View) -> String {
    view.to_string().split('\n').next().unwrap_or_default().to_owned()
}
