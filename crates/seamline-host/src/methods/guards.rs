//! Methods of the guards. Time is an argument: milliseconds of any clock that does not go back.

use std::collections::BTreeMap;
use std::time::Duration;

use seamline::Policy;
use seamline::guards::{
    Advice, Breaker, CallInRound, CheckedCall, Emitted, GaveUp, GuardPolicy, Outcome as CallOutcome, Retry, StallGuard,
    StallNotice, StopTurn, ToolSchemas, TurnLoop,
};
use seamline::json::GivenFailure;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json as value};

use crate::RpcError;
use crate::body::{BODY, given};
use crate::message::{Outcome, json};
use crate::object::{Guarded, Object, ObjectKind};
use crate::params::Params;
use crate::table::{Method, Param, Run, Type, may, need};

const POLICY: &[Param] = &[
    may("policy", Type::Options, "The policy: a preset, a policy file or an object. Its section `guard` counts."),
    may("provider", Type::Text, "The provider, whose overrides apply."),
];
const RETRY: &[Param] = &[need("retry", Type::Handle(ObjectKind::Retry), "The retries of this request.")];
const BREAKER: &[Param] = &[need("breaker", Type::Handle(ObjectKind::Breaker), "The breaker.")];
const STALL: &[Param] =
    &[need("stall", Type::Handle(ObjectKind::Stall), "The watchdog."), need("now_ms", Type::Count, "The time now.")];
const TOOL: &[Param] = &[need("call", Type::Text, "The id of the tool call.")];

pub(super) const GROUPS: &[&[Method]] = &[RETRIES, BREAKERS, WATCHDOGS];

const RETRIES: &[Method] = &[
    Method {
        name: "retry/open",
        doc: "Begins to count the retries of a request.",
        params: &[POLICY],
        returns: "`handle`",
        run: Run::Open(|_, params| {
            let retry = policy(params).map(|guard| Object::Retry(Retry::new(guard.retry)));
            Box::pin(std::future::ready(retry))
        }),
    },
    Method {
        name: "retry/handle_failure",
        doc: "Says what to do after a failed request.",
        params: &[
            RETRY,
            &[
                need("error", Type::Json, "The error, as `classify` takes it."),
                may("emitted", Type::Flag, "Whether something of the response reached the user."),
            ],
            BODY,
        ],
        returns: "`advice` (`send_again` with `wait_ms`, `repair`, `restart`, `rollback`, `shorten`, or `give_up` with \
                      `why`), `failure_class`",
        run: Run::Object(handle_failure),
    },
    Method {
        name: "retry/handle_repaired",
        doc: "Says whether a repaired request is worth sending.",
        params: &[RETRY, BODY],
        returns: "as `retry/handle_failure`",
        run: Run::Object(|object, params| {
            let Object::Retry(retry) = object else { return Err(other()) };
            advice(&retry.handle_repaired(&given(params)?.0))
        }),
    },
];

const BREAKERS: &[Method] = &[
    Method {
        name: "breaker/open",
        doc: "Makes a breaker, which stops a model that keeps calling tools wrongly.",
        params: &[
            POLICY,
            &[may("tools", Type::Json, "The tools: an object of JSON Schemas, or null where a tool has none.")],
        ],
        returns: "`handle`",
        run: Run::Open(|_, params| Box::pin(std::future::ready(open_breaker(params)))),
    },
    Method {
        name: "breaker/handle_round",
        doc: "Checks the tool calls of a response before they run.",
        params: &[
            BREAKER,
            &[need(
                "calls",
                Type::List,
                "The calls: `name`, `arguments` (a text), and `free` and `truncated` if true.",
            )],
        ],
        returns: "`calls` (for each `check`: `run`, `partly_checked`, or `refuse` with the `text` of its result), and \
                      `stop` (`reason`, `tools`, `rounds`, `signature`) if the turn is to end",
        run: Run::Object(handle_round),
    },
    Method {
        name: "breaker/handle_outcomes",
        doc: "Counts the results of a round.",
        params: &[BREAKER, &[need("outcomes", Type::List, "The results: `name`, `arguments`, `ok`, `text`.")]],
        returns: "`stop` if the turn is to end",
        run: Run::Object(handle_outcomes),
    },
    Method {
        name: "breaker/handle_turn",
        doc: "Says that a new turn begins.",
        params: &[BREAKER],
        returns: "an empty object",
        run: Run::Object(|object, _| {
            let Object::Breaker(guarded) = object else { return Err(other()) };
            guarded.breaker.handle_turn();
            json(&value!({}))
        }),
    },
];

