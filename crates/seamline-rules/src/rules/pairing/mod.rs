//! Tool calls and tool results.

pub(crate) mod crowded_block;
pub(crate) mod displaced_result;
pub(crate) mod duplicate_result;
pub(crate) mod misaddressed_result;
pub(crate) mod mistyped_result;
pub(crate) mod orphan_result;
pub(crate) mod orphan_server_result;
mod server_pairs;
pub(crate) mod split_results;
pub(crate) mod superseded_result;
pub(crate) mod unacknowledged_check;
pub(crate) mod unanswered_approval;
pub(crate) mod unanswered_call;
pub(crate) mod unanswered_server_call;
pub(crate) mod unlinked_program;
pub(crate) mod wrong_role_block;
