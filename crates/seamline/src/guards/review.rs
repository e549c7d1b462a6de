//! The circuit breaker over the history of a request.

use std::collections::BTreeMap;

use seamline_guard::{Breaker, CheckedCall, Outcome, StopTurn, ToolSchemas, TurnLoop};
use seamline_model::{Edit, MessageIndex, Pairing, Scope, Transcript};
use seamline_rules::Rewrite as _;

use super::rounds::{CallOfRound, Round, rounds, schemas};
use crate::subject::Subject;
use crate::{Error, Options};

/// The outcome of a [`review`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reviewed {
    /// The body with the escalations; `None` where there is none.
    pub body: Option<Vec<u8>>,
    /// The tools whose results tell the model to stop, in order.
    pub escalated: Vec<String>,
    /// The loop that the conversation ends in.
    pub stop: Option<StopTurn>,
}

/// Reviews the tool calls in the history of a request with a [`Breaker`] and the limits of the policy, for hosts that
/// see whole requests. The result of a call that repeats a mistake gets the escalation in front of its text. The same
/// history gives the same escalations, so the start of a conversation stays the same from request to request.
///
/// A call failed if its result says so, in dialects with a flag for it. In other dialects it failed if its arguments do
/// not fit the tool's schema. A result that did not fail, or that has more than text, stays unchanged.
///
/// ```
/// let mut messages = vec![r#"{"role":"user","content":"go"}"#.to_owned()];
/// for id in ["toolu_1", "toolu_2", "toolu_3"] {
///     messages.push(format!(r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"read","input":{{}}}}]}}"#));
///     messages.push(format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"no","is_error":true}}]}}"#));
/// }
/// let tool = r#"{"name":"read","input_schema":{"type":"object","required":["path"]}}"#;
/// let body = format!(r#"{{"tools":[{tool}],"messages":[{}]}}"#, messages.join(","));
///
/// let reviewed = seamline::guards::review(body.as_bytes(), &seamline::Options::default())?;
/// assert_eq!(reviewed.escalated, ["read"]);
/// assert!(String::from_utf8_lossy(&reviewed.body.unwrap()).contains("The required fields are: path"));
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails as [`check`](fn@crate::check) does.
pub fn review(body: &[u8], options: &Options) -> Result<Reviewed, Error> {
    let dialect = Subject::dialect(body, options)?;
    let transcript = Subject::transcript(dialect, body, options)?;
    if !transcript.has.pairs {
        return Ok(Reviewed::default());
    }
    let subject = Subject::of(dialect, &transcript, options)?;
    let pairing = Pairing::of(&transcript, Scope::ALL.under(&subject.provider.constraints));
    let conversation = dialect.lift(body)?;
    let rounds = rounds(dialect, &transcript, &pairing, &conversation);
    let tools = schemas(&conversation, &rounds);
    let limits = options.policy.for_provider(subject.provider.name).guard.breaker;
    let mut review = Review { breaker: Breaker::new(limits), tools, marks_failures: dialect.marks_failures() };
    let mut told = Vec::new();
    let mut stop = None;
    for round in &rounds {
        let (texts, stopped) = review.handle(round);
        told.extend(round.calls.iter().zip(texts).filter_map(|(call, text)| Some((call, text?))));
        stop = stopped;
    }
    let escalated = told.iter().map(|(call, _)| call.name.clone()).collect();
    let edits = edits(&transcript, told);
    let body = (!edits.is_empty()).then(|| subject.write(&transcript, &edits).source(body).joined());
    Ok(Reviewed { body, escalated, stop })
}

/// The review of one history.
struct Review {
    breaker: Breaker,
    tools: ToolSchemas,
    /// Whether results of the dialect say if the tool failed.
    marks_failures: bool,
}

impl Review {
    /// The new text for the result of each call of a round, and the loop that the round completes.
    fn handle(&mut self, round: &Round) -> (Vec<Option<String>>, Option<StopTurn>) {
        if round.begins_turn {
            self.breaker.handle_turn();
        }
        let calls: Vec<_> = round.calls.iter().map(CallOfRound::in_round).collect();
        let (checked, wrong) = self.breaker.handle_round(&calls, &self.tools);
        let both = || round.calls.iter().zip(&checked);
        let outcomes: Vec<_> = both().filter_map(|(call, checked)| self.outcome(call, checked)).collect();
        let stop = wrong.or(if outcomes.is_empty() { None } else { self.breaker.handle_outcomes(&outcomes) });
        let texts = both().map(|(call, checked)| self.escalation(call, checked, stop.as_ref())).collect();
        (texts, stop)
    }

    fn has_failed(&self, call: &CallOfRound, checked: &CheckedCall) -> bool {
        let is_refused = matches!(checked, CheckedCall::Refuse { .. });
        call.result.as_ref().is_some_and(|result| result.failed) || is_refused && !self.marks_failures
    }

    fn outcome<'c>(&self, call: &'c CallOfRound, checked: &'c CheckedCall) -> Option<Outcome<'c>> {
        let result = call.result.as_ref()?;
        let failed = self.has_failed(call, checked);
        let text = match checked {
            // The breaker compares refused calls by its own text.
            CheckedCall::Refuse { text, .. } if failed => text,
            _ => &result.text,
        };
        Some(Outcome { name: &call.name, arguments: call.arguments(), ok: !failed, text })
    }

    /// The new text of a call's result: the escalation, and what the tool said.
    fn escalation(&self, call: &CallOfRound, checked: &CheckedCall, stop: Option<&StopTurn>) -> Option<String> {
        let result = call.result.as_ref().filter(|result| result.is_text)?;
        // In a loop of failures every result failed, also those whose text alone says so.
        let is_loop = stop.is_some_and(|stop| stop.repeats == TurnLoop::Failing);
        if !is_loop && !self.has_failed(call, checked) {
            return None;
        }
        let text = match checked {
            CheckedCall::Refuse { text, escalated: true } => text.clone(),
            CheckedCall::Refuse { .. } | CheckedCall::Run | CheckedCall::PartlyChecked => loop_text(stop?),
        };
        Some(if result.text.is_empty() { text } else { [&text, "\n\n", &result.text].concat() })
    }
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

/// The edits that replace the results of calls. A message that has only such results is replaced as a whole.
fn edits(transcript: &Transcript<'_>, told: Vec<(&CallOfRound, String)>) -> Vec<Edit> {
    let mut replaced: BTreeMap<MessageIndex, Vec<_>> = BTreeMap::new();
    for result in told.iter().filter_map(|(call, _)| call.result.as_ref()) {
        replaced.entry(transcript.block(result.block).message).or_default().push(result.block);
    }
    let mut edits = Vec::new();
    for (message, results) in replaced {
        if results.len() == transcript.message(message).range().len() {
            edits.push(Edit::RemoveMessage { message });
        }
        edits.extend(results.into_iter().map(|block| Edit::Remove { block }));
    }
    edits.extend(told.into_iter().map(|(call, text)| Edit::Synthesize { call: call.block, text }));
    edits
}

#[cfg(all(test, feature = "schemas"))]
mod tests;
