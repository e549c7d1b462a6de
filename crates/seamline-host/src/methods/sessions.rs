//! Methods that open sessions, and those that read and write their messages.

use seamline::session::{OpenOptions, Session, SessionOptions};
use seamline::store::{Acquire, SessionId};
use serde::Serialize;
use serde_json::json as value;
use serde_json::value::RawValue;

use crate::body::{Form, Written};
use crate::message::{Outcome, json};
use crate::object::{Object, ObjectKind};
use crate::params::Params;
use crate::table::{Method, Param, Run, Type, may, need};
use crate::{Host, RpcError};

pub(super) const SESSION: &[Param] = &[need("session", Type::Handle(ObjectKind::Session), "The session.")];
const STORED: &[Param] = &[
    need("store", Type::Text, "The address of the store: `sqlite:FILE`, `postgres://…` or `memory:`."),
    need("id", Type::Text, "The name of the session."),
];
const ENVELOPE: &[Param] =
    &[may("envelope", Type::Json, "The request without its messages: the model, the tools, the system text.")];
const OPENED: &str = "`handle`, `id`, `dialect`, `epoch`, `messages` (their number), `whole`, `damages`";

pub(super) const GROUPS: &[&[Method]] = &[OPENING, MESSAGES];

const OPENING: &[Method] = &[
    Method {
        name: "session/create",
        doc: "Creates a session and opens it for writing.",
        params: &[STORED, &[may("options", Type::Options, "`dialect`, `provider`, `title`, `policy`.")]],
        returns: OPENED,
        run: Run::Open(|host, params| Box::pin(create(host, params))),
    },
    Method {
        name: "session/open",
        doc: "Opens a session for writing.",
        params: &[STORED, &[may("options", Type::Options, "`take_over`, `dialect`, `recover`, `policy`.")]],
        returns: OPENED,
        run: Run::Open(|host, params| Box::pin(open(host, params))),
    },
    Method {
        name: "session/list",
        doc: "Lists the sessions of a store.",
        params: &[&[
            STORED_AT,
            may("after", Type::Text, "The last name of the page before."),
            may("limit", Type::Count, "The most sessions; 100 if it is not given, 1000 at most."),
        ]],
        returns: "`sessions`: `session`, `head`, `commits`, `bytes`, `holder`, `dialect`",
        run: Run::Host(|host, params| Box::pin(list(host, params))),
    },
    Method {
        name: "session/erase",
        doc: "Erases a session and everything in it.",
        params: &[STORED, &[may("take_over", Type::Flag, "Whether another writer loses it.")]],
        returns: "`commits`, `bytes`",
        run: Run::Host(|host, params| Box::pin(erase(host, params))),
    },
];

const STORED_AT: Param = need("store", Type::Text, "The address of the store.");

/// The most sessions of a page.
const PAGE_MAX: usize = 1000;

async fn create(host: &Host, params: &Params<'_>) -> Result<Object, RpcError> {
    let options = SessionOptions::from_json(&params.value("options")?)?;
    let id = id(params)?;
    let store = host.store(&params.needed("store")?).await?;
    Ok(Object::Session(Box::new(Session::create(store, id, options).await?)))
}

async fn open(host: &Host, params: &Params<'_>) -> Result<Object, RpcError> {
    let options = OpenOptions::from_json(&params.value("options")?)?;
    let id = id(params)?;
    let store = host.store(&params.needed("store")?).await?;
    Ok(Object::Session(Box::new(Session::open(store, id, options).await?)))
}

fn id(params: &Params<'_>) -> Result<SessionId, RpcError> {
    session_id(&params.needed("id")?)
}

fn session_id(name: &str) -> Result<SessionId, RpcError> {
    name.parse().map_err(|error: seamline::store::InvalidSessionId| RpcError::invalid_params(error.to_string()))
}

async fn list(host: &Host, params: &Params<'_>) -> Outcome {
    let store = host.store(&params.needed("store")?).await?;
    let after = params.text("after")?.as_deref().map(session_id).transpose()?;
    let limit = params.size("limit")?.unwrap_or(100).min(PAGE_MAX);
    json(&value!({"sessions": store.list_sessions(after.as_ref(), limit).await?}))
}

async fn erase(host: &Host, params: &Params<'_>) -> Outcome {
    let id = id(params)?;
    let how = if params.flag("take_over")? { Acquire::TakeOver } else { Acquire::IfFree };
    let store = host.store(&params.needed("store")?).await?;
    json(&Session::erase(store, &id, how).await?)
}

