//! The planners of sessions, tested by data.
//!
//! A case is a folder in `fixtures/sessions/cases/`: the records of a session (`records.jsonl`, a blank line between two
//! commits), the input (`input.json`), and the outcome (`expected.snap`): the result of each input, the records that were
//! written, and the view. `SEAMLINE_BLESS=1` writes the outcome.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use seamline::classify::Failure;
use seamline::session::{
    AgentStart, Clock, ExecutorFailure, OpenOptions, ResetOptions, Running, Session, SessionError, ToolCall,
    ToolCallRef, ToolExecutor, ToolOutput, TurnEnd,
};
use seamline::store::{
    CallId, CheckpointId, Commit, CommitId, CycleId, Effect, Head, InboxItem, MemoryStore, OpenedCommit, Operation,
    Origin, Raw, Record, SessionId, Store,
};
use seamline::{Options, Policy};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fixtures::{corpus, expect, folders, keys, read, report};

/// The time of everything in a case.
const NOW: u64 = 1_794_639_611_000;

#[test]
fn every_case_of_a_session_writes_the_expected_records() {
    let folders = folders(&corpus().join("sessions/cases"), 1).unwrap();
    let failures = folders.iter().filter_map(|folder| {
        let outcome = futures_executor::block_on(run(folder));
        outcome.err().map(|failure| format!("{}: {failure}", folder.display()))
    });
    report(folders.len(), failures);
}

/// An input of a case.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Input {
    Append(Vec<Box<RawValue>>),
    /// The turn, and the effect of each tool.
    BeginCycle(Vec<Box<RawValue>>, HashMap<String, Effect>),
    BeforeToolCall(CallId),
    FinishCall(CallId, String),
    AfterToolCall(CallId, String, bool),
    AfterToolFailure(CallId, String),
    CommitCycle,
    RollBackCycle(String),
    /// The reason, and the tools that can undo a call.
    UndoCycle(String, HashMap<String, String>),
    /// The bytes of a streamed response, and the effect of each tool.
    BeginResponse(String, HashMap<String, Effect>),
    /// The bytes of a streamed response, and the output of each tool.
    ExecuteResponse(String, HashMap<String, String>),
    /// The output of each tool; without an executor where there is none.
    Recover(Option<HashMap<String, String>>),
    /// The turn, and the output of each tool. Other tools cannot be run.
    ExecuteToolCycle(Vec<Box<RawValue>>, HashMap<String, String>),
    Abort,
    LateResult(String, String, String),
    Checkpoint(Operation),
    Commit(CheckpointId),
    Rollback(CheckpointId, String),
    PruneCheckpoints(usize),
    Reset {
        archive: bool,
    },
    SessionStart,
    BeforeAgentStart,
    AgentEnd(Vec<Box<RawValue>>),
    HandleError(u16, String),
    Repair,
    /// The policy, as a file has it in JSON.
    RepairWith(Box<RawValue>),
    UndoRepair,
    BeforeCompaction(usize, usize),
    FinishCompaction(usize, usize, Vec<Box<RawValue>>),
    CancelCompaction,
    Push(String, Box<RawValue>),
    /// The id, the dialect, and the message.
    PushAs(String, String, Box<RawValue>),
    TakeInbox,
    SwitchProvider(String),
    Fork,
    /// A provider or a dialect, and a message of it.
    AppendAs(String, Box<RawValue>),
    /// The request for the current provider. The outcome says whether it begins with the messages of the last one.
    Request,
}

/// An opened case.
struct Case {
    store: Arc<MemoryStore>,
    session: Session,
    /// The id of the last cycle.
    cycle: CycleId,
    /// The number of the last record before the input.
    seq: u64,
    /// The provider of the last request, and its messages.
    sent: Option<(String, Vec<String>)>,
}

