//! The members that an error of the provider names, and whether a repair removed them.

use seamline::classify::{MemberFault, NamedMember};
use seamline::repair::Repaired;

/// Says that a repair removed none of the members that the error names; nothing if it removed one, or the error names
/// none.
pub(super) fn missed(members: &[NamedMember], repaired: &Repaired<'_>) -> Option<String> {
    let unknown = || members.iter().filter(|member| member.fault == MemberFault::Unknown);
    let removed = || repaired.actions.iter().filter_map(|action| action.removed.as_deref());
    let is_removed = |member: &NamedMember| removed().any(|name| letters(name) == letters(&member.name));
    if unknown().next().is_none() || unknown().any(is_removed) {
        return None;
    }
    let names: Vec<String> = unknown().map(|member| format!("`{}`", shown(member))).collect();
    Some(format!(
        "the error names {}, and nothing was removed: the body has no such member there, or the request needs it",
        names.join(", ")
    ))
}

/// The place that the error names, or else the name.
fn shown(member: &NamedMember) -> &str {
    member.pointer.as_deref().unwrap_or(&member.name)
}

/// The letters of the last key of a path: some providers write names in another case than the body.
fn letters(name: &str) -> String {
    let last = name.trim_matches('`').rsplit('.').next().unwrap_or_default();
    last.replace('_', "").to_ascii_lowercase()
}
