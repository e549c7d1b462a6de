//! The agent: sends requests, reads streams, runs tools, and keeps its history valid.

use std::process::Command;
use std::time::Duration;

use seamline::Options;
use seamline::classify::{Failure, Verdict};
use seamline::guards::{
    Advice, Breaker, BreakerLimits, CallInRound, CheckedCall, ChildLimits, Emitted, FilteredPart, Outcome, Retry,
    RetryPolicy, StallGuard, StallLimits, StallNotice, StopTurn, ToolSchemas, filter,
};
use seamline::stream::{Ending, Response, ResponseCall, ResponseStream, StreamOptions};
use serde_json::{Value, json};

use crate::Result;
use crate::provider::{Reply, Scripted};

const SHELL: &str = r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}"#;
const MODELS: [&str; 2] = ["claude-sonnet-4-5", "claude-opus-4-5"];

/// The end of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The model responded and waits for the user.
    Said(String),
    /// The response reached its length limit. The same request would end the same way; raise the limit, or ask the
    /// model to continue.
    CutShort(String),
    /// The model repeated the same mistake.
    Looped(StopTurn),
    /// The provider gave no response.
    Filtered,
}

pub(crate) struct Agent {
    pub(crate) provider: Scripted,
    pub(crate) now: Duration,
    pub(crate) filtered: Vec<(FilteredPart, Option<String>)>,
    messages: Vec<Value>,
    model: usize,
    tools: ToolSchemas,
    breaker: Breaker,
    meddled_request: Option<usize>,
}

impl Agent {
    pub(crate) fn new(provider: Scripted) -> Result<Self> {
        let mut tools = ToolSchemas::new();
        tools.add("shell", Some(SHELL))?;
        Ok(Self {
            provider,
            now: Duration::ZERO,
            filtered: Vec::new(),
            messages: Vec::new(),
            model: 0,
            tools,
            breaker: Breaker::new(BreakerLimits::default()),
            meddled_request: None,
        })
    }

    pub(crate) fn remember(&mut self, message: Value) {
        self.messages.push(message);
    }

    pub(crate) fn history(&self) -> Value {
        Value::from(self.messages.clone())
    }

    /// Lets a plug-in damage the request of this number.
    pub(crate) fn meddle_before_request(&mut self, number: usize) {
        self.meddled_request = Some(number);
    }

    /// Runs one turn: until the model makes no more calls.
    pub(crate) fn turn(&mut self) -> Result<End> {
        loop {
            let response = self.ask()?;
            // The filter is checked before any part of the response is kept.
            if let Some(found) = filter(&Failure { status: Some(200), text: &response.message, ..Failure::default() }) {
                self.log(&format!("{}: {}", found.kind.meaning, found.kind.advice));
                self.filtered.push((found.part, found.category));
                self.model += 1;
                if self.model == MODELS.len() {
                    return Ok(End::Filtered);
                }
                continue;
            }
            // Calls that were cut are not kept.
            for message in response.messages() {
                self.remember(serde_json::from_str(message)?);
            }
            if response.calls.is_empty() {
                let texts: Vec<_> = response.blocks.iter().map(|block| block.text.as_str()).collect();
                let said = texts.concat();
                return Ok(if response.ending == Ending::Length { End::CutShort(said) } else { End::Said(said) });
            }
            // The results come first, whether the turn continues or not: a call without a result would break every
            // later request.
            let (results, stop) = self.run(&response)?;
            self.remember(json!({"role": "user", "content": results}));
            if let Some(stop) = stop {
                self.log(&format!("stopped: {} ({})", stop.signature(), stop.failure_class()));
                return Ok(End::Looped(stop));
            }
        }
    }

    /// The request, repaired before it is sent.
    pub(crate) fn body(&self) -> Result<Vec<u8>> {
        let tools = json!([{"name": "shell", "input_schema": serde_json::from_str::<Value>(SHELL)?}]);
        let body = json!({"model": MODELS[self.model], "max_tokens": 1024, "tools": tools, "messages": self.messages});
        repaired(body.to_string().as_bytes())
    }

    /// Sends the request until a response is kept.
    fn ask(&mut self) -> Result<Response> {
        let mut retry = Retry::new(RetryPolicy::default());
        let mut body = self.body()?;
        if self.meddled_request == Some(self.provider.requests().len() + 1) {
            body = meddled(&body)?;
        }
        loop {
            let verdict = match self.provider.send(&body) {
                Reply::Stream(pieces) => {
                    let response = self.listen(&pieces)?;
                    match lost(&response) {
                        Some(verdict) => verdict,
                        None => return Ok(response),
                    }
                }
                Reply::Failed { status, headers, text } => {
                    let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                    verdict(Some(status), &headers, &text)
                }
            };
            self.log(&format!("{} ({}): {}", verdict.name, verdict.class.as_str(), verdict.advice));
            // Nothing of an unfinished response was shown to the user, so nothing is shown twice.
            match retry.handle_failure(&verdict, &body, Emitted::Nothing) {
                Advice::SendAgain { wait } => self.now += wait,
                Advice::Repair => {
                    let mended = repaired(&body)?;
                    let Advice::SendAgain { .. } = retry.handle_repaired(&mended) else {
                        return Err("a repair changes nothing".into());
                    };
                    body = mended;
                }
                advice => return Err(format!("{advice:?}: {}", verdict.said).into()),
            }
        }
    }

