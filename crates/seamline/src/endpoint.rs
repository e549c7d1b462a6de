//! The endpoints of providers: which dialect a path speaks, which model it names, and whose server it is.

/// A server of a provider.
#[derive(Debug, Clone, Copy)]
pub struct KnownServer {
    /// The short name of the server, which is the first segment of a path through the proxy.
    pub name: &'static str,
    /// The URL of the API, without a trailing slash.
    pub url: &'static str,
    /// The provider whose demands apply.
    pub provider: &'static str,
}

/// The servers that are known by their URL.
pub const SERVERS: &[KnownServer] = &[
    KnownServer { name: "anthropic", url: "https://api.anthropic.com", provider: "anthropic" },
    KnownServer { name: "openai", url: "https://api.openai.com", provider: "openai" },
    KnownServer { name: "chatgpt", url: "https://chatgpt.com", provider: "codex" },
    KnownServer { name: "gemini", url: "https://generativelanguage.googleapis.com", provider: "gemini" },
    KnownServer { name: "vertex", url: "https://aiplatform.googleapis.com", provider: "vertex-gemini" },
    KnownServer { name: "bedrock", url: "https://bedrock-runtime.us-east-1.amazonaws.com", provider: "bedrock" },
    KnownServer { name: "deepseek", url: "https://api.deepseek.com", provider: "deepseek" },
    KnownServer { name: "mistral", url: "https://api.mistral.ai", provider: "mistral" },
    KnownServer { name: "groq", url: "https://api.groq.com/openai", provider: "groq" },
    KnownServer { name: "openrouter", url: "https://openrouter.ai/api", provider: "openrouter" },
    KnownServer { name: "xai", url: "https://api.x.ai", provider: "xai" },
    KnownServer { name: "cerebras", url: "https://api.cerebras.ai", provider: "cerebras" },
    KnownServer { name: "fireworks", url: "https://api.fireworks.ai/inference", provider: "fireworks" },
    KnownServer { name: "together", url: "https://api.together.xyz", provider: "together" },
    KnownServer { name: "moonshot", url: "https://api.moonshot.ai", provider: "moonshot" },
    KnownServer { name: "zai", url: "https://api.z.ai/api/paas/v4", provider: "zai" },
    KnownServer { name: "minimax", url: "https://api.minimax.io", provider: "minimax" },
    KnownServer {
        name: "dashscope",
        url: "https://dashscope-intl.aliyuncs.com/compatible-mode",
        provider: "dashscope",
    },
    KnownServer { name: "cohere", url: "https://api.cohere.ai/compatibility", provider: "cohere" },
    KnownServer { name: "ollama", url: "http://127.0.0.1:11434", provider: "ollama" },
    KnownServer { name: "llama-cpp", url: "http://127.0.0.1:8080", provider: "llama-cpp" },
    KnownServer { name: "lm-studio", url: "http://127.0.0.1:1234", provider: "lm-studio" },
    KnownServer { name: "vllm", url: "http://127.0.0.1:8000", provider: "vllm" },
];

/// The endpoint that a request is for.
///
/// ```
/// use seamline::endpoint::Endpoint;
///
/// let endpoint = Endpoint::of_url("POST", "https://api.deepseek.com/v1/chat/completions");
/// assert_eq!((endpoint.dialect, endpoint.provider), (Some("openai_chat"), Some("deepseek")));
/// assert_eq!(Endpoint::of_url("GET", "https://api.openai.com/v1/models").dialect, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// The dialect of the body; `None` where the body is not a conversation.
    pub dialect: Option<&'static str>,
    /// The model that the path names.
    pub model: Option<String>,
    /// The provider whose server it is, where the host tells it.
    pub provider: Option<&'static str>,
}

impl Endpoint {
    /// The endpoint of a method and a URL, with the provider whose server it is.
    pub fn of_url(method: &str, url: &str) -> Self {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        let host = host.rsplit('@').next().unwrap_or_default();
        Self { provider: provider_of(host), ..Self::of(method, path) }
    }

    /// The endpoint of a method and a path. Only a `POST` has a body with a conversation.
    ///
    /// ```
    /// use seamline::endpoint::Endpoint;
    ///
    /// let endpoint = Endpoint::of("POST", "/v1beta/models/gemini-3-pro:generateContent");
    /// assert_eq!((endpoint.dialect, endpoint.model.as_deref()), (Some("gemini_generate"), Some("gemini-3-pro")));
    /// ```
    pub fn of(method: &str, path: &str) -> Self {
        if method != "POST" {
            return Self::default();
        }
        let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
        let (last, before, third) = (segments.next(), segments.next(), segments.next());
        match (third, before, last) {
            (_, Some("chat"), Some("completions")) => Self::speaking("openai_chat"),
            (_, _, Some("responses")) => Self::speaking("openai_responses"),
            (_, before, Some("messages")) if is_root(before) => Self::speaking("anthropic_messages"),
            (before, Some("messages"), Some("count_tokens")) if is_root(before) => Self::speaking("anthropic_messages"),
            (_, _, Some("interactions")) => Self::speaking("gemini_interactions"),
            (Some("model"), Some(model), Some("converse" | "converse-stream")) => {
                Self { model: Some(decoded(model)), ..Self::speaking("bedrock_converse") }
            }
            (Some("model"), Some(model), Some("invoke" | "invoke-with-response-stream")) => {
                Self::of_invoked(decoded(model))
            }
            (_, _, Some(last)) => {
                last.rsplit_once(':').map_or_else(Self::default, |(model, verb)| Self::of_verb(&decoded(model), verb))
            }
            _ => Self::default(),
        }
    }

