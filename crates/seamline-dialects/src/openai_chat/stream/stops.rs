//! The words with which servers say why they stopped.

use seamline_model::Stop;

/// What a word means. Cohere writes them in capitals.
pub(super) fn of(word: &str) -> Stop {
    match word.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" | "complete" | "completed" => Stop::Turn,
        "tool_calls" | "tool_call" | "function_call" | "tool_use" => Stop::Calls,
        "length"
        | "model_length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_length"
        | "model_context_window_exceeded"
        | "error_limit" => Stop::Length,
        "content_filter" | "content_filtered" | "sensitive" | "safety" | "recitation" | "error_toxic" => Stop::Filter,
        "refusal" => Stop::Refusal,
        "pause_turn" => Stop::Pause,
        "malformed_function_call" => Stop::Malformed,
        "error" | "insufficient_system_resource" | "network_error" | "timeout" | "abort" | "user_cancel" => {
            Stop::Failure
        }
        _ => Stop::Other,
    }
}

/// Which of two reasons counts: a later one only if it weighs as much.
pub(super) fn weight(stop: Stop) -> u8 {
    match stop {
        Stop::Turn | Stop::Calls | Stop::Pause | Stop::Other => 0,
        Stop::Length => 1,
        Stop::Filter | Stop::Refusal => 2,
        Stop::Malformed | Stop::Failure => 3,
    }
}
