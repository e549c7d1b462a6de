//! The signs by which requests, items and streams of the Responses API are recognised.

use seamline_model::ItemKind;

use super::item;
use crate::Shapes;
use crate::detect::{BodySigns, NAMED, Score};
use crate::detect_stream::{StreamSigns, Typed};
use crate::json::{Kind, Object, Value};
use crate::no_message::has_role;

pub(super) const SHAPES: Shapes = Shapes {
    is_response: |response| !has_role(response) && response.get("output").is_some_and(|output| output.is(Kind::Array)),
    message: ".output[]",
    is_bare: |item| item.get("id").is_some(),
    is_pair: |_| false,
    has_pairs: is_item,
    restates: |_| false,
};

/// Whether an object is an item of a known type other than a message.
fn is_item(item: Object<'_, '_>) -> bool {
    let kind = item.get("type").filter(|_| item.get("role").is_none()).and_then(Value::str);
    let known = kind.map(|kind| item::of(&kind));
    known.is_some_and(|known| known.form != item::Form::Message && known.kind != ItemKind::Unknown)
}

pub(super) const BODY: BodySigns = BodySigns {
    precedence: 2,
    list: |score, name| match name {
        "input" => score.list(),
        "messages" => score.add(-NAMED),
        _ => {}
    },
    envelope: |score, key, value| match key {
        "previous_response_id" => score.decide(),
        // A text. A list was read as messages.
        "input" if value.is(Kind::String) => score.decide(),
        _ => {}
    },
    message,
    block: |score, kind, _| {
        if let Some("input_text" | "output_text" | "input_image" | "input_file") = kind {
            score.prove();
        }
    },
};

fn message(score: &mut Score, key: &str, value: Value<'_, '_>) {
    match key {
        "arguments" if value.is(Kind::String) => score.prove(),
        // Results of the Interactions API have this member, too.
        "call_id" => score.hint(2),
        "type" if is_item_type(value.raw_str()) => score.prove(),
        // Responses of the Messages API have this type, too.
        "type" if value.says("message") => score.hint(2),
        // The Interactions API has steps of these types; their members tell them apart.
        "type" if value.says("function_call") || value.says("file_search_call") => score.hint(1),
        _ => {}
    }
}

/// Whether only an item of this dialect has this type.
fn is_item_type(name: &str) -> bool {
    match name {
        "reasoning" | "item_reference" | "compaction" => true,
        "function_call" | "file_search_call" => false,
        _ if name.ends_with("_call") => item::of(name).kind != ItemKind::Unknown,
        _ => name.ends_with("_call_output"),
    }
}

pub(super) const STREAM: StreamSigns = StreamSigns {
    has_event: |name| name.starts_with("response."),
    // Gateways pass errors of this form on into any stream.
    typed: |kind, object| {
        let is_error = kind == "error" && ["sequence_number", "message"].iter().any(|name| object.get(name).is_some());
        if is_error { Typed::Likely } else { Typed::Unknown }
    },
    has_members: |object| object.get("object").is_some_and(|object| object.says("response")),
    is_error: |_| false,
    has_exceptions: false,
    has_pings: false,
};
