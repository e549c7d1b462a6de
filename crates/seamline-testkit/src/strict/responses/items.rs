//! Demands on the order of items.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::strict::{Violation, ViolationKind, wire};

/// Adds reasoning without its following item, repeated ids, and triggers that are not last.
pub(super) fn check(items: &[Value], violations: &mut Vec<Violation>) {
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let mut add = |kind| violations.push(Violation { message: index, kind });
        // OAR-10.
        if item_id(item).is_some_and(|id| !ids.insert(id)) {
            add(ViolationKind::DuplicateItemId);
        }
        // OAR-6, OAR-7: after reasoning with an id, the next other item must be the model's and have an id.
        if wire::kind(item) == "reasoning" && item_id(item).is_some() {
            let next = items[index + 1..].iter().find(|next| wire::kind(next) != "reasoning");
            if !next.is_some_and(|next| is_made(next) && item_id(next).is_some()) {
                add(ViolationKind::DanglingReasoning);
            }
        }
        // OAR-17.
        if wire::kind(item) == "compaction_trigger" && index + 1 < items.len() {
            add(ViolationKind::EarlyTrigger);
        }
    }
}

fn item_id(item: &Value) -> Option<&str> {
    wire::string(item, "id").filter(|id| !id.is_empty())
}

/// True if the model made the item.
fn is_made(item: &Value) -> bool {
    match wire::kind(item) {
        _ if super::pairing::is_reference(item) => true,
        "" | "message" => wire::role(item) == "assistant",
        kind => kind.ends_with("_call") || matches!(kind, "item_reference" | "compaction" | "mcp_list_tools"),
    }
}