const WATCHDOGS: &[Method] = &[
    Method {
        name: "stall/open",
        doc: "Makes a watchdog for a run.",
        params: &[POLICY, &[need("now_ms", Type::Count, "The time now.")]],
        returns: "`handle`",
        run: Run::Open(|_, params| {
            let stall = policy(params).and_then(|guard| Ok(Object::Stall(StallGuard::new(guard.stall, now(params)?))));
            Box::pin(std::future::ready(stall))
        }),
    },
    Method {
        name: "stall/handle_progress",
        doc: "Says that the run moved on.",
        params: &[STALL],
        returns: STALL_RETURNS,
        run: Run::Object(|object, params| watch(object, params, |stall, now, _| stall.handle_progress(now))),
    },
    Method {
        name: "stall/handle_life",
        doc: "Says that there was a sign of life, which does not count as progress.",
        params: &[STALL],
        returns: STALL_RETURNS,
        run: Run::Object(|object, params| watch(object, params, |stall, now, _| stall.handle_life(now))),
    },
    Method {
        name: "stall/handle_tool_begun",
        doc: "Says that a tool began to run.",
        params: &[STALL, TOOL],
        returns: STALL_RETURNS,
        run: Run::Object(|object, params| watch(object, params, |stall, now, call| stall.handle_tool_begun(call, now))),
    },
    Method {
        name: "stall/handle_tool_ended",
        doc: "Says that a tool returned.",
        params: &[STALL, TOOL],
        returns: STALL_RETURNS,
        run: Run::Object(|object, params| watch(object, params, |stall, now, call| stall.handle_tool_ended(call, now))),
    },
    Method {
        name: "stall/poll",
        doc: "Asks whether the run stalls.",
        params: &[STALL],
        returns: STALL_RETURNS,
        run: Run::Object(|object, params| watch(object, params, |_, _, _| ())),
    },
];

const STALL_RETURNS: &str = "`notice` (`warn` or `stalled`, each once) with `idle_ms`, `alive` or `tool`, and `deadline_ms`, \
                             the time of the next notice; null where there is none";

fn other() -> RpcError {
    RpcError::no_object("of another kind")
}

fn policy(params: &Params<'_>) -> Result<GuardPolicy, RpcError> {
    let policy = match params.value("policy")? {
        Value::Null => Policy::default(),
        given => Policy::from_json(&given)?,
    };
    Ok(match params.text("provider")? {
        Some(provider) => policy.for_provider(&provider).guard,
        None => policy.guard,
    })
}

fn now(params: &Params<'_>) -> Result<Duration, RpcError> {
    Ok(Duration::from_millis(params.count("now_ms")?.unwrap_or_default()))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn handle_failure(object: &mut Object, params: &Params<'_>) -> Outcome {
    let Object::Retry(retry) = object else { return Err(other()) };
    let failure = GivenFailure::from_json(&params.value("error")?)?;
    let verdict = seamline::classify(&failure.failure(&failure.headers()));
    let emitted = if params.flag("emitted")? { Emitted::Something } else { Emitted::Nothing };
    advice(&retry.handle_failure(&verdict, &given(params)?.0, emitted))
}

fn advice(advice: &Advice) -> Outcome {
    let word = match advice {
        Advice::SendAgain { .. } => "send_again",
        Advice::Repair => "repair",
        Advice::Restart => "restart",
        Advice::Rollback => "rollback",
        Advice::Shorten => "shorten",
        Advice::GiveUp { .. } => "give_up",
    };
    let mut report = value!({"advice": word, "failure_class": advice.failure_class()});
    match advice {
        Advice::SendAgain { wait } => report["wait_ms"] = millis(*wait).into(),
        Advice::GiveUp { why } => report["why"] = gave_up(*why).into(),
        Advice::Repair | Advice::Restart | Advice::Rollback | Advice::Shorten => {}
    }
    json(&report)
}

fn gave_up(why: GaveUp) -> &'static str {
    match why {
        GaveUp::Fatal => "fatal",
        GaveUp::Filtered => "filtered",
        GaveUp::Retries => "retries",
        GaveUp::Wait => "wait",
        GaveUp::Repaired => "repaired",
        GaveUp::Broken => "broken",
        GaveUp::Told => "told",
        GaveUp::Emitted => "emitted",
    }
}

