//! The input of a repair: demands, policy, and the fixes that are left to a later repair.

use seamline_model::{Constraints, Edit, Fix, Stage};

use crate::RepairPolicy;
use crate::rules::ident::internal_call_id;

/// The input of a repair, beside the conversation.
#[derive(Debug, Clone, Copy)]
pub struct RepairInput<'i> {
    /// The demands of the provider.
    pub constraints: &'i Constraints,
    /// The policy of the repair.
    pub policy: &'i RepairPolicy,
    /// The fixes that are left to a later repair.
    pub left: Left,
}

/// The fixes that a repair leaves to a later one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Left {
    /// A repair leaves no fix.
    #[default]
    Nothing,
    /// The fixes that synthesize something.
    Synthetic,
    /// The same, and the fixes of internal ids, of adjacent roles, of the first message and of the last one.
    Roles,
    /// The same, and all fixes from the pairing of calls and results on: only the form of messages is repaired.
    Pairing,
}

/// Whether the policy allows the fix of a rule and it is not left to a later repair.
pub(crate) fn is_allowed(code: &str, fix: &Fix, policy: &RepairPolicy, left: Left) -> bool {
    debug_assert!(!fix.is_mixed(), "{code} edits bytes and blocks at once");
    let has_effect = !fix.edits.is_empty() && !fix.is_mixed();
    has_effect && policy.allows(fix.safety) && !left.has(code, fix)
}

impl Left {
    /// Whether the fix of this rule is left to a later repair.
    fn has(self, code: &str, fix: &Fix) -> bool {
        let first = match self {
            Self::Nothing => return false,
            Self::Synthetic => None,
            Self::Roles => Some(Stage::Roles),
            Self::Pairing => Some(Stage::Pairing),
        };
        // Messages that leave their dialect get their ids from the next provider.
        let is_internal = first.is_some() && code == internal_call_id::RULE.code;
        is_internal || first.is_some_and(|first| fix.stage >= first) || fix.edits.iter().any(is_synthetic_edit)
    }
}

/// Whether an edit writes synthetic content.
pub(crate) fn is_synthetic_edit(edit: &Edit) -> bool {
    match edit {
        Edit::FillMessage { text, .. } | Edit::FillResult { text, .. } => !text.is_empty(),
        Edit::Synthesize { .. }
        | Edit::ReconstructCall { .. }
        | Edit::AddReasoning { .. }
        | Edit::InsertMessage { .. }
        | Edit::CloseServerCall { .. }
        | Edit::Sign { .. }
        | Edit::DeclareTools { .. }
        | Edit::HoistMedia { .. } => true,
        _ => false,
    }
}
