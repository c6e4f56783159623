//! The digests of the rows of requests, deliveries, cursors and leases. They stand outside every chain.

use super::delivery::Delivery;
use super::request::Request;
use crate::canon::{Digest, Form};
use crate::id::SessionId;
use crate::said::UtcMs;

/// Somebody's right to be the only one who does something, for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What is leased, such as an account.
    pub name: String,
    /// Who has it.
    pub holder: String,
    /// Counts the holders.
    pub fence: u64,
    /// Until when, unless it is renewed.
    pub until: UtcMs,
    /// What the holder says about itself, unread.
    pub about: String,
}

fn text(form: Form, tag: u8, text: Option<&str>) -> Form {
    form.option(tag, text, |f, tag, text| f.field(tag, text.as_bytes()))
}

fn time(form: Form, tag: u8, at: Option<UtcMs>) -> Form {
    form.option(tag, at, |f, tag, at| f.number(tag, at.0))
}

/// The digest of a request's row (domain `sayso.request.v1`).
#[must_use]
pub fn request(r: &Request) -> Digest {
    let form = Form::new("sayso.request.v1")
        .field(1, &r.id.to_bytes())
        .field(2, &r.session.to_bytes())
        .field(3, &r.turn.to_bytes())
        .number(4, r.accepted_at.0)
        .field(5, r.injection.as_str().as_bytes())
        .number(6, r.fence)
        .number(7, r.attempts)
        .number(8, r.listening)
        .field(9, r.turn_state.as_str().as_bytes())
        .field(10, r.answer.as_str().as_bytes());
    let form = form.option(11, r.inlet.as_ref(), |f, tag, inlet| {
        f.field(tag, inlet.account.as_bytes())
            .field(12, inlet.update.as_bytes())
            .field(13, inlet.message.as_bytes())
            .field(14, inlet.channel.as_bytes())
            .field(15, inlet.destination.as_bytes())
    });
    let form = time(time(form, 16, r.lease_until), 17, r.not_before);
    let form = time(time(form, 18, r.injected_at), 19, r.deadline);
    let form = form.option(20, r.answered_by, |f, tag, id| f.field(tag, &id.to_bytes()));
    let form = text(form, 21, r.why.as_deref());
    // Written where it is so: the rows of schema 6 have no such column.
    form.option(22, r.gone.then_some(true), Form::number).hash()
}

/// The digest of a delivery's row (domain `sayso.delivery.v1`), over the commitment to its words.
#[must_use]
pub fn delivery(d: &Delivery, words: Digest) -> Digest {
    let form = Form::new("sayso.delivery.v1")
        .field(1, &d.id.to_bytes())
        .field(2, &d.request.to_bytes())
        .field(3, d.kind.as_str().as_bytes())
        .field(4, d.key.as_bytes())
        .number(5, d.part)
        .number(6, d.parts)
        .field(7, &d.turn.to_bytes())
        .field(8, &words.0)
        .field(9, d.state.as_str().as_bytes())
        .number(10, d.fence)
        .number(11, d.attempts)
        .number(12, d.repeat_mark)
        .number(13, d.created_at.0)
        .list(14, &d.late, |f, receipt| f.field(15, receipt.as_bytes()));
    let form = time(time(form, 16, d.lease_until), 17, d.not_before);
    let form = time(time(form, 18, d.first_sent_at), 19, d.held_until);
    let form = text(text(form, 20, d.suppressed_by.as_deref()), 21, d.receipt.as_deref());
    let form = text(form, 22, d.why.as_deref());
    form.option(23, d.uncertain.then_some(true), Form::number).hash()
}

/// The digest of the row of a source's cursor (domain `sayso.cursor.v1`).
#[must_use]
pub fn cursor(session: SessionId, account: &str, cursor: &str) -> Digest {
    Form::new("sayso.cursor.v1")
        .field(1, &session.to_bytes())
        .field(2, account.as_bytes())
        .field(3, cursor.as_bytes())
        .hash()
}

/// The digest of a lease's row (domain `sayso.lease.v1`).
#[must_use]
pub fn lease(l: &Lease) -> Digest {
    Form::new("sayso.lease.v1")
        .field(1, l.name.as_bytes())
        .field(2, l.holder.as_bytes())
        .number(3, l.fence)
        .number(4, l.until.0)
        .field(5, l.about.as_bytes())
        .hash()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Kept;
    use crate::id::{DeliveryId, EntryId, RequestId};
    use crate::relay::{DeliveryKind, DeliveryState, Inlet};

    fn its_request() -> Request {
        let inlet = Inlet {
            account: "bot".into(),
            update: "1".into(),
            message: "17".into(),
            channel: "chat".into(),
            destination: "room 5".into(),
        };
        let (id, session, turn) =
            (RequestId::from_u128(1), SessionId::from_u128(2), (EntryId::from_u128(3), 1));
        Request::new(id, session, turn, Some(inlet), UtcMs(4))
    }

    fn its_delivery() -> Delivery {
        Delivery {
            id: DeliveryId::from_u128(5),
            request: RequestId::from_u128(1),
            session: SessionId::from_u128(2),
            kind: DeliveryKind::Reply,
            key: "reply".into(),
            part: 0,
            parts: 1,
            turn: EntryId::from_u128(3),
            text: "yes".into(),
            kept: Kept::Whole,
            state: DeliveryState::Unknown,
            fence: 1,
            lease_until: None,
            not_before: None,
            attempts: 1,
            first_sent_at: Some(UtcMs(6)),
            uncertain: false,
            repeat_mark: false,
            held_until: None,
            suppressed_by: None,
            receipt: None,
            late: Vec::new(),
            why: Some("lost".into()),
            created_at: UtcMs(5),
        }
    }

    /// As programs of schema 6 wrote them, which knew neither `gone` nor `uncertain`.
    #[test]
    fn rows_of_schema_6_have_the_digests_that_they_were_written_with() {
        let written = [
            "6514cf3282a266fefbcb920a94f7ef4207b0a930a7a7d31d526db2a2fd830b03",
            "186426c15cebd0945e47875f27a28f073d36b81e49122820285f05564f4f4735",
        ];
        let (r, d) = (its_request(), its_delivery());
        assert_eq!([request(&r), delivery(&d, Digest::ZERO)].map(|digest| digest.to_string()), written);
        let (r, d) = (Request { gone: true, ..r }, Delivery { uncertain: true, ..d });
        assert!(!written.contains(&request(&r).to_string().as_str()));
        assert!(!written.contains(&delivery(&d, Digest::ZERO).to_string().as_str()));
    }

    /// What was unknown or parked then may have arrived all the same.
    #[test]
    fn what_schema_6_left_unknown_may_have_arrived() {
        let states = [
            (DeliveryState::Unknown, 1, true),
            (DeliveryState::Parked, 1, true),
            (DeliveryState::Parked, 0, false),
            (DeliveryState::Failed, 1, false),
        ];
        for (state, attempts, may) in states {
            let d = Delivery { state, attempts, ..its_delivery() };
            assert_eq!(d.may_have_arrived(), may, "{state} after {attempts}");
        }
    }
}
