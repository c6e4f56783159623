//! A tool result for two recipients: what the model gets and what the person gets.

use std::fmt;

/// Text that is not empty and not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelContext(String);

/// A text for the model has to say something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the text for the model is empty: give it the content itself, a summary, or a line that says what happened"
)]
pub struct EmptyContext;

impl ModelContext {
    /// A text for the model.
    ///
    /// # Errors
    ///
    /// [`EmptyContext`] where it is empty or blank.
    pub fn new(text: impl Into<String>) -> Result<Self, EmptyContext> {
        let text = text.into();
        if blank(&text) { Err(EmptyContext) } else { Ok(Self(text)) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || sayso_model::hidden::is_ignorable(c))
}

/// What a text that is shown to a person is, which decides what the model is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// Many short entries.
    #[default]
    Listing,
    /// One long text.
    Article,
    /// Everything about one thing.
    Detail,
}

impl Purpose {
    /// Every purpose.
    pub const ALL: [Self; 3] = [Self::Listing, Self::Article, Self::Detail];

    /// Its name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Article => "article",
            Self::Detail => "detail",
        }
    }

    /// The purpose of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.as_str() == name)
    }

    /// What the model is told once the person has surely seen the text.
    #[must_use]
    pub const fn directive(self) -> &'static str {
        match self {
            Self::Listing => {
                "[This list was shown to the user. Do not repeat it unasked. Answer explicit follow-ups about any entry in full from this text.]"
            }
            Self::Article => {
                "[This article was shown to the user. Do not repeat or summarise it unasked. Answer explicit follow-ups, also for a summary or a quotation, in full from this text.]"
            }
            Self::Detail => {
                "[These details were shown to the user. Do not repeat them unasked. Answer explicit follow-ups about them in full from this text.]"
            }
        }
    }
}

/// A tool result for two recipients. One for the person alone cannot be made.
///
/// ```
/// use sayso_output::envelope::{Envelope, ModelContext, Purpose};
/// let plain = Envelope::plain(ModelContext::new("3 files")?);
/// let two = plain.clone().with_presentation("📁 a\n📁 b\n📁 c", Purpose::Listing);
/// assert_eq!(two.user_presentation(), Some("📁 a\n📁 b\n📁 c"));
/// assert_eq!(plain.clone().with_presentation("", Purpose::Listing), plain);
/// # Ok::<(), sayso_output::envelope::EmptyContext>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    model_context: ModelContext,
    user_presentation: Option<(String, Purpose)>,
}

impl Envelope {
    /// For the model; the person sees the ordinary reply.
    #[must_use]
    pub fn plain(model_context: ModelContext) -> Self {
        Self { model_context, user_presentation: None }
    }

    /// The same with a text for the person; an empty one is none.
    #[must_use]
    pub fn with_presentation(self, text: impl Into<String>, purpose: Purpose) -> Self {
        let text = text.into();
        let user_presentation = (!blank(&text)).then_some((text, purpose));
        Self { user_presentation, ..self }
    }

    /// An envelope of what came over a wire. What was meant for the person alone goes to the model too.
    ///
    /// # Errors
    ///
    /// [`EmptyContext`] where there is nothing at all.
    pub fn received(model: &str, user: &str, purpose: Purpose) -> Result<Self, EmptyContext> {
        let model = ModelContext::new(model).or_else(|_| ModelContext::new(user))?;
        Ok(Self::plain(model).with_presentation(user, purpose))
    }

    /// What the model gets.
    #[must_use]
    pub fn model_context(&self) -> &str {
        self.model_context.as_str()
    }

    /// What the person gets, where it is something of its own.
    #[must_use]
    pub fn user_presentation(&self) -> Option<&str> {
        self.user_presentation.as_ref().map(|(text, _)| text.as_str())
    }

    /// What the text for the person is.
    #[must_use]
    pub fn purpose(&self) -> Option<Purpose> {
        self.user_presentation.as_ref().map(|(_, purpose)| *purpose)
    }

    /// The result of a tool around the one that made this envelope: `body` makes the new text for the model from the old. The
    /// display section is passed through whole or gone whole.
    ///
    /// # Errors
    ///
    /// [`EmptyContext`] where the new text is empty.
    pub fn rewrap(self, display: Display, body: impl FnOnce(&str) -> String) -> Result<Self, EmptyContext> {
        let model_context = ModelContext::new(body(self.model_context.as_str()))?;
        let user_presentation = self.user_presentation.filter(|_| display == Display::Pass);
        Ok(Self { model_context, user_presentation })
    }
}

