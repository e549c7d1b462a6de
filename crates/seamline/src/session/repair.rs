//! Checks, validates and repairs stored messages.

mod origins;
mod plan;
mod validation;

use seamline_store::RepairId;

use super::{PersistRepairs, Session, SessionError};
use crate::Options;
use crate::Policy;
use crate::check::Checked;

pub use plan::RepairResult;
pub use validation::ValidationResult;

pub(super) use plan::Frontier;
pub(super) use validation::Validated;
use validation::{Demands, kept};

impl Session {
    /// Checks the view, as the policy says. Messages of other dialects are rendered in the current one first; findings have
    /// the places of the rendered messages then. Questions that only a request can answer, such as the tools that it declares,
    /// are left out. Only messages that came since the last check are read, or all from the first one on that changed; see
    /// [`forget_reading`](Self::forget_reading) for the memory that this takes.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub fn check(&self) -> Result<Checked, SessionError> {
        let rendered = self.reading.rendered(&self.wire, self.entries())?;
        self.reading.check(&self.wire, rendered.entries(), &kept(&self.wire.options))
    }

    /// Validates the view: each result follows its call, each call but those of the last message has a result, and no id
    /// repeats.
    ///
    /// # Errors
    /// When the conversation cannot be read.
    pub fn validate(&self) -> Result<ValidationResult, SessionError> {
        Ok(self.validate_as(Demands::STORED)?.result)
    }

    fn validate_as(&self, demands: Demands) -> Result<Validated, SessionError> {
        if self.facts().is_exempt() {
            return Ok(Validated::valid());
        }
        let rendered = self.reading.rendered(&self.wire, self.entries())?;
        let entries = rendered.entries();
        self.facts().validate(demands, entries, |options| self.reading.check(&self.wire, entries, options))
    }

    /// Validates the view for a request. Ids that repeat are valid where the policy corrects them in requests, and so is an
    /// order of roles that a request arranges.
    pub(super) fn validate_to_send(&self) -> Result<Validated, SessionError> {
        self.validate_as(Demands::of_request(&self.wire.repairs()))
    }

    /// Validates the view for a request with this envelope. The envelope may make a finding void: it may continue a
    /// conversation that the provider has, or switch reasoning off.
    pub(super) fn validate_to_send_with(&self, envelope: &str) -> Result<Validated, SessionError> {
        let validated = self.validate_to_send()?;
        if validated.result.valid {
            return Ok(validated);
        }
        let (entries, envelope) = self.reading.rendered(&self.wire, self.entries())?.for_envelope(envelope);
        let body = self.wire.body(&envelope, entries.iter().map(|entry| &entry.message))?;
        let demands = Demands::of_request(&self.wire.repairs());
        self.facts().validate(demands, &entries, |options| Ok(crate::check(&body, options)?))
    }

    /// Repairs stored messages, as the policy says, and records as much of it as
    /// [`persist_repairs`](super::SessionPolicy::persist_repairs) allows. With [`Never`](super::PersistRepairs::Never)
    /// the result says what a repair would do, and nothing changes. [`Session::undo_repair`] reverts it.
    ///
    /// With [`RealMovesOnly`](super::PersistRepairs::RealMovesOnly) it records what every provider of the dialect needs and
    /// leaves the demands of one provider to requests, unless these are not repaired.
    ///
    /// Where the view has messages of other dialects, the changes of messages in the current dialect are recorded. The
    /// others keep their bytes, and each request repairs them again. A change is left to requests, too, if the next request
    /// would differ after it or if a stored result would name no stored call.
    ///
    /// Requests make the rest of the repair. A call of this method accepts that, and where
    /// [`on_invalid`](crate::policy::OnInvalid) is `offer` a record keeps it:
    /// [`before_agent_start`](Session::before_agent_start) blocks the session again only for an error of another rule or at
    /// another place.
    ///
    /// # Errors
    /// When tools are running ([`InFlight`](seamline_store::Rejected::InFlight)), the conversation cannot be read, or the
    /// store failed.
    pub async fn repair(&mut self) -> Result<RepairResult, SessionError> {
        let persist = self.wire.config().persist_repairs;
        let result = self.repair_as(persist).await?;
        let validated = self.validate_to_send()?;
        if let Some(accepted) = self.facts().plan_accepted(&validated) {
            self.work.accepted = validated.findings;
            // Where the store fails, it goes with the next commit: nothing else needs the store here.
            if self.write(accepted.clone().into()).await.is_err() {
                self.log.note(accepted);
            }
        }
        Ok(result)
    }

    /// Repairs stored messages once as another policy says. The policy of the session stays.
    ///
    /// # Errors
    /// As for [`Session::repair`].
    pub async fn repair_with(&mut self, policy: Policy) -> Result<RepairResult, SessionError> {
        let persist = policy.session_for(self.wire.provider()).persist_repairs;
        let options = Options { policy, ..self.wire.options.clone() };
        self.repair_options_as(&options, persist, Frontier::Open).await
    }

    /// Plans the repair of [`Session::repair_with`], and stores nothing.
    ///
    /// # Errors
    /// When tools are running ([`InFlight`](seamline_store::Rejected::InFlight)), or the conversation cannot be read.
    pub fn preview_repair(&self, policy: Policy) -> Result<RepairResult, SessionError> {
        let persist = policy.session_for(self.wire.provider()).persist_repairs;
        let options = Options { policy, ..self.wire.options.clone() };
        Ok(self.facts().plan_repair(&options, persist, Frontier::Open)?.0)
    }

    /// Repairs stored messages, and records as much of it as `persist` allows.
    pub(super) async fn repair_as(&mut self, persist: PersistRepairs) -> Result<RepairResult, SessionError> {
        let options = self.wire.options.clone();
        self.repair_options_as(&options, persist, Frontier::Open).await
    }

    /// Repairs stored messages that the provider refused, and says whether any of them changed. The calls of the last
    /// message are closed, too: a result that was still to come can come as a late one.
    pub(super) async fn repair_refused(&mut self, persist: PersistRepairs) -> Result<bool, SessionError> {
        let options = self.wire.for_request().options.clone();
        Ok(self.repair_options_as(&options, persist, Frontier::Closed).await?.id.is_some())
    }

    async fn repair_options_as(
        &mut self,
        options: &Options,
        persist: PersistRepairs,
        frontier: Frontier,
    ) -> Result<RepairResult, SessionError> {
        self.settle().await?;
        let (result, batch) = self.facts().plan_repair(options, persist, frontier)?;
        if let Some(batch) = batch {
            self.write(batch).await?;
            self.work.context.repairs += 1;
        }
        Ok(result)
    }

    /// Reverts the last repair, if only new messages and cycles came after it, and gives its id. Late results and reorders
    /// are repairs, too. The repair before it is the last one then.
    ///
    /// # Errors
    /// When there is none, tools are running, or the store failed.
    pub async fn undo_repair(&mut self) -> Result<RepairId, SessionError> {
        self.settle().await?;
        let (batch, id) = self.facts().plan_undo()?;
        self.write(batch).await?;
        Ok(id)
    }
}
