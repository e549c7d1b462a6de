//! The endpoints of providers: which dialect a path speaks, and which model it names.

use hyper::Method;

/// The endpoint that a request is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// The dialect of the body; `None` where the proxy does not read the body.
    pub(crate) dialect: Option<&'static str>,
    /// The model that the path names.
    pub(crate) model: Option<String>,
}

impl Endpoint {
    /// The endpoint of a method and a path. Only a `POST` has a body that the proxy reads.
    pub(crate) fn of(method: &Method, path: &str) -> Self {
        if *method != Method::POST {
            return Self::default();
        }
        let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
        let (last, before, third) = (segments.next(), segments.next(), segments.next());
        match (third, before, last) {
            (_, Some("chat"), Some("completions")) => Self::speaking("openai_chat"),
            (_, _, Some("responses")) => Self::speaking("openai_responses"),
            (_, _, Some("messages")) | (_, Some("messages"), Some("count_tokens")) => {
                Self::speaking("anthropic_messages")
            }
            (_, _, Some("interactions")) => Self::speaking("gemini_interactions"),
            (Some("model"), Some(model), Some("converse" | "converse-stream")) => {
                Self { model: Some(decoded(model)), ..Self::speaking("bedrock_converse") }
            }
            (_, _, Some(last)) => {
                last.rsplit_once(':').map_or_else(Self::default, |(model, verb)| Self::of_verb(&decoded(model), verb))
            }
            _ => Self::default(),
        }
    }

    /// The endpoint of Google's paths, which end with `MODEL:VERB`.
    fn of_verb(model: &str, verb: &str) -> Self {
        let dialect = match verb {
            "generateContent" | "streamGenerateContent" => "gemini_generate",
            // Vertex takes the bodies of Anthropic's models as they are.
            "rawPredict" | "streamRawPredict" if model.starts_with("claude") => "anthropic_messages",
            _ => return Self::default(),
        };
        Self { dialect: Some(dialect), model: Some(model.to_owned()) }
    }

    fn speaking(dialect: &'static str) -> Self {
        Self { dialect: Some(dialect), model: None }
    }
}

/// A segment of a path without percent signs. An invalid escape stays as it is.
fn decoded(segment: &str) -> String {
    let bytes = segment.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = segment.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| segment.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(path: &str) -> Option<&'static str> {
        Endpoint::of(&Method::POST, path).dialect
    }

    #[test]
    fn the_path_tells_the_dialect() {
        assert_eq!(dialect("/v1/messages"), Some("anthropic_messages"));
        assert_eq!(dialect("/v1/messages/count_tokens"), Some("anthropic_messages"));
        assert_eq!(dialect("/v1/chat/completions"), Some("openai_chat"));
        assert_eq!(dialect("/openai/deployments/gpt/chat/completions"), Some("openai_chat"));
        assert_eq!(dialect("/v1/responses"), Some("openai_responses"));
        assert_eq!(dialect("/v1beta/interactions"), Some("gemini_interactions"));
        for other in ["/v1/models", "/v1/embeddings", "/v1/responses/resp_1/cancel", "/", "", "/v1/messages/batches"] {
            assert_eq!(dialect(other), None, "{other}");
        }
        assert_eq!(Endpoint::of(&Method::GET, "/v1/responses").dialect, None);
    }

    #[test]
    fn the_path_names_the_model() {
        let gemini = Endpoint::of(&Method::POST, "/v1beta/models/gemini-3-pro:streamGenerateContent");
        assert_eq!((gemini.dialect, gemini.model.as_deref()), (Some("gemini_generate"), Some("gemini-3-pro")));
        let bedrock = Endpoint::of(&Method::POST, "/model/anthropic.claude-v1%3A0/converse-stream");
        let expected = (Some("bedrock_converse"), Some("anthropic.claude-v1:0"));
        assert_eq!((bedrock.dialect, bedrock.model.as_deref()), expected);
        assert_eq!(
            dialect("/v1/projects/p/publishers/anthropic/models/claude-x@1:rawPredict"),
            Some("anthropic_messages")
        );
        assert_eq!(dialect("/v1beta/models/gemini-3-pro:countTokens"), None);
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
