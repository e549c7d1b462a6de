//! Ids and names.

mod across;
pub(crate) mod illegal_call_id;
pub(crate) mod illegal_item_id;
pub(crate) mod illegal_result_name;
pub(crate) mod illegal_server_id;
pub(crate) mod illegal_tool_name;
pub(crate) mod internal_call_id;
pub(crate) mod long_call_id;
pub(crate) mod missing_call_id;
mod open_calls;
mod rename;
pub(crate) mod repeated_call_id;
pub(crate) mod repeated_item;
pub(crate) mod unnamed_result;
