//! The words that dialects define: names of members, roles, types. Any other word of a body may come from a user, a
//! model or a tool.

#[doc(inline)]
pub use seamline_dialects::{id_prefix, is_word};