    /// Reads a stream as long as it makes progress.
    fn listen(&mut self, pieces: &[(Duration, String)]) -> Result<Response> {
        let mut stream =
            ResponseStream::new(&StreamOptions { provider: Some("anthropic".to_owned()), ..Default::default() })?;
        let mut guard = StallGuard::new(StallLimits::default(), self.now);
        for (after, piece) in pieces {
            let arrives = self.now + *after;
            // With a real clock, the agent waits for the piece until the guard's deadline.
            while let Some(deadline) = guard.poll_deadline().filter(|deadline| *deadline <= arrives) {
                self.now = deadline;
                match guard.poll_notice(deadline) {
                    Some(StallNotice::Warn { idle, alive }) => {
                        self.log(&format!("nothing for {} s, signs of life: {alive}", idle.as_secs()));
                    }
                    Some(StallNotice::Stalled { idle, .. }) => {
                        self.log(&format!("nothing for {} s: the stream is abandoned", idle.as_secs()));
                        stream.stall();
                        return Ok(stream.finish()?);
                    }
                    None => break,
                }
            }
            self.now = arrives;
            // A ping only shows that the server is alive.
            if stream.feed(piece.as_bytes()) {
                guard.handle_progress(self.now);
            } else {
                guard.handle_life(self.now);
            }
        }
        Ok(stream.finish()?)
    }

    /// Runs the calls that may run. Every kept call gets its result, and the model reads about the others. The turn may
    /// end here.
    fn run(&mut self, response: &Response) -> Result<(Vec<Value>, Option<StopTurn>)> {
        let in_round = |call| round(call, response.ending);
        let calls: Vec<_> = response.calls.iter().map(in_round).collect();
        let (checked, stop) = self.breaker.handle_round(&calls, &self.tools);
        let (mut results, mut notes) = (Vec::new(), Vec::new());
        let mut outcomes = Vec::new();
        for (call, checked) in response.calls.iter().zip(checked) {
            let (ok, text) = match checked {
                CheckedCall::Run | CheckedCall::PartlyChecked if call.executable => shell(&call.arguments)?,
                // Its arguments may look complete although the response is not.
                CheckedCall::Run | CheckedCall::PartlyChecked => {
                    (false, format!("not run: {}", call.why_not.unwrap_or_default()))
                }
                CheckedCall::Refuse { text, .. } => (false, text),
            };
            self.log(&format!("{} {} -> {}", call.name, call.arguments, text.trim_end()));
            if call.executable {
                results.push(json!({"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": !ok}));
            } else {
                notes.push(json!({"type": "text", "text": text}));
            }
            outcomes.push((call, ok, text));
        }
        let outcomes: Vec<_> = outcomes
            .iter()
            .map(|(call, ok, text)| Outcome { name: &call.name, arguments: &call.arguments, ok: *ok, text })
            .collect();
        let looped = self.breaker.handle_outcomes(&outcomes);
        // Results come before anything else.
        results.append(&mut notes);
        Ok((results, stop.or(looped)))
    }

    fn log(&self, text: &str) {
        println!("{:>5} s  {text}", self.now.as_secs());
    }
}

/// The reason why a response is not kept, by its ending; `None` if it is kept: all of it, the part before the length
/// limit, or the part that a filter left, which the turn checks.
fn lost(response: &Response) -> Option<Verdict> {
    match response.ending {
        Ending::Complete | Ending::Length | Ending::CutCall | Ending::Steered | Ending::Filtered => None,
        Ending::Truncated => Some(verdict(None, &[], "stream disconnected before completion")),
        Ending::Stalled => Some(verdict(None, &[], "the stream timed out")),
        // The error that the provider sent inside the stream.
        Ending::Failed | Ending::Aborted => {
            let said = response.error.as_ref().map(|error| error.verdict.clone());
            Some(said.unwrap_or_else(|| verdict(None, &[], response.ending.as_str())))
        }
    }
}

fn verdict(status: Option<u16>, headers: &[(&str, &str)], text: &str) -> Verdict {
    seamline::classify(&Failure { provider: Some("anthropic"), status, headers, text, ..Failure::default() })
}

/// A call as the breaker sees it. A call that the length limit cut is not a mistake of the model.
fn round(call: &ResponseCall, ending: Ending) -> CallInRound<'_> {
    let truncated = ending.cut().is_some() && !call.executable;
    CallInRound { name: &call.name, arguments: &call.arguments, free: call.free, truncated }
}

fn repaired(body: &[u8]) -> Result<Vec<u8>> {
    let options = Options { provider: Some("anthropic".to_owned()), ..Options::default() };
    Ok(seamline::repair(body, &options)?.body.to_vec())
}

/// The damage of a careless plug-in: a reminder between a call and its result.
fn meddled(body: &[u8]) -> Result<Vec<u8>> {
    let mut body: Value = serde_json::from_slice(body)?;
    if let Some(messages) = body["messages"].as_array_mut() {
        messages.insert(messages.len().saturating_sub(1), json!({"role": "user", "content": "Remember to be brief."}));
    }
    Ok(body.to_string().into_bytes())
}

/// The tool: a supervised command, which always ends.
fn shell(arguments: &str) -> Result<(bool, String)> {
    let arguments: Value = serde_json::from_str(arguments)?;
    let line = arguments["command"].as_str().unwrap_or_default();
    let (program, switch) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let limits = ChildLimits { output_bytes_max: 10_000, ..ChildLimits::default() };
    let ran = seamline::guards::supervise(Command::new(program).args([switch, line]), &limits)?;
    Ok((ran.status.success(), format!("{}{}", ran.stdout.text(), ran.stderr.text())))
}