    /// The endpoint of `InvokeModel` of Bedrock, which takes the bodies of Anthropic's models unchanged. The bodies of
    /// other models are not conversations of a known dialect.
    fn of_invoked(model: String) -> Self {
        if !model.contains("anthropic.claude") {
            return Self::default();
        }
        Self { model: Some(model), ..Self::speaking("anthropic_messages") }
    }

    /// The endpoint of Google's paths, which end with `MODEL:VERB`.
    fn of_verb(model: &str, verb: &str) -> Self {
        let dialect = match verb {
            "generateContent" | "streamGenerateContent" => "gemini_generate",
            // Vertex takes the bodies of Anthropic's models unchanged.
            "rawPredict" | "streamRawPredict" if model.starts_with("claude") => "anthropic_messages",
            _ => return Self::default(),
        };
        Self { dialect: Some(dialect), model: Some(model.to_owned()), provider: None }
    }

    fn speaking(dialect: &'static str) -> Self {
        Self { dialect: Some(dialect), model: None, provider: None }
    }
}

/// Whether a segment is the start of an API: its version, or the name of its vendor. Messages of a thread or a channel
/// are not requests to a model.
fn is_root(segment: Option<&str>) -> bool {
    segment.is_none_or(|segment| {
        let is_version =
            segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        is_version || segment.eq_ignore_ascii_case("anthropic")
    })
}

/// The provider of a host with or without a port. Servers on this machine tell nothing by their port, and Amazon and
/// Google have a host for each region.
fn provider_of(host: &str) -> Option<&'static str> {
    let host = host.to_ascii_lowercase();
    let is_remote = |server: &&KnownServer| server.url.starts_with("https://");
    let known = SERVERS.iter().filter(is_remote).find(|server| {
        let rest = server.url.trim_start_matches("https://");
        rest.split('/').next() == Some(host.trim_end_matches(":443"))
    });
    match known {
        Some(server) => Some(server.provider),
        None if host.starts_with("bedrock-runtime") && host.ends_with(".amazonaws.com") => Some("bedrock"),
        None if host.ends_with(".openai.azure.com") => Some("azure"),
        None => None,
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
        Endpoint::of("POST", path).dialect
    }

    #[test]
    fn the_path_tells_the_dialect() {
        assert_eq!(dialect("/v1/messages"), Some("anthropic_messages"));
        assert_eq!(dialect("/v1/messages/count_tokens"), Some("anthropic_messages"));
        assert_eq!(dialect("/v1/chat/completions"), Some("openai_chat"));
        assert_eq!(dialect("/openai/deployments/gpt/chat/completions"), Some("openai_chat"));
        assert_eq!(dialect("/v1/responses"), Some("openai_responses"));
        assert_eq!(dialect("/v1beta/interactions"), Some("gemini_interactions"));
        for path in ["/messages", "/anthropic/messages", "/anthropic/v1/messages/count_tokens"] {
            assert_eq!(dialect(path), Some("anthropic_messages"), "{path}");
        }
        for other in ["/v1/threads/thread_1/messages", "/api/channels/7/messages", "/chat/messages/count_tokens"] {
            assert_eq!(dialect(other), None, "{other}");
        }
        for other in ["/v1/models", "/v1/embeddings", "/v1/responses/resp_1/cancel", "/", "", "/v1/messages/batches"] {
            assert_eq!(dialect(other), None, "{other}");
        }
        assert_eq!(Endpoint::of("GET", "/v1/responses").dialect, None);
    }

    #[test]
    fn the_host_names_the_provider() {
        let provider = |url: &str| Endpoint::of_url("POST", url).provider;
        assert_eq!(provider("https://api.groq.com/openai/v1/chat/completions"), Some("groq"));
        assert_eq!(provider("https://API.OpenAI.com:443/v1/responses?x=1"), Some("openai"));
        assert_eq!(provider("https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse"), Some("bedrock"));
        assert_eq!(provider("https://mine.openai.azure.com/openai/v1/responses"), Some("azure"));
        for other in ["http://127.0.0.1:11434/v1/chat/completions", "https://example.com/v1/messages", "", "api"] {
            assert_eq!(provider(other), None, "{other}");
        }
        let gateway = Endpoint::of_url("POST", "https://u:p@api.openai.com/v1/chat/completions#x");
        assert_eq!((gateway.dialect, gateway.provider), (Some("openai_chat"), Some("openai")));
        assert!(SERVERS.iter().all(|server| crate::providers::by_name(server.provider).is_some()));
    }

    #[test]
    fn the_path_names_the_model() {
        let gemini = Endpoint::of("POST", "/v1beta/models/gemini-3-pro:streamGenerateContent");
        assert_eq!((gemini.dialect, gemini.model.as_deref()), (Some("gemini_generate"), Some("gemini-3-pro")));
        let bedrock = Endpoint::of("POST", "/model/anthropic.claude-v1%3A0/converse-stream");
        let expected = (Some("bedrock_converse"), Some("anthropic.claude-v1:0"));
        assert_eq!((bedrock.dialect, bedrock.model.as_deref()), expected);
        assert_eq!(
            dialect("/v1/projects/p/publishers/anthropic/models/claude-x@1:rawPredict"),
            Some("anthropic_messages")
        );
        for model in ["anthropic.claude-v1:0", "us.anthropic.claude-opus-4-5-v1:0", "global.anthropic.claude-x"] {
            for verb in ["invoke", "invoke-with-response-stream"] {
                let invoked = Endpoint::of("POST", &format!("/bedrock/model/{}/{verb}", model.replace(':', "%3A")));
                assert_eq!((invoked.dialect, invoked.model.as_deref()), (Some("anthropic_messages"), Some(model)));
            }
        }
        assert_eq!(dialect("/model/amazon.nova-pro-v1%3A0/invoke"), None);
        assert_eq!(dialect("/v1beta/models/gemini-3-pro:countTokens"), None);
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
