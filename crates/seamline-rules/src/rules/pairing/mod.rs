//! Tool calls and tool results.

pub(crate) mod crowded_block;
pub(crate) mod displaced_result;
pub(crate) mod duplicate_result;
pub(crate) mod misaddressed_result;
pub(crate) mod mistyped_result;
pub(crate) mod orphan_result;
pub(crate) mod orphan_server_result;
pub(crate) mod split_results;
pub(crate) mod superseded_result;
pub(crate) mod unanswered_call;
pub(crate) mod unanswered_server_call;
pub(crate) mod wrong_role_block;
