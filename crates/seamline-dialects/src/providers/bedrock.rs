//! AWS Bedrock, whatever the model.

use super::Provider;
use crate::bedrock_converse;

/// Bedrock's Converse endpoint: what it demands of every model.
pub(super) const PROVIDER: Provider = Provider {
    name: "bedrock",
    company: "bedrock",
    aliases: &[],
    about: "AWS Bedrock's Converse API",
    dialect: bedrock_converse::NAME,
    models: &[],
    fallback: true,
    constraints: bedrock_converse::CONSTRAINTS,
};
