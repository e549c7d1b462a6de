//! The words with which providers say why they stopped.
//!
//! Gateways leave the words of the model they asked, so each dialect may get those of all the
//! others. They are read in one place, so that no two dialects take one word for two things.

use seamline_model::Stop;

/// What a word means, in capitals or not, with a hyphen or an underscore.
pub(crate) fn of(word: &str) -> Stop {
    match word.to_ascii_lowercase().replace('-', "_").as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "complete" | "completed" => Stop::Turn,
        "tool_calls" | "tool_call" | "function_call" | "tool_use" => Stop::Calls,
        "length"
        | "model_length"
        | "model_context_length"
        | "token_limit"
        | "max_tokens"
        | "max_completion_tokens"
        | "max_output_tokens"
        | "max_length"
        | "model_context_window_exceeded"
        | "context_length_exceeded"
        | "incomplete"
        | "error_limit" => Stop::Length,
        "content_filter"
        | "content_filtered"
        | "guardrail_intervened"
        | "content_policy"
        | "blocked"
        | "sensitive"
        | "safety"
        | "recitation"
        | "language"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "model_armor"
        | "jailbreak"
        | "image_safety"
        | "image_prohibited_content"
        | "image_recitation"
        | "error_toxic" => Stop::Filter,
        "refusal" => Stop::Refusal,
        "pause_turn" | "compaction" | "continuation" => Stop::Pause,
        "malformed_function_call"
        | "malformed_response"
        | "malformed_model_output"
        | "malformed_tool_use"
        | "unexpected_tool_call"
        | "too_many_tool_calls" => Stop::Malformed,
        "error"
        | "failed"
        | "server_error"
        | "cancelled"
        | "insufficient_system_resource"
        | "network_error"
        | "timeout"
        | "abort"
        | "user_cancel"
        | "image_other"
        | "no_image" => Stop::Failure,
        // Gemini's word for a failure (GEM-16); in small letters it is what gateways say that do not know.
        _ if word == "OTHER" => Stop::Failure,
        _ => Stop::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_known_for_what_it_is() {
        for (means, words) in [
            (Stop::Turn, "stop STOP end_turn stop_sequence COMPLETE eos"),
            (Stop::Calls, "tool_calls tool-calls tool_use TOOL_CALL function_call"),
            (
                Stop::Length,
                "length MAX_TOKENS incomplete max_completion_tokens max_output_tokens context_length_exceeded \
                 model_context_window_exceeded",
            ),
            (
                Stop::Filter,
                "content_filter content-filter content_filtered guardrail_intervened SAFETY safety RECITATION \
                 LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY sensitive blocked content_policy ERROR_TOXIC",
            ),
            (Stop::Refusal, "refusal"),
            (Stop::Pause, "pause_turn compaction CONTINUATION"),
            (
                Stop::Malformed,
                "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS \
                 malformed_tool_use malformed_model_output",
            ),
            (Stop::Failure, "error server_error failed cancelled OTHER IMAGE_OTHER insufficient_system_resource"),
            (Stop::Other, "other unknown new_word NEW_WORD"),
        ] {
            for word in words.split_whitespace() {
                assert_eq!(of(word), means, "{word}");
            }
        }
    }
}
