//! The bot's secret, which never shows itself.

use std::fmt;

/// A bot's token: its number, a colon and a secret. Neither `Debug` nor any message shows it.
///
/// ```
/// use sayso_bridge::telegram::Token;
/// let token = Token::parse("4711:an-example_and_no_secret").unwrap();
/// assert_eq!(token.bot(), "4711");
/// assert_eq!(format!("{token:?}"), "Token(4711:…)");
/// assert!(Token::parse("no token").is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// What was given is no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "what was given is no bot token: it has the form NUMBER:LETTERS, as @BotFather gives it; it is not shown here"
)]
pub struct NoToken;

impl Token {
    /// The token that is written like this; white space around it, such as a file's last line break, is left out.
    ///
    /// # Errors
    ///
    /// [`NoToken`] where it is none.
    pub fn parse(text: &str) -> Result<Self, NoToken> {
        let text = text.trim();
        let (bot, secret) = text.split_once(':').ok_or(NoToken)?;
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let right = !bot.is_empty()
            && bot.chars().all(|c| c.is_ascii_digit())
            && !secret.is_empty()
            && secret.chars().all(letters);
        right.then(|| Self(text.to_owned())).ok_or(NoToken)
    }

    /// The bot's number, which is no secret.
    #[must_use]
    pub fn bot(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    /// The secret, for the request's path alone.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// A text of somebody else's with the token taken out, should it repeat it.
    pub(super) fn scrub(&self, text: &str) -> String {
        let secret = self.0.split_once(':').map_or("", |(_, secret)| secret);
        text.replace(&self.0, "<token>").replace(secret, "<token>")
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}:…)", self.bot())
    }
}
