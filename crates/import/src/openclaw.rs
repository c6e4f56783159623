//! What OpenClaw puts into messages of pi's form; the rules stand on the page [`crate::mapping::openclaw`].

use sayso::SpeakerKind;
use serde_json::Value;

use crate::blocks::{Block, blocks};
use crate::draft::{Draft, DraftPart, Meta, Who};
use crate::formats::Format;
use crate::values::{named, take};

/// Models by which the program itself speaks: what it delivered, and what its gateway put in.
const GATEWAY: &[&str] = &["delivery-mirror", "gateway-injected"];

/// How texts start with which the program wakes an agent, or that it sends at a set time.
const WAKES: &[&str] = &[
    "[OpenClaw heartbeat poll]",
    "[OpenClaw exec completion]",
    "[OpenClaw cron wake]",
    "[OpenClaw session event]",
    "Read HEARTBEAT.md if it exists",
    "[cron:",
];

/// How lines start that the program sets before a person's words.
const NOTE: &str = "System: [";

/// How the first line of a block ends that says where a person's words come from.
const ORIGIN: &str = "(untrusted metadata):";

/// Whether a model's name stands for the program.
pub(crate) fn is_gateway(model: &str) -> bool {
    GATEWAY.contains(&model)
}

/// A message of the role user.
pub(crate) fn user(owner: &str, mut message: Value, meta: Meta) -> Draft {
    let provenance = take(&mut message, "provenance");
    let role = match named(&provenance, "kind") {
        Some("internal_system") => program(),
        Some("inter_session") => {
            let from = named(&provenance, "sourceSessionKey").unwrap_or(Format::OpenClaw.program());
            Who::new(SpeakerKind::Agent, from)
        }
        _ => Who::new(SpeakerKind::Owner, owner),
    };
    let mut parts: Vec<(Who, DraftPart)> = Vec::new();
    for block in blocks(take(&mut message, "content")) {
        match block {
            Block::Text(text) => {
                let (noted, said) = halves(&text);
                let noted = noted.map(|noted| (program(), DraftPart::text(noted)));
                let said = said.map(|said| (role.clone(), DraftPart::text(said)));
                parts.extend(noted.into_iter().chain(said));
            }
            Block::Attached(part) => parts.push((role.clone(), part)),
            Block::Sealed => {}
        }
    }
    let spoken = parts.iter().map(|(who, _)| who).find(|who| **who == role);
    let speaker = spoken.or_else(|| parts.first().map(|(who, _)| who)).unwrap_or(&role).clone();
    let parts = parts.into_iter().map(|(who, part)| part.by(who)).collect();
    Draft::new(meta, speaker, parts)
}

fn program() -> Who {
    Who::new(SpeakerKind::System, Format::OpenClaw.program())
}

/// What the program set before a person's words, and those. The line break between them is in neither: parts are joined
/// by one.
fn halves(text: &str) -> (Option<&str>, Option<&str>) {
    let start = text.trim_start();
    if WAKES.iter().any(|wake| start.starts_with(wake)) {
        return (Some(text), None);
    }
    let mut at = 0;
    while let Some(end) = noted(text.get(at..).unwrap_or_default()) {
        at += end;
    }
    let (noted, said) = text.split_at_checked(at).unwrap_or(("", text));
    match (noted.is_empty(), said.trim().is_empty()) {
        (true, _) => (None, Some(said)),
        (false, true) => (Some(text), None),
        (false, false) => (Some(noted.strip_suffix('\n').unwrap_or(noted)), Some(said)),
    }
}

/// How long a note of the program is that stands here, with the line breaks behind it.
fn noted(text: &str) -> Option<usize> {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let length = if line.starts_with(NOTE) {
        text.len() - rest.len()
    } else if line.trim_end().ends_with(ORIGIN) && rest.starts_with("```") {
        let close = rest
            .find("\n```\n")
            .map(|at| at + 5)
            .or_else(|| rest.ends_with("\n```").then_some(rest.len()))?;
        text.len() - rest.len() + close
    } else {
        return None;
    };
    let behind = text.get(length..).unwrap_or_default();
    Some(length + behind.len() - behind.trim_start_matches('\n').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_sets_before_the_words_is_its_own() {
        let origin = "Sender (untrusted metadata):\n```json\n{\n  \"id\": \"x\"\n}\n```";
        let notes = "System: [2026-04-13 00:53] Node connected\nSystem: [2026-04-13 00:54] Exec completed";
        let cases = [
            ("hi", None, Some("hi")),
            ("", None, Some("")),
            ("[OpenClaw heartbeat poll]", Some("[OpenClaw heartbeat poll]"), None),
            ("[cron:12 daily] Look at the mail.", Some("[cron:12 daily] Look at the mail."), None),
            ("say [OpenClaw heartbeat poll]", None, Some("say [OpenClaw heartbeat poll]")),
        ];
        for (text, noted, said) in cases {
            assert_eq!(halves(text), (noted, said), "{text}");
        }
        let both = format!("{notes}\n\n{origin}\n\n[Thu 00:41] hi\n");
        let before = format!("{notes}\n\n{origin}\n");
        assert_eq!(halves(&both), (Some(before.as_str()), Some("[Thu 00:41] hi\n")));
        assert_eq!(halves(notes), (Some(notes), None));
        assert_eq!(halves(origin), (Some(origin), None));
        let open = "Sender (untrusted metadata):\n```json\n{";
        assert_eq!(halves(open), (None, Some(open)));
    }
}
