//! Rounds, counted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fault::{Fault, fault};
use super::rows::{Repeats, Row, fingerprint, plain};
use super::schema::ToolSchemas;

/// How often something may go wrong in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerLimits {
    /// After how many rounds in which a tool was called wrongly the answer says what it wants.
    pub failures_max: u32,
    /// After how many rounds that repeat each other and only fail the turn ends. Rounds that take
    /// turns count as often as all of them were seen.
    pub rounds_max: u32,
    /// How many different rounds may take turns and still be a loop: three at most, and one where
    /// only a round that follows itself is one.
    pub period_max: u32,
    /// Which wrong calls count together.
    pub scope: BreakerScope,
    /// What ends a row of failures.
    pub reset: Reset,
    /// Whether a tool that has failed too often ends the turn as well.
    pub ends_turn: bool,
    /// Whether a result is taken for a failure that says so only in its text: a JSON object with
    /// `ok` or `success` that is false, or `is_error` or `isError` that is true.
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
    /// What ends a row of wrong tool calls.
    Reset {
        /// Any tool call that succeeds.
        AnySuccess = "any_success",
        /// A call of the same tool that succeeds.
        SameTool = "same_tool" | "same_tool_success",
        /// A call of the same tool that fits its schema, whether it succeeds or not.
        SameToolFits = "same_tool_fits" | "valid_args",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro that declares the words has no place for the attribute")]
impl Default for Reset {
    fn default() -> Self {
        Self::AnySuccess
    }
}

seamline_model::words! {
    /// Which wrong tool calls count together.
    BreakerScope {
        /// Those of one tool.
        Tool = "tool",
        /// Those of all tools in one turn; [`Breaker::handle_turn`] begins the next one.
        Turn = "turn",
        /// Those of all tools as long as the breaker lives.
        Session = "session",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro that declares the words has no place for the attribute")]
impl Default for BreakerScope {
    fn default() -> Self {
        Self::Tool
    }
}

/// A call of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallInRound<'c> {
    /// The tool.
    pub name: &'c str,
    /// The text of its arguments.
    pub arguments: &'c str,
    /// Whether they are text of any kind, as custom tools take it, and no JSON.
    pub free: bool,
    /// Whether the call was cut off, which is nobody's mistake and is not counted.
    pub truncated: bool,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckedCall {
    /// It may be run.
    Run,
    /// Nothing was found that is wrong with it, but only the outermost level of its arguments was
    /// held against the schema: to look at all of them would take too long. Whether it is run is for
    /// the caller to say.
    PartlyChecked,
    /// It is answered with this error instead.
    Refuse {
        /// The answer, for the model.
        text: String,
        /// Whether the tool was called wrongly too often in a row.
        escalated: bool,
    },
}

/// How a call that was run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'o> {
    /// The tool.
    pub name: &'o str,
    /// The text of its arguments.
    pub arguments: &'o str,
    /// Whether the tool did what it was asked to.
    pub ok: bool,
    /// What it answered.
    pub text: &'o str,
}

/// Why a turn is over. Whoever ends it still answers the open calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopTurn {
    /// What repeats.
    pub repeats: TurnLoop,
    /// The tools it is about, in order.
    pub tools: Vec<String>,
    /// How many rounds in a row.
    pub rounds: u32,
}

/// What repeats in a turn that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnLoop {
    /// The same calls whose arguments cannot be read.
    Malformed,
    /// The same calls, each of which fails the same way.
    Failing,
    /// Calls of a tool that do not fit its schema, or of one that does not exist.
    Misfitting,
}

impl StopTurn {
    /// The same text for the same loop: it says what repeats and with which tools, and nothing
    /// that differs from run to run. No retry of the turn helps, so the failure is deterministic.
    pub fn signature(&self) -> String {
        let what = match self.repeats {
            TurnLoop::Malformed => "repeated_malformed_tool_loop",
            TurnLoop::Failing => "repeated_tool_failure_loop",
            TurnLoop::Misfitting => "repeated_tool_validation_loop",
        };
        format!("{what}:{}", self.tools.join(","))
    }

    /// What whoever decides about a run that failed is told: trying the same again fails the same.
    pub fn failure_class(&self) -> &'static str {
        "deterministic"
    }
}

/// Counts what goes wrong in the rounds of a turn.
#[derive(Debug, Clone, Default)]
pub struct Breaker {
    limits: BreakerLimits,
    /// For each tool, in how many rounds in a row it was called wrongly.
    failures: BTreeMap<String, u32>,
    /// In how many rounds in a row any tool was called wrongly.
    failed_rounds: u32,
    malformed: Row,
    failing: Row,
    /// Answers to calls of this round that were refused, where not all of the call and the answer
    /// makes the round what it is.
    refused: BTreeMap<String, Counts>,
}

/// How many tools are counted at most: names that a model makes up have no end.
const TOOLS_MAX: usize = 256;

/// What of a call that was refused makes its round the same as another.
#[derive(Debug, Clone)]
enum Counts {
    /// Nothing: it was cut off.
    Nothing,
    /// The call, and what its answer says beside how often it was said before: a count in it
    /// would make two equal rounds differ.
    Call(String),
    /// The tool alone, which does not exist whatever it is called with.
    Tool,
}

