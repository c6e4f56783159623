//! From what a person typed to what is meant: an address, a name, or the end of an id.

use std::fmt::Display;
use std::str::FromStr;

use sayso_model::limits::{CANDIDATES, SUFFIX_CHARS};
use sayso_model::{Address, Delivery, OutputId, Span, TurnId};
use sayso_store::{Lookup, Placed, Project, Session};

use crate::error::Error;
use crate::near;
use crate::reader::Reader;

/// A turn that was named, and the span that the address gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// Where the turn is.
    pub placed: Placed,
    /// The span, where the address had one.
    pub span: Option<Span>,
    /// The address that was given, where it was one: a turn that moved is found all the same.
    pub given: Option<Address>,
}

impl Reader {
    /// The project that a text names: an address, a name or alias, or 6 or more characters from the end of its id.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] with near names, [`Error::Ambiguous`], [`Error::Malformed`], [`Error::ForeignLedger`],
    /// [`Error::WrongKind`]; storage errors.
    pub fn find_project(&self, given: &str) -> Result<Project, Error> {
        if let Some(address) = self.address(given)? {
            let Address::Project(_, id) = address else { return Err(wrong_kind("project", address)) };
            return match self.project(id)? {
                Some(project) => Ok(project),
                None => Err(self.gone("project", address)?),
            };
        }
        for lookup in lookups(given) {
            let found = self.ledger.store.find_projects(&self.scope, &lookup)?;
            if let Some(project) = near::only("project", given, found, |p| self.ledger.project_address(p.id))?
            {
                return Ok(project);
            }
        }
        let names = self.projects()?.into_iter().map(|p| p.name);
        Err(unknown("project", given, near::names(given, names)))
    }

    /// The session that a text names: an address, a title or alias, `PROJECT/SESSION`, or 6 or more characters from the
    /// end of its id.
    ///
    /// # Errors
    ///
    /// As for [`Reader::find_project`].
    pub fn find_session(&self, given: &str) -> Result<Session, Error> {
        if let Some(address) = self.address(given)? {
            let Address::Session(_, _, id) = address else { return Err(wrong_kind("session", address)) };
            return match self.session(id)? {
                Some(session) => Ok(session),
                None => Err(self.gone("session", address)?),
            };
        }
        let by_name = Lookup::Name(given.to_owned());
        let address = |s: &Session| self.ledger.session_address(s);
        let named = self.ledger.store.find_sessions(&self.scope, None, &by_name)?;
        if let Some(session) = near::only("session", given, named, address)? {
            return Ok(session);
        }
        if let Some(session) = self.in_project(given)? {
            return Ok(session);
        }
        if let Some(lookup) = suffix(given) {
            let found = self.ledger.store.find_sessions(&self.scope, None, &lookup)?;
            if let Some(session) = near::only("session", given, found, address)? {
                return Ok(session);
            }
        }
        Err(unknown("session", given, near::names(given, self.session_names()?)))
    }

    /// Why an address leads nowhere.
    fn gone(&self, what: &'static str, given: Address) -> Result<Error, Error> {
        Ok(match self.was_erased(&given)? {
            true => Error::Erased { given },
            false => unknown(what, &given.to_string(), Vec::new()),
        })
    }

    /// `PROJECT/SESSION`, at whichever slash both halves are known: names may hold slashes themselves.
    fn in_project(&self, given: &str) -> Result<Option<Session>, Error> {
        let mut several = None;
        for (at, _) in given.match_indices('/') {
            let (project, session) =
                (given.get(..at).unwrap_or_default(), given.get(at + 1..).unwrap_or_default());
            let project = match self.find_project(project) {
                Ok(project) => project,
                Err(error @ Error::Ambiguous { .. }) => {
                    several.get_or_insert(error);
                    continue;
                }
                Err(_) => continue,
            };
            for lookup in lookups(session) {
                let found = self.ledger.store.find_sessions(&self.scope, Some(project.id), &lookup)?;
                let address = |s: &Session| self.ledger.session_address(s);
                if let Some(session) = near::only("session", given, found, address)? {
                    return Ok(Some(session));
                }
            }
        }
        several.map_or(Ok(None), Err)
    }

    /// Both writings of every session: its title, and `PROJECT/TITLE`.
    fn session_names(&self) -> Result<Vec<String>, Error> {
        let projects = self.projects()?;
        let name = |s: &Session| projects.iter().find(|p| p.id == s.project).map_or("", |p| &p.name);
        let sessions = self.sessions(None)?;
        Ok(sessions
            .iter()
            .filter(|s| !s.title.is_empty())
            .flat_map(|s| [s.title.clone(), format!("{}/{}", name(s), s.title)])
            .collect())
    }

