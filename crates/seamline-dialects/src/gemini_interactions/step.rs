//! The types of steps.

use seamline_model::Role;

/// The properties of a type of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) form: Form,
    /// The role of the step, unless it has its own.
    pub(super) role: Role,
}

/// The form of an element of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A step with content of the user or the model.
    Speech,
    Call,
    Result,
    Thought,
    /// A content of the user, in an input that is a list of contents.
    Content,
    /// A turn with a role, which earlier revisions of the API have in place of steps.
    Turn,
    /// A step that is kept unchanged: one of the provider's own tools, or of an unknown type.
    Opaque,
}

pub(super) const USER_INPUT: &str = "user_input";
pub(super) const MODEL_OUTPUT: &str = "model_output";
pub(super) const FUNCTION_CALL: &str = "function_call";
pub(super) const FUNCTION_RESULT: &str = "function_result";
pub(super) const THOUGHT: &str = "thought";

/// An element without a type.
pub(super) const TURN: Known = Known { form: Form::Turn, role: Role::Unknown };

/// Finds the properties of the type with this name (google-genai 3.1, types).
pub(super) fn of(name: &str) -> Known {
    let (form, role) = match name {
        USER_INPUT => (Form::Speech, Role::User),
        MODEL_OUTPUT => (Form::Speech, Role::Assistant),
        FUNCTION_CALL => (Form::Call, Role::Assistant),
        FUNCTION_RESULT => (Form::Result, Role::Tool),
        THOUGHT => (Form::Thought, Role::Assistant),
        name if is_content(name) => (Form::Content, Role::User),
        _ => (Form::Opaque, Role::Assistant),
    };
    Known { form, role }
}

/// Whether a content has this type.
pub(super) fn is_content(name: &str) -> bool {
    matches!(name, "text" | "image" | "audio" | "document" | "video")
}

/// The tools that the provider runs. Each has a step for its call and one for its result.
const SERVER_TOOLS: &[&str] = &[
    "code_execution",
    "file_search",
    "google_maps",
    "google_search",
    "mcp_server_tool",
    "processing",
    "retrieval",
    "url_context",
];

/// Whether only this API has a step of this type. Its `function_call` and `file_search_call` are items of the Responses
/// API as well.
pub(crate) fn is_own(name: &str) -> bool {
    let is_tool = |tool: &str| SERVER_TOOLS.contains(&tool);
    match name {
        USER_INPUT | MODEL_OUTPUT | FUNCTION_RESULT | THOUGHT => true,
        "file_search_call" => false,
        _ => name.strip_suffix("_call").or_else(|| name.strip_suffix("_result")).is_some_and(is_tool),
    }
}