/// What becomes of a downstream tool's display section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Display {
    /// It goes on to the person, whole.
    Pass,
    /// It is taken out, whole: what it says is in the text for the model.
    Drop,
}

/// What came of a tool: an envelope, or what a broken frame left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// It came whole.
    Whole(Envelope),
    /// It broke off: everything that came, as text for the model.
    Truncated(String),
}

/// What became of the text for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Nobody tried yet, or it is on its way.
    Pending,
    /// Confirmed.
    Delivered,
    /// It surely did not arrive.
    Failed,
    /// Nobody knows.
    Unknown,
}

/// What becomes of the model's ordinary reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// It goes out.
    Release,
    /// It waits for word of the delivery.
    Hold,
    /// It goes out, marked as a possible repeat.
    ReleaseMarked,
    /// It does not go out: the person has the text, confirmed.
    Suppress,
}

/// Who gets what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// For the model: never empty unless nothing came.
    pub model: String,
    /// To be sent to the person.
    pub person: Option<String>,
    /// The ordinary reply.
    pub reply: Reply,
}

/// Who gets what. Only a confirmed delivery suppresses the reply or tells the model that something was shown.
#[must_use]
pub fn decide(received: &Received, delivery: Delivery) -> Decision {
    let envelope = match received {
        Received::Truncated(text) => {
            return Decision { model: text.clone(), person: None, reply: Reply::Release };
        }
        Received::Whole(envelope) => envelope,
    };
    let model = envelope.model_context().to_owned();
    let Some((text, purpose)) = &envelope.user_presentation else {
        return Decision { model, person: None, reply: Reply::Release };
    };
    match delivery {
        Delivery::Pending => Decision { model, person: Some(text.clone()), reply: Reply::Hold },
        Delivery::Failed => Decision { model, person: None, reply: Reply::Release },
        Delivery::Unknown => Decision { model, person: None, reply: Reply::ReleaseMarked },
        Delivery::Delivered => Decision {
            model: format!("{model}\n\n{}", purpose.directive()),
            person: None,
            reply: Reply::Suppress,
        },
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Envelope {
        Envelope::received("three files", "a b c", Purpose::Listing).unwrap()
    }

    #[test]
    fn t28_a_result_for_the_person_alone_cannot_be_made() {
        for empty in ["", " \n\t", "\u{200B}\u{FEFF}", "\0"] {
            assert_eq!(ModelContext::new(empty), Err(EmptyContext));
            let received = Envelope::received(empty, "shown", Purpose::Article).unwrap();
            assert_eq!((received.model_context(), received.user_presentation()), ("shown", Some("shown")));
            assert_eq!(
                Envelope::received("text", empty, Purpose::Article).unwrap().user_presentation(),
                None
            );
            assert_eq!(Envelope::received(empty, empty, Purpose::Article), Err(EmptyContext));
            assert_eq!(two().rewrap(Display::Pass, |_| empty.to_owned()), Err(EmptyContext));
        }
    }

    #[test]
    fn t33_a_display_section_goes_whole_or_is_gone_whole() {
        let outer = |display| two().rewrap(display, |inner| format!("outer: {inner}")).unwrap();
        let (passed, dropped) = (outer(Display::Pass), outer(Display::Drop));
        assert_eq!(passed.user_presentation(), Some("a b c"));
        assert_eq!(dropped.user_presentation(), None);
        for envelope in [passed, dropped] {
            assert_eq!(envelope.model_context().matches("three files").count(), 1);
            assert!(!envelope.model_context().contains("a b c"));
        }
    }

    #[test]
    fn only_a_confirmed_delivery_suppresses() {
        let whole = Received::Whole(two());
        let replies = [Delivery::Pending, Delivery::Delivered, Delivery::Failed, Delivery::Unknown]
            .map(|delivery| decide(&whole, delivery).reply);
        assert_eq!(replies, [Reply::Hold, Reply::Suppress, Reply::Release, Reply::ReleaseMarked]);
        for delivery in [Delivery::Pending, Delivery::Failed, Delivery::Unknown] {
            assert_eq!(decide(&whole, delivery).model, "three files", "nothing claims that it was shown");
            let broken = decide(&Received::Truncated("A".into()), delivery);
            assert_eq!(broken, Decision { model: "A".into(), person: None, reply: Reply::Release });
        }
        for purpose in Purpose::ALL {
            let envelope = Envelope::received("text", "shown", purpose).unwrap();
            let told = decide(&Received::Whole(envelope), Delivery::Delivered).model;
            assert!(told.starts_with("text\n\n[") && told.contains("in full from this text"));
        }
    }
}
