//! The bounded text of an output that a model is shown, as a structure.

mod bound;
mod footer;
mod line;
mod render;
mod text;

pub use footer::Footer;
pub use line::Line;
pub(crate) use text::{Shape, Text};

use crate::capture::StreamName;
use crate::profile::{Actions, Limits};
use crate::text::Binary;

/// What a stream is shown as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    Text(Text),
    Binary(Binary),
}

/// The bounded text of one output: what a model is shown. [`std::fmt::Display`] writes it; its last line is the footer.
///
/// A view is made by [`present`](crate::present()) only, never from text: a line of an output that looks like a footer is content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    pub(crate) tool: String,
    pub(crate) stdout: Body,
    pub(crate) stderr: Body,
    /// Normalisations, in words.
    pub(crate) notes: Vec<String>,
    pub(crate) actions: Actions,
    pub(crate) detail: Detail,
    pub(crate) footer: Footer,
}

/// How much is said beside the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// Nothing but the footer.
    Bare,
    /// Where the whole is.
    Short,
    /// Everything.
    Full,
}

impl View {
    /// The same view within other limits. A view that fits is given back as it is.
    #[must_use]
    pub fn bound(&self, limits: &Limits) -> Self {
        bound::bound(self, limits.cost())
    }

    /// The last line.
    #[must_use]
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// What was rewritten on the way from the raw bytes, in words.
    #[must_use]
    pub fn normalisations(&self) -> &[String] {
        &self.notes
    }

    /// Whether something of the output is not shown.
    #[must_use]
    pub fn cut(&self) -> bool {
        [&self.stdout, &self.stderr].into_iter().any(Body::cut)
    }

    /// What a stream is, where it is binary.
    #[must_use]
    pub fn binary(&self, stream: StreamName) -> Option<&Binary> {
        match self.body(stream) {
            Body::Binary(binary) => Some(binary),
            Body::Text(_) => None,
        }
    }

    /// The lines of a stream that are shown, in order, salient ones of the middle among them.
    #[must_use]
    pub fn lines(&self, stream: StreamName) -> Vec<&Line> {
        match self.body(stream) {
            Body::Text(text) => text.shown(),
            Body::Binary(_) => Vec::new(),
        }
    }

    fn body(&self, stream: StreamName) -> &Body {
        match stream {
            StreamName::Stdout => &self.stdout,
            StreamName::Stderr => &self.stderr,
        }
    }
}

impl Body {
    pub(crate) fn cut(&self) -> bool {
        matches!(self, Self::Text(text) if text.cut())
    }

    pub(crate) fn empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.total_lines == 0)
    }

    pub(crate) fn totals(&self) -> (u64, u64) {
        match self {
            Self::Text(text) => (text.total_lines, text.total_bytes),
            Self::Binary(binary) => (0, binary.bytes),
        }
    }
}
