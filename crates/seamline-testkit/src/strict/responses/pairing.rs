//! Calls and their results, which must come after them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::strict::{Violation, ViolationKind, wire};

/// The conversation before the first item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// A conversation that the provider stores.
    Kept,
}

/// The state of one id.
#[derive(Default)]
struct Calls<'a> {
    /// The open calls: the index of each, and the types of result it takes.
    open: Vec<(usize, &'a [&'a str])>,
    seen: bool,
    /// The number of items of unknown type that may be calls.
    unknown: usize,
    /// Whether one of them may be answered in a later request.
    deferred: bool,
}

/// Adds every unanswered call, orphan and duplicate result (OAR-2, OAR-3, OAR-5). Items without an id are
/// skipped: their shape is already a violation.
pub(super) fn check(items: &[Value], before: Before, violations: &mut Vec<Violation>) {
    let mut known: BTreeMap<&str, Calls<'_>> = BTreeMap::new();
    // The stored item that a reference names may be a call.
    let first_reference = items.iter().position(is_reference).unwrap_or(items.len());
    for (index, item) in items.iter().enumerate() {
        // OAR-31: the result of an asynchronous call may come in a later request.
        let is_deferred = item.get("async") == Some(&Value::Bool(true));
        let Some(id) = pair_id(item).filter(|id| !id.is_empty() && !is_of_provider(item)) else { continue };
        let taken = taken(item);
        let calls = known.entry(id).or_default();
        if !taken.is_empty() {
            if !calls.open.is_empty() {
                violations.push(Violation { message: index, kind: ViolationKind::DuplicateCallId });
            }
            calls.seen = true;
            calls.open.push((index, taken));
            calls.deferred |= is_deferred;
        } else if RESULTS.contains(&wire::kind(item)) {
            let kind = match calls.open.pop() {
                Some((_, taken)) if taken.contains(&wire::kind(item)) => continue,
                Some(_) => ViolationKind::BadResultType,
                None if calls.unknown > 0 => {
                    calls.unknown -= 1;
                    continue;
                }
                None if calls.seen => ViolationKind::DuplicateResult,
                None if before == Before::Kept || first_reference < index => continue,
                None => ViolationKind::OrphanResult,
            };
            violations.push(Violation { message: index, kind });
        } else if !KNOWN.contains(&wire::kind(item)) {
            // An item of a type that the provider may have added answers an open call, or makes one.
            calls.unknown += usize::from(calls.open.pop().is_none());
        }
    }
    let open = known.into_values().filter(|calls| !calls.deferred).flat_map(|calls| calls.open);
    violations.extend(open.map(|(message, _)| Violation { message, kind: ViolationKind::UnansweredCall }));
}

const FUNCTION: &str = "function_call_output";
const CUSTOM: &str = "custom_tool_call_output";
const SHELL: &str = "shell_call_output";
const PATCH: &str = "apply_patch_call_output";
const LOCAL_SHELL: &str = "local_shell_call_output";
const COMPUTER: &str = "computer_call_output";
const SEARCH: &str = "tool_search_output";
const RESULTS: [&str; 7] = [FUNCTION, CUSTOM, SHELL, PATCH, LOCAL_SHELL, COMPUTER, SEARCH];

/// The other types of item with such an id.
const KNOWN: [&str; 2] = ["program", "program_output"];

/// The types of result that an item takes; none if it is not a call.
fn taken(item: &Value) -> &'static [&'static str] {
    match wire::kind(item) {
        "function_call" => &[FUNCTION],
        "custom_tool_call" => &[CUSTOM],
        "shell_call" => &[SHELL],
        "apply_patch_call" => &[PATCH],
        "computer_call" => &[COMPUTER],
        "local_shell_call" => &[LOCAL_SHELL, FUNCTION],
        "tool_search_call" => &[SEARCH, FUNCTION],
        _ => &[],
    }
}

/// Whether an item is only the id of one that the provider stores. Its type is optional.
pub(super) fn is_reference(item: &Value) -> bool {
    let is_bare = || item.as_object().is_some_and(|item| item.len() == 1 && item.contains_key("id"));
    wire::kind(item) == "item_reference" || is_bare()
}

/// Whether an item is a call.
pub(super) fn is_call(item: &Value) -> bool {
    !taken(item).is_empty() && !is_of_provider(item)
}

/// Whether an item is a result.
pub(super) fn is_result(item: &Value) -> bool {
    RESULTS.contains(&wire::kind(item)) && !is_of_provider(item)
}

/// Whether it is a search for tools that the provider runs, or its result.
fn is_of_provider(item: &Value) -> bool {
    matches!(wire::kind(item), "tool_search_call" | SEARCH) && wire::string(item, "execution") != Some("client")
}

/// The id that pairs a call with its result. Results of local shell calls may have it under another name.
fn pair_id(item: &Value) -> Option<&str> {
    let other = || wire::string(item, "id").filter(|_| wire::kind(item) == LOCAL_SHELL);
    wire::string(item, "call_id").or_else(other)
}
