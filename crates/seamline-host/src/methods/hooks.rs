//! The hooks of a session and its tool cycles.

use std::collections::BTreeMap;

use seamline::json::GivenFailure;
use seamline::session::{
    AgentEnd, AgentStart, CycleOutcome, ExecutorFailure, Session, ToolCall, ToolCallRef, ToolOutput, Truth, TurnEnd,
    Unresolved,
};
use seamline::store::{CallId, CycleId, Effect};
use seamline::stream::Response;
use serde_json::{Value, json as value};

use super::sessions::{RequestReport, SESSION, envelope, form};
use crate::RpcError;
use crate::message::{Outcome, json};
use crate::object::ObjectKind;
use crate::params::Params;
use crate::table::{Method, Param, Run, Type, may, need};

const CALL: &[Param] =
    &[need("cycle", Type::Text, "The id of the cycle."), need("call", Type::Text, "The id of the tool call.")];
const CYCLE: &[Param] = &[need("cycle", Type::Text, "The id of the cycle.")];
const OUTPUT: &[Param] = &[
    need("output", Type::Text, "The output of the tool."),
    may("is_error", Type::Flag, "Whether the tool reports that it failed."),
];
const TURN: &[Param] = &[
    may("messages", Type::List, "The messages of the model."),
    may("stream", Type::Handle(ObjectKind::Stream), "A finished stream, instead of messages."),
];

pub(super) const GROUPS: &[&[Method]] = &[HOOKS, CYCLES];

const HOOKS: &[Method] = &[
    Method {
        name: "session/session_start",
        doc: "Call it when a session starts: validates the conversation, and repairs or offers it.",
        params: &[SESSION],
        returns: "`validation`, `repair_offered`, `unresolved` (calls of an earlier process, with what is known of them)",
        run: Run::Session(|session, _, _| Box::pin(session_start(session))),
    },
    Method {
        name: "session/before_agent_start",
        doc: "Call it before each request: recovers, takes in waiting messages, repairs, and makes a checkpoint.",
        params: &[
            SESSION,
            &[
                may("envelope", Type::Json, "The request without its messages."),
                may("as_text", Type::Flag, "Whether the body is a text."),
            ],
        ],
        returns: "`start`: `proceed` with `request` and `checkpoint`, or `blocked` with `validation` and `repair_offered`",
        run: Run::Session(|session, params, _| Box::pin(before_agent_start(session, params))),
    },
    Method {
        name: "session/agent_end",
        doc: "Call it when a turn of the model has ended without calls that may run, or failed.",
        params: &[SESSION, TURN, &[may("error", Type::Json, "The error, as `classify` takes it.")]],
        returns: "`end`: `committed`, or `recovered` with `recovery`",
        run: Run::Session(|session, params, response| Box::pin(agent_end(session, params, response))),
    },
    Method {
        name: "session/handle_error",
        doc: "Reacts to an error of the provider: rolls back, repairs or escalates.",
        params: &[SESSION, &[need("error", Type::Json, "The error, as `classify` takes it.")]],
        returns: "`action` (`rolled_back`, `repaired`, `reset`, `validate_and_repair`, `escalate`), `message`, `class`, …",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let failure = GivenFailure::from_json(&params.value("error")?)?;
                json(&session.handle_error(&failure.failure(&failure.headers())).await?)
            })
        }),
    },
    Method {
        name: "session/abort",
        doc: "Closes the open tool calls, because the user stopped the run.",
        params: &[SESSION],
        returns: OUTCOMES,
        run: Run::Session(|session, _, _| Box::pin(async move { outcomes(Some(&session.abort().await?)) })),
    },
    Method {
        name: "session/recover",
        doc: "Closes the cycles that a crash left open.",
        params: &[SESSION],
        returns: "`cycles`, `rolled_back`, `run_again`, `unknown`",
        run: Run::Session(|session, _, _| {
            Box::pin(async move {
                let seamline::session::Recovered { cycles, rolled_back, run_again, unknown } =
                    session.recover().await?;
                json(&value!({
                    "cycles": cycles, "rolled_back": rolled_back, "run_again": run_again, "unknown": unknown,
                }))
            })
        }),
    },
    Method {
        name: "session/unresolved",
        doc: "Lists the open calls, with what is known of each.",
        params: &[SESSION],
        returns: "`calls`: `cycle`, `call`, `tool`, `effect`, `truth`",
        run: Run::Session(|session, _, _| {
            Box::pin(async move { json(&value!({"calls": unresolved(&session.unresolved())})) })
        }),
    },
    Method {
        name: "session/repair_context",
        doc: "Returns the losses and repairs that the next turn should know.",
        params: &[SESSION, &[may("take", Type::Flag, "Whether they are forgotten then.")]],
        returns: "`lost_calls`, `repairs`, `unanswered`",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let take = params.flag("take")?;
                json(&if take { session.take_repair_context() } else { session.repair_context() })
            })
        }),
    },
];

