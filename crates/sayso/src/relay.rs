//! Requests and deliveries: reading them, and ids for them. What becomes of them is decided by `sayso-relay`.

use sayso_model::{Delivery, DeliveryId, Lease, Request, RequestId, SessionId, UtcMs};
use sayso_store::{Deliveries, Requests};

use crate::error::Error;
use crate::host::FreshIds;
use crate::ledger::Ledger;
use crate::reader::Reader;

impl Ledger {
    /// The time of the ledger's host.
    #[must_use]
    pub fn now(&self) -> UtcMs {
        self.host.now()
    }

    /// A fresh id for a request of the caller's own command.
    #[must_use]
    pub fn fresh_request(&self) -> RequestId {
        RequestId::from_u128(self.host.number())
    }

    /// A fresh id for a delivery of the caller's own command.
    #[must_use]
    pub fn fresh_delivery(&self) -> DeliveryId {
        DeliveryId::from_u128(self.host.number())
    }
}

impl Reader {
    /// Requests, by session and then by the place of their turns.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn requests(&self, which: Requests) -> Result<Vec<Request>, Error> {
        Ok(self.ledger().store.requests(self.scope(), which)?)
    }

    /// A request.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn request(&self, id: RequestId) -> Result<Option<Request>, Error> {
        Ok(self.ledger().store.request(self.scope(), id)?)
    }

    /// Deliveries, by time, and the parts of a message in order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn deliveries(&self, which: Deliveries) -> Result<Vec<Delivery>, Error> {
        Ok(self.ledger().store.deliveries(self.scope(), which)?)
    }

    /// A delivery.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>, Error> {
        Ok(self.ledger().store.delivery(self.scope(), id)?)
    }

    /// The ids of at most `limit` deliveries that end so.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn find_deliveries(&self, suffix: &str, limit: usize) -> Result<Vec<DeliveryId>, Error> {
        Ok(self.ledger().store.find_deliveries(self.scope(), suffix, limit)?)
    }

    /// Where reading of a source that feeds a session goes on.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn cursor(&self, session: SessionId, account: &str) -> Result<Option<String>, Error> {
        Ok(self.ledger().store.cursor(self.scope(), session, account)?)
    }

    /// The leases that somebody took and did not give up, also those that are over; none for a narrower scope than all.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn leases(&self) -> Result<Vec<Lease>, Error> {
        Ok(self.ledger().store.leases(self.scope())?)
    }
}
