//! For whom the session speaks: what it says itself, else what follows from what it was given, and where that is not enough nobody.

use sayso::model::relay::{AnswerState, InjectionState};
use sayso::model::{Request, RequestId};

use crate::error::Error;
use crate::relay::Relay;
use crate::words::short;

/// Whose words something is.
#[derive(Debug, Clone)]
pub(crate) enum Whose {
    /// Nobody's who sent a request.
    Nobody,
    /// This request's.
    Of(Box<Request>),
    /// One of several requests'. It goes to none of them by itself.
    Doubt {
        /// The one by which a person decides, where there is one whose answer goes somewhere.
        by: Option<Box<Request>>,
        /// Why nobody knows, for people.
        why: String,
    },
}

impl Whose {
    /// The request, where it is surely this one's.
    pub(crate) fn request(&self) -> Option<&Request> {
        match self {
            Self::Of(request) => Some(request),
            Self::Nobody | Self::Doubt { .. } => None,
        }
    }
}

impl Relay {
    /// Whose words something is that names a request, or none.
    pub(crate) fn whose(&mut self, named: Option<RequestId>, route: &str) -> Result<Whose, Error> {
        match named {
            Some(id) if !self.flaws.is(crate::flaw::Flaw::NamesUnread) => self.named(id, route),
            _ => self.unnamed(),
        }
    }

    /// An id that this ledger does not have for this session came another way.
    fn named(&mut self, id: RequestId, route: &str) -> Result<Whose, Error> {
        let session = self.session;
        let of = |found: Option<Request>| found.filter(|r| r.session == session);
        let Some(found) = of(self.reader.request(id)?) else { return Ok(Whose::Nobody) };
        if found.injection == InjectionState::Injected {
            return Ok(Whose::Of(Box::new(found)));
        }
        // The session speaks for it, so that it was started.
        self.started(Some(id), route)?;
        Ok(of(self.reader.request(id)?).map_or(Whose::Nobody, |r| Whose::Of(Box::new(r))))
    }

    /// What names nobody is for the request that was started last, unless the answer to an earlier one may still come.
    fn unnamed(&self) -> Result<Whose, Error> {
        let Some(last) = self.listening()? else { return Ok(Whose::Nobody) };
        let mut owed = self.open_requests()?;
        owed.retain(|r| r.is_owed() && r.id != last.id);
        if owed.is_empty() || self.flaws.is(crate::flaw::Flaw::LastIsMeant) {
            return Ok(Whose::Of(Box::new(last)));
        }
        let open = last.answer != AnswerState::Final;
        let candidates: Vec<Request> = open.then_some(last).into_iter().chain(owed).collect();
        let why = doubt(&candidates);
        let by = candidates.into_iter().find(|r| r.inlet.is_some()).map(Box::new);
        Ok(Whose::Doubt { by, why })
    }
}

fn doubt(candidates: &[Request]) -> String {
    let others = candidates.iter().filter_map(|r| r.inlet.as_ref()).map(|i| i.message.as_str());
    let others: Vec<&str> = others.filter(|message| !message.is_empty()).collect();
    short(&format!(
        "the session did not say which message this is for, and an earlier one is not answered (it may be for {}): `sayso deliveries \
         retry` sends it here, `cancel` drops it",
        others.join(", ")
    ))
}
