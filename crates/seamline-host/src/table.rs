//! The table of methods: names, parameters and the functions that run them.

use futures_util::future::BoxFuture;
use seamline::session::Session;
use seamline::stream::Response;

use crate::Host;
use crate::RpcError;
use crate::message::Outcome;
use crate::object::{Object, ObjectKind};
use crate::params::Params;

/// A method of the host.
#[derive(Debug)]
pub struct Method {
    /// The name of the method.
    pub name: &'static str,
    /// The effect of the method, in one sentence.
    pub doc: &'static str,
    /// The parameters, in groups.
    pub params: &'static [&'static [Param]],
    /// The value that it returns.
    pub returns: &'static str,
    pub(crate) run: Run,
}

impl Method {
    /// The parameters.
    pub fn all_params(&self) -> impl Iterator<Item = &'static Param> {
        self.params.iter().copied().flatten()
    }
}

/// A parameter of a method.
#[derive(Debug)]
pub struct Param {
    /// The name of the parameter.
    pub name: &'static str,
    /// The type of the parameter.
    pub of: Type,
    /// Whether it must be given.
    pub required: bool,
    /// The meaning of the parameter.
    pub doc: &'static str,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A JSON string.
    Text,
    /// True or false.
    Flag,
    /// A number from 0 on.
    Count,
    /// The handle of an object.
    Handle(ObjectKind),
    /// Any JSON, kept byte for byte.
    Json,
    /// A list of JSON values, each kept byte for byte.
    List,
    /// An object of texts.
    Texts,
    /// Options of the library.
    Options,
}

/// A parameter that must be given.
pub(crate) const fn need(name: &'static str, of: Type, doc: &'static str) -> Param {
    Param { name, of, required: true, doc }
}

/// A parameter that may be given.
pub(crate) const fn may(name: &'static str, of: Type, doc: &'static str) -> Param {
    Param { name, of, required: false, doc }
}

/// The function of a method.
pub(crate) enum Run {
    /// Computes without an object.
    Pure(fn(&Params<'_>) -> Outcome),
    /// Uses the host.
    Host(for<'a> fn(&'a Host, &'a Params<'a>) -> BoxFuture<'a, Outcome>),
    /// Makes an object.
    Open(for<'a> fn(&'a Host, &'a Params<'a>) -> BoxFuture<'a, Result<Object, RpcError>>),
    /// Changes an object.
    Object(fn(&mut Object, &Params<'_>) -> Outcome),
    /// Uses a session, and the response of a stream where the parameters name one.
    Session(for<'a> fn(&'a mut Session, &'a Params<'a>, Option<&'a Response>) -> BoxFuture<'a, Outcome>),
    /// Closes an object.
    Close,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pure(_) => "Pure",
            Self::Host(_) => "Host",
            Self::Open(_) => "Open",
            Self::Object(_) => "Object",
            Self::Session(_) => "Session",
            Self::Close => "Close",
        })
    }
}
