//! The breaker: counts wrong and failing rounds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::call_error::{CallError, check_call};
use super::rows::{Repeats, Row, canonical, fingerprint};
use super::schema::ToolSchemas;

/// The limits of a [`Breaker`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerLimits {
    /// After how many wrong rounds of a tool its error result lists the required fields.
    pub failures_max: u32,
    /// After how many repetitions of failing rounds the turn ends. Alternating rounds count once per full period.
    pub rounds_max: u32,
    /// How many different rounds may alternate and still count as a loop: three at most; with one, only a round that
    /// repeats itself is a loop.
    pub period_max: u32,
    /// Which wrong calls count together.
    pub scope: BreakerScope,
    /// Which success resets the count of failures.
    pub reset: Reset,
    /// Whether too many wrong calls of one tool end the turn.
    pub ends_turn: bool,
    /// Whether a result counts as a failure if only its text says so: a JSON object with a false `ok` or `success`, or
    /// with a true `is_error` or `isError`.
    pub reads_results: bool,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self {
            failures_max: 3,
            rounds_max: 3,
            period_max: 3,
            scope: BreakerScope::Tool,
            reset: Reset::AnySuccess,
            ends_turn: false,
            reads_results: true,
        }
    }
}

seamline_model::words! {
    /// Which success resets the count of failures.
    Reset default AnySuccess {
        /// Any successful call resets all counts.
        AnySuccess = "any_success",
        /// A successful call of the same tool.
        SameTool = "same_tool" | "same_tool_success",
        /// A valid call of the same tool, whatever its result.
        SameToolFits = "same_tool_fits" | "valid_args",
    }
}

seamline_model::words! {
    /// Which wrong tool calls count together.
    BreakerScope default Tool {
        /// The calls of one tool.
        Tool = "tool",
        /// The calls of all tools in one turn; `Breaker::handle_turn` begins the next one.
        Turn = "turn",
        /// The calls of all tools as long as the breaker lives.
        Session = "session",
    }
}

/// A call of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallInRound<'c> {
    /// The name of the tool.
    pub name: &'c str,
    /// The text of the arguments.
    pub arguments: &'c str,
    /// Whether the arguments are free text, as custom tools take them, and not JSON.
    pub free: bool,
    /// Whether the stream cut the call off. Such a call does not count as a mistake of the model.
    pub truncated: bool,
}

/// The verdict on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedCall {
    /// The caller may run it.
    Run,
    /// No error was found, but only the outermost level of the arguments was checked: a full check would take too long.
    /// The caller decides whether to run it.
    PartlyChecked,
    /// The caller must not run it and uses this error result instead.
    Refuse {
        /// The error result for the model.
        text: String,
        /// Whether the model called the tool wrongly too often in a row.
        escalated: bool,
    },
}

/// The result of a call that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'o> {
    /// The name of the tool.
    pub name: &'o str,
    /// The text of the arguments.
    pub arguments: &'o str,
    /// Whether the tool succeeded.
    pub ok: bool,
    /// The text of its result.
    pub text: &'o str,
}

/// The reason to end a turn. The caller still answers the open calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopTurn {
    /// The kind of the loop.
    pub repeats: TurnLoop,
    /// The tools of the loop, in order.
    pub tools: Vec<String>,
    /// How many rounds in a row it lasted.
    pub rounds: u32,
}

/// The kind of a loop that ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnLoop {
    /// The model repeats calls whose arguments are not JSON.
    Malformed,
    /// The model repeats calls that fail in the same way.
    Failing,
    /// The model repeats calls that do not fit a schema, or calls of an unknown tool.
    Misfitting,
}

impl StopTurn {
    /// Returns a text that is the same for the same loop: its kind and its tools, and nothing that differs between runs.
    pub fn signature(&self) -> String {
        let what = match self.repeats {
            TurnLoop::Malformed => "repeated_malformed_tool_loop",
            TurnLoop::Failing => "repeated_tool_failure_loop",
            TurnLoop::Misfitting => "repeated_tool_validation_loop",
        };
        format!("{what}:{}", self.tools.join(","))
    }

    /// Returns the failure class for schedulers of whole runs: another run would fail in the same way.
    pub fn failure_class(&self) -> &'static str {
        "deterministic"
    }
}

/// A circuit breaker that counts wrong and failing rounds of a turn.
#[derive(Debug, Clone, Default)]
pub struct Breaker {
    limits: BreakerLimits,
    /// The number of wrong rounds in a row, by tool.
    failures: BTreeMap<String, u32>,
    /// In how many rounds in a row any tool was called wrongly.
    failed_rounds: u32,
    malformed: Row,
    failing: Row,
    /// The error results of this round, with the part of each that identifies the round.
    refused: BTreeMap<String, Counts>,
}

/// The most tools that are counted: a model can make up any number of names.
const TOOLS_MAX: usize = 256;

/// The part of a refused call that identifies its round.
#[derive(Debug, Clone)]
enum Counts {
    /// No part: the call was cut off.
    Nothing,
    /// The call and its error text without the count of repetitions, which would make equal rounds differ.
    Call(String),
    /// The name of the tool, which does not exist; the arguments do not matter.
    Tool,
}

