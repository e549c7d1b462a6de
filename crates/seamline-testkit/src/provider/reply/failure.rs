//! Errors of the service, in the words of the providers.

use serde_json::json;

use super::Reply;
use crate::Dialect;

/// The error of a provider with a status, whatever the request holds.
pub(in crate::provider) fn failure(dialect: Option<Dialect>, status: u16) -> Reply {
    match dialect {
        Some(Dialect::AnthropicMessages) => {
            let (kind, message) = anthropic(status);
            Reply::json(
                status,
                &json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_probe"}),
            )
        }
        Some(Dialect::GeminiGenerate) => {
            let (word, message) = google(status);
            Reply::json(status, &json!({"error": {"code": status, "message": message, "status": word}}))
        }
        Some(Dialect::GeminiInteractions) => {
            let (word, message) = google(status);
            Reply::json(status, &json!({"error": {"message": message, "code": word.to_ascii_lowercase()}}))
        }
        Some(Dialect::BedrockConverse) => {
            let (kind, message) = bedrock(status);
            Reply::json(status, &json!({"message": message})).with_header("x-amzn-errortype", kind)
        }
        Some(Dialect::OpenAiChat | Dialect::OpenAiResponses) | None => {
            let (kind, code, message) = openai(status);
            Reply::json(status, &json!({"error": {"message": message, "type": kind, "param": null, "code": code}}))
        }
    }
}

fn anthropic(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("invalid_request_error", "max_tokens: Field required"),
        401 => ("authentication_error", "invalid x-api-key"),
        403 => ("permission_error", "Your API key does not have permission to use the specified resource."),
        404 => ("not_found_error", "model: claude-none"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => ("rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
        504 => ("timeout_error", "Request timed out"),
        503 | 529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    }
}

fn openai(status: u16) -> (&'static str, Option<&'static str>, &'static str) {
    match status {
        400 => ("invalid_request_error", None, "Invalid value for 'temperature'."),
        401 => ("invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided: sk-probe."),
        404 => (
            "invalid_request_error",
            Some("model_not_found"),
            "The model `probe` does not exist or you do not have access to it.",
        ),
        429 => (
            "tokens",
            Some("rate_limit_exceeded"),
            "Rate limit reached for gpt-5 in organization org-probe on tokens per min (TPM): Limit 30000, Used 29000, \
             Requested 2000. Please try again in 2s.",
        ),
        503 | 529 => {
            ("server_error", Some("server_is_overloaded"), "The server is overloaded. Please try again later.")
        }
        _ => ("server_error", None, "The server had an error while processing your request. Sorry about that!"),
    }
}

fn google(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        403 => ("PERMISSION_DENIED", "The caller does not have permission"),
        404 => ("NOT_FOUND", "models/probe is not found for API version v1beta."),
        429 => ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota). Please retry in 2s."),
        503 | 529 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
        _ => ("INTERNAL", "An internal error has occurred. Please retry."),
    }
}

fn bedrock(status: u16) -> (&'static str, &'static str) {
    match status {
        400 => ("ValidationException", "The provided model identifier is invalid."),
        403 => ("AccessDeniedException", "You don't have access to the model with the specified model ID."),
        404 => ("ResourceNotFoundException", "The specified model was not found."),
        424 => ("ModelErrorException", "The model had an error."),
        429 => ("ThrottlingException", "Too many requests, please wait before trying again."),
        503 | 529 => ("ServiceUnavailableException", "Bedrock is unable to process your request."),
        _ => ("InternalServerException", "The system encountered an unexpected error during processing."),
    }
}
