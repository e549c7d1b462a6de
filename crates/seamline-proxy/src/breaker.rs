//! The circuit breaker over the history of a request: a model that repeats wrong tool calls reads so.
//!
//! It is off unless it is configured, because it edits bodies that the provider accepts. It only adds text: the result
//! of a wrong call keeps what the tool said, behind the escalation.

mod history;

use std::ops::Range;

use seamline::guards::{Breaker, BreakerLimits, CallInRound, CheckedCall, Outcome, StopTurn, ToolSchemas};
use seamline::{Error, Options};

use self::history::{CallOfHistory, History, Round};

/// Treatment of repeated wrong calls by the breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTrip {
    /// The results of the wrong calls tell the model what is wrong and not to repeat them.
    #[default]
    Escalate,
    /// The request is not sent when the last calls are a loop.
    Block,
}

/// The outcome of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// The body with the escalations; `None` where there is none.
    pub body: Option<Vec<u8>>,
    /// The tools whose results tell the model to stop, in order.
    pub escalated: Vec<String>,
    /// The loop that the conversation ends in.
    pub stop: Option<StopTurn>,
}

/// Reviews the tool calls in the history of a request. The same history gives the same escalations, so the start of a
/// conversation stays the same from request to request.
///
/// # Errors
/// Where the body cannot be read.
pub fn review(body: &[u8], options: &Options, limits: BreakerLimits) -> Result<Reviewed, Error> {
    let history = History::of(body, options)?;
    let tools = history.tools();
    let mut breaker = Breaker::new(limits);
    let mut edits = Vec::new();
    let mut escalated = Vec::new();
    let mut stop = None;
    for round in &history.rounds {
        if round.begins_turn {
            breaker.handle_turn();
        }
        let (texts, stopped) = handle_round(&mut breaker, round, &tools);
        for (call, text) in round.calls.iter().zip(texts) {
            let edit = text.zip(call.result.as_ref()).and_then(|(text, result)| result.escalate(body, &text));
            if let Some(edit) = edit {
                edits.push(edit);
                escalated.push(call.name.clone());
            }
        }
        stop = stopped;
    }
    let body = (!edits.is_empty()).then(|| apply(body, edits));
    Ok(Reviewed { body, escalated, stop })
}

/// The escalation for each call of a round, and the loop that the round completes.
fn handle_round(breaker: &mut Breaker, round: &Round, tools: &ToolSchemas) -> (Vec<Option<String>>, Option<StopTurn>) {
    let calls: Vec<_> = round.calls.iter().map(CallOfHistory::in_round).collect();
    let (checked, wrong) = breaker.handle_round(&calls, tools);
    let outcomes: Vec<_> =
        round.calls.iter().zip(&checked).filter_map(|(call, checked)| outcome(call, checked)).collect();
    let stop = wrong.or(if outcomes.is_empty() { None } else { breaker.handle_outcomes(&outcomes) });
    let looped = stop.as_ref().map(loop_text);
    let texts = checked.into_iter().map(|checked| match checked {
        CheckedCall::Refuse { text, escalated: true } => Some(text),
        CheckedCall::Refuse { .. } | CheckedCall::Run | CheckedCall::PartlyChecked => looped.clone(),
    });
    (texts.collect(), stop)
}

fn outcome<'c>(call: &'c CallOfHistory, checked: &'c CheckedCall) -> Option<Outcome<'c>> {
    let result = call.result.as_ref()?;
    let text = match checked {
        // The breaker compares refused calls by its own text.
        CheckedCall::Refuse { text, .. } if result.failed => text,
        _ => &result.text,
    };
    Some(Outcome { name: &call.name, arguments: &call.arguments, ok: !result.failed, text })
}

/// The text that tells the model to leave a loop.
fn loop_text(stop: &StopTurn) -> String {
    format!(
        "The calls of {} failed in the same way {} times in a row. Do not repeat them: change the arguments, use another \
         tool, or explain the problem.",
        stop.tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", "),
        stop.rounds
    )
}

impl CallOfHistory {
    fn in_round(&self) -> CallInRound<'_> {
        CallInRound { name: &self.name, arguments: &self.arguments, free: self.free, truncated: false }
    }
}

/// Writes a body with texts put in at some places.
fn apply(body: &[u8], mut edits: Vec<(Range<usize>, String)>) -> Vec<u8> {
    edits.sort_by_key(|(range, _)| range.start);
    let mut written = Vec::with_capacity(body.len() + edits.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut at = 0;
    for (range, text) in edits.into_iter().filter(|(range, _)| range.end <= body.len()) {
        written.extend_from_slice(&body[at..range.start]);
        written.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    written.extend_from_slice(&body[at..]);
    written
}

#[cfg(test)]
mod tests;
