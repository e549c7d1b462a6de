//! The messages of JSON-RPC.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::RpcError;

/// A request: the name of its method and its parameters, byte for byte.
#[derive(Debug)]
pub struct RpcCall {
    /// The name of the method.
    pub method: String,
    /// The parameters; none where the request has none.
    pub params: Option<Box<RawValue>>,
}

/// A message from the client.
#[derive(Debug)]
pub(crate) struct Message {
    /// The id, as JSON. A message without one is a notification.
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) call: RpcCall,
}

#[derive(Deserialize)]
struct Envelope {
    jsonrpc: String,
    #[serde(default, deserialize_with = "given")]
    id: Option<Box<RawValue>>,
    method: String,
    #[serde(default)]
    params: Option<Box<RawValue>>,
}

/// A member that is there, also where it is `null`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

/// The longest id in bytes.
const ID_BYTES_MAX: usize = 4096;

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Line {
    One(Result<Message, Wrong>),
    Batch(Vec<Result<Message, Wrong>>),
}

/// A message that is not a request.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) id: Option<Box<RawValue>>,
    pub(crate) error: RpcError,
}

impl Wrong {
    fn of(error: RpcError) -> Self {
        Self { id: None, error }
    }
}

/// Reads a line. A blank line is skipped.
pub(crate) fn read(line: &[u8]) -> Option<Line> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    if line.first() != Some(&b'[') {
        return Some(Line::One(read_one(line)));
    }
    let all: Vec<&RawValue> = match serde_json::from_slice(line) {
        Ok(all) => all,
        Err(error) => return Some(Line::One(Err(Wrong::of(RpcError::parse(format!("not JSON: {error}")))))),
    };
    if all.is_empty() {
        return Some(Line::One(Err(Wrong::of(RpcError::invalid_request("a batch needs at least one request")))));
    }
    Some(Line::Batch(all.into_iter().map(|one| read_one(one.get().as_bytes())).collect()))
}

fn read_one(text: &[u8]) -> Result<Message, Wrong> {
    let read: Result<Envelope, _> = serde_json::from_slice(text);
    let envelope = read.map_err(|error| {
        if error.is_data() {
            let id = id_of(text);
            Wrong { id, error: RpcError::invalid_request(format!("not a request: {error}")) }
        } else {
            Wrong::of(RpcError::parse(format!("not JSON: {error}")))
        }
    })?;
    let is_id = |id: &RawValue| id.get().len() <= ID_BYTES_MAX && !id.get().starts_with(['{', '[', 't', 'f']);
    let wrong = |id, text: &str| Wrong { id, error: RpcError::invalid_request(text) };
    if envelope.id.as_deref().is_some_and(|id| !is_id(id)) {
        return Err(wrong(None, "the id is a text, a number or null"));
    }
    if envelope.jsonrpc != "2.0" {
        return Err(wrong(envelope.id, "`jsonrpc` is \"2.0\""));
    }
    // An absent list of parameters and `null` are the same.
    Ok(Message { id: envelope.id, call: RpcCall { method: envelope.method, params: envelope.params } })
}

/// The id of a message that is not a request, if it has a valid one.
fn id_of(text: &[u8]) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Named {
        id: Option<Box<RawValue>>,
    }
    let named: Named = serde_json::from_slice(text).ok()?;
    named.id.filter(|id| id.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()))
}

/// The outcome of a request: its result as JSON.
pub(crate) type Outcome = Result<Box<RawValue>, RpcError>;

/// Writes a response, without its line end.
pub(crate) fn respond(id: Option<&RawValue>, outcome: &Outcome) -> String {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        id: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RpcError>,
    }
    let (result, error) = match outcome {
        Ok(result) => (Some(&**result), None),
        Err(error) => (None, Some(error)),
    };
    // Texts and values that are JSON already: writing them cannot fail.
    let text = serde_json::to_string(&Response { jsonrpc: "2.0", id, result, error }).unwrap_or_default();
    on_one_line(text)
}

/// Outside of strings, where JSON has no line breaks, a line break is white space.
fn on_one_line(text: String) -> String {
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

/// Makes the JSON of a result.
pub(crate) fn json(value: &impl Serialize) -> Outcome {
    serde_json::value::to_raw_value(value).map_err(|_| RpcError::internal())
}