const CYCLES: &[Method] = &[
    Method {
        name: "session/begin_cycle",
        doc: "Begins a tool cycle with a response that makes calls.",
        params: &[
            SESSION,
            TURN,
            &[may(
                "effects",
                Type::Texts,
                "The effect of each tool: `read_only`, `idempotent`, `probe`, `compensatable` or `unsafe` (the default).",
            )],
        ],
        returns: "`cycle`, `calls` that may run: `id`, `name`, `input`, `key`",
        run: Run::Session(|session, params, response| Box::pin(begin_cycle(session, params, response))),
    },
    Method {
        name: "session/before_tool_call",
        doc: "Call it before each tool call: makes its intent durable.",
        params: &[SESSION, CALL],
        returns: "`key`, the idempotency key",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let (cycle, call) = ids(params)?;
                let start = session.before_tool_call(&cycle, &call).await?;
                json(&value!({"key": start.key}))
            })
        }),
    },
    Method {
        name: "session/after_tool_call",
        doc: "Call it after each tool call: records its result, and commits the cycle with the last one.",
        params: &[SESSION, CALL, OUTPUT],
        returns: OUTCOMES,
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let (cycle, call) = ids(params)?;
                outcomes(session.after_tool_call(&cycle, &call, &output(params)?).await?.as_deref())
            })
        }),
    },
    Method {
        name: "session/after_tool_failure",
        doc: "Call it after a tool could not be run.",
        params: &[SESSION, CALL, &[need("error", Type::Text, "Why it could not be run.")]],
        returns: OUTCOMES,
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let (cycle, call) = ids(params)?;
                let failure = ExecutorFailure(params.needed("error")?);
                outcomes(session.after_tool_failure(&cycle, &call, &failure).await?.as_deref())
            })
        }),
    },
    Method {
        name: "session/commit_cycle",
        doc: "Commits a cycle. Fails while a call of it has no result.",
        params: &[SESSION, CYCLE],
        returns: OUTCOMES,
        run: Run::Session(|session, params, _| {
            Box::pin(async move { outcomes(Some(&session.commit_cycle(&cycle_id(params)?).await?)) })
        }),
    },
    Method {
        name: "session/roll_back_cycle",
        doc: "Rolls a cycle back, as if the model had not called.",
        params: &[SESSION, CYCLE, &[may("reason", Type::Text, "The reason, for the log.")]],
        returns: "an empty object",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let reason = params.text("reason")?.unwrap_or_else(|| "the host asked for it".to_owned());
                session.roll_back_cycle(&cycle_id(params)?, &reason).await?;
                json(&value!({}))
            })
        }),
    },
    Method {
        name: "session/add_late_result",
        doc: "Takes in the result of a call whose cycle was closed without it.",
        params: &[
            SESSION,
            &[need("call", Type::Text, "The id of the tool call."), need("tool", Type::Text, "The name of the tool.")],
            OUTPUT,
        ],
        returns: "`added`",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                let (id, name) = (params.needed("call")?, params.needed("tool")?);
                let call = ToolCallRef { id: id.into(), name: &name };
                json(&value!({"added": session.add_late_result(&call, &output(params)?).await?}))
            })
        }),
    },
];

const OUTCOMES: &str =
    "`committed` (whether the cycle is over), `outcomes`: `tool_use_id`, `content`, `is_error`, `synthetic`";

fn outcomes(outcomes: Option<&[CycleOutcome]>) -> Outcome {
    json(&value!({"committed": outcomes.is_some(), "outcomes": outcomes.unwrap_or_default()}))
}

fn output(params: &Params<'_>) -> Result<ToolOutput, RpcError> {
    Ok(ToolOutput { output: params.needed("output")?, is_error: params.flag("is_error")? })
}

