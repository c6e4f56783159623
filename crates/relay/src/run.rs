//! Everything that is due, and going on until told to stop.

use std::time::Duration;

use sayso::model::DeliveryState;
use sayso::model::limits::QUEUED_MS;
use sayso::model::relay::InjectionState;

use crate::error::Error;
use crate::port::{Source, SourceFail, UtcMs};
use crate::relay::{Ports, Relay, Stepped, after};

impl Relay {
    /// Does everything that is due: listens to the session, clears up what may have happened, tells people what they should
    /// know, puts the next request in, and sends. What another relay does at the same time is left to it.
    ///
    /// # Errors
    ///
    /// Storage errors. Nothing is half done: a new relay goes on from what stands in the ledger.
    pub fn step(&mut self, ports: &mut Ports<'_>) -> Result<Stepped, Error> {
        let before = self.batches;
        self.listen(ports)?;
        self.enroll()?;
        self.clear_injections(ports)?;
        self.clear_deliveries(ports)?;
        self.fall_back(ports.senders)?;
        self.send(ports)?;
        self.clear_deliveries(ports)?;
        self.decide_held()?;
        self.send(ports)?;
        self.inject(ports)?;
        self.listen(ports)?;
        Ok(Stepped { batches: self.batches - before, due: self.due()? })
    }

    /// When something is due by itself.
    fn due(&self) -> Result<Option<UtcMs>, Error> {
        let requests = self.open_requests()?;
        let of_requests = requests.iter().flat_map(|r| {
            let open = r.answer == sayso::model::relay::AnswerState::None && r.inlet.is_some();
            let waits = r.injection == InjectionState::Queued;
            let waits = waits.then(|| after(r.accepted_at, QUEUED_MS)).filter(|then| *then > self.now());
            [r.lease_until, r.not_before, r.deadline.filter(|_| open), waits]
        });
        let deliveries = self.open_deliveries()?;
        let of_deliveries = deliveries.iter().flat_map(|d| {
            let held = d.held_until.filter(|_| d.state == DeliveryState::Held);
            let unclear =
                d.state == DeliveryState::Unknown || (d.uncertain && d.state == DeliveryState::Ready);
            let unknown = unclear.then(|| d.cleared_from());
            [d.lease_until, d.not_before, held, unknown.filter(|then| *then > self.now())]
        });
        Ok(of_requests.chain(of_deliveries).flatten().min())
    }

    /// Reads a source once: everything that it has, or nothing after waiting for so long. How many messages were new.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] where this account may not read, or another program does; storage errors.
    pub fn read(&mut self, source: &mut dyn Source, wait: Duration) -> Result<usize, Error> {
        let (account, channel) = (source.account(), source.channel());
        let cursor = self.cursor(&account)?;
        let messages = match source.poll(cursor.as_deref(), wait) {
            Ok(messages) => messages,
            Err(SourceFail::Temporary { .. }) => return Ok(0),
            Err(SourceFail::Malformed { cursor: Some(cursor), .. }) => {
                self.skip(&account, cursor)?;
                return Ok(0);
            }
            Err(fail) => return Err(fail.into()),
        };
        let mut new = 0;
        for message in &messages {
            new += usize::from(matches!(self.accept(&account, &channel, message)?, crate::Accepted::New(_)));
        }
        Ok(new)
    }

    /// Reads, listens and does what is due until `stop` says so. Between two rounds it waits in the source, for at most `wait`.
    ///
    /// # Errors
    ///
    /// As for [`Relay::read`] and [`Relay::step`].
    pub fn run(
        &mut self,
        source: &mut dyn Source,
        ports: &mut Ports<'_>,
        wait: Duration,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), Error> {
        while !stop() {
            let stepped = self.step(ports)?;
            let due = stepped.due.map(|due| due.0.saturating_sub(self.now().0).max(0).unsigned_abs());
            let pause = due.map_or(wait, |ms| wait.min(Duration::from_millis(ms)));
            let pause = if stepped.batches > 0 { Duration::ZERO } else { pause };
            self.read(source, pause)?;
        }
        Ok(())
    }
}
