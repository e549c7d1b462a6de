//! The operations of a session by their names.

use std::ops::Range;
use std::str::FromStr;

use napi::Result;
use seamline::json::GivenFailure;
use seamline::session::{
    AgentEnd, AgentStart, ExecutorFailure, Recovered, Request, ResetOptions, Session, ToolCall, ToolOutput, TurnEnd,
    Unresolved,
};
use seamline::store::{CallId, CycleId, Effect, Operation};
use serde::Serialize;
use serde_json::{Value, json};

use crate::bodies::json as text;
use crate::failure::{failure, of_options, of_session};

/// Runs an operation and returns its outcome as JSON.
pub(super) async fn run(session: &mut Session, operation: &str, given: &Value) -> Result<String> {
    let given = Arguments(given);
    match operation {
        "info" | "messages" | "check" | "validate" | "checkpoints" | "latest_checkpoint" | "get_checkpoint"
        | "incidents" | "unresolved" | "repair_context" | "request" => read(session, operation, &given),
        "create_checkpoint" | "commit_checkpoint" | "rollback" | "prune_checkpoints" | "clear_checkpoints"
        | "reset" => keep(session, operation, &given).await,
        "begin_cycle" | "before_tool_call" | "finish_call" | "after_tool_call" | "after_tool_failure"
        | "commit_cycle" | "roll_back_cycle" => cycle(session, operation, &given).await,
        "before_compaction" | "finish_compaction" | "cancel_compaction" => compact(session, operation, &given).await,
        _ => turn(session, operation, &given).await,
    }
}

/// Runs a read-only operation.
fn read(session: &Session, operation: &str, given: &Arguments<'_>) -> Result<String> {
    match operation {
        "info" => text(&json!({
            "id": session.id(), "dialect": session.dialect(), "epoch": session.epoch(),
            "whole": session.health().is_whole(), "messages": session.messages().count(),
            "health": format!("{:?}", session.health()),
        })),
        "messages" => Ok(format!("[{}]", session.messages().collect::<Vec<_>>().join(","))),
        "check" => done(session.check()),
        "validate" => done(session.validate()),
        "checkpoints" => text(&session.checkpoints()),
        "latest_checkpoint" => text(&session.latest_checkpoint()),
        "get_checkpoint" => text(&session.get_checkpoint(&given.id("id")?)),
        "incidents" => text(&session.incidents().collect::<Vec<_>>()),
        "unresolved" => text(&session.unresolved().iter().map(open_call).collect::<Vec<_>>()),
        "repair_context" => text(&session.repair_context()),
        _ => {
            let envelope = given.raw("envelope", "{}");
            let request = match given.0["provider"].as_str() {
                Some(name) => session.request_for(name, &envelope),
                None => session.request(&envelope),
            };
            text(&shown(&request.map_err(|error| of_session(&error))?))
        }
    }
}

/// Operations on checkpoints.
async fn keep(session: &mut Session, operation: &str, given: &Arguments<'_>) -> Result<String> {
    match operation {
        "create_checkpoint" => {
            let operation: Operation = given.word("operation")?;
            done(session.create_checkpoint(operation).await)
        }
        "commit_checkpoint" => done(session.commit_checkpoint(&given.id("id")?).await),
        "rollback" => {
            done(session.rollback(&given.id("id")?, given.text_or("reason", "the caller asked for it")).await)
        }
        "prune_checkpoints" => done(session.prune_checkpoints(given.count("keep")?).await),
        "clear_checkpoints" => done(session.clear_checkpoints().await),
        _ => done(session.reset(ResetOptions { archive: given.0["archive"].as_bool().unwrap_or(false) }).await),
    }
}

