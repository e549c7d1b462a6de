//! The types of items.

use seamline_model::{ItemKind, ItemType, Role};

use crate::frames::words_of;
use crate::json::{Object, Value};

/// The properties of a type of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) form: Form,
    pub(super) kind: ItemKind,
    /// The role of the item, unless it has its own.
    pub(super) role: Role,
    pub(super) facts: ItemType,
}

impl Known {
    /// The type of the result that is written for a call of this type.
    pub(super) fn answered_by(&self) -> &'static str {
        match (self.form, self.facts.result_type) {
            // OAR-5: any will do, and this one is its own.
            (Form::TypedCall(_), "") => LOCAL_SHELL_RESULT,
            (_, result) => result,
        }
    }
}

/// The form of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A message with a role and content.
    Message,
    /// A call with a name, whose input is in this member.
    NamedCall(&'static str),
    /// A call of a tool that is known by the type alone, under this name.
    TypedCall(&'static str),
    Output,
    Reasoning,
    /// An item that is kept unchanged.
    Opaque,
}

pub(super) static MESSAGE: Known = made(Form::Message, "msg");

pub(super) const FUNCTION_RESULT: &str = "function_call_output";
pub(super) const CUSTOM_RESULT: &str = "custom_tool_call_output";
pub(super) const SHELL_RESULT: &str = "shell_call_output";
pub(super) const PATCH_RESULT: &str = "apply_patch_call_output";
pub(super) const COMPUTER_RESULT: &str = "computer_call_output";
pub(super) const LOCAL_SHELL_RESULT: &str = "local_shell_call_output";
pub(super) const SEARCH_RESULT: &str = "tool_search_output";

/// A search for tools that the client runs. Recorded and accepted: a result of its own type and a function's result.
pub(super) static CLIENT_SEARCH: Known = call(Form::TypedCall("tool_search"), "tool search call", "", "");

/// The result of a search for tools that the client ran.
pub(super) static CLIENT_SEARCH_RESULT: Known = output("tool search call", SEARCH_RESULT);

/// Finds the properties of the type with this name (OAR-1). The prefixes of ids are from recorded errors (OAR-14).
pub(super) fn of(name: &str) -> &'static Known {
    match name {
        "message" => &MESSAGE,
        "function_call" => const { &call(Form::NamedCall("arguments"), "function call", "fc", FUNCTION_RESULT) },
        "custom_tool_call" => const { &call(Form::NamedCall("input"), "custom tool call", "ctc", CUSTOM_RESULT) },
        "shell_call" => const { &call(Form::TypedCall("shell"), "shell call", "", SHELL_RESULT) },
        "apply_patch_call" => const { &call(Form::TypedCall("apply_patch"), "apply patch call", "", PATCH_RESULT) },
        "computer_call" => const { &call(Form::TypedCall("computer"), "computer call", "", COMPUTER_RESULT) },
        // OAR-5: clients answer it with the result of a function too.
        "local_shell_call" => const { &call(Form::TypedCall("local_shell"), "local shell call", "", "") },
        FUNCTION_RESULT => const { &output("function call", FUNCTION_RESULT) },
        CUSTOM_RESULT => const { &output("custom tool call", CUSTOM_RESULT) },
        SHELL_RESULT => const { &output("shell call", SHELL_RESULT) },
        PATCH_RESULT => const { &output("apply patch call", PATCH_RESULT) },
        COMPUTER_RESULT => const { &output("computer call", COMPUTER_RESULT) },
        LOCAL_SHELL_RESULT => const { &output("local shell call", LOCAL_SHELL_RESULT) },
        "reasoning" => const { &Known { kind: ItemKind::Reasoning, ..made(Form::Reasoning, "rs") } },
        "compaction" => const { &made(Form::Opaque, "cmp") },
        // Calls of the provider's own tools, which carry their results. A search for tools that the provider ran was
        // recorded without a result, and accepted; one that the client runs is found by its members.
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "tool_search_call"
        | "mcp_call"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "program" => const { &made(Form::Opaque, "") },
        SEARCH_RESULT | "mcp_approval_response" | "program_output" => const { &given(Role::User) },
        "additional_tools" => const { &given(Role::Developer) },
        "item_reference" => const { &Known { kind: ItemKind::Reference, ..made(Form::Opaque, "") } },
        "compaction_trigger" => const { &Known { kind: ItemKind::Trigger, ..given(Role::User) } },
        _ => const { &Known { kind: ItemKind::Unknown, ..made(Form::Opaque, "") } },
    }
}

/// Whether the status of a call says that it is incomplete.
pub(super) fn is_unfinished(status: &str) -> bool {
    matches!(status, "in_progress" | "incomplete" | "failed" | "cancelled")
}

/// Whether the provider runs a call.
pub(super) fn is_hosted(call: Object<'_, '_>) -> bool {
    let environment = call.get("environment").and_then(Value::object);
    environment.and_then(|environment| words_of(environment, "type")).is_some_and(|kind| kind.starts_with("container"))
}

const NOTHING: ItemType = ItemType {
    words: "",
    id_start: "",
    result_type: "",
    plain_result: false,
    listed_result: false,
    shown_result: false,
};

const fn made(form: Form, id_start: &'static str) -> Known {
    Known { form, kind: ItemKind::Made, role: Role::Assistant, facts: ItemType { id_start, ..NOTHING } }
}

const fn given(role: Role) -> Known {
    Known { form: Form::Opaque, kind: ItemKind::Given, role, facts: NOTHING }
}

const fn call(form: Form, words: &'static str, id_start: &'static str, result_type: &'static str) -> Known {
    Known { facts: ItemType { id_start, ..paired(words, result_type) }, ..made(form, "") }
}

const fn output(words: &'static str, result_type: &'static str) -> Known {
    Known { form: Form::Output, facts: paired(words, result_type), ..given(Role::Tool) }
}

const fn paired(words: &'static str, result_type: &'static str) -> ItemType {
    let plain_result = matches!(result_type.as_bytes(), b"function_call_output" | b"custom_tool_call_output");
    // OAR-1: what a shell returns is a list of what its commands did.
    let listed_result = matches!(result_type.as_bytes(), b"shell_call_output");
    let shown_result = matches!(result_type.as_bytes(), b"computer_call_output");
    ItemType { words, result_type, plain_result, listed_result, shown_result, ..NOTHING }
}
