//! The types of items.

use seamline_model::{ItemKind, Role};

/// What is known of a type of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ItemType {
    pub(super) form: Form,
    pub(super) kind: ItemKind,
    /// Who makes it, unless it says so itself.
    pub(super) role: Role,
    /// What errors call a call of this type, and its result.
    pub(super) words: &'static str,
    /// How its ids start; nothing when no error says so.
    pub(super) id_start: &'static str,
    /// The type of a result; of a call, the type of its result. Nothing when any will do.
    pub(super) result_type: &'static str,
}

/// How an item is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Somebody says something.
    Message,
    /// A call with a name, whose input is in this member.
    NamedCall(&'static str),
    /// A call of a tool that is known by the type alone, under this name.
    TypedCall(&'static str),
    Output,
    Reasoning,
    /// Kept as it is.
    Opaque,
}

pub(super) const MESSAGE: ItemType = made(Form::Message, "msg");

pub(super) const FUNCTION_RESULT: &str = "function_call_output";
pub(super) const CUSTOM_RESULT: &str = "custom_tool_call_output";
pub(super) const SHELL_RESULT: &str = "shell_call_output";
pub(super) const PATCH_RESULT: &str = "apply_patch_call_output";
pub(super) const LOCAL_SHELL_RESULT: &str = "local_shell_call_output";

/// What is known of the type of this name (OAR-1). The starts of ids are those that OAR-14
/// saw in errors.
pub(super) fn of(name: &str) -> ItemType {
    let call = |form, words, id_start, result_type| ItemType { words, result_type, ..made(form, id_start) };
    let output = |words, result_type| ItemType { form: Form::Output, words, result_type, ..given(Role::Tool) };
    match name {
        "message" => MESSAGE,
        "function_call" => call(Form::NamedCall("arguments"), "function call", "fc", FUNCTION_RESULT),
        "custom_tool_call" => call(Form::NamedCall("input"), "custom tool call", "ctc", CUSTOM_RESULT),
        "shell_call" => call(Form::TypedCall("shell"), "shell call", "", SHELL_RESULT),
        "apply_patch_call" => call(Form::TypedCall("apply_patch"), "apply patch call", "", PATCH_RESULT),
        // OAR-5: clients answer it with the result of a function too.
        "local_shell_call" => call(Form::TypedCall("local_shell"), "local shell call", "", ""),
        FUNCTION_RESULT => output("function call", FUNCTION_RESULT),
        CUSTOM_RESULT => output("custom tool call", CUSTOM_RESULT),
        SHELL_RESULT => output("shell call", SHELL_RESULT),
        PATCH_RESULT => output("apply patch call", PATCH_RESULT),
        LOCAL_SHELL_RESULT => output("local shell call", LOCAL_SHELL_RESULT),
        "reasoning" => ItemType { kind: ItemKind::Reasoning, ..made(Form::Reasoning, "rs") },
        "compaction" => made(Form::Opaque, "cmp"),
        // Calls of the provider's own tools, which carry their results, and calls whose results are no text. A
        // call of the search for tools was recorded without a result, and accepted.
        "web_search_call"
        | "file_search_call"
        | "code_interpreter_call"
        | "image_generation_call"
        | "computer_call"
        | "tool_search_call"
        | "mcp_call"
        | "mcp_list_tools"
        | "mcp_approval_request"
        | "program" => made(Form::Opaque, ""),
        "computer_call_output" | "tool_search_output" | "mcp_approval_response" | "program_output" => given(Role::User),
        "additional_tools" => given(Role::Developer),
        "item_reference" => ItemType { kind: ItemKind::Reference, ..made(Form::Opaque, "") },
        "compaction_trigger" => ItemType { kind: ItemKind::Trigger, ..given(Role::User) },
        _ => ItemType { kind: ItemKind::Unknown, ..made(Form::Opaque, "") },
    }
}

const fn made(form: Form, id_start: &'static str) -> ItemType {
    ItemType { form, kind: ItemKind::Made, role: Role::Assistant, words: "", id_start, result_type: "" }
}

const fn given(role: Role) -> ItemType {
    ItemType { form: Form::Opaque, kind: ItemKind::Given, role, words: "", id_start: "", result_type: "" }
}
