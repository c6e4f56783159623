//! One of several, and names near to a mistyped one.

use sayso_model::Address;
use sayso_model::limits::CANDIDATES;

use crate::error::Error;

/// The only one found, `None` where there is none.
pub(crate) fn only<T>(
    what: &'static str,
    given: &str,
    mut found: Vec<T>,
    address: impl Fn(&T) -> Address,
) -> Result<Option<T>, Error> {
    if found.len() <= 1 {
        return Ok(found.pop());
    }
    let candidates = found.iter().take(CANDIDATES).map(|f| address(f).to_string()).collect();
    Err(Error::Ambiguous { what, given: given.to_owned(), candidates })
}

/// At most three names that differ from `given` by a third of its characters or less, nearest first.
pub(crate) fn names(given: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let folded = given.to_lowercase();
    let limit = (given.chars().count() / 3).max(2);
    let mut near: Vec<(usize, String)> = known
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| (distance(&folded, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

fn distance(given: &str, name: &str) -> usize {
    let whole = strsim::damerau_levenshtein(given, name);
    // Half a title is often typed for the whole.
    let start = name.starts_with(given) && given.chars().count() >= 3;
    if start { whole.min(1) } else { whole }
}
