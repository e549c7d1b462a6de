//! Why a provider stopped, and the providers' words for it.
//!
//! Gateways pass on the words of the model behind them, so each dialect may receive the words of all others. They are
//! interpreted in one place, so that a word always has the same meaning.

/// Why a provider stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The model finished its turn.
    Turn,
    /// The model waits for the results of its calls.
    Calls,
    /// The output limit or the context limit was reached.
    Length,
    /// The provider filtered the request or the response.
    Filter,
    /// The model refused.
    Refusal,
    /// The provider paused a long turn; it continues when the message is sent back.
    Pause,
    /// The client steered the model while it responded; another response follows.
    Steered,
    /// The provider could not read the call that the model wrote.
    Malformed,
    /// The provider failed during the response.
    Failure,
    /// An unknown word.
    Other,
}

impl Stop {
    /// The meaning of a word, in any case, with hyphens or underscores.
    pub fn of_word(word: &str) -> Self {
        match word.to_ascii_lowercase().replace('-', "_").as_str() {
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "complete" | "completed" => Self::Turn,
            "tool_calls" | "tool_call" | "function_call" | "tool_use" => Self::Calls,
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
            | "error_limit" => Self::Length,
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
            | "escalation"
            | "pup_limited_disabled"
            | "error_toxic" => Self::Filter,
            "refusal" => Self::Refusal,
            "pause_turn" | "compaction" | "continuation" => Self::Pause,
            "steered" => Self::Steered,
            "malformed_function_call"
            | "malformed_response"
            | "malformed_model_output"
            | "malformed_tool_use"
            | "missing_thought_signature"
            | "unexpected_tool_call"
            | "too_many_tool_calls" => Self::Malformed,
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
            | "no_image" => Self::Failure,
            // Gemini uses `OTHER` for a failure (GEM-16); gateways use `other` in lower case for an unknown reason.
            _ if word == "OTHER" => Self::Failure,
            _ => Self::Other,
        }
    }

    /// Whether this reason replaces an earlier one: a truncation, filter or failure is never replaced by a less severe
    /// reason.
    pub fn counts_after(self, before: Option<Self>) -> bool {
        before.is_none_or(|before| self.weight() >= before.weight())
    }

    fn weight(self) -> u8 {
        match self {
            Self::Failure | Self::Malformed => 4,
            Self::Filter | Self::Refusal => 3,
            Self::Length | Self::Steered => 2,
            Self::Turn | Self::Calls | Self::Pause => 1,
            Self::Other => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_meaning() {
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
                 LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY sensitive blocked content_policy ERROR_TOXIC \
                 ESCALATION PUP_LIMITED_DISABLED",
            ),
            (Stop::Refusal, "refusal"),
            (Stop::Pause, "pause_turn compaction CONTINUATION"),
            (Stop::Steered, "steered"),
            (
                Stop::Malformed,
                "MALFORMED_FUNCTION_CALL MALFORMED_RESPONSE UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE \
                 malformed_tool_use malformed_model_output",
            ),
            (Stop::Failure, "error server_error failed cancelled OTHER IMAGE_OTHER insufficient_system_resource"),
            (Stop::Other, "other unknown new_word NEW_WORD"),
        ] {
            for word in words.split_whitespace() {
                assert_eq!(Stop::of_word(word), means, "{word}");
            }
        }
    }
}
