//! The order of messages and blocks.

pub(crate) mod early_prefix;
pub(crate) mod misplaced_compaction;
pub(crate) mod misplaced_system;
pub(crate) mod text_after_results;
pub(crate) mod text_before_results;
pub(crate) mod unexpected_role;
pub(crate) mod unordered_results;
