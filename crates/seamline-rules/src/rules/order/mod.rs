//! The order of things.

pub(crate) mod text_before_results;
pub(crate) mod unordered_results;
