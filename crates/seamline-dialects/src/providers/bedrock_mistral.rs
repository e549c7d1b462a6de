//! Mistral's models on Bedrock.

use seamline_model::{Alphabet, Constraints, ErrorText, IdDemand};

use super::Provider;
use crate::bedrock_converse;

/// Mistral through Converse.
pub(super) const PROVIDER: Provider = Provider {
    name: "bedrock-mistral",
    company: "bedrock",
    aliases: &[],
    about: "Mistral on AWS Bedrock: ids of nine letters and digits",
    dialect: bedrock_converse::NAME,
    models: &["mistral.", "us.mistral.", "eu.mistral.", "apac.mistral.", "global.mistral."],
    fallback: false,
    constraints: Constraints {
        // BED-2, in the code of other clients. The text is not known.
        call_id: IdDemand {
            alphabet: Alphabet::Exactly(9),
            alphabet_error: ErrorText(""),
            length_max: 9,
            length_error: ErrorText(""),
            prefix: "",
            ..bedrock_converse::CONSTRAINTS.call_id
        },
        ..bedrock_converse::CONSTRAINTS
    },
};
