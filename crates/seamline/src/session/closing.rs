//! How a cycle ends whole, whatever is known of its calls.

use std::collections::{HashMap, HashSet};

use seamline_store::{
    CallState, CycleRecord, IncidentKind, IncidentSeverity, Insert, OpenCall, OpenCycle, Origin, Raw, Record,
};

use super::context::unfinished_of;
use super::cycle::{Kept, is_finished, kept};
use super::recovery::truth;
use super::wire::Answered;
use super::{CycleOutcome, Recovered, Session, SessionError, Stop, ToolCall, Truth, texts};

/// That the calls of a cycle were given up.
pub(super) struct GivenUp<'c> {
    pub(super) why: Stop,
    /// The calls that did not run, though it is written down that they were about to.
    pub(super) never_begun: &'c [ToolCall],
}

impl Session {
    /// Closes all cycles after somebody broke off: results that are there are kept, and the other calls are answered
    /// with what is known. Those that a crash left open are closed as [`Session::recover`] does. Call it once the tools
    /// are stopped. Doing it twice does nothing the second time. Gives what the calls of all of them are answered with.
    ///
    /// # Errors
    /// When a turn cannot be read any more, or the store could not keep it: then it may be called again.
    pub async fn abort(&mut self) -> Result<Vec<CycleOutcome>, SessionError> {
        self.settle().await?;
        let mut outcomes = Vec::new();
        for cycle in self.state.cycles.clone() {
            // Nobody broke off what another process left: it stopped.
            outcomes.extend(if cycle.seq <= self.opened_at {
                self.recover_cycle(cycle, None, &mut Recovered::default()).await?
            } else {
                let given_up = GivenUp { why: Stop::Aborted, never_begun: &[] };
                self.whole(&cycle.id, None, given_up).await?
            });
        }
        Ok(outcomes)
    }

    /// Makes a cycle whole. Calls without a result, which there are where it was given up, are answered with what is known.
    pub(super) async fn whole(
        &mut self,
        cycle: &str,
        last: Option<Record>,
        given_up: GivenUp<'_>,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        let mut open = self.open_cycle(cycle)?;
        if let Some(Record::Staged(staged)) = &last {
            let missing = open.calls.iter_mut().find(|call| call.id == staged.call && !is_finished(call));
            if let Some(call) = missing {
                call.state = CallState::Finished { result: staged.result.clone(), failed: staged.failed };
            }
        }
        let GivenUp { why, never_begun } = given_up;
        let never_begun = never_ran(&mut open, never_begun);
        let unanswered = open.calls.iter().filter(|call| !is_finished(call)).count();
        let answers = self.answers(&open, |call| {
            let never_ran = truth(call) == Truth::NeverStarted || never_begun.contains(call.id.as_str());
            self.given_up(why, never_ran.then_some((&call.tool, &call.id)))
        })?;
        let mut records: Vec<Record> = last.into_iter().collect();
        records.extend(self.closing(&open, &answers)?);
        if unanswered > 0 {
            let kind = if why == Stop::Aborted { IncidentKind::Aborted } else { IncidentKind::Timeout };
            let mut incident = self.incident(kind, IncidentSeverity::Warning, "calls were given up");
            incident.count = unanswered as u64;
            records.push(Record::Incident(incident));
        }
        self.write_losing(records, unfinished_of(&open)).await?;
        Ok(answers.into_iter().map(|(answer, synthetic)| outcome(answer, synthetic)).collect())
    }

    /// Makes a cycle whole of which all calls have a result, the last one with it.
    pub(super) async fn finished(
        &mut self,
        cycle: &str,
        last: Option<Record>,
    ) -> Result<Vec<CycleOutcome>, SessionError> {
        // Nobody stopped it, and there is nothing to be said of it.
        self.whole(cycle, last, GivenUp { why: Stop::Aborted, never_begun: &[] }).await
    }

    /// What the model reads of a call that was given up. One that never ran is given by its tool and id.
    pub(super) fn given_up(&self, stop: Stop, never_ran: Option<(&str, &str)>) -> String {
        let texts = &self.wire.options.policy.repair.synthetic_text;
        let text = match stop {
            Stop::Aborted => &texts.aborted,
            Stop::TimedOut => &texts.timeout,
        };
        // A policy's own words stand as they are.
        let is_ours = [seamline_model::ABORTED, seamline_model::TIMED_OUT].contains(&text.as_str());
        match never_ran {
            Some((tool, call)) if is_ours => texts::not_begun(tool, call),
            _ => text.clone(),
        }
    }