fn open_breaker(params: &Params<'_>) -> Result<Object, RpcError> {
    let guard = policy(params)?;
    let mut tools = ToolSchemas::new();
    let given: BTreeMap<String, Option<Box<RawValue>>> =
        params.word("tools", "an object of JSON Schemas")?.unwrap_or_default();
    for (name, schema) in given {
        let added = tools.add(&name, schema.as_deref().map(RawValue::get));
        added.map_err(|error| RpcError::invalid_params(format!("the schema of `{name}`: {error}")))?;
    }
    Ok(Object::Breaker(Box::new(Guarded { breaker: Breaker::new(guard.breaker), tools })))
}

fn handle_round(object: &mut Object, params: &Params<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Given {
        name: String,
        arguments: String,
        #[serde(default)]
        free: bool,
        #[serde(default)]
        truncated: bool,
    }
    let Object::Breaker(guarded) = object else { return Err(other()) };
    let given: Vec<Given> =
        params.word("calls", "a list of calls with the texts `name` and `arguments`")?.unwrap_or_default();
    let calls: Vec<_> = given
        .iter()
        .map(|Given { name, arguments, free, truncated }| CallInRound {
            name,
            arguments,
            free: *free,
            truncated: *truncated,
        })
        .collect();
    let (checked, stop) = guarded.breaker.handle_round(&calls, &guarded.tools);
    let checked = checked.iter().map(|call| match call {
        CheckedCall::Run => value!({"check": "run"}),
        CheckedCall::PartlyChecked => value!({"check": "partly_checked"}),
        CheckedCall::Refuse { text, escalated } => value!({"check": "refuse", "text": text, "escalated": escalated}),
    });
    json(&value!({"calls": checked.collect::<Vec<_>>(), "stop": stop.as_ref().map(stopped)}))
}

fn handle_outcomes(object: &mut Object, params: &Params<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Given {
        name: String,
        arguments: String,
        ok: bool,
        text: String,
    }
    let Object::Breaker(guarded) = object else { return Err(other()) };
    let wanted = "a list of results with the texts `name`, `arguments` and `text`, and the flag `ok`";
    let given: Vec<Given> = params.word("outcomes", wanted)?.unwrap_or_default();
    let outcome = |Given { name, arguments, ok, text }: &Given| (name.clone(), arguments.clone(), *ok, text.clone());
    let owned: Vec<_> = given.iter().map(outcome).collect();
    let outcomes: Vec<_> =
        owned.iter().map(|(name, arguments, ok, text)| CallOutcome { name, arguments, ok: *ok, text }).collect();
    let stop = guarded.breaker.handle_outcomes(&outcomes);
    json(&value!({"stop": stop.as_ref().map(stopped)}))
}

fn stopped(stop: &StopTurn) -> Value {
    let reason = match stop.repeats {
        TurnLoop::Malformed => "malformed",
        TurnLoop::Failing => "failing",
        TurnLoop::Misfitting => "misfitting",
    };
    value!({"reason": reason, "tools": stop.tools, "rounds": stop.rounds, "signature": stop.signature()})
}

fn watch(object: &mut Object, params: &Params<'_>, change: fn(&mut StallGuard, Duration, &str)) -> Outcome {
    let Object::Stall(stall) = object else { return Err(other()) };
    let now = now(params)?;
    change(stall, now, &params.needed("call")?);
    let notice = match stall.poll_notice(now) {
        None => Value::Null,
        Some(StallNotice::Warn { idle, alive }) => value!({"notice": "warn", "idle_ms": millis(idle), "alive": alive}),
        Some(StallNotice::Stalled { idle, tool }) => {
            value!({"notice": "stalled", "idle_ms": millis(idle), "tool": tool})
        }
    };
    let deadline = stall.poll_deadline().map(millis);
    let mut report = value!({"notice": null, "deadline_ms": deadline});
    if let (Value::Object(notice), Some(report)) = (notice, report.as_object_mut()) {
        report.extend(notice);
    }
    json(&report)
}
