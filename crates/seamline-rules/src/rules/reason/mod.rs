//! Reasoning and signatures.

pub(crate) mod unsigned_call;
