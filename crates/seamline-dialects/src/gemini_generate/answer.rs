//! A message as generateContent answers that does not stream.

use seamline_model::{Assembled, AssembledBlock, AssembledCall, Content};

use super::stream::{CANDIDATE, CONTENT};
use crate::drafting::{Draft, input, list, set_object};
use crate::json::quoted;

/// The response of generateContent.
pub(super) fn answer(message: &Assembled) -> String {
    let (mut response, mut candidate, mut content) = (Draft::default(), Draft::default(), Draft::default());
    let mut around = Vec::new();
    let parts: Vec<String> = message.blocks.iter().map(part).collect();
    let is_said = !parts.is_empty() || message.members.iter().any(|(name, _)| name.starts_with(CANDIDATE));
    // What is said stands first.
    candidate.set("content", "{}");
    content.set("parts", "[]");
    for (name, json) in &message.members {
        match (name.strip_prefix(CONTENT), name.strip_prefix(CANDIDATE)) {
            (Some(name), _) => content.set(name, json.as_str()),
            (None, Some(name)) => candidate.set(name, json.as_str()),
            (None, None) => around.push((name, json)),
        }
    }
    content.set("parts", list(&parts));
    content.set_missing("role", || "\"model\"".to_owned());
    candidate.set("content", content.write());
    // What was asked may be filtered before anybody answers.
    if is_said {
        response.set("candidates", list(&[candidate.write()]));
    }
    set_object(&mut response, "usageMetadata", &message.usage);
    for (name, json) in around.into_iter().filter(|(name, _)| !matches!(name.as_str(), "candidates" | "usageMetadata"))
    {
        response.set(name, json.as_str());
    }
    response.write()
}

fn part(block: &AssembledBlock) -> String {
    if let Some(whole) = &block.whole {
        return whole.clone();
    }
    let mut draft = Draft::of(&block.base);
    match &block.content {
        Content::Text(text) => draft.set("text", quoted(&text.text)),
        Content::Call(call) => written_call(&mut draft, call),
        Content::Opaque => {}
    }
    draft.set_all(&block.members);
    draft.write()
}

/// Writes a call as if it had come at once.
fn written_call(draft: &mut Draft, call: &AssembledCall) {
    let mut inner = Draft::of(draft.get("functionCall").unwrap_or_default());
    inner.remove("willContinue");
    inner.remove("partialArgs");
    inner.set("args", input(call));
    draft.set("functionCall", inner.write());
    if let Some(signature) = &call.signature {
        draft.set("thoughtSignature", quoted(signature));
    }
}
