//! The members of each type of item that the stream reader looks at.

use seamline_model::Piece;

use crate::frames::words_of;
use crate::json::{Object, quoted};
use crate::openai_responses::item::{self, Form};

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Message,
    Reasoning,
    /// A call that the client answers.
    Call,
    /// A call that the provider answers.
    ServerCall,
    Opaque,
}

impl Sort {
    pub(super) fn piece(self) -> Piece {
        match self {
            Self::Call => Piece::Call,
            Self::ServerCall => Piece::ServerCall,
            // Their text is in their parts.
            Self::Message | Self::Reasoning | Self::Opaque => Piece::Opaque,
        }
    }
}

/// Reads the kind of an item.
pub(super) fn sort(object: Object<'_, '_>) -> Sort {
    let kind = kind(object);
    match item::of(&kind).form {
        Form::Message => Sort::Message,
        Form::Reasoning => Sort::Reasoning,
        Form::TypedCall(_) if item::is_hosted(object) => Sort::ServerCall,
        Form::NamedCall(_) | Form::TypedCall(_) => Sort::Call,
        Form::Output | Form::Opaque => match &*kind {
            "mcp_call" | "code_interpreter_call" | "web_search_call" | "file_search_call" | "image_generation_call" => {
                Sort::ServerCall
            }
            _ => Sort::Opaque,
        },
    }
}

/// The type of an item; a message need not say it.
pub(super) fn kind<'a>(object: Object<'_, 'a>) -> std::borrow::Cow<'a, str> {
    let is_message = object.get("role").is_some() && object.get("content").is_some();
    let otherwise = if is_message { "message" } else { "" };
    words_of(object, "type").unwrap_or(otherwise.into())
}

/// The name of a tool that has none but its type.
pub(super) fn name_of(kind: &str) -> &str {
    match item::of(kind).form {
        Form::TypedCall(name) => name,
        _ => kind.strip_suffix("_call").unwrap_or(kind),
    }
}

/// The member that holds the input of a call, or an empty name.
pub(in super::super) fn input_of(kind: &str) -> &'static str {
    match (item::of(kind).form, kind) {
        (Form::NamedCall(member), _) => member,
        (Form::TypedCall(_), "apply_patch_call") => "operation",
        (Form::TypedCall(_), _) => "action",
        (_, "mcp_call") => "arguments",
        (_, "code_interpreter_call") => "code",
        _ => "",
    }
}

/// Whether the input of a call is free text.
pub(super) fn is_free(kind: &str) -> bool {
    matches!(input_of(kind), "input" | "code")
}

/// The type of the item whose input comes in events of this name.
pub(super) fn called(event: &str) -> Option<(&'static str, Sort)> {
    match event {
        "function_call_arguments" => Some(("function_call", Sort::Call)),
        "custom_tool_call_input" => Some(("custom_tool_call", Sort::Call)),
        "mcp_call_arguments" => Some(("mcp_call", Sort::ServerCall)),
        "code_interpreter_call_code" => Some(("code_interpreter_call", Sort::ServerCall)),
        _ => None,
    }
}

/// The base of an item that no event began.
pub(super) fn implied(kind: &str, id: Option<&str>) -> String {
    let role = if kind == "message" { r#","role":"assistant""# } else { "" };
    let id = id.map(|id| format!(r#""id":{},"#, quoted(id))).unwrap_or_default();
    format!(r#"{{{id}"type":{}{role}}}"#, quoted(kind))
}
