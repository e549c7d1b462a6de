//! Empty content, roles, first and last messages.

pub(crate) mod consecutive_roles;
pub(crate) mod early_trigger;
mod emptied;
pub(crate) mod empty_call_list;
pub(crate) mod empty_failure;
pub(crate) mod empty_message;
pub(crate) mod empty_text;
pub(crate) mod leading_role;
pub(crate) mod listed_result;
pub(crate) mod missing_content;
pub(crate) mod no_messages;
pub(crate) mod trailing_assistant;
pub(crate) mod trailing_space;
pub(crate) mod unsupported_role;
pub(crate) mod wordless_text;
pub(crate) mod written_call;