fn cycle_id(params: &Params<'_>) -> Result<CycleId, RpcError> {
    Ok(CycleId::from(params.needed("cycle")?.as_str()))
}

fn ids(params: &Params<'_>) -> Result<(CycleId, CallId), RpcError> {
    Ok((cycle_id(params)?, CallId::from(params.needed("call")?.as_str())))
}

async fn session_start(session: &mut Session) -> Outcome {
    let start = session.session_start().await?;
    json(&value!({
        "validation": start.validation,
        "repair_offered": start.repair_offered,
        "unresolved": unresolved(&start.unresolved),
    }))
}

fn unresolved(calls: &[Unresolved]) -> Vec<Value> {
    let truth = |truth: Truth| match truth {
        Truth::NeverStarted => "never_started",
        Truth::Harmless => "harmless",
        Truth::OutcomeUnknown => "outcome_unknown",
        Truth::Finished => "finished",
    };
    let call = |call: &Unresolved| {
        value!({
            "cycle": call.cycle, "call": call.call, "tool": call.tool,
            "effect": call.effect, "truth": truth(call.truth),
        })
    };
    calls.iter().map(call).collect()
}

async fn before_agent_start(session: &mut Session, params: &Params<'_>) -> Outcome {
    #[derive(serde::Serialize)]
    #[serde(tag = "start", rename_all = "snake_case")]
    enum Start<'a> {
        Proceed { request: RequestReport<'a>, checkpoint: Option<seamline::store::CheckpointId> },
        Blocked { validation: seamline::session::ValidationResult, repair_offered: bool },
    }
    match session.before_agent_start(envelope(params)).await? {
        AgentStart::Proceed { request, checkpoint } => {
            json(&Start::Proceed { request: RequestReport::of(&request, form(params)?), checkpoint })
        }
        AgentStart::Blocked { validation, repair_offered } => json(&Start::Blocked { validation, repair_offered }),
    }
}

async fn agent_end(session: &mut Session, params: &Params<'_>, response: Option<&Response>) -> Outcome {
    let messages = params.list("messages")?;
    let failure = match params.value("error")? {
        Value::Null => None,
        given => Some(GivenFailure::from_json(&given)?),
    };
    let headers = failure.as_ref().map(GivenFailure::headers).unwrap_or_default();
    let end = match (&messages, response, &failure) {
        (Some(messages), None, None) => TurnEnd::Messages(messages),
        (None, Some(response), None) => TurnEnd::Response(response),
        (None, None, Some(failure)) => TurnEnd::Failed(failure.failure(&headers)),
        _ => return Err(RpcError::invalid_params("give one of `messages`, `stream` and `error`")),
    };
    match session.agent_end(end).await? {
        AgentEnd::Committed => json(&value!({"end": "committed"})),
        AgentEnd::Recovered(recovery) => json(&value!({"end": "recovered", "recovery": recovery})),
    }
}

async fn begin_cycle(session: &mut Session, params: &Params<'_>, response: Option<&Response>) -> Outcome {
    let words: BTreeMap<String, String> = params.texts("effects")?;
    let mut effects: BTreeMap<&str, Effect> = BTreeMap::new();
    for (tool, word) in &words {
        let effect = Effect::ALL.into_iter().find(|effect| effect.as_str() == word).ok_or_else(|| {
            let all: Vec<_> = Effect::ALL.iter().map(|effect| effect.as_str()).collect();
            RpcError::invalid_params(format!("no effect is called `{word}`; the effects are {}", all.join(", ")))
        })?;
        effects.insert(tool, effect);
    }
    let effect = |call: &ToolCall| effects.get(call.name.as_str()).copied().unwrap_or_default();
    let (cycle, calls) = match (params.list("messages")?, response) {
        (Some(messages), None) => session.begin_cycle(&messages, &effect).await?,
        (None, Some(response)) => session.begin_response(response, &effect).await?,
        _ => return Err(RpcError::invalid_params("give one of `messages` and `stream`")),
    };
    let call = |call: &ToolCall| value!({"id": call.id, "name": call.name, "input": call.input, "key": call.key});
    json(&value!({"cycle": cycle, "calls": calls.iter().map(call).collect::<Vec<_>>()}))
}
