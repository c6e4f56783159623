//! What is printed of a command.

use std::fmt::Write as _;
use std::io;

use sayso::model::OutputId;
use sayso_output::envelope::Received;
use sayso_output::execute::StreamEnd;
use sayso_output::{Actions, Capture, Ending, Kept, Profile, Source, Stream, View, present};
use serde::Serialize;

use super::held::Held;
use super::record::{Record, Recorded};
use super::{Ran, put, tool};
use crate::args::Run;
use crate::fail::{Chain, Failure};
use crate::io::say;

#[derive(Serialize)]
struct Printed<'a> {
    output: Option<OutputId>,
    exit: Option<i32>,
    signal: Option<i32>,
    timeout: bool,
    duration_ms: u64,
    stdout: Counted,
    stderr: Counted,
    view: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    envelopes: &'a [Envelope],
}

#[derive(Serialize)]
struct Counted {
    bytes: u64,
    lines: u64,
}

impl Counted {
    const fn of(stream: &StreamEnd, lines: u64) -> Self {
        Self { bytes: stream.produced, lines }
    }
}

/// A text for the model, as it is shown, and one for the person.
#[derive(Serialize)]
pub(super) struct Envelope {
    /// Where the whole text for the model is stored.
    output: Option<OutputId>,
    model: String,
    person: Option<String>,
    purpose: Option<&'static str>,
    /// Whether it came whole. Otherwise everything that came is for the model.
    whole: bool,
}

/// What was handed over: each text for the model is stored, and shown like an output.
pub(super) fn envelopes(
    received: &[Received],
    args: &Run,
    stored: Option<&Recorded>,
    record: &Record,
) -> Vec<Envelope> {
    let texts = received.iter().filter(|r| !matches!(r, Received::Truncated(text) if text.is_empty()));
    texts.map(|one| envelope(one, args, stored, record)).collect()
}

fn envelope(received: &Received, args: &Run, stored: Option<&Recorded>, record: &Record) -> Envelope {
    let (model, envelope) = match received {
        Received::Whole(envelope) => (envelope.model_context(), Some(envelope)),
        Received::Truncated(text) => (text.as_str(), None),
    };
    let id = stored.and_then(|_| {
        let kept = record.text(&tool(args), model);
        kept.unwrap_or_else(|error| {
            say(format!("warning: a text for the model was not stored: {}", Chain(&error)));
            None
        })
    });
    Envelope {
        output: id,
        model: bounded(model, args, id),
        person: envelope.and_then(|e| e.user_presentation()).map(str::to_owned),
        purpose: envelope.and_then(|e| e.purpose()).map(|purpose| purpose.as_str()),
        whole: envelope.is_some(),
    }
}

/// The text within the limits; where it is cut, with where the whole is.
fn bounded(text: &str, args: &Run, id: Option<OutputId>) -> String {
    let mut capture = Capture::of(&tool(args), Stream::whole(&text), Ending::Exit(0));
    capture.id = id.as_ref().map(OutputId::to_string);
    match present(&capture, &profile(args)) {
        Ok(view) if view.cut() => view.to_string(),
        // A text in memory can be read, and one that is not cut is shown as it is.
        _ => text.to_owned(),
    }
}

/// Of what is not stored, a view names no action.
fn profile(args: &Run) -> Profile {
    Profile { limits: args.limit.unwrap_or_default(), actions: Actions::sayso() }
}

pub(super) fn view(
    args: &Run,
    ran: &Ran,
    streams: &(io::Result<Held>, io::Result<Held>),
    stored: Option<&Recorded>,
) -> Result<View, Failure> {
    let id = stored.map(|recorded| recorded.id);
    let mut capture = Capture::of(&tool(args), Stream::empty(), ran.went.ending);
    capture.stdout = stream(&streams.0, ran.whole[0]);
    capture.stderr = stream(&streams.1, ran.whole[1]);
    capture.id = id.as_ref().map(OutputId::to_string);
    capture.duration = Some(ran.went.duration);
    capture.pipe_held = ran.went.pipe_held();
    present(&capture, &profile(args)).map_err(|e| Failure::io(e.to_string(), e.source))
}

/// What is held of a stream: all of it, unless the disk was full.
fn stream(held: &io::Result<Held>, whole: bool) -> Stream<'_> {
    match held {
        Ok(held) if whole => Stream::whole(held),
        Ok(held) => Stream::partial(held as &dyn Source),
        Err(_) => Stream { kept: Kept::Partial, ..Stream::empty() },
    }
}

pub(super) fn print(
    ran: &Ran,
    view: &View,
    envelopes: &[Envelope],
    stored: Option<&Recorded>,
    json: bool,
) -> Result<(), Failure> {
    if json {
        let printed = printed(ran, view, envelopes, stored);
        let text = serde_json::to_string(&printed)
            .map_err(|e| Failure::io("the result has no form in JSON", io::Error::other(e)))?;
        return put(&format!("{text}\n"));
    }
    let mut text = String::new();
    for envelope in envelopes {
        let end = if envelope.model.ends_with('\n') { "" } else { "\n" };
        let _ = write!(text, "{}{end}", envelope.model);
        if envelope.person.is_some() {
            say("note: a text for the person was handed over too: --json gives it");
        }
    }
    put(&format!("{text}{view}\n"))
}

fn printed<'a>(ran: &Ran, view: &View, envelopes: &'a [Envelope], stored: Option<&Recorded>) -> Printed<'a> {
    let went = &ran.went;
    let (exit, signal) = match went.ending {
        Ending::Exit(code) => (Some(code), None),
        Ending::Signal(number) => (None, Some(number)),
        Ending::Timeout | Ending::Unknown => (None, None),
    };
    Printed {
        output: stored.map(|recorded| recorded.id),
        exit,
        signal,
        timeout: went.ending == Ending::Timeout,
        duration_ms: u64::try_from(went.duration.as_millis()).unwrap_or(u64::MAX),
        stdout: Counted::of(&went.stdout, ran.lines[0]),
        stderr: Counted::of(&went.stderr, ran.lines[1]),
        view: view.to_string(),
        envelopes,
    }
}