/// Operations on a compaction. Ranges are given and returned by their bounds.
async fn compact(session: &mut Session, operation: &str, given: &Arguments<'_>) -> Result<String> {
    let range = |given: &Arguments<'_>| Ok::<_, napi::Error>(given.count("start")?..given.count("end")?);
    match operation {
        "before_compaction" => {
            let range = session.before_compaction(range(given)?).await.map_err(|error| of_session(&error))?;
            text(&json!({ "start": range.start, "end": range.end }))
        }
        "finish_compaction" => {
            let compacted = session.finish_compaction(range(given)?, &given.texts("summary")?).await;
            let compacted = compacted.map_err(|error| of_session(&error))?;
            let Range { start, end } = compacted.replaced;
            text(&json!({ "start": start, "end": end, "taken_in": compacted.taken_in }))
        }
        _ => done(session.cancel_compaction().await),
    }
}

/// Operations on a cycle of tool calls.
async fn cycle(session: &mut Session, operation: &str, given: &Arguments<'_>) -> Result<String> {
    if operation == "begin_cycle" {
        let turn = given.texts("messages")?;
        let effects = &given.0["effects"];
        let effect = |call: &ToolCall| {
            let named = effects.get(&call.name).or_else(|| effects.get("*")).and_then(Value::as_str);
            Effect::ALL.into_iter().find(|effect| Some(effect.as_str()) == named).unwrap_or_default()
        };
        let begun = session.begin_cycle(&turn, &effect).await;
        let (cycle, calls) = begun.map_err(|error| of_session(&error))?;
        return text(&json!({ "cycle": cycle, "calls": calls.iter().map(shown_call).collect::<Vec<_>>() }));
    }
    let cycle: &CycleId = &given.id("cycle")?;
    match operation {
        "commit_cycle" => return done(session.commit_cycle(cycle).await),
        "roll_back_cycle" => {
            return done(session.roll_back_cycle(cycle, given.text_or("reason", "the caller asked for it")).await);
        }
        _ => {}
    }
    let call: &CallId = &given.id("call")?;
    match operation {
        "before_tool_call" => {
            let start = session.before_tool_call(cycle, call).await.map_err(|error| of_session(&error))?;
            text(&json!({ "key": start.key }))
        }
        "finish_call" => done(session.finish_call(cycle, call, &given.output()?).await),
        "after_tool_call" => done(session.after_tool_call(cycle, call, &given.output()?).await),
        _ => {
            let failure = ExecutorFailure(given.text_or("error", "the tool could not be run").to_owned());
            done(session.after_tool_failure(cycle, call, &failure).await)
        }
    }
}

/// Operations on the turns of a conversation.
async fn turn(session: &mut Session, operation: &str, given: &Arguments<'_>) -> Result<String> {
    match operation {
        "append" => done(session.append_all(&given.texts("messages")?).await),
        "repair" => done(session.repair().await),
        "undo_repair" => done(session.undo_repair().await),
        "recover" => {
            let Recovered { cycles, rolled_back, run_again, unknown } =
                session.recover().await.map_err(|error| of_session(&error))?;
            text(&json!({
                "cycles": cycles, "rolled_back": rolled_back, "run_again": run_again, "unknown": unknown,
            }))
        }
        "abort" => done(session.abort().await),
        "settle" => done(session.settle().await),
        "switch_provider" => done(session.switch_provider(given.text("provider")?).await),
        "take_inbox" => done(session.take_inbox().await),
        "take_repair_context" => text(&session.take_repair_context()),
        "handle_error" => {
            let failure = given.failure()?;
            done(session.handle_error(&failure.failure(&failure.headers())).await)
        }
        "session_start" => {
            let start = session.session_start().await.map_err(|error| of_session(&error))?;
            let unresolved: Vec<_> = start.unresolved.iter().map(open_call).collect();
            text(&json!({
                "validation": start.validation, "repair_offered": start.repair_offered, "unresolved": unresolved,
            }))
        }
        "before_agent_start" => {
            let start = session.before_agent_start(&given.raw("envelope", "{}")).await;
            match start.map_err(|error| of_session(&error))? {
                AgentStart::Proceed { request, checkpoint } => {
                    text(&json!({ "proceed": true, "request": shown(&request), "checkpoint": checkpoint }))
                }
                AgentStart::Blocked { validation, repair_offered } => {
                    text(&json!({ "proceed": false, "validation": validation, "repair_offered": repair_offered }))
                }
            }
        }
        "agent_end" => agent_end(session, given).await,
        other => Err(failure("session", &format!("no operation is called `{other}`"), None)),
    }
}

