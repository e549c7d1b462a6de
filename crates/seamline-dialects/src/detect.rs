//! Which dialect a body is written in.

use std::ops::ControlFlow;

use crate::anthropic_messages::AnthropicMessages;
use crate::bedrock_converse::BedrockConverse;
use crate::gemini_generate::GeminiGenerate;
use crate::json::{Document, Kind, ListVisitor, Value};
use crate::openai_chat::OpenAiChat;
use crate::openai_responses::OpenAiResponses;
use crate::reader::unreadable;
use crate::{Dialect, Error, Provider, providers};

/// How many messages are looked at.
const MESSAGES_MAX: usize = 256;

/// The name of the list of messages, which outweighs what a message looks like.
const NAMED: i32 = 1000;

/// What only one dialect has.
const DECISIVE: i32 = 10;

/// A model whose provider is known. It says less than what only one dialect has, and more than
/// what several have.
const CLAIMED: i32 = 8;

/// The dialects that can be told apart. Of two with the same score the earlier one is
/// taken, so the more widely spoken come first.
#[derive(Clone, Copy)]
enum Candidate {
    OpenAiChat,
    AnthropicMessages,
    OpenAiResponses,
    GeminiGenerate,
    BedrockConverse,
}

impl Candidate {
    const ALL: [Self; 5] =
        [Self::OpenAiChat, Self::AnthropicMessages, Self::OpenAiResponses, Self::GeminiGenerate, Self::BedrockConverse];

    fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::OpenAiChat => &OpenAiChat,
            Self::AnthropicMessages => &AnthropicMessages,
            Self::OpenAiResponses => &OpenAiResponses,
            Self::GeminiGenerate => &GeminiGenerate,
            Self::BedrockConverse => &BedrockConverse,
        }
    }
}

/// The dialect a body is written in, judged by its fields; the first decisive one counts.
/// A conversation of plain text alone is taken for the more widely spoken one.
///
/// # Errors
///
/// When the body is not JSON, as far as it was looked at.
pub fn detect(body: &[u8]) -> Result<&'static dyn Dialect, Error> {
    let mut signs = Signs::default();
    let envelope = Document::read_list(body, &mut signs).map_err(|syntax| unreadable(body, syntax))?;
    if !signs.is_decisive() {
        for (key, value) in envelope.root().members() {
            signs.envelope_member(&key.name(), value);
        }
    }
    Ok(signs.best().dialect())
}

/// The dialect that a body is certainly written in, if that is another one than this: calls,
/// results or the list of messages are those of another dialect, and none are of this one.
/// Nothing when the body has no such signs, or cannot be read.
pub fn contradiction(body: &[u8], dialect: &str) -> Option<&'static dyn Dialect> {
    let mut signs = Signs { thorough: true, ..Signs::default() };
    Document::read_list(body, &mut signs).ok()?;
    let certain =
        || Candidate::ALL.into_iter().filter(|&candidate| signs.is_certain(candidate)).map(Candidate::dialect);
    if certain().any(|found| found.name() == dialect) { None } else { certain().next() }
}

/// What speaks for each candidate.
#[derive(Default)]
struct Signs {
    scores: [i32; Candidate::ALL.len()],
    /// Of signs that prove little, however often they occur, the strongest.
    hints: [i32; Candidate::ALL.len()],
    /// Whether the conversation holds what no other dialect has.
    certain: [bool; Candidate::ALL.len()],
    /// What the list of messages is called.
    list: Option<&'static str>,
    /// Whether one decisive sign is not enough.
    thorough: bool,
    seen: usize,
}

impl Signs {
    fn add(&mut self, candidate: Candidate, score: i32) {
        self.scores[candidate as usize] += score;
    }

    /// Adds what no other dialect has.
    fn prove(&mut self, candidate: Candidate) {
        self.add(candidate, DECISIVE);
        self.certain[candidate as usize] = true;
    }

    /// Adds what proves little, however often it occurs.
    fn hint(&mut self, candidate: Candidate, score: i32) {
        let hint = &mut self.hints[candidate as usize];
        *hint = score.max(*hint);
    }