impl Breaker {
    /// Makes a breaker with empty counts.
    pub fn new(limits: BreakerLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Checks the calls of a round before they run. Returns a verdict for each call, and a reason to end the turn, if
    /// there is one.
    ///
    /// ```
    /// use seamline_guard::{Breaker, BreakerLimits, CallInRound, CheckedCall, ToolSchemas};
    ///
    /// let mut tools = ToolSchemas::new();
    /// let schema = r#"{"type":"object","required":["command"],"properties":{"command":{"type":"string"}}}"#;
    /// tools.add("shell", Some(schema))?;
    /// let mut breaker = Breaker::new(BreakerLimits::default());
    /// let call = CallInRound { name: "shell", arguments: "{}", free: false, truncated: false };
    /// for round in 1..=3 {
    ///     let (checked, _) = breaker.handle_round(&[call], &tools);
    ///     let CheckedCall::Refuse { text, escalated } = &checked[0] else { panic!() };
    ///     assert_eq!(*escalated, round == 3);
    ///     assert!(text.contains("command"));
    /// }
    /// # Ok::<(), seamline_guard::SchemaError>(())
    /// ```
    pub fn handle_round(
        &mut self,
        calls: &[CallInRound<'_>],
        tools: &ToolSchemas,
    ) -> (Vec<CheckedCall>, Option<StopTurn>) {
        self.refused.clear();
        let (errors, partial): (Vec<_>, Vec<_>) = calls.iter().map(|call| check_call(call, tools)).unzip();
        self.count_misfits(calls, &errors);
        let stop = self.stop_malformed(calls, &errors).or_else(|| self.stop_misfits(calls, &errors));
        let checked = calls.iter().zip(errors).zip(partial).map(|((call, error), is_partial)| {
            let fits = if is_partial { CheckedCall::PartlyChecked } else { CheckedCall::Run };
            self.refuse(call, error, tools).unwrap_or(fits)
        });
        (checked.collect(), stop)
    }

    /// Begins a turn. Under [`BreakerScope::Turn`] all counts start over.
    ///
    /// ```
    /// use seamline_guard::{Breaker, BreakerLimits, BreakerScope, CallInRound, CheckedCall, ToolSchemas};
    ///
    /// let mut breaker = Breaker::new(BreakerLimits { scope: BreakerScope::Turn, ..BreakerLimits::default() });
    /// let mut escalated = |name| {
    ///     let call = CallInRound { name, arguments: "{}", free: false, truncated: false };
    ///     let (checked, _) = breaker.handle_round(&[call], &ToolSchemas::new());
    ///     matches!(checked[0], CheckedCall::Refuse { escalated: true, .. })
    /// };
    /// assert_eq!([escalated("one"), escalated("two"), escalated("three")], [false, false, true]);
    /// breaker.handle_turn();
    /// ```
    pub fn handle_turn(&mut self) {
        match self.limits.scope {
            BreakerScope::Turn => *self = Self::new(self.limits),
            BreakerScope::Tool | BreakerScope::Session => {}
        }
    }

    /// Takes the results of a round, including those of refused calls. Returns a reason to end the turn, if there is
    /// one.
    pub fn handle_outcomes(&mut self, outcomes: &[Outcome<'_>]) -> Option<StopTurn> {
        let is_ok = |outcome: &Outcome<'_>| outcome.ok && !(self.limits.reads_results && says_failure(outcome.text));
        let went_well: Vec<_> = outcomes.iter().filter(|outcome| is_ok(outcome)).collect();
        for outcome in &went_well {
            match self.limits.reset {
                Reset::AnySuccess => self.failures.clear(),
                Reset::SameTool => {
                    self.failures.remove(outcome.name);
                }
                Reset::SameToolFits => {}
            }
        }
        self.end_row_if_all_reset();
        if !went_well.is_empty() {
            self.failing.clear();
            return None;
        }
        let counted = outcomes.iter().filter_map(|outcome| match self.refused.get(outcome.text) {
            Some(Counts::Nothing) => None,
            Some(Counts::Call(said)) => Some((outcome.name, canonical(outcome.arguments), said.as_str())),
            Some(Counts::Tool) => Some((outcome.name, String::new(), "")),
            None => Some((outcome.name, canonical(outcome.arguments), outcome.text)),
        });
        let mut counted: Vec<_> = counted.collect();
        // The order of the calls does not matter.
        counted.sort_unstable();
        if counted.is_empty() {
            return None;
        }
        let names = counted.iter().map(|(name, ..)| *name);
        let round = fingerprint(counted.iter().flat_map(|(name, arguments, text)| [*name, arguments.as_str(), *text]));
        let repeats = self.failing.count(round, names, self.limits.period_max);
        self.stop_at(repeats, TurnLoop::Failing)
    }

    /// Counts each wrongly called tool once per round.
    fn count_misfits(&mut self, calls: &[CallInRound<'_>], errors: &[Option<CallError>]) {
        let mut wrong = BTreeSet::new();
        let mut right = BTreeSet::new();
        for (call, error) in calls.iter().zip(errors) {
            match error {
                _ if call.truncated => {}
                Some(_) => {
                    wrong.insert(call.name);
                }
                None => {
                    right.insert(call.name);
                }
            }
        }
        for name in &wrong {
            self.count_failure(name);
        }
        self.failed_rounds = self.failed_rounds.saturating_add(u32::from(!wrong.is_empty()));
        if self.limits.reset == Reset::SameToolFits {
            for name in right.difference(&wrong) {
                self.failures.remove(*name);
            }
        }
        self.end_row_if_all_reset();
    }

    /// Ends the row of all tools together once every tool of it was reset.
    fn end_row_if_all_reset(&mut self) {
        if self.failures.is_empty() {
            self.failed_rounds = 0;
        }
    }

    /// In how many rounds in a row calls were wrong that count together with those of this tool.
    fn failures_of(&self, name: &str) -> u32 {
        match self.limits.scope {
            BreakerScope::Tool => self.failures.get(name).copied().unwrap_or(0),
            BreakerScope::Turn | BreakerScope::Session => self.failed_rounds,
        }
    }

    fn count_failure(&mut self, name: &str) {
        if let Some(count) = self.failures.get_mut(name) {
            *count += 1;
            return;
        }
        if self.failures.len() >= TOOLS_MAX {
            // The tool with the fewest failures is furthest from its limit.
            let least = self.failures.iter().min_by_key(|(_, count)| **count).map(|(name, _)| name.clone());
            least.map(|name| self.failures.remove(&name));
        }
        self.failures.insert(name.to_owned(), 1);
    }

    fn stop_malformed(&mut self, calls: &[CallInRound<'_>], errors: &[Option<CallError>]) -> Option<StopTurn> {
        // Calls that were cut off neither continue nor end a row.
        let whole = || calls.iter().zip(errors).filter(|(call, _)| !call.truncated);
        let is_cut = !calls.is_empty() && whole().next().is_none();
        if is_cut {
            return None;
        }
        if calls.is_empty() || !whole().all(|(_, error)| matches!(error, Some(CallError::Malformed(_)))) {
            self.malformed.clear();
            return None;
        }
        let mut written: Vec<_> = whole().map(|(call, _)| [call.name, call.arguments.trim()]).collect();
        written.sort_unstable();
        let round = fingerprint(written.iter().flatten().copied());
        let repeats = self.malformed.count(round, whole().map(|(call, _)| call.name), self.limits.period_max);
        self.stop_at(repeats, TurnLoop::Malformed)
    }

    fn stop_misfits(&self, calls: &[CallInRound<'_>], errors: &[Option<CallError>]) -> Option<StopTurn> {
        let wrong = calls.iter().zip(errors).filter(|(call, error)| error.is_some() && !call.truncated);
        let names: BTreeSet<_> = wrong.map(|(call, _)| call.name).filter(|name| self.escalates(name)).collect();
        let rounds = names.iter().map(|name| self.failures_of(name)).max()?;
        self.limits.ends_turn.then(|| StopTurn {
            repeats: TurnLoop::Misfitting,
            tools: names.into_iter().map(str::to_owned).collect(),
            rounds,
        })
    }

    fn stop_at(&self, repeated: Repeats, repeats: TurnLoop) -> Option<StopTurn> {
        let Repeats { count, tools } = repeated;
        (count >= self.limits.rounds_max).then(|| StopTurn {
            repeats,
            tools: tools.into_iter().collect(),
            rounds: count,
        })
    }

    fn escalates(&self, name: &str) -> bool {
        self.failures_of(name) >= self.limits.failures_max
    }

    fn refuse(&mut self, call: &CallInRound<'_>, error: Option<CallError>, tools: &ToolSchemas) -> Option<CheckedCall> {
        let name = call.name;
        if call.truncated {
            let text = format!(
                "The call of tool '{name}' was cut off before it was complete, and was not run. Make it again."
            );
            self.refused.insert(text.clone(), Counts::Nothing);
            return Some(CheckedCall::Refuse { text, escalated: false });
        }
        let error = error?;
        let mut text = error.text(name);
        let escalated = self.escalates(name);
        let plain = escalated.then(|| text.clone());
        if escalated {
            text.push_str("\n\n");
            text.push_str(&error.escalation(name, self.failures_of(name), tools));
        }
        let counts = if error == CallError::Unknown { Some(Counts::Tool) } else { plain.map(Counts::Call) };
        if let Some(counts) = counts {
            self.refused.insert(text.clone(), counts);
        }
        Some(CheckedCall::Refuse { text, escalated })
    }
}

/// Whether a result says in its text that the tool failed.
fn says_failure(text: &str) -> bool {
    // Long results are not such objects, so they are not parsed.
    const BYTES_MAX: usize = 64 * 1024;
    if text.len() > BYTES_MAX || !text.trim_start().starts_with('{') {
        return false;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { return false };
    let is = |names: [&str; 2], value: bool| names.iter().any(|name| members.get(*name) == Some(&Value::Bool(value)));
    is(["ok", "success"], false) || is(["is_error", "isError"], true)
}
