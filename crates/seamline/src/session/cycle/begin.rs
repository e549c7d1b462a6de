//! Plans the begin of a cycle.

use seamline_store::{
    CallOutcome, CallRecord, CallState, CycleId, Effect, Hash, IncidentKind, IncidentSeverity, OpenCall, OpenCycle,
    Operation, Raw, Record, SessionId, Staged, Turn,
};

use crate::session::facts::{Batch, Facts};
use crate::session::recorded::{Recorded, renamed_record};
use crate::session::wire::{NotRun, ToolTurn, TurnCall, arguments_hash};
use crate::session::{Refusal, SessionError, ToolCall};
use crate::stream::RefusedCall;

/// When the intents of a turn are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) enum Intents {
    /// With the turn: every call runs at once.
    WithTurn,
    /// One by one, by [`Session::before_tool_call`](crate::session::Session::before_tool_call).
    PerCall,
}

/// A turn that is about to begin a cycle.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct NewTurn<'t> {
    pub(in crate::session) messages: &'t [&'t str],
    /// The calls that the stream refused.
    pub(in crate::session) refused: &'t [RefusedCall],
}

impl<'t> NewTurn<'t> {
    /// A turn that the host gives as messages.
    pub(in crate::session) fn of(messages: &'t [&'t str]) -> Self {
        Self { messages, refused: &[] }
    }
}

/// Tells the effect of a call.
pub(in crate::session) type EffectOf<'e> = &'e (dyn Fn(&ToolCall) -> Effect + Send + Sync);

impl Facts<'_> {
    /// Reads a turn that is about to begin a cycle. Its calls get ids where the dialect demands them.
    pub(in crate::session) fn read_new_turn(&self, new: NewTurn<'_>) -> Result<ToolTurn, SessionError> {
        let Recorded { messages, renamed } = self.record_new_ids(self.wire.parse_messages(new.messages)?)?;
        let turn = self.wire.read_turn(messages)?.with_renamed(renamed);
        Ok(self.refuse_calls(turn, new.refused))
    }

    /// Makes a response that was read the turn of a new cycle, as [`Facts::read_new_turn`] does. It is read again only
    /// where its calls get other ids.
    pub(in crate::session) fn adopt_turn(
        &self,
        read: ToolTurn,
        refused: &[RefusedCall],
    ) -> Result<ToolTurn, SessionError> {
        let Recorded { messages, renamed } = self.record_new_ids(read.messages.clone())?;
        let turn = if messages == read.messages { read } else { self.wire.read_turn(messages)? };
        Ok(self.refuse_calls(turn.with_renamed(renamed), refused))
    }

    /// Gives the calls of a new turn ids where the dialect demands them, and the ids of the session.
    fn record_new_ids(&self, messages: Vec<Raw>) -> Result<Recorded, SessionError> {
        self.record_ids(self.wire, self.wire.identify(messages, &self.next_id("turn"))?)
    }

    /// Marks the calls that a stream refused, under the ids that they have in the turn.
    fn refuse_calls(&self, mut turn: ToolTurn, refused: &[RefusedCall]) -> ToolTurn {
        let refused = self.recorded_refusals(&turn, refused);
        turn.refuse(&refused);
        turn
    }

    /// Plans a cycle: a checkpoint, the turn, and at once the results of calls that must not run. `chance` is a random
    /// number, so that no cycle of another session has the id.
    pub(in crate::session) fn plan_begin(
        &self,
        turn: &ToolTurn,
        effect: EffectOf<'_>,
        intents: Intents,
        chance: u64,
    ) -> Result<(Batch, CycleId), SessionError> {
        if self.work.compaction.is_some() {
            return Err(Refusal::Compacting.into());
        }
        let first = turn.messages.split_first().filter(|_| !turn.calls.is_empty());
        let (message, more) = first.ok_or(Refusal::NoCalls)?;
        let cycle: CycleId = format!("{}_{chance:016x}", self.next_id("cycle")).into();
        // A response with calls is a response: the request that brought it is over.
        let mut records = self.plan_response_arrived();
        let (checkpoint, made) = self.plan_checkpoint(Operation::ToolCycle);
        records.extend(made);
        let calls: Vec<CallRecord> = turn.calls.iter().map(|made| call_record(made, effect)).collect();
        let mut then = Vec::new();
        for (call, made) in calls.iter().zip(&turn.calls) {
            match &made.not_run {
                Some(why) => then.extend(self.plan_not_run(&cycle, call, why)),
                None if intents == Intents::WithTurn && call.effect.needs_intent() => {
                    then.push(self.intent(&cycle, &call.id));
                }
                None => {}
            }
        }
        let (message, more) = (message.clone(), more.to_vec());
        let (checkpoint, dialect) = (Some(checkpoint), turn.dialect.clone());
        records.extend(renamed_record(turn.renamed.clone()));
        records.push(Record::Turn(Turn { cycle: cycle.clone(), checkpoint, message, more, calls, dialect }));
        records.extend(then);
        Ok((Batch::of(records), cycle))
    }

    /// The cycle of a turn that is kept as plain messages, because integrity is switched off. Only the runner knows it.
    pub(in crate::session) fn plain_cycle(&self, turn: &ToolTurn) -> OpenCycle {
        let cycle: CycleId = self.next_id("cycle").into();
        let repairs = self.wire.repairs();
        let call = |made: &TurnCall| {
            let CallRecord { id, tool, effect, arguments } = call_record(made, &|_| Effect::Unsafe);
            let state = match &made.not_run {
                Some(why) => {
                    let text = why.text(&tool, &repairs.synthetic_text).as_str().into();
                    CallState::Finished { outcome: CallOutcome::NotRun, text, failed: true }
                }
                None => CallState::Started { at: self.now, key: self.key(&cycle, &id) },
            };
            OpenCall { id, tool, effect, arguments, state }
        };
        let calls = turn.calls.iter().map(call).collect();
        let dialect = turn.dialect.clone();
        OpenCycle { id: cycle, seq: self.next, checkpoint: None, turn: turn.messages.clone(), calls, dialect }
    }

    /// Plans the result of a call that must not run: the model reads why.
    fn plan_not_run(&self, cycle: &CycleId, call: &CallRecord, why: &NotRun) -> [Record; 2] {
        let text = why.text(&call.tool, &self.wire.repairs().synthetic_text).as_str().into();
        let (outcome, failed) = (CallOutcome::NotRun, true);
        let staged = Staged { cycle: cycle.clone(), call: call.id.clone(), outcome, text, failed };
        let detail = format!("call {} of {}: {}", call.id, call.tool, why.as_str());
        let incident = self.counted(IncidentKind::NotExecuted, IncidentSeverity::Warning, detail, 1);
        [Record::Staged(staged), incident]
    }
}

fn call_record(made: &TurnCall, effect: EffectOf<'_>) -> CallRecord {
    CallRecord {
        id: made.call.id.clone(),
        tool: made.call.name.clone(),
        effect: if made.not_run.is_some() { Effect::default() } else { effect(&made.call) },
        arguments: arguments_hash(&made.call),
    }
}

/// The idempotency key of a call: the same however often the call runs.
pub(in crate::session) fn idempotency_key(
    session: &SessionId,
    generation: u32,
    cycle: &CycleId,
    call: &seamline_store::CallId,
) -> String {
    let hash = Hash::of(session.as_str().as_bytes()).then(&generation.to_be_bytes());
    let hash = hash.then(cycle.as_str().as_bytes()).then(&[0]).then(call.as_str().as_bytes());
    format!("k_{}", &hash.to_string()[..32])
}
