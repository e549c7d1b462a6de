//! A message as the Messages API answers that does not stream.

use seamline_model::{Assembled, AssembledBlock, Content, Piece};

use crate::drafting::{Draft, input, list, set_object};
use crate::json::quoted;

/// Members that stand before what was said.
const HEAD: [&str; 4] = ["id", "type", "role", "model"];

/// Members that are put together, whatever else came under their name.
const ASSEMBLED: [&str; 3] = ["content", "stop_reason", "usage"];

/// The message of a response.
pub(super) fn answer(message: &Assembled) -> String {
    let mut answer = Draft::default();
    let came = |is_head: bool| message.members.iter().filter(move |(name, _)| HEAD.contains(&name.as_str()) == is_head);
    for (name, json) in came(true) {
        answer.set(name, json.as_str());
    }
    answer.set_missing("type", || "\"message\"".to_owned());
    answer.set_missing("role", || "\"assistant\"".to_owned());
    let blocks: Vec<String> = message.blocks.iter().map(block).collect();
    answer.set("content", list(&blocks));
    answer.set("stop_reason", message.stop.as_ref().map_or("null".to_owned(), |(_, word)| quoted(word)));
    answer.set("stop_sequence", "null");
    for (name, json) in came(false).filter(|(name, _)| !ASSEMBLED.contains(&name.as_str())) {
        answer.set(name, json.as_str());
    }
    set_object(&mut answer, "usage", &message.usage);
    answer.write()
}

fn block(block: &AssembledBlock) -> String {
    if let Some(whole) = &block.whole {
        return whole.clone();
    }
    let mut draft = Draft::of(&block.base);
    match &block.content {
        Content::Text(text) => {
            let kind = if block.piece == Piece::Reasoning { "thinking" } else { "text" };
            draft.set_missing("type", || quoted(kind));
            draft.set(kind, quoted(&text.text));
            if let Some(signature) = &text.signature {
                draft.set("signature", quoted(signature));
            }
        }
        Content::Call(call) => {
            draft.set_missing("type", || "\"tool_use\"".to_owned());
            draft.set_missing("id", || quoted(&call.id));
            draft.set_missing("name", || quoted(&call.name));
            draft.set("input", input(call));
        }
        Content::Opaque => {}
    }
    draft.set_all(&block.members);
    draft.write()
}
