//! The kinds of actions that a repair can take.

use seamline_model::Edit;

/// The kind of an action of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionKind {
    /// Fixes bytes in place.
    Patch,
    /// Writes a synthetic result.
    Synthesize,
    /// Moves a result to its call.
    Relocate,
    /// Moves media out of a result, to a message after it.
    Hoist,
    /// Addresses a result to its call.
    Readdress,
    /// Keeps content as text.
    Demote,
    /// Rebuilds the call of a result.
    ReconstructCall,
    /// Removes content for good.
    Remove,
    /// Removes the id of an item.
    RemoveId,
    /// Gives a call another id.
    RenameCall,
    /// Gives a tool another name.
    RenameTool,
    /// Writes content in the form that the provider demands.
    Reform,
    /// Keeps content as text of the user.
    TakeIn,
    /// Adds a signature.
    Sign,
    /// Marks the last message as one to continue.
    Continue,
    /// Declares the tools of calls.
    Declare,
    /// Splits a message by role.
    Regroup,
    /// Corrects a role.
    SetRole,
    /// Puts results first.
    Reorder,
    /// Fills empty content.
    Fill,
    /// Inserts a message.
    Insert,
    /// Joins a message with the one before it.
    Join,
    /// Rewrites a record of a session file.
    Rewrite,
}

impl ActionKind {
    /// The name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Synthesize => "synthesize",
            Self::Relocate => "relocate",
            Self::Hoist => "hoist",
            Self::Readdress => "readdress",
            Self::Demote => "demote",
            Self::ReconstructCall => "reconstruct_call",
            Self::Remove => "remove",
            Self::RemoveId => "remove_id",
            Self::RenameCall => "rename_call",
            Self::RenameTool => "rename_tool",
            Self::Reform => "reform",
            Self::TakeIn => "take_in",
            Self::Sign => "sign",
            Self::Continue => "continue",
            Self::Declare => "declare",
            Self::Regroup => "regroup",
            Self::SetRole => "set_role",
            Self::Reorder => "reorder",
            Self::Fill => "fill",
            Self::Insert => "insert",
            Self::Join => "join",
            Self::Rewrite => "rewrite",
        }
    }

    /// The kind of the action that makes an edit.
    pub(crate) fn of(edit: &Edit) -> Self {
        match edit {
            Edit::Patch { .. } => Self::Patch,
            Edit::Synthesize { .. } | Edit::CloseServerCall { .. } => Self::Synthesize,
            Edit::Relocate { .. } | Edit::RejoinServerResult { .. } => Self::Relocate,
            Edit::HoistMedia { .. } => Self::Hoist,
            Edit::Readdress { .. } => Self::Readdress,
            Edit::Demote { .. } => Self::Demote,
            Edit::ReconstructCall { .. } => Self::ReconstructCall,
            Edit::Remove { .. }
            | Edit::RemoveMessage { .. }
            | Edit::RemoveCallList { .. }
            | Edit::DropMember { .. } => Self::Remove,
            Edit::RemoveItemId { .. } => Self::RemoveId,
            Edit::SetCallId { .. } => Self::RenameCall,
            Edit::SetToolName { .. } => Self::RenameTool,
            Edit::SetInput { .. }
            | Edit::SetContent { .. }
            | Edit::AdoptLegacyCall { .. }
            | Edit::FlattenResult { .. }
            | Edit::KeepMembers { .. }
            | Edit::Restate { .. } => Self::Reform,
            Edit::TakeIn { .. } => Self::TakeIn,
            Edit::Sign { .. } => Self::Sign,
            Edit::Continue { .. } => Self::Continue,
            Edit::DeclareTools { .. } => Self::Declare,
            Edit::Regroup { .. } | Edit::SplitResults { .. } => Self::Regroup,
            Edit::SetRole { .. } => Self::SetRole,
            Edit::ResultsFirst { .. } => Self::Reorder,
            Edit::FillMessage { .. } | Edit::FillResult { .. } | Edit::AddReasoning { .. } => Self::Fill,
            Edit::InsertMessage { .. } => Self::Insert,
            Edit::JoinPrevious { .. } => Self::Join,
        }
    }
}

impl std::fmt::Display for ActionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
