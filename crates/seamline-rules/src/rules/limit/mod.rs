//! Declared tools, and limits on counts.
pub(crate) mod cached_tools;
pub(crate) mod empty_tool_list;
pub(crate) mod illegal_declared_name;
pub(crate) mod missing_container;
pub(crate) mod repeated_tool;
pub(crate) mod surplus_cache_mark;
pub(crate) mod undeclared_choice;
pub(crate) mod undeclared_tools;
pub(crate) mod unknown_tool_reference;