async fn agent_end(session: &mut Session, given: &Arguments<'_>) -> Result<String> {
    let failed = given.0.get("error").map(|_| given.failure()).transpose()?;
    let end = match &failed {
        Some(failure) => session.agent_end(TurnEnd::Failed(failure.failure(&failure.headers()))).await,
        None => session.agent_end(TurnEnd::Messages(&given.texts("messages")?)).await,
    };
    match end.map_err(|error| of_session(&error))? {
        AgentEnd::Committed => text(&json!({ "committed": true })),
        AgentEnd::Recovered(recovery) => text(&json!({ "committed": false, "recovery": recovery })),
    }
}

/// The arguments of an operation.
struct Arguments<'a>(&'a Value);

impl<'a> Arguments<'a> {
    fn text(&self, name: &str) -> Result<&'a str> {
        self.0[name].as_str().ok_or_else(|| wrong(name, "a text"))
    }

    fn id<I: From<&'a str>>(&self, name: &str) -> Result<I> {
        Ok(I::from(self.text(name)?))
    }

    fn text_or(&self, name: &str, other: &'a str) -> &'a str {
        self.0[name].as_str().unwrap_or(other)
    }

    fn texts(&self, name: &str) -> Result<Vec<&'a str>> {
        let list = self.0[name].as_array().ok_or_else(|| wrong(name, "a list of texts"))?;
        list.iter().map(|text| text.as_str().ok_or_else(|| wrong(name, "a list of texts"))).collect()
    }

    fn count(&self, name: &str) -> Result<usize> {
        let count = self.0[name].as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| wrong(name, "a number"))
    }

    fn word(&self, name: &str) -> Result<Operation> {
        let word = self.text(name)?;
        Operation::ALL.into_iter().find(|operation| operation.as_str() == word).ok_or_else(|| {
            let names: Vec<_> = Operation::ALL.iter().map(|operation| operation.as_str()).collect();
            let hint = format!("the operations are {}", names.join(", "));
            failure("option", &format!("no operation is called `{word}`"), Some(&hint))
        })
    }

    /// A JSON text that is passed on as it is.
    fn raw(&self, name: &str, other: &str) -> String {
        self.0[name].as_str().map_or_else(|| other.to_owned(), str::to_owned)
    }

    fn output(&self) -> Result<ToolOutput> {
        let is_error = self.0["is_error"].as_bool().unwrap_or(false);
        Ok(ToolOutput { output: self.text("output")?.to_owned(), is_error })
    }

    fn failure(&self) -> Result<GivenFailure> {
        GivenFailure::from_json(&self.0["error"]).map_err(|error| of_options(&error))
    }
}

fn wrong(name: &str, wanted: &str) -> napi::Error {
    failure("option", &format!("the argument `{name}` must be {wanted}"), None)
}

fn done<T: Serialize, E: std::borrow::Borrow<seamline::session::SessionError>>(
    outcome: std::result::Result<T, E>,
) -> Result<String> {
    text(&outcome.map_err(|error| of_session(error.borrow()))?)
}

fn shown(request: &Request) -> Value {
    json!({
        "body": String::from_utf8_lossy(&request.body), "actions": request.actions, "found": request.found,
        "remaining": request.remaining, "sendable": request.sendable, "note": request.note,
    })
}

fn shown_call(call: &ToolCall) -> Value {
    let input = Value::from_str(&call.input).unwrap_or_else(|_| Value::from(call.input.as_str()));
    json!({ "id": call.id, "name": call.name, "input": input, "key": call.key })
}

fn open_call(call: &Unresolved) -> Value {
    use seamline::session::Truth;
    let truth = match call.truth {
        Truth::NeverStarted => "never_started",
        Truth::OutcomeUnknown => "outcome_unknown",
        Truth::Harmless => "harmless",
        Truth::Finished => "finished",
    };
    json!({ "cycle": call.cycle, "call": call.call, "tool": call.tool, "effect": call.effect.as_str(), "truth": truth })
}
