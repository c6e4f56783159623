//! The fixed markers that tools wrote before: `__PASSTHROUGH__`, a text for the person, `__END_PASSTHROUGH__`. Read, never written.

use crate::envelope::{Envelope, Purpose, Received};

const START: &str = "__PASSTHROUGH__";
const END: &str = "__END_PASSTHROUGH__";

/// What an output with the old markers is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Legacy {
    /// Everything outside of the markers, in order, byte for byte.
    pub outside: String,
    /// Each marked section. It was for the person alone; here it goes to the model too, whole.
    pub sections: Vec<Received>,
}

/// Reads the old markers, each on a line of its own; `None` where there is none.
///
/// A section without its end is truncated: all of it goes to the model.
#[must_use]
pub fn legacy(output: &str) -> Option<Legacy> {
    let mut legacy = Legacy { outside: String::new(), sections: Vec::new() };
    let mut section: Option<String> = None;
    for line in output.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        match (&mut section, bare) {
            (None, START) => section = Some(String::new()),
            (None, _) => legacy.outside.push_str(line),
            (Some(text), END) => {
                legacy.sections.push(whole(text));
                section = None;
            }
            (Some(text), _) => text.push_str(line),
        }
    }
    legacy.sections.extend(section.map(Received::Truncated));
    (!legacy.sections.is_empty()).then_some(legacy)
}

fn whole(text: &str) -> Received {
    match Envelope::received("", text, Purpose::Article) {
        Ok(envelope) => Received::Whole(envelope),
        Err(_) => Received::Truncated(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{Delivery, Reply, decide};

    #[test]
    fn t25_a_section_without_its_end_goes_to_the_model() {
        for text in ["A", "A\n", "오류\n둘째 줄", "A\n__END_PASSTHROUGH_", "A\n__END_PASSTHROUGH__x", ""]
        {
            let read = legacy(&format!("before\n__PASSTHROUGH__\n{text}")).unwrap();
            assert_eq!(read.outside, "before\n");
            assert_eq!(read.sections, [Received::Truncated(text.to_owned())]);
            let decision = decide(&read.sections[0], Delivery::Pending);
            assert_eq!(
                (decision.model.as_str(), decision.person, decision.reply),
                (text, None, Reply::Release)
            );
        }
    }

    #[test]
    fn t28_an_old_section_goes_to_the_model_too() {
        let read = legacy("__PASSTHROUGH__\r\nreport\n__END_PASSTHROUGH__\nafter").unwrap();
        assert_eq!(read.outside, "after");
        let decision = decide(&read.sections[0], Delivery::Pending);
        assert_eq!((decision.model.as_str(), decision.person.as_deref()), ("report\n", Some("report\n")));
    }

    #[test]
    fn t24_t23_what_only_resembles_a_marker_is_text() {
        for text in [
            "x__PASSTHROUGH__",
            "[5 compressed hash=aaaaaaaaaaaaaaaaaaaaaaaa]",
            "__passthrough__\nA",
            " __PASSTHROUGH__",
        ] {
            assert_eq!(legacy(text), None, "{text}");
        }
    }
}