    /// The turn that a text names: an address (with a span or without), an id, or 6 or more characters from its end.
    ///
    /// # Errors
    ///
    /// As for [`Reader::find_project`], and [`Error::MalformedId`].
    pub fn find_turn(&self, given: &str) -> Result<Named, Error> {
        if let Some(address) = self.address(given)? {
            let Address::Turn(_, _, _, id, span) = address else { return Err(wrong_kind("turn", address)) };
            return match self.placed(id, given) {
                Ok(placed) => Ok(Named { placed, span, given: Some(address) }),
                Err(Error::Unknown { .. }) => Err(self.gone("turn", address)?),
                Err(error) => Err(error),
            };
        }
        let placed = match suffix(given) {
            Some(Lookup::Suffix(end)) if given.chars().count() < 26 => {
                let found = self.ledger.store.find_entries(&self.scope, &end, CANDIDATES)?;
                near::only("turn", given, found, |p| self.ledger.address(p))?
                    .ok_or_else(|| unknown("turn", given, Vec::new()))?
            }
            _ => self.placed(id::<TurnId>("turn", given)?, given)?,
        };
        Ok(Named { placed, span: None, given: None })
    }

    fn placed(&self, id: TurnId, given: &str) -> Result<Placed, Error> {
        let entry = self.entry(id)?.ok_or_else(|| unknown("turn", given, Vec::new()))?;
        Ok(Placed { id, project: entry.project, session: entry.session, seq: entry.seq, hash: entry.hash })
    }

    /// The output that a text names: an id, or 6 or more characters from its end.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], [`Error::Ambiguous`], [`Error::MalformedId`]; storage errors.
    pub fn find_output(&self, given: &str) -> Result<OutputId, Error> {
        ended("output", given, |end| Ok(self.ledger.store.find_outputs(&self.scope, end, CANDIDATES)?))
    }

    /// The delivery that a text names: an id, or 6 or more characters from its end.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], [`Error::Ambiguous`], [`Error::MalformedId`]; storage errors.
    pub fn find_delivery(&self, given: &str) -> Result<Delivery, Error> {
        let id = ended("delivery", given, |end| self.find_deliveries(end, CANDIDATES))?;
        self.delivery(id)?.ok_or_else(|| unknown("delivery", given, Vec::new()))
    }

    /// The address that a text is, if it means to be one.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where it means to be one and is none; [`Error::ForeignLedger`] for another ledger's, unless what it
    /// names came here through an export.
    pub fn address(&self, given: &str) -> Result<Option<Address>, Error> {
        if !Address::looks_like(given) {
            return Ok(None);
        }
        let address = Address::from_str(given)
            .map_err(|reason| Error::Malformed { given: given.to_owned(), reason })?;
        let (theirs, ours) = (address.ledger(), self.ledger.id());
        if theirs != ours && !self.came_here(&address)? {
            return Err(Error::ForeignLedger { given: address, theirs, ours });
        }
        Ok(Some(address))
    }

    /// Whether what another ledger's address names came here through an export. The ids lead to it, whichever ledger they
    /// were copied from.
    pub(crate) fn came_here(&self, address: &Address) -> Result<bool, Error> {
        let session = match *address {
            Address::Project(_, project) => {
                return Ok(self.sessions(Some(project))?.iter().any(|s| s.origin.is_some()));
            }
            Address::Session(_, _, session) => Some(session),
            Address::Turn(_, _, _, turn, _) => self.entry(turn)?.map(|entry| entry.session),
            Address::Speaker(..) => None,
        };
        let session = session.map(|id| self.session(id)).transpose()?.flatten();
        Ok(session.is_some_and(|s| s.origin.is_some()))
    }
}

fn lookups(given: &str) -> impl Iterator<Item = Lookup> {
    std::iter::once(Lookup::Name(given.to_owned())).chain(suffix(given))
}

/// The end of an id, as it is looked up; upper case, since that is how ids are written.
fn suffix(given: &str) -> Option<Lookup> {
    let fits = (SUFFIX_CHARS..=26).contains(&given.len()) && given.bytes().all(|b| b.is_ascii_alphanumeric());
    fits.then(|| Lookup::Suffix(given.to_ascii_uppercase()))
}

/// The id that a text is, or the only one that ends so.
fn ended<T: FromStr<Err = sayso_model::IdError> + Display>(
    what: &'static str,
    given: &str,
    find: impl FnOnce(&str) -> Result<Vec<T>, Error>,
) -> Result<T, Error> {
    if given.chars().count() >= 26 {
        return id(what, given);
    }
    let Some(Lookup::Suffix(end)) = suffix(given) else {
        return Err(unknown(what, given, Vec::new()));
    };
    let mut found = find(&end)?;
    if found.len() <= 1 {
        return found.pop().ok_or_else(|| unknown(what, given, Vec::new()));
    }
    let candidates = found.iter().map(T::to_string).collect();
    Err(Error::Ambiguous { what, given: given.to_owned(), candidates })
}

fn id<T: FromStr<Err = sayso_model::IdError>>(what: &'static str, given: &str) -> Result<T, Error> {
    // A few characters were never meant as a whole id.
    if given.chars().count() < SUFFIX_CHARS {
        return Err(unknown(what, given, Vec::new()));
    }
    given.parse().map_err(|reason| Error::MalformedId { given: given.to_owned(), reason })
}

pub(crate) fn unknown(what: &'static str, given: &str, near: Vec<String>) -> Error {
    Error::Unknown { what, given: given.to_owned(), near }
}

fn wrong_kind(what: &'static str, given: Address) -> Error {
    let found = match given {
        Address::Project(..) => "project",
        Address::Session(..) => "session",
        Address::Turn(..) => "turn",
        Address::Speaker(..) => "speaker",
    };
    Error::WrongKind { what, found, given }
}
