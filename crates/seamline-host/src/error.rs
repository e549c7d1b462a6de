//! The errors of the protocol.

use seamline::json::OptionsError;
use seamline::session::SessionError;
use seamline::store;
use serde::Serialize;

/// An error of JSON-RPC.
///
/// ```
/// use seamline_host::RpcError;
///
/// let error = RpcError::invalid_params("`body` is missing");
/// assert_eq!(error.code, -32602);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RpcError {
    /// The number of the error; `docs/host.md` lists them.
    pub code: i32,
    /// The message for people.
    pub message: String,
    /// The details by which programs decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ErrorData>,
}

/// The details by which programs decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorData {
    /// The name of the kind of error.
    pub kind: &'static str,
    /// The advice for the caller, if there is one thing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

const PARSE: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const NO_METHOD: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL: i32 = -32603;
const FAILED: i32 = -32000;
const NO_OBJECT: i32 = -32001;
const LIMIT: i32 = -32002;
const VERSION: i32 = -32003;
const CANCELLED: i32 = -32800;

/// The number of every error, with its kind where it has one, and its meaning.
pub(crate) const CODES: &[(i32, &str, &str)] = &[
    (PARSE, "", "The line is not JSON."),
    (INVALID_REQUEST, "", "The JSON is not a request, or the line is longer than the limit."),
    (NO_METHOD, "", "No method has this name."),
    (INVALID_PARAMS, "", "A parameter is missing, unknown, or of another type."),
    (INTERNAL, "", "The host has a defect. The object of the request is closed."),
    (FAILED, "", "The operation failed; `data.kind` says how."),
    (NO_OBJECT, "no_object", "No object has this handle, or it is of another kind."),
    (LIMIT, "limit", "Too many requests or objects are open."),
    (VERSION, "version", "The host speaks none of these versions."),
    (CANCELLED, "cancelled", "The client cancelled the request."),
];

impl RpcError {
    fn plain(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The error of a failed operation.
    pub fn failed(kind: &'static str, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { code: FAILED, message: message.into(), data: Some(ErrorData { kind, hint }) }
    }

    /// The error of wrong parameters.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::plain(INVALID_PARAMS, message)
    }

    /// The error of a method that does not exist.
    pub fn no_method(name: &str) -> Self {
        Self::plain(NO_METHOD, format!("no method is called `{name}`; `initialize` lists all"))
    }

    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::plain(PARSE, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::plain(INVALID_REQUEST, message)
    }

    pub(crate) fn internal() -> Self {
        Self::plain(INTERNAL, "the host failed at this request; please report it")
    }

    pub(crate) fn no_object(handle: &str) -> Self {
        let data = Some(ErrorData { kind: "no_object", hint: None });
        Self { code: NO_OBJECT, message: format!("no open object has the handle `{handle}`"), data }
    }

    pub(crate) fn limit(message: impl Into<String>, hint: &str) -> Self {
        let data = Some(ErrorData { kind: "limit", hint: Some(hint.to_owned()) });
        Self { code: LIMIT, message: message.into(), data }
    }

    pub(crate) fn version(known: &[u32]) -> Self {
        let data = Some(ErrorData { kind: "version", hint: Some(format!("offer one of {known:?}")) });
        Self { code: VERSION, message: "the host speaks none of these versions".to_owned(), data }
    }

    pub(crate) fn cancelled() -> Self {
        let data = Some(ErrorData { kind: "cancelled", hint: None });
        Self { code: CANCELLED, message: "the request was cancelled".to_owned(), data }
    }
}

impl From<OptionsError> for RpcError {
    fn from(error: OptionsError) -> Self {
        Self::invalid_params(error.to_string())
    }
}

impl From<seamline::Error> for RpcError {
    fn from(error: seamline::Error) -> Self {
        use seamline::Error;
        let kind = match &error {
            Error::Body(_) | Error::History(_) | Error::NoMessages => "body",
            Error::UnknownDialect(_) => "unknown_dialect",
            Error::UnknownProvider(_) | Error::UnknownSide(_) => "unknown_provider",
            Error::OtherDialect { .. } | Error::OtherStream { .. } => "other_dialect",
            Error::UnknownStream => "unknown_stream",
            _ => "other",
        };
        Self::failed(kind, error.to_string(), error.hint())
    }
}

impl From<store::Error> for RpcError {
    fn from(error: store::Error) -> Self {
        Self::failed(store_kind(&error), error.message(), error.hint())
    }
}

fn store_kind(error: &store::Error) -> &'static str {
    use store::Error;
    match error {
        Error::NotFound(_) => "not_found",
        Error::Exists(_) => "exists",
        Error::Erased(_) => "erased",
        Error::Busy { .. } => "busy",
        Error::Fenced { .. } => "fenced",
        Error::Conflict(_) => "conflict",
        Error::Unknown { .. } => "write_unknown",
        _ => "store",
    }
}

impl From<SessionError> for RpcError {
    fn from(error: SessionError) -> Self {
        let kind = match &error {
            SessionError::Store(error) => store_kind(error),
            SessionError::Rejected(_) => "rejected",
            SessionError::NotJson(_) | SessionError::NoMessage { .. } => "message",
            SessionError::OpenCalls { .. } => "open_calls",
            SessionError::Conversation(_) => "conversation",
            SessionError::Refused(_) => "refused",
            _ => "session",
        };
        Self::failed(kind, error.message(), error.hint())
    }
}
