//! `bedrock_converse`: the Converse API of Amazon Bedrock.

pub(crate) mod lift;
pub(crate) mod render;

/// Its name.
pub(crate) const NAME: &str = "bedrock_converse";