const MESSAGES: &[Method] = &[
    Method {
        name: "session/append",
        doc: "Appends messages, byte for byte. They are durable once the response is there.",
        params: &[SESSION, &[need("messages", Type::List, "The messages.")]],
        returns: "`messages`: their number now",
        run: Run::Session(|session, params, _| Box::pin(append(session, params))),
    },
    Method {
        name: "session/messages",
        doc: "Returns the messages of the view.",
        params: &[
            SESSION,
            &[
                may("start", Type::Count, "The index of the first message."),
                may("limit", Type::Count, "The most messages."),
                may("as_text", Type::Flag, "Whether each message is a text, with its exact bytes."),
            ],
        ],
        returns: "`messages`",
        run: Run::Session(|session, params, _| Box::pin(async move { list_messages(session, params) })),
    },
    Method {
        name: "session/request",
        doc: "Makes a request that the provider accepts, of the envelope and the messages.",
        params: &[
            SESSION,
            ENVELOPE,
            &[
                may("provider", Type::Text, "Another provider than that of the session."),
                may("as_text", Type::Flag, "Whether the body is a text."),
            ],
        ],
        returns: "`body` or `text`, `sendable`, `actions`, `found`, `remaining`, `note`",
        run: Run::Session(|session, params, _| Box::pin(async move { request(session, params) })),
    },
    Method {
        name: "session/check",
        doc: "Reports what is wrong with the stored messages.",
        params: &[SESSION],
        returns: "as `check`, without `accepted`",
        run: Run::Session(|session, _, _| Box::pin(async move { json(&session.check()?) })),
    },
    Method {
        name: "session/validate",
        doc: "Validates the stored messages.",
        params: &[SESSION],
        returns: "`valid`, `error`, `orphanedIds`, `incompleteIds`, `errors`, `firstIndex`",
        run: Run::Session(|session, _, _| Box::pin(async move { json(&session.validate()?) })),
    },
    Method {
        name: "session/repair",
        doc: "Repairs the stored messages.",
        params: &[
            SESSION,
            &[
                may("policy", Type::Options, "Another policy than that of the session."),
                may("preview", Type::Flag, "Whether nothing is written."),
            ],
        ],
        returns: "`repaired`, `id`, `repairs`, `stored`, `left_to_requests`, `found`, `remaining`, `dropped`",
        run: Run::Session(|session, params, _| Box::pin(repair(session, params))),
    },
    Method {
        name: "session/undo_repair",
        doc: "Undoes the last repair.",
        params: &[SESSION],
        returns: "`id` of the repair",
        run: Run::Session(|session, _, _| Box::pin(async move { json(&value!({"id": session.undo_repair().await?})) })),
    },
    Method {
        name: "session/switch_provider",
        doc: "Continues the session with another provider.",
        params: &[SESSION, &[need("provider", Type::Text, "The provider or dialect.")]],
        returns: "`dialect`",
        run: Run::Session(|session, params, _| {
            Box::pin(async move {
                session.switch_provider(&params.needed("provider")?).await?;
                json(&value!({"dialect": session.dialect()}))
            })
        }),
    },
    Method {
        name: "session/settle",
        doc: "Finds out whether a write whose request was cancelled is durable.",
        params: &[SESSION],
        returns: "`messages`: their number now",
        run: Run::Session(|session, _, _| {
            Box::pin(async move {
                session.settle().await?;
                json(&value!({"messages": session.entries().len()}))
            })
        }),
    },
];

async fn append(session: &mut Session, params: &Params<'_>) -> Outcome {
    session.append_all(&params.list("messages")?.unwrap_or_default()).await?;
    json(&value!({"messages": session.entries().len()}))
}

fn list_messages(session: &Session, params: &Params<'_>) -> Outcome {
    #[derive(Serialize)]
    struct Listed<'a, T> {
        messages: &'a [T],
    }
    let (start, limit) = (params.size("start")?.unwrap_or(0), params.size("limit")?.unwrap_or(usize::MAX));
    let messages: Vec<&str> = session.messages().skip(start).take(limit).collect();
    if params.flag("as_text")? {
        return json(&Listed { messages: &messages });
    }
    let read = |message: &&str| serde_json::from_str::<&RawValue>(message).ok().map(ToOwned::to_owned);
    json(&Listed { messages: &messages.iter().map(read).collect::<Vec<_>>() })
}

pub(super) fn envelope<'p>(params: &Params<'p>) -> &'p str {
    params.raw("envelope").unwrap_or("{}")
}

/// A request in its JSON form.
#[derive(Serialize)]
pub(super) struct RequestReport<'r> {
    #[serde(flatten)]
    body: Written,
    sendable: bool,
    actions: &'r [seamline::repair::RepairAction],
    found: &'r [seamline::Finding],
    remaining: &'r [seamline::Finding],
    note: Option<&'r str>,
}

impl<'r> RequestReport<'r> {
    pub(super) fn of(request: &'r seamline::session::Request, form: Form) -> Self {
        Self {
            body: Written::of(&request.body, form),
            sendable: request.sendable,
            actions: &request.actions,
            found: &request.found,
            remaining: &request.remaining,
            note: request.note.as_deref(),
        }
    }
}

pub(super) fn form(params: &Params<'_>) -> Result<Form, RpcError> {
    Ok(if params.flag("as_text")? { Form::Text } else { Form::Json })
}

fn request(session: &Session, params: &Params<'_>) -> Outcome {
    let request = match params.text("provider")? {
        Some(provider) => session.request_for(&provider, envelope(params))?,
        None => session.request(envelope(params))?,
    };
    json(&RequestReport::of(&request, form(params)?))
}

async fn repair(session: &mut Session, params: &Params<'_>) -> Outcome {
    let policy = match params.value("policy")? {
        serde_json::Value::Null => None,
        given => Some(seamline::Policy::from_json(&given)?),
    };
    let result = match (policy, params.flag("preview")?) {
        (policy, true) => session.preview_repair(policy.unwrap_or_else(|| session.policy().clone()))?,
        (Some(policy), false) => session.repair_with(policy).await?,
        (None, false) => session.repair().await?,
    };
    json(&result)
}
