//! The JSON of the body.

pub(crate) mod broken_arguments;
pub(crate) mod byte_order_mark;
pub(crate) mod call_input;
pub(crate) mod call_list_as_text;
pub(crate) mod duplicate_key;
pub(crate) mod extra_member;
pub(crate) mod foreign_block;
pub(crate) mod foreign_key;
pub(crate) mod foreign_role;
pub(crate) mod legacy_call;
pub(crate) mod lone_surrogate;
mod of_unknown;
pub(crate) mod part_of_other_role;
pub(crate) mod unquoted_id;
pub(crate) mod unreadable_block;
pub(crate) mod unreadable_call_list;
pub(crate) mod unreadable_message;
