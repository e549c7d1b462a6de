//! Facts about a response beside its content: its model, why it ended, and how many tokens it took.

use crate::Dialect;
use crate::json::{Document, Value};

/// The facts about a response. Words are left out that do not look like the name of something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseFacts {
    /// The model that answered.
    pub model: Option<String>,
    /// Why the model stopped, in the words of the provider.
    pub finish_reasons: Vec<String>,
    /// The number of tokens of the request, with those of a cache.
    pub input_tokens: Option<u64>,
    /// The number of tokens of the response.
    pub output_tokens: Option<u64>,
}

/// A path of members; `*` is every element of a list.
type Path = &'static [&'static str];

/// The places of the facts in a response without streaming.
pub(crate) struct FactPaths {
    pub(crate) model: Path,
    pub(crate) finish_reasons: &'static [Path],
    /// The counts that together are the tokens of the request.
    pub(crate) input_tokens: &'static [Path],
    /// The counts that together are the tokens of the response.
    pub(crate) output_tokens: &'static [Path],
}

/// The longest name.
const NAME_BYTES_MAX: usize = 128;

/// The most finish reasons.
const REASONS_MAX: usize = 16;

impl Dialect {
    /// The facts about a response that does not stream; none where it cannot be read.
    pub fn response_facts(&self, response: &[u8]) -> ResponseFacts {
        let document = std::str::from_utf8(response).ok().and_then(|text| Document::read(text).ok());
        let Some(document) = document else { return ResponseFacts::default() };
        let (root, paths) = (document.root(), self.facts);
        let reasons = paths.finish_reasons.iter().flat_map(|path| values(root, path));
        ResponseFacts {
            model: values(root, paths.model).into_iter().find_map(name),
            finish_reasons: reasons.filter_map(name).take(REASONS_MAX).collect(),
            input_tokens: sum(root, paths.input_tokens),
            output_tokens: sum(root, paths.output_tokens),
        }
    }
}

fn values<'d, 'a>(root: Value<'d, 'a>, path: &[&str]) -> Vec<Value<'d, 'a>> {
    let mut found = vec![root];
    for part in path {
        found = match *part {
            "*" => found.into_iter().flat_map(Value::elements).collect(),
            key => found.into_iter().filter_map(|value| value.object()?.get(key)).collect(),
        };
    }
    found
}

fn name(value: Value<'_, '_>) -> Option<String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/@".contains(&byte);
    let is_name = |text: &str| !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_letter);
    Some(value.str()?.into_owned()).filter(|text| is_name(text))
}

/// The sum of counts; `None` where there is none of them.
fn sum(root: Value<'_, '_>, paths: &[Path]) -> Option<u64> {
    let counts = paths.iter().flat_map(|path| values(root, path)).filter_map(|value| value.raw().parse::<u64>().ok());
    counts.fold(None, |sum, count| Some(sum.unwrap_or(0_u64).saturating_add(count)))
}

#[cfg(test)]
mod tests {
    use crate::by_name;

    fn facts(dialect: &str, response: &str) -> (Option<String>, String, Option<u64>, Option<u64>) {
        let facts = by_name(dialect).unwrap().response_facts(response.as_bytes());
        (facts.model, facts.finish_reasons.join(","), facts.input_tokens, facts.output_tokens)
    }

    #[test]
    fn every_dialect_has_its_own_places() {
        let expected =
            |model: Option<&str>, reason: &str| (model.map(str::to_owned), reason.to_owned(), Some(7), Some(3));
        for (dialect, response, model, reason) in [
            (
                "anthropic_messages",
                r#"{"model":"m","stop_reason":"end_turn","usage":{"input_tokens":4,"cache_read_input_tokens":3,"cache_creation_input_tokens":null,"output_tokens":3}}"#,
                Some("m"),
                "end_turn",
            ),
            (
                "bedrock_converse",
                r#"{"output":{},"stopReason":"tool_use","usage":{"inputTokens":7,"outputTokens":3,"totalTokens":10}}"#,
                None,
                "tool_use",
            ),
            (
                "gemini_generate",
                r#"{"modelVersion":"m","candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":1,"thoughtsTokenCount":2}}"#,
                Some("m"),
                "STOP",
            ),
            (
                "gemini_interactions",
                r#"{"model":"m","status":"completed","usage":{"total_input_tokens":7,"total_output_tokens":2,"total_thought_tokens":1}}"#,
                Some("m"),
                "completed",
            ),
            (
                "openai_chat",
                r#"{"model":"m","choices":[{"finish_reason":"stop"},{"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#,
                Some("m"),
                "stop,length",
            ),
            (
                "openai_responses",
                r#"{"model":"m","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":7,"output_tokens":3}}"#,
                Some("m"),
                "incomplete,max_output_tokens",
            ),
        ] {
            assert_eq!(facts(dialect, response), expected(model, reason), "{dialect}");
            assert_eq!(facts(dialect, r#"{"model":"two words","usage":[]}"#), (None, String::new(), None, None));
            assert_eq!(facts(dialect, "{"), (None, String::new(), None, None));
        }
    }
}