    /// Whether the conversation holds what only this one has, in a list that it may have.
    fn is_certain(&self, candidate: Candidate) -> bool {
        let fits = match candidate {
            Candidate::OpenAiResponses => self.list.is_none_or(|list| list == "input"),
            Candidate::GeminiGenerate => self.list.is_none_or(|list| list == "contents"),
            _ => self.list.is_none_or(|list| list == "messages"),
        };
        fits && self.certain[candidate as usize]
    }

    fn is_decisive(&self) -> bool {
        self.scores.iter().any(|&score| score >= DECISIVE)
    }

    fn best(&self) -> Candidate {
        let score = |candidate: Candidate| self.scores[candidate as usize] + self.hints[candidate as usize];
        let better = |one, other| if score(other) > score(one) { other } else { one };
        Candidate::ALL.into_iter().reduce(better).unwrap_or(Candidate::OpenAiChat)
    }

    fn envelope_member(&mut self, key: &str, value: Value<'_, '_>) {
        match key {
            "anthropic_version" | "anthropic_beta" => self.add(Candidate::AnthropicMessages, DECISIVE),
            "previous_response_id" => self.add(Candidate::OpenAiResponses, DECISIVE),
            // A text; a list was entered.
            "input" if value.is(Kind::String) => self.add(Candidate::OpenAiResponses, DECISIVE),
            "modelId" | "toolConfig" | "inferenceConfig" | "guardrailConfig" | "additionalModelRequestFields" => {
                self.add(Candidate::BedrockConverse, DECISIVE);
            }
            "system" if value.elements().next().is_some_and(is_typeless_text) => {
                self.add(Candidate::BedrockConverse, 3);
            }
            "system" | "stop_sequences" => self.add(Candidate::AnthropicMessages, 3),
            // Also taken by servers of the other dialect.
            "thinking" => self.add(Candidate::AnthropicMessages, 1),
            "max_completion_tokens"
            | "stream_options"
            | "response_format"
            | "frequency_penalty"
            | "parallel_tool_calls"
            | "logprobs"
            | "reasoning_effort"
            | "functions" => self.add(Candidate::OpenAiChat, 3),
            "model" => self.model(value.raw_str()),
            "tools" => {
                if let Some(tool) = value.elements().next() {
                    self.tool(tool);
                }
            }
            _ => {}
        }
    }

    fn model(&mut self, model: &str) {
        let claims = |provider: &&&Provider| provider.models.iter().any(|start| model.starts_with(start));
        for candidate in Candidate::ALL {
            let name = candidate.dialect().name();
            if providers::ALL.iter().filter(claims).any(|provider| provider.dialect == name) {
                self.add(candidate, CLAIMED);
            }
        }
    }

    fn tool(&mut self, tool: Value<'_, '_>) {
        for (key, _) in tool.members() {
            match &*key.name() {
                "function" => self.add(Candidate::OpenAiChat, DECISIVE),
                "input_schema" => self.add(Candidate::AnthropicMessages, DECISIVE),
                _ => {}
            }
        }
    }

    fn message_member(&mut self, key: &str, value: Value<'_, '_>) {
        match (key, value.kind()) {
            ("tool_calls" | "tool_call_id", kind) if kind != Kind::Null => self.prove(Candidate::OpenAiChat),
            ("function_call" | "reasoning_content", kind) if kind != Kind::Null => {
                self.add(Candidate::OpenAiChat, DECISIVE);
            }
            ("role", _) => match value.raw_str() {
                "tool" | "function" => self.prove(Candidate::OpenAiChat),
                "developer" => self.add(Candidate::OpenAiChat, DECISIVE),
                "system" => self.hint(Candidate::OpenAiChat, 1),
                _ => {}
            },
            ("type", Kind::String) if is_item_type(value.raw_str()) => self.prove(Candidate::OpenAiResponses),
            // Answers of another provider have this type too.
            ("type", Kind::String) if value.says("message") => self.hint(Candidate::OpenAiResponses, 2),
            ("content", Kind::Array) => {
                for block in value.elements() {
                    self.block(block);
                }
            }
            ("parts", Kind::Array) => self.prove(Candidate::GeminiGenerate),
            _ => {}
        }
    }

