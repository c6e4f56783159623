//! Titles that repeat words which are taken away. Importers call a session after its first words, forwards record the title
//! of then: so that none of the words stay behind, such titles go with them.
//!
//! A title repeats a text where one of these holds, both with every run of white space as one space, and the title without
//! an ellipsis or a `(fork)` at its end:
//!
//! - it is the text, or a line of it;
//! - it stands in the text, and has at least [`SHORTEST`] characters;
//! - the text stands in it, and has at least [`SHORTEST`] characters.
//!
//! Shorter titles, such as `Plan`, are words that anybody uses: that a text mentions them tells nothing.
//!
//! Which titles are looked at: those of the session that holds the entry, of forks that show the entry, what these were
//! called before, the names that they are found by, and the titles that quotes of any of their turns recorded, in whatever
//! session. A title that went is empty; its commitment stays, and the session may be renamed. With a whole session that is
//! erased, every title goes that quotes of its turns recorded.

/// Characters from which on a title or a text is looked for inside the other.
pub const SHORTEST: usize = 8;

/// What stands at the end of a title and is no part of the words.
const ENDINGS: [&str; 3] = ["…", "...", "(fork)"];

/// Texts that are taken away.
#[derive(Debug, Clone, Default)]
pub struct Leaving(Vec<(String, String)>);

impl Leaving {
    /// These texts.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Self {
        let kept = texts.into_iter().map(|text| (folded(&text), text));
        Self(kept.filter(|(folded, _)| !folded.is_empty()).collect())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a title repeats one of them.
    ///
    /// ```
    /// let leaving = sayso_store::title::Leaving::new(["please  fix\nthe login".to_owned(), "a".to_owned()]);
    /// assert!(leaving.repeated_in("please fix the…"));
    /// assert!(leaving.repeated_in("Re: please fix the login (fork)"));
    /// assert!(!leaving.repeated_in("a plan"));
    /// ```
    #[must_use]
    pub fn repeated_in(&self, title: &str) -> bool {
        let whole = folded(title);
        let bare = bare(&whole);
        !bare.is_empty()
            && self.0.iter().any(|(words, text)| {
                holds(&whole, words)
                    || words == bare
                    || holds(words, bare)
                    || text.lines().any(|line| folded(line) == bare)
            })
    }
}

fn holds(whole: &str, part: &str) -> bool {
    part.chars().nth(SHORTEST - 1).is_some() && whole.contains(part)
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bare(mut title: &str) -> &str {
    while let Some(rest) = ENDINGS.iter().find_map(|ending| title.strip_suffix(ending)) {
        title = rest.trim_end();
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_goes_where_it_is_a_line_or_a_longer_piece_of_a_text_or_holds_it() {
        let cases = [
            ("hi", "hi", true),
            ("hi", "\n hi \nmore", true),
            ("hi", "this", false),
            ("fix", "fix it", false),
            ("fix it", "please fix it now", false),
            ("fix  the lamp", "please fix\tthe lamp now", true),
            ("Chat about the harbour", "the harbour", true),
            ("Chat", "at", false),
            ("fix it now … (fork) (fork)", "fix it now, or never", true),
            ("", "anything", false),
            ("…", "anything", false),
            ("이거 확인해줘 지금", "이거 확인해줘 지금 바로", true),
        ];
        for (title, text, wanted) in cases {
            assert_eq!(Leaving::new([text.to_owned()]).repeated_in(title), wanted, "{title:?} {text:?}");
        }
        assert!(Leaving::new([" \n".to_owned()]).is_empty());
    }
}
