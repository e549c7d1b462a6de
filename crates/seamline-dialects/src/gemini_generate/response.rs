//! Writes an assembled message as a response that does not stream, and as a content of a request.

use seamline_model::{Assembled, AssembledBlock, AssembledCall, Content};

use super::stream::{CANDIDATE, CONTENT};
use crate::json::quoted;
use crate::response_text::{ObjectText, input_text, list_text, message_of, usage_text};

/// Writes the response of generateContent.
pub(super) fn write(message: &Assembled) -> String {
    let (mut response, mut candidate, mut content) =
        (ObjectText::default(), ObjectText::default(), ObjectText::default());
    let mut around = Vec::new();
    let parts: Vec<String> = message.blocks.iter().map(part).collect();
    let is_said = !parts.is_empty() || message.members.iter().any(|(name, _)| name.starts_with(CANDIDATE));
    // The content comes first.
    candidate.set("content", "{}");
    content.set("parts", "[]");
    for (name, json) in &message.members {
        match (name.strip_prefix(CONTENT), name.strip_prefix(CANDIDATE)) {
            (Some(name), _) => content.set(name, json.as_str()),
            (None, Some(name)) => candidate.set(name, json.as_str()),
            (None, None) => around.push((name, json)),
        }
    }
    content.set("parts", list_text(&parts));
    content.set_default("role", "\"model\"");
    candidate.set("content", content.write());
    // The provider may filter the prompt and give no candidate.
    if is_said {
        response.set("candidates", list_text(&[candidate.write()]));
    }
    if let Some(usage) = usage_text(message) {
        response.set("usageMetadata", usage);
    }
    for (name, json) in around.into_iter().filter(|(name, _)| !matches!(name.as_str(), "candidates" | "usageMetadata"))
    {
        response.set(name, json.as_str());
    }
    response.write()
}

/// Writes the content of a request. An empty text may carry a signature, so it is kept.
pub(super) fn messages(message: &Assembled) -> Vec<String> {
    let blocks: Vec<_> = message.blocks.iter().collect();
    message_of("\"model\"", "parts", &blocks, part)
}

fn part(block: &AssembledBlock) -> String {
    if let Some(whole) = &block.whole {
        return whole.clone();
    }
    let mut draft = ObjectText::of(&block.base);
    match &block.content {
        Content::Text(text) => draft.set("text", quoted(&text.text)),
        Content::Call(call) => written_call(&mut draft, call),
        Content::Opaque => {}
    }
    draft.set_all(&block.members);
    draft.write()
}

/// Writes a call as if it had come in one piece.
fn written_call(draft: &mut ObjectText, call: &AssembledCall) {
    let mut inner = ObjectText::of(draft.get("functionCall").unwrap_or_default());
    inner.take("willContinue");
    inner.take("partialArgs");
    inner.set("args", input_text(call));
    draft.set("functionCall", inner.write());
    if let Some(signature) = &call.signature {
        draft.set("thoughtSignature", quoted(signature));
    }
}
