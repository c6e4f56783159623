//! Cursors: where an answer ended, for the same request.
//!
//! `c1.PLACE.CHECK`: the place is one that the answer itself named, and the check is a hash over the ledger, the request and
//! the place. The check is no secret: it finds cursors that were damaged or belong to another request. What keeps the scope
//! is that a place is looked up within it, every time.

use sayso::model::LedgerId;
use serde::Serialize;

use crate::fail::Fault;

const VERSION: &str = "c1";

/// A request that answers in pages: the tool, and its arguments without the cursor.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    ledger: LedgerId,
    of: String,
}

impl Request {
    pub(crate) fn new<T: Serialize>(ledger: LedgerId, tool: &str, arguments: &T) -> Self {
        // Arguments are plain structs, which always serialise.
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        Self { ledger, of: format!("{tool}\n{arguments}") }
    }

    /// The cursor to a place.
    pub(crate) fn cursor(&self, place: &str) -> String {
        format!("{VERSION}.{place}.{}", self.check(place))
    }

    /// The place of a cursor that this request gave.
    ///
    /// # Errors
    ///
    /// It is none of this request's.
    pub(crate) fn place<'a>(&self, cursor: &'a str) -> Result<&'a str, Fault> {
        let place = cursor.strip_prefix(VERSION).and_then(|rest| rest.strip_prefix('.')).and_then(|rest| {
            let (place, check) = rest.rsplit_once('.')?;
            (check == self.check(place)).then_some(place)
        });
        place.ok_or_else(|| {
            Fault::request(
                "this cursor does not belong to this call: repeat the call that gave it with the same arguments, \
                 or start again without a cursor",
            )
        })
    }

    fn check(&self, place: &str) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [self.ledger.to_string().as_str(), &self.of, place] {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// The answer to a cursor whose place is not there: gone, out of scope, or never there.
pub(crate) fn stale() -> Fault {
    Fault::request("the place of this cursor is not there any more: start again without a cursor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_belongs_to_its_request() {
        let ledger = LedgerId::from_u128(1);
        let request = Request::new(ledger, "show", &("a", 1));
        let cursor = request.cursor("3.0.12");
        assert_eq!(request.place(&cursor).unwrap(), "3.0.12");
        let other = [
            Request::new(ledger, "show", &("a", 2)),
            Request::new(ledger, "search", &("a", 1)),
            Request::new(LedgerId::from_u128(2), "show", &("a", 1)),
        ];
        assert!(other.iter().all(|request| request.place(&cursor).is_err()));
        for forged in
            ["", "c1", "c1..", "c1.3.0.12", &cursor.replace("12", "13"), &cursor[1..], &format!("{cursor}0")]
        {
            assert!(request.place(forged).is_err(), "{forged}");
        }
    }
}