async fn run(folder: &Path) -> Result<(), String> {
    let mut case = open(folder).await?;
    let inputs: Vec<Input> =
        serde_json::from_str(&read(&folder.join("input.json"))?).map_err(|error| format!("input.json: {error}"))?;
    let mut text = String::new();
    for input in inputs {
        let done = case.apply(input).await.unwrap_or_else(|error| format!("refused: {error}"));
        let _ = writeln!(text, "{done}");
    }
    let _ = writeln!(text, "\nrecords");
    for stored in case.store.read(case.session.id(), case.seq, usize::MAX).await.map_err(in_words)? {
        let commit = OpenedCommit::open(&stored.bytes).map_err(|flaw| format!("{flaw:?}"))?;
        let _ = writeln!(text, "commit {}", commit.seq);
        for record in &commit.records {
            let _ = writeln!(text, "  {}", serde_json::to_string(record).map_err(in_words)?);
        }
    }
    let _ = writeln!(text, "\nview");
    describe(&case.session, &mut text);
    expect(&folder.join("expected.snap"), Some(without_chance(&text).as_bytes()))
}

/// The session of a case, with its records as another process left them.
async fn open(folder: &Path) -> Result<Case, String> {
    let mut keys = keys(&read(&folder.join("case.toml"))?)?;
    let mut take = |key: &str| keys.remove(key).ok_or(format!("no `{key}` in case.toml"));
    take("about")?;
    let dialect = take("dialect")?;
    let config = keys.remove("config").unwrap_or("{}".to_owned()).replace('\'', "\"");
    let mut policy: serde_json::Map<_, _> = serde_json::from_str(&config).map_err(in_words)?;
    policy.entry("autoRepair").or_insert(false.into());
    let policy: Policy = serde_json::from_value(policy.into()).map_err(in_words)?;
    let policy = json(&policy);
    if let Some(key) = keys.into_keys().next() {
        return Err(format!("`{key}` is not a key of case.toml"));
    }
    let begin = format!(r#"{{"begin":{{"dialect":"{dialect}","policy":{policy}}}}}"#);
    let records = read(&folder.join("records.jsonl"))?;
    let (id, mut head, mut commits): (SessionId, _, _) = ("s-1".parse().map_err(in_words)?, Head::START, Vec::new());
    for text in std::iter::once(begin.as_str()).chain(records.split("\n\n")) {
        let lines = text.lines().filter(|line| !line.is_empty());
        let records: Vec<Record> = lines.map(serde_json::from_str).collect::<Result<_, _>>().map_err(in_words)?;
        if records.is_empty() {
            continue;
        }
        let number = u8::try_from(commits.len()).map_err(in_words)?;
        let commit =
            Commit { session: &id, epoch: 1, head, id: CommitId::from_bytes([number; 16]), at: NOW, records: &records };
        let sealed = commit.seal().map_err(in_words)?;
        head = sealed.after();
        commits.push(sealed.bytes().to_vec());
    }
    let store = Arc::new(MemoryStore::new());
    store.import(&id, &commits).await.map_err(in_words)?;
    let options = OpenOptions { recover: false, clock: Arc::new(Still), ..OpenOptions::default() };
    let session = Session::open(store.clone(), id, options).await.map_err(in_words)?;
    let cycle = session.state().cycles.last().map(|open| open.id.clone()).unwrap_or_default();
    Ok(Case { store, seq: head.seq, session, cycle, sent: None })
}

impl Case {
    async fn apply(&mut self, input: Input) -> Result<String, SessionError> {
        let (session, cycle) = (&mut self.session, self.cycle.clone());
        let done = match input {
            Input::BeginCycle(turn, effects) => {
                let effect = |call: &ToolCall| effects.get(&call.name).copied().unwrap_or_default();
                let (cycle, calls) = session.begin_cycle(&texts(&turn), &effect).await?;
                self.cycle = cycle;
                let calls: Vec<String> = calls.iter().map(|call| format!("{} {}", call.id, call.name)).collect();
                format!("begin_cycle: run {}", calls.join(", "))
            }
            Input::BeforeToolCall(call) => {
                let start = session.before_tool_call(&cycle, &call).await?;
                format!("before_tool_call: {}", start.key)
            }
            Input::FinishCall(call, output) => {
                session.finish_call(&cycle, &call, &ToolOutput { output, is_error: false }).await?;
                "finish_call".to_owned()
            }
            Input::AfterToolCall(call, output, is_error) => {
                let done = session.after_tool_call(&cycle, &call, &ToolOutput { output, is_error }).await?;
                format!("after_tool_call: {} outcomes", done.map_or("no".to_owned(), |done| done.len().to_string()))
            }
            Input::AfterToolFailure(call, why) => {
                let done = session.after_tool_failure(&cycle, &call, &ExecutorFailure(why)).await?;
                format!("after_tool_failure: {} outcomes", done.map_or("no".to_owned(), |done| done.len().to_string()))
            }
            Input::CommitCycle => format!("commit_cycle: {}", json(&session.commit_cycle(&cycle).await?)),
            Input::RollBackCycle(reason) => {
                session.roll_back_cycle(&cycle, &reason).await?;
                "roll_back_cycle".to_owned()
            }
            Input::ExecuteToolCycle(turn, outputs) => {
                let result = session.execute_tool_cycle(&texts(&turn), &Tools(outputs), std::future::pending()).await?;
                format!("execute_tool_cycle: {}", json(&result))
            }
            Input::Recover(outputs) => {
                let tools = outputs.map(Tools);
                let recovered = match &tools {
                    Some(tools) => session.recover_with(tools).await?,
                    None => session.recover().await?,
                };
                format!(
                    "recover: {} cycles, {} run again, {} unknown",
                    recovered.cycles, recovered.run_again, recovered.unknown
                )
            }
            Input::Abort => format!("abort: {}", json(&session.abort().await?)),
            Input::LateResult(id, name, output) => {
                let call = ToolCallRef { id: id.into(), name: &name };
                let is_needed = session.add_late_result(&call, &ToolOutput { output, is_error: false }).await?;
                format!("late_result: {}", if is_needed { "taken" } else { "not needed" })
            }
            other => return self.apply_more(other).await,
        };
        Ok(done)
    }

    async fn apply_more(&mut self, input: Input) -> Result<String, SessionError> {
        let session = &mut self.session;
        let done = match input {
            Input::Append(messages) => {
                session.append_all(&texts(&messages)).await?;
                "append".to_owned()
            }
            Input::Checkpoint(operation) => format!("checkpoint: {}", session.create_checkpoint(operation).await?.id),
            Input::Commit(id) => {
                session.commit_checkpoint(&id).await?;
                "commit".to_owned()
            }
            Input::Rollback(id, reason) => format!("rollback: {}", json(&session.rollback(&id, &reason).await?)),
            Input::PruneCheckpoints(keep) => format!("prune_checkpoints: {}", session.prune_checkpoints(keep).await?),
            Input::Reset { archive } => format!("reset: {}", json(&session.reset(ResetOptions { archive }).await?)),
            Input::SessionStart => {
                let start = session.session_start().await?;
                format!(
                    "session_start: repair offered {}, {}",
                    start.repair_offered,
                    json(&start.validation.unwrap_or_default())
                )
            }
            Input::BeforeAgentStart => match session.before_agent_start("{}").await? {
                AgentStart::Proceed { request, .. } => {
                    format!("before_agent_start: {}", String::from_utf8_lossy(&request.body))
                }
                AgentStart::Blocked { validation, .. } => format!("before_agent_start: blocked {}", json(&validation)),
            },
            Input::AgentEnd(messages) => {
                format!("agent_end: {:?}", session.agent_end(TurnEnd::Messages(&texts(&messages))).await?)
            }
            Input::HandleError(status, text) => {
                let failure = Failure { status: Some(status), text: &text, ..Failure::default() };
                format!("handle_error: {}", json(&session.handle_error(&failure).await?))
            }
            Input::UndoRepair => format!("undo_repair: {}", session.undo_repair().await?),
            Input::BeforeCompaction(from, to) => {
                format!("before_compaction: {:?}", session.before_compaction(from..to).await?)
            }
            Input::FinishCompaction(from, to, summary) => {
                format!("finish_compaction: {:?}", session.finish_compaction(from..to, &texts(&summary)).await?)
            }
            Input::CancelCompaction => format!("cancel_compaction: {}", session.cancel_compaction().await?),
            Input::Push(id, message) => {
                let item = InboxItem { id: id.into(), message: Raw::parse(message.get())?, dialect: None };
                format!("push: {:?}", self.store.push(session.id(), &item).await?)
            }
            Input::PushAs(id, dialect, message) => {
                let item =
                    InboxItem { id: id.into(), message: Raw::parse(message.get())?, dialect: Some(dialect.into()) };
                format!("push_as: {:?}", self.store.push(session.id(), &item).await?)
            }
            Input::TakeInbox => format!("take_inbox: {}", session.take_inbox().await?),
            Input::Fork => {
                let fork = session.fork("s-2".parse().unwrap()).await?;
                let mut text = "fork:".to_owned();
                for stored in self.store.read(fork.id(), 0, usize::MAX).await? {
                    let commit = OpenedCommit::open(&stored.bytes).unwrap();
                    for record in commit.records.iter().skip(1) {
                        let _ = write!(text, "\n  {}", json(record));
                    }
                }
                text
            }
            other => return self.apply_response(other).await,
        };
        Ok(done)
    }

    async fn apply_response(&mut self, input: Input) -> Result<String, SessionError> {
        let (session, cycle) = (&mut self.session, self.cycle.clone());
        let done = match input {
            Input::UndoCycle(reason, tools) => {
                let undone = session.undo_cycle(&cycle, &reason, &Tools(tools)).await?;
                format!("undo_cycle: {undone} undone")
            }
            Input::BeginResponse(body, effects) => {
                let response = streamed(session, &body)?;
                let effect = |call: &ToolCall| effects.get(&call.name).copied().unwrap_or_default();
                let (cycle, calls) = session.begin_response(&response, &effect).await?;
                self.cycle = cycle;
                let calls: Vec<String> = calls.iter().map(|call| format!("{} {}", call.id, call.name)).collect();
                format!("begin_response: run {}", calls.join(", "))
            }
            Input::ExecuteResponse(body, outputs) => {
                let response = streamed(session, &body)?;
                let result = session.execute_response(&response, &Tools(outputs), std::future::pending()).await?;
                format!("execute_response: {}", json(&result))
            }
            Input::Repair => {
                let result = session.repair().await?;
                format!("repair: {} ({} actions)", result.repaired, result.repairs.len())
            }
            Input::RepairWith(policy) => {
                let policy = serde_json::from_str(policy.get()).unwrap();
                let result = session.repair_with(policy).await?;
                format!("repair_with: {} ({} actions)", result.repaired, result.repairs.len())
            }
            other => return self.apply_switch(other).await,
        };
        Ok(done)
    }

    async fn apply_switch(&mut self, input: Input) -> Result<String, SessionError> {
        match input {
            Input::SwitchProvider(name) => {
                self.session.switch_provider(&name).await?;
                Ok(format!("switch_provider: {}", self.session.dialect()))
            }
            Input::AppendAs(name, message) => {
                self.session.append_as(&name, message.get()).await?;
                Ok("append_as".to_owned())
            }
            Input::Request => {
                let request = self.session.request("{}")?;
                let dialect = self.session.dialect().to_owned();
                let options = Options { dialect: Some(dialect.clone()), ..Options::default() };
                let spans = seamline::outline::message_spans(&request.body, &options)?;
                let sent: Vec<String> =
                    spans.into_iter().map(|span| String::from_utf8_lossy(&request.body[span]).into_owned()).collect();
                let stable = match self.sent.replace((dialect.clone(), sent.clone())) {
                    Some((last, earlier)) if last == dialect => {
                        if sent.starts_with(&earlier) {
                            ", begins with the last one"
                        } else {
                            ", changes the last one"
                        }
                    }
                    _ => "",
                };
                Ok(format!("request{stable}: {}", String::from_utf8_lossy(&request.body)))
            }
            _ => panic!("this input belongs to a cycle"),
        }
    }
}

/// The assembled response of a stream.
fn streamed(session: &Session, body: &str) -> Result<seamline::stream::Response, SessionError> {
    let mut stream = seamline::stream::ResponseStream::new(&session.stream_options())?;
    stream.feed(body.as_bytes());
    Ok(stream.finish()?)
}

fn describe(session: &Session, text: &mut String) {
    for entry in session.entries() {
        let origin = match entry.origin {
            Origin::Said => "said",
            Origin::Synthetic => "synthetic",
            Origin::Summary => "summary",
        };
        let dialect = entry.dialect.as_ref().map(|name| format!("{name} ")).unwrap_or_default();
        let _ = writeln!(text, "  {dialect}{origin} {}", entry.message.as_str());
    }
    for call in session.unresolved() {
        let _ = writeln!(text, "open {} {} {} {:?}", call.cycle, call.call, call.tool, call.truth);
    }
    for checkpoint in session.checkpoints() {
        let _ = writeln!(text, "checkpoint {} {} {:?}", checkpoint.id, checkpoint.messages, checkpoint.state);
    }
    for call in session.repair_context().lost_calls {
        let _ = writeln!(text, "lost {}", json(&call));
    }
}

/// Replaces the random parts of cycle ids and keys.
fn without_chance(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = ["_", "k_"].iter().filter_map(|mark| rest.find(mark)).min() {
        let digits_at = rest[at..].find('_').map_or(at, |of| at + of + 1);
        let digits = rest[digits_at..].bytes().take_while(u8::is_ascii_hexdigit).count();
        out.push_str(&rest[..digits_at]);
        if matches!(digits, 16 | 32) {
            out.push('*');
        } else {
            out.push_str(&rest[digits_at..digits_at + digits]);
        }
        rest = &rest[digits_at + digits..];
    }
    out + rest
}

fn texts(messages: &[Box<RawValue>]) -> Vec<&str> {
    messages.iter().map(|message| message.get()).collect()
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn in_words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A clock that does not move.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> u64 {
        NOW
    }
}

/// Tools with a given output.
struct Tools(HashMap<String, String>);

impl ToolExecutor for Tools {
    fn effect(&self, call: &ToolCall) -> Effect {
        if call.name.starts_with("read") { Effect::ReadOnly } else { Effect::Unsafe }
    }

    fn execute<'a>(&'a self, call: &'a ToolCall) -> Running<'a> {
        let output = self.0.get(&call.name).cloned();
        Box::pin(async move {
            match output {
                Some(output) if output.starts_with("error: ") => Ok(ToolOutput { output, is_error: true }),
                Some(output) => Ok(ToolOutput { output, is_error: false }),
                None => Err(ExecutorFailure("no such tool".to_owned())),
            }
        })
    }

    fn probe<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> std::pin::Pin<Box<dyn Future<Output = Option<ToolOutput>> + Send + 'a>> {
        let output = self.0.get(&call.name).cloned();
        Box::pin(std::future::ready(output.map(|output| ToolOutput { output, is_error: false })))
    }

    fn compensate<'a>(&'a self, call: &'a ToolCall, _returned: Option<&'a str>) -> seamline::session::Undoing<'a> {
        let is_known = self.0.contains_key(&call.name);
        Box::pin(std::future::ready(if is_known { Ok(()) } else { Err(ExecutorFailure("it is sent".to_owned())) }))
    }
}

/// The folder of the databases that earlier versions wrote.
pub(super) fn databases() -> PathBuf {
    corpus().join("sessions/databases")
}
