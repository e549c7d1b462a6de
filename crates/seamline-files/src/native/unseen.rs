//! Content of a history that its carrier does not show.

use super::history::{History, HistoryPlace};
use crate::json::Object;

/// Blocks that the carrier shows.
const SHOWN: &[&str] = &["text", "toolCall", "toolUse", "functionCall", "tool_call", "tool_response"];
/// The members that hold blocks.
const BLOCKS: &[&str] = &["content", "blocks"];
/// The members that say that a tool failed.
const FAILED: &[&str] = &["is_error", "isError"];

impl History<'_> {
    /// The content that the carrier does not show, with its place: entries that the program does not send or that are
    /// unknown, blocks that are neither text nor a call nor a result, and marks of failed tools.
    pub fn unseen(&self) -> Vec<(&'static str, HistoryPlace)> {
        let mut unseen = Vec::new();
        for entry in 0..self.entries() {
            let Some(place) = self.entry(entry) else { continue };
            let Some(object) = Object::of(self.entry_text(entry)).filter(|_| !self.messages_of(entry).is_empty())
            else {
                unseen.push(("an entry that is not sent", place));
                continue;
            };
            if FAILED.iter().any(|member| object.get(member) == Some("true")) {
                unseen.push(("the mark of a failed tool", place.clone()));
            }
            let Some((member, _)) = object.first(BLOCKS) else { continue };
            for (index, block) in object.list(member).into_iter().enumerate() {
                if Object::of(block).is_some_and(|block| !block.says("type", SHOWN)) {
                    let pointer = format!("{}/{member}/{index}", place.pointer);
                    unseen.push((
                        "a block that is not text",
                        HistoryPlace { pointer, block: Some(index), ..place.clone() },
                    ));
                }
            }
        }
        unseen
    }
}
