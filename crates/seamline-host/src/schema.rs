//! The JSON Schema of the protocol, made of the table of methods.

use serde_json::{Map, Value, json};

use crate::error::CODES;
use crate::table::{Method, Type};
use crate::{METHODS, VERSIONS};

/// The JSON Schema of a request, with a definition of the parameters of each method.
///
/// ```
/// let schema = seamline_host::schema();
/// assert_eq!(schema["$defs"]["repair"]["properties"]["text"]["type"], "string");
/// ```
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut requests = Vec::new();
    for method in METHODS.iter() {
        definitions.insert(method.name.to_owned(), params(method));
        let place = format!("#/$defs/{}", method.name.replace('/', "~1"));
        let has_needed = method.all_params().any(|param| param.required);
        let required = if has_needed { json!(["method", "params"]) } else { json!(["method"]) };
        requests.push(json!({
            "properties": {"method": {"const": method.name}, "params": {"$ref": place}},
            "required": required,
        }));
    }
    let errors =
        CODES.iter().map(|(code, kind, meaning)| json!({"const": code, "title": kind, "description": meaning}));
    definitions.insert("error_codes".to_owned(), json!({"oneOf": errors.collect::<Vec<_>>()}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A request to `seamline host`",
        "description": format!("JSON-RPC 2.0, one message per line; versions {VERSIONS:?}"),
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string", "number", "null"]}},
        "required": ["jsonrpc"],
        "anyOf": requests,
        "$defs": definitions,
    })
}

fn params(method: &Method) -> Value {
    let properties: Map<_, _> =
        method.all_params().map(|param| (param.name.to_owned(), of(param.of, param.doc))).collect();
    let required: Vec<_> = method.all_params().filter(|param| param.required).map(|param| param.name).collect();
    json!({
        "description": method.doc,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn of(of: Type, doc: &str) -> Value {
    let mut schema = match of {
        Type::Text => json!({"type": "string"}),
        Type::Flag => json!({"type": "boolean"}),
        Type::Count => json!({"type": "integer", "minimum": 0}),
        Type::Handle(_) => json!({"type": "string", "format": "handle"}),
        Type::Json => json!({}),
        Type::List => json!({"type": "array"}),
        Type::Texts => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Type::Options => json!({"type": ["object", "string", "null"]}),
    };
    schema["description"] = doc.into();
    schema
}