    fn block(&mut self, block: Value<'_, '_>) {
        let kind = block.object().and_then(|block| block.get("type"));
        match kind.map(Value::raw_str) {
            Some("tool_use" | "tool_result" | "redacted_thinking" | "server_tool_use") => {
                self.prove(Candidate::AnthropicMessages);
            }
            // Also what some servers of the other dialect give.
            Some("thinking") => self.hint(Candidate::AnthropicMessages, 5),
            Some("input_text" | "output_text" | "input_image" | "input_file") => {
                self.prove(Candidate::OpenAiResponses);
            }
            Some("image_url" | "input_audio" | "file") => self.add(Candidate::OpenAiChat, DECISIVE),
            Some("image" | "document") => self.hint(Candidate::AnthropicMessages, 3),
            None => self.typeless_block(block),
            _ => {}
        }
    }

    fn typeless_block(&mut self, block: Value<'_, '_>) {
        for (key, _) in block.members() {
            match &*key.name() {
                "toolUse" | "toolResult" => self.prove(Candidate::BedrockConverse),
                "reasoningContent" | "cachePoint" => self.add(Candidate::BedrockConverse, DECISIVE),
                "text" => self.hint(Candidate::BedrockConverse, 3),
                _ => {}
            }
        }
    }
}

/// Whether a block is a text that does not say it is one.
fn is_typeless_text(block: Value<'_, '_>) -> bool {
    block.object().is_some_and(|block| block.get("type").is_none() && block.get("text").is_some())
}

/// Whether only an item of the Responses dialect has this type.
fn is_item_type(name: &str) -> bool {
    matches!(name, "reasoning" | "item_reference" | "compaction")
        || name.ends_with("_call")
        || name.ends_with("_call_output")
}

impl<'a> ListVisitor<'a> for &mut Signs {
    fn enter(&mut self, key: Option<&str>) -> bool {
        match key {
            None => true,
            Some("messages") => {
                self.list = Some("messages");
                self.add(Candidate::OpenAiResponses, -NAMED);
                self.add(Candidate::GeminiGenerate, -NAMED);
                true
            }
            Some("input") => {
                self.list = Some("input");
                self.add(Candidate::OpenAiResponses, NAMED);
                self.certain[Candidate::OpenAiResponses as usize] = true;
                true
            }
            Some("contents") => {
                self.list = Some("contents");
                self.prove(Candidate::GeminiGenerate);
                true
            }
            Some(_) => false,
        }
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        self.seen += 1;
        if self.seen <= MESSAGES_MAX {
            for (key, member) in value.members() {
                self.message_member(&key.name(), member);
            }
        }
        let enough = if self.thorough { self.seen >= MESSAGES_MAX } else { self.is_decisive() };
        if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_claims_the_model_outweighs_blocks_that_several_dialects_have() {
        let name = |model: &str, block: &str| {
            let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":[{block},{block}]}}]}}"#);
            detect(body.as_bytes()).unwrap().name()
        };
        let thinking = r#"{"type":"thinking","thinking":"hm"}"#;
        assert_eq!(name("magistral-medium", thinking), "openai_chat");
        assert_eq!(name("claude-sonnet-4-5", thinking), "anthropic_messages");
        assert_eq!(name("nobody-knows", thinking), "anthropic_messages");
        assert_eq!(name("gpt-4o", r#"{"type":"image"}"#), "openai_chat");
        assert_eq!(name("gpt-4o", r#"{"type":"tool_result"}"#), "anthropic_messages");
    }

    #[test]
    fn parts_among_messages_make_no_gemini() {
        let body = br#"{"messages":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
        assert_eq!(detect(body).unwrap().name(), "openai_chat");
    }
}
