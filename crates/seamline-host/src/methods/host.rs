//! Methods about the host itself.

use serde_json::json as value;

use crate::message::{Outcome, json};
use crate::object::ObjectKind;
use crate::params::Params;
use crate::table::{Method, Run, Type, may, need};
use crate::{Host, RpcError, Service as _, VERSIONS};

pub(super) const GROUPS: &[&[Method]] = &[&[
    Method {
        name: "initialize",
        doc: "Agrees on a version of the protocol. A client that does not call it gets version 1.",
        params: &[&[
            may("versions", Type::List, "The versions of the protocol that the client speaks; none means any."),
            may("client", Type::Json, "The name and the version of the client, for people."),
        ]],
        returns: "`version` (the newest that both speak), `server`, `methods` (their names), `limits`",
        run: Run::Host(|host, params| Box::pin(std::future::ready(initialize(host, params)))),
    },
    Method {
        name: "ping",
        doc: "Does nothing.",
        params: &[],
        returns: "an empty object",
        run: Run::Pure(|_| json(&value!({}))),
    },
    Method {
        name: "close",
        doc: "Closes an object. A session writes what waits and gives its lease back.",
        params: &[&[need("handle", Type::Handle(ObjectKind::Any), "The object.")]],
        returns: "an empty object",
        run: Run::Close,
    },
]];

fn initialize(host: &Host, params: &Params<'_>) -> Outcome {
    let offered: Option<Vec<u32>> = params.word("versions", "a list of numbers")?;
    let is_offered = |known: &&u32| offered.as_ref().is_none_or(|offered| offered.contains(known));
    let version = VERSIONS.iter().find(is_offered).ok_or_else(|| RpcError::version(VERSIONS))?;
    let methods: Vec<_> = super::METHODS.iter().map(|method| method.name).collect();
    json(&value!({
        "version": version,
        "server": {"name": "seamline", "version": env!("CARGO_PKG_VERSION")},
        "methods": methods,
        "limits": host.limits(),
    }))
}
