//! Writes an assembled message as a response that does not stream, and as a message of a request.

use seamline_model::{Assembled, AssembledBlock, Content, Piece};

use crate::json::quoted;
use crate::response_text::{ObjectText, input_text, is_empty_text, list_text, message_of, set_id, usage_text};

/// Members that come before the content.
const HEAD: [&str; 4] = ["id", "type", "role", "model"];

/// Members that are assembled. Their streamed values are ignored.
const ASSEMBLED: [&str; 3] = ["content", "stop_reason", "usage"];

/// Writes the message of a response.
pub(super) fn write(message: &Assembled) -> String {
    let mut response = ObjectText::default();
    let came = |is_head: bool| message.members.iter().filter(move |(name, _)| HEAD.contains(&name.as_str()) == is_head);
    for (name, json) in came(true) {
        response.set(name, json.as_str());
    }
    response.set_default("type", "\"message\"");
    response.set_default("role", "\"assistant\"");
    let blocks: Vec<String> = message.blocks.iter().filter(|block| !block.left_out).map(block).collect();
    response.set("content", list_text(&blocks));
    response.set("stop_reason", message.stop.as_ref().map_or("null".to_owned(), |(_, word)| quoted(word)));
    response.set("stop_sequence", "null");
    for (name, json) in came(false).filter(|(name, _)| !ASSEMBLED.contains(&name.as_str())) {
        response.set(name, json.as_str());
    }
    if let Some(usage) = usage_text(message) {
        response.set("usage", usage);
    }
    response.write()
}

/// Writes the message of a request.
pub(super) fn messages(message: &Assembled) -> Vec<String> {
    let is_kept = |block: &&AssembledBlock| !block.left_out && !is_empty_text(block);
    let blocks: Vec<_> = message.blocks.iter().filter(is_kept).collect();
    message_of("\"assistant\"", "content", &blocks, block)
}

fn block(block: &AssembledBlock) -> String {
    if let Some(whole) = &block.whole {
        return whole.clone();
    }
    let mut draft = ObjectText::of(&block.base);
    match &block.content {
        Content::Text(text) => {
            let kind = if block.piece == Piece::Reasoning { "thinking" } else { "text" };
            draft.set_default("type", &quoted(kind));
            draft.set(kind, quoted(&text.text));
            if let Some(signature) = &text.signature {
                draft.set("signature", quoted(signature));
            }
        }
        Content::Call(call) => {
            draft.set_default("type", "\"tool_use\"");
            set_id(&mut draft, "id", call);
            draft.set_default("name", &quoted(&call.name));
            draft.set("input", input_text(call));
        }
        Content::Opaque => {}
    }
    draft.set_all(&block.members);
    draft.write()
}
