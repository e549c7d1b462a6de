//! Calls, and the results that must come somewhere after them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::strict::{Violation, ViolationKind, wire};

/// What is known of one id.
#[derive(Default)]
struct Calls<'a> {
    /// The open calls: where each stands, and the type of result it wants.
    open: Vec<(usize, &'a str)>,
    seen: bool,
}

/// Adds every unanswered call, orphan and duplicate result (OAR-2, OAR-3, OAR-5). What has no id is left out: its
/// shape is already wrong.
pub(super) fn check(items: &[Value], violations: &mut Vec<Violation>) {
    let mut known: BTreeMap<&str, Calls<'_>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let Some(id) = wire::string(item, "call_id").filter(|id| !id.is_empty()) else { continue };
        if let Some(wanted) = wanted(item) {
            let calls = known.entry(id).or_default();
            if !calls.open.is_empty() {
                violations.push(Violation { message: index, kind: ViolationKind::DuplicateCallId });
            }
            calls.seen = true;
            calls.open.push((index, wanted));
        } else if wire::kind(item).ends_with("_call_output") {
            let calls = known.entry(id).or_default();
            let kind = match calls.open.pop() {
                Some((_, wanted)) if wanted == wire::kind(item) => continue,
                Some(_) => ViolationKind::BadResultType,
                None if calls.seen => ViolationKind::DuplicateResult,
                None => ViolationKind::OrphanResult,
            };
            violations.push(Violation { message: index, kind });
        }
    }
    let open = known.into_values().flat_map(|calls| calls.open);
    violations.extend(open.map(|(message, _)| Violation { message, kind: ViolationKind::UnansweredCall }));
}

/// The type of the result that an item wants, if it is a call.
fn wanted(item: &Value) -> Option<&'static str> {
    match wire::kind(item) {
        "function_call" => Some("function_call_output"),
        "custom_tool_call" => Some("custom_tool_call_output"),
        _ => None,
    }
}
