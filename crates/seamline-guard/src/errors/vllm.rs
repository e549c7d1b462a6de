//! vLLM.

use super::Family;
use crate::kinds::{content, pairing, service, shape};
use crate::known::sentence;

pub(super) const FAMILY: Family = Family {
    name: "vllm",
    aliases: &[],
    errors: &[
        sentence(
            "VLM-4",
            400,
            &content::CONTEXT_OVERFLOW,
            r"prompt[^\n]{0,80} is too long to fit into the model|prompt \(length \d+\) is longer than the maximum model length",
        ),
        sentence("VLM-1", 400, &pairing::EMPTY_TOOL_LIST, r"`tools` must not be an empty array"),
        sentence(
            "VLM-1",
            400,
            &pairing::CALL_INPUT,
            r"assistant tool_calls entries must be objects|only support assistant tool_calls of type 'function'|Expecting (?:value|property name enclosed in double quotes|',' delimiter): line \d",
        ),
        // A template that expects the arguments as an object.
        sentence("VLM-1", 500, &pairing::CALL_INPUT, r"Can only get item pairs from a mapping"),
        sentence("VLM-2", 400, &service::UNSUPPORTED_FEATURE, r"This model only supports single tool-calls at once"),
        sentence("VLM-2", 400, &shape::CONSECUTIVE_ROLES, r"(?i)conversation roles must alternate"),
        sentence("VLM-6", 400, &shape::TRAILING_ASSISTANT, r"Cannot set `add_generation_prompt` to True when"),
    ],
    ..Family::NONE
};