impl Breaker {
    /// Nothing went wrong yet.
    pub fn new(limits: BreakerLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Checks the calls of a round before they are run. Each is run or answered with an error;
    /// and the turn may be over.
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
        let (faults, partial): (Vec<_>, Vec<_>) = calls.iter().map(|call| fault(call, tools)).unzip();
        self.count_misfits(calls, &faults);
        let stop = self.repeated_malformed(calls, &faults).or_else(|| self.misfitting(calls, &faults));
        let checked = calls.iter().zip(faults).zip(partial).map(|((call, fault), is_partial)| {
            let fits = if is_partial { CheckedCall::PartlyChecked } else { CheckedCall::Run };
            self.refusal(call, fault, tools).unwrap_or(fits)
        });
        (checked.collect(), stop)
    }

    /// Takes note that a turn begins. Under [`BreakerScope::Turn`] all counts start over.
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

    /// Takes how the calls of a round went, those that were refused among them; and the turn
    /// may be over.
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
            self.failing.end();
            return None;
        }
        let counted = outcomes.iter().filter_map(|outcome| match self.refused.get(outcome.text) {
            Some(Counts::Nothing) => None,
            Some(Counts::Call(said)) => Some((outcome.name, plain(outcome.arguments), said.as_str())),
            Some(Counts::Tool) => Some((outcome.name, String::new(), "")),
            None => Some((outcome.name, plain(outcome.arguments), outcome.text)),
        });
        let mut counted: Vec<_> = counted.collect();
        // In which order calls stand makes no other round of them.
        counted.sort_unstable();
        if counted.is_empty() {
            return None;
        }
        let names = counted.iter().map(|(name, ..)| *name);
        let round = fingerprint(counted.iter().flat_map(|(name, arguments, text)| [*name, arguments.as_str(), *text]));
        let repeats = self.failing.count(round, names, self.limits.period_max);
        self.stop_at(repeats, TurnLoop::Failing)
    }

    /// Counts each tool once for a round, however many calls of it there are.
    fn count_misfits(&mut self, calls: &[CallInRound<'_>], faults: &[Option<Fault>]) {
        let mut wrong = BTreeSet::new();
        let mut right = BTreeSet::new();
        for (call, fault) in calls.iter().zip(faults) {
            match fault {
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
            // Whoever failed least often is furthest from being told so.
            let least = self.failures.iter().min_by_key(|(_, count)| **count).map(|(name, _)| name.clone());
            least.map(|name| self.failures.remove(&name));
        }
        self.failures.insert(name.to_owned(), 1);
    }

    fn repeated_malformed(&mut self, calls: &[CallInRound<'_>], faults: &[Option<Fault>]) -> Option<StopTurn> {
        // What was cut off neither makes a row nor ends one.
        let whole = || calls.iter().zip(faults).filter(|(call, _)| !call.truncated);
        let is_cut = !calls.is_empty() && whole().next().is_none();
        if is_cut {
            return None;
        }
        if calls.is_empty() || !whole().all(|(_, fault)| matches!(fault, Some(Fault::Malformed(_)))) {
            self.malformed.end();
            return None;
        }
        let mut written: Vec<_> = whole().map(|(call, _)| [call.name, call.arguments.trim()]).collect();
        written.sort_unstable();
        let round = fingerprint(written.iter().flatten().copied());
        let repeats = self.malformed.count(round, whole().map(|(call, _)| call.name), self.limits.period_max);
        self.stop_at(repeats, TurnLoop::Malformed)
    }

    fn misfitting(&self, calls: &[CallInRound<'_>], faults: &[Option<Fault>]) -> Option<StopTurn> {
        let wrong = calls.iter().zip(faults).filter(|(call, fault)| fault.is_some() && !call.truncated);
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

    fn refusal(&mut self, call: &CallInRound<'_>, fault: Option<Fault>, tools: &ToolSchemas) -> Option<CheckedCall> {
        let name = call.name;
        if call.truncated {
            let text = format!(
                "The call of tool '{name}' was cut off before it was complete, and was not run. Make it again."
            );
            self.refused.insert(text.clone(), Counts::Nothing);
            return Some(CheckedCall::Refuse { text, escalated: false });
        }
        let fault = fault?;
        let mut text = fault.text(name);
        let escalated = self.escalates(name);
        let plain = escalated.then(|| text.clone());
        if escalated {
            text.push_str("\n\n");
            text.push_str(&fault.escalation(name, self.failures_of(name), tools));
        }
        let counts = if fault == Fault::Unknown { Some(Counts::Tool) } else { plain.map(Counts::Call) };
        if let Some(counts) = counts {
            self.refused.insert(text.clone(), counts);
        }
        Some(CheckedCall::Refuse { text, escalated })
    }
}

/// Whether a result says in its text that the tool failed.
fn says_failure(text: &str) -> bool {
    // Long results are no such objects, and are not worth reading for it.
    const BYTES_MAX: usize = 64 * 1024;
    if text.len() > BYTES_MAX || !text.trim_start().starts_with('{') {
        return false;
    }
    let Ok(Value::Object(members)) = serde_json::from_str(text) else { return false };
    let is = |names: [&str; 2], value: bool| names.iter().any(|name| members.get(*name) == Some(&Value::Bool(value)));
    is(["ok", "success"], false) || is(["is_error", "isError"], true)
}
