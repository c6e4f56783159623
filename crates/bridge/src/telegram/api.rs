//! Calls of the Bot API, and what its answers mean.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Token;
use crate::http::{Answer, Client, Lost};

/// Where the Bot API is, unless a server of one's own is named.
pub const BASE_URL: &str = "https://api.telegram.org";

/// Characters of a server's words that are passed on in a message.
const WORDS: usize = 200;

/// One bot at one server.
#[derive(Debug, Clone)]
pub(super) struct Api {
    client: Client,
    base: String,
    token: Token,
}

/// What the server said.
#[derive(Debug)]
pub(super) enum Said {
    /// It did it; the result is not looked at yet.
    Done(Box<RawValue>),
    /// It did not do it, and says so.
    Refused(Refusal),
    /// It answered, and what became of the call does not follow.
    Unclear(String),
}

/// A call that was surely not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The code, as HTTP has them.
    pub(super) code: u16,
    /// In the server's words.
    pub(super) why: String,
    /// How long to wait, in seconds.
    pub(super) retry_after: Option<u64>,
}

#[derive(Deserialize)]
struct Reply {
    ok: bool,
    result: Option<Box<RawValue>>,
    error_code: Option<u16>,
    #[serde(default)]
    description: String,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

impl Api {
    pub(super) fn new(client: Client, base: &str, token: Token) -> Self {
        Self { client, base: base.trim_end_matches('/').to_owned(), token }
    }

    pub(super) fn token(&self) -> &Token {
        &self.token
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Calls a method, and waits for `beyond` longer than for one that is answered at once.
    pub(super) fn call(&self, method: &str, arguments: &Value, beyond: Duration) -> Result<Said, Lost> {
        let url = format!("{}/bot{}/{method}", self.base, self.token.expose());
        let answer = self.client.post(&url, arguments.to_string().as_bytes(), beyond)?;
        Ok(self.understood(answer))
    }

    fn understood(&self, answer: Answer) -> Said {
        let reply = answer.body.and_then(|body| serde_json::from_slice::<Reply>(&body).ok());
        match reply {
            Some(Reply { ok: true, result: Some(result), .. }) => Said::Done(result),
            Some(reply) if !reply.ok => Said::Refused(self.refusal(answer.status, reply)),
            _ => self.without_words(answer.status),
        }
    }

    fn refusal(&self, status: u16, reply: Reply) -> Refusal {
        let parameters = reply.parameters;
        let moved = parameters.as_ref().and_then(|p| p.migrate_to_chat_id);
        let mut why: String = self.token.scrub(&reply.description).chars().take(WORDS).collect();
        if let Some(chat) = moved {
            why = format!("{why}; the group is now chat {chat}");
        }
        Refusal {
            code: reply.error_code.unwrap_or(status),
            why,
            retry_after: parameters.and_then(|p| p.retry_after),
        }
    }

    /// An answer that is not the Bot API's: of something on the way, or broken off. A gateway that got none itself (502, 504)
    /// cannot know what became of the call; what was turned away (3xx, 4xx, 503) was not done.
    fn without_words(&self, status: u16) -> Said {
        match status {
            300..=499 | 503 => Said::Refused(Refusal {
                code: status,
                why: "something on the way to the server turned it away".to_owned(),
                retry_after: None,
            }),
            _ => Said::Unclear(format!("the server answered with status {status} and without an outcome")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Waits;

    fn understood(status: u16, body: Option<&str>) -> Said {
        let api = Api::new(Client::new(Waits::default()), BASE_URL, Token::parse("1:secret").unwrap());
        api.understood(Answer { status, body: body.map(|body| body.as_bytes().to_vec()) })
    }

    #[test]
    fn what_the_server_says_of_itself_counts_more_than_the_status() {
        let wait = r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}"#;
        let Said::Refused(refusal) = understood(200, Some(wait)) else { panic!("not refused") };
        assert_eq!((refusal.code, refusal.retry_after), (429, Some(7)));
        assert!(matches!(understood(500, Some(r#"{"ok":false}"#)), Said::Refused(Refusal { code: 500, .. })));
    }

    #[test]
    fn what_does_not_tell_is_unclear() {
        for (status, body) in [
            (200, None),
            (200, Some("")),
            (200, Some(r#"{"ok":true}"#)),
            (200, Some("<html>")),
            (500, None),
            (502, Some("<html>")),
            (504, None),
        ] {
            assert!(matches!(understood(status, body), Said::Unclear(_)), "{status} {body:?}");
        }
        for status in [302, 403, 407, 503] {
            assert!(matches!(understood(status, Some("<html>")), Said::Refused(_)), "{status}");
        }
    }

    #[test]
    fn a_token_that_the_server_repeats_is_not_passed_on() {
        let echo = r#"{"ok":false,"error_code":404,"description":"no /bot1:secret/getMe, secret"}"#;
        let Said::Refused(refusal) = understood(404, Some(echo)) else { panic!("not refused") };
        assert_eq!(refusal.why, "no /bot<token>/getMe, <token>");
    }
}