    /// What the calls of a cycle are answered with, under the ids that the turn gives them, and whether it was made up.
    pub(super) fn answers(
        &self,
        open: &OpenCycle,
        unknown: impl Fn(&OpenCall) -> String,
    ) -> Result<Vec<(Answered, bool)>, SessionError> {
        let answers = open.calls.iter().map(|call| answered(call, &unknown));
        let mut answers: Vec<(Answered, bool)> = answers.collect();
        let ids = self.wire.call_ids(&open.turn)?;
        if ids.len() == answers.len() {
            answers.iter_mut().zip(ids).for_each(|((answer, _), id)| answer.id = id);
        }
        Ok(answers)
    }

    /// The records that make a cycle whole and commit its checkpoint.
    pub(super) fn closing(&self, open: &OpenCycle, answers: &[(Answered, bool)]) -> Result<Vec<Record>, SessionError> {
        let plain: Vec<Answered> = answers.iter().map(|(answer, _)| answer.clone()).collect();
        let messages = self.wire.results(&open.turn, &plain)?;
        let made_up: Vec<bool> = answers.iter().map(|(_, synthetic)| *synthetic).collect();
        let results = originated(messages, &made_up).collect();
        let mut records = vec![Record::Cycle(CycleRecord { cycle: open.id.clone(), results })];
        if let Some(checkpoint) = &open.checkpoint {
            records.extend(self.commit_records(checkpoint).unwrap_or_default());
        }
        // No error leads back behind what has happened.
        records.extend(self.answered_records());
        Ok(records)
    }
}

/// The ids of calls that are all among these. Where calls share an id, one of them may be another one.
pub(super) fn all_of<'a, 'c>(calls: impl Iterator<Item = &'a str>, these: &'c [ToolCall]) -> HashSet<&'c str> {
    let mut others: HashMap<&str, usize> = HashMap::new();
    for id in calls {
        *others.entry(id).or_default() += 1;
    }
    let mut all = HashSet::new();
    for call in these {
        let left = others.get(call.id.as_str()).map_or(0, |left| left.saturating_sub(1));
        others.insert(call.id.as_str(), left);
        if left == 0 {
            all.insert(call.id.as_str());
        }
    }
    all
}

/// Says of calls that were never begun that they were not, and gives the ids of those of which that is certain.
pub(super) fn never_ran<'c>(open: &mut OpenCycle, never_begun: &'c [ToolCall]) -> HashSet<&'c str> {
    let unfinished = open.calls.iter().filter(|call| !is_finished(call)).map(|call| call.id.as_str());
    let never_begun = all_of(unfinished, never_begun);
    for call in open.calls.iter_mut().filter(|call| !is_finished(call) && never_begun.contains(call.id.as_str())) {
        call.state = CallState::Pending;
    }
    never_begun
}

/// Messages with the results of calls, of which it is known which were made up. Where each is a message of its own, it is
/// known of the messages, too.
pub(super) fn originated(messages: Vec<Raw>, made_up: &[bool]) -> impl Iterator<Item = Insert> {
    let each = messages.len() == made_up.len();
    let any = made_up.contains(&true);
    messages.into_iter().enumerate().map(move |(at, message)| {
        let is_made_up = if each { made_up[at] } else { any };
        Insert { message, origin: if is_made_up { Origin::Synthetic } else { Origin::Said } }
    })
}

/// What a call is answered with, and whether that was made up.
fn answered(call: &OpenCall, unknown: impl FnOnce(&OpenCall) -> String) -> (Answered, bool) {
    let (id, name) = (call.id.clone(), call.tool.clone());
    match &call.state {
        CallState::Finished { result, failed } => {
            let Kept { output, told } = kept(result);
            (Answered { id, name, output, failed: *failed }, told)
        }
        CallState::Pending | CallState::Started { .. } => {
            (Answered { id, name, output: unknown(call), failed: true }, true)
        }
    }
}

pub(super) fn outcome(answer: Answered, synthetic: bool) -> CycleOutcome {
    CycleOutcome { tool_use_id: answer.id, content: answer.output, is_error: answer.failed, synthetic }
}
