//! Writes a transcript as a request body.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod gemini;
pub(crate) mod openai;
pub(crate) mod responses;

use serde_json::Value;

use crate::{
    Dialect,
    text::{self, Style},
    transcript::{Block, Transcript},
};

/// The names of the tools that every rendered body declares.
pub const TOOL_NAMES: [&str; 3] = ["read_file", "search", "run-tests"];

/// The text of the request body that holds `transcript`.
pub fn render(dialect: Dialect, transcript: &Transcript, style: Style) -> String {
    text::write(&body(dialect, transcript), style)
}

/// The request body that holds `transcript`.
pub fn body(dialect: Dialect, transcript: &Transcript) -> Value {
    let row = dialect.row();
    if row.has_cache_blocks { (row.body)(transcript) } else { (row.body)(&without_cache_points(transcript)) }
}

/// The transcript without cache marks that are blocks, and without messages that hold nothing else.
fn without_cache_points(transcript: &Transcript) -> Transcript {
    let is_mark = |block: &Block| *block == Block::CachePoint;
    let mut transcript = transcript.clone();
    transcript.messages.retain(|message| message.blocks.is_empty() || !message.blocks.iter().all(is_mark));
    transcript.messages.iter_mut().for_each(|message| message.blocks.retain(|block| !is_mark(block)));
    transcript
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::render;
    use crate::{
        Dialect,
        text::Style,
        transcript::{Block, Call, CallResult, Ending, Input, Message, Role, Shape, Transcript},
    };

    fn transcript() -> Transcript {
        let call = Call { id: Some("A".into()), name: "search".into(), input: Input::Object(json!({"q": 1})) };
        let thinking = Block::Thinking { text: "hm".into(), signature: "c2ln".into() };
        let mut result = CallResult::new("A", "out");
        result.shape = Shape::Blocks;
        result.ending = Ending::Failed;
        let said = vec![thinking, Block::Text("ok".into()), Block::Call(call)];
        Transcript {
            system: Some("be".into()),
            messages: vec![
                Message::text(Role::User, "go"),
                Message::new(Role::Assistant, said),
                Message::new(Role::User, vec![Block::Result(result), Block::Text("and".into())]),
            ],
        }
    }

    /// The messages alone; the rest of the body is the same every time.
    fn messages(dialect: Dialect) -> String {
        let text = render(dialect, &transcript(), Style::COMPACT);
        let start = text.find(&format!("\"{}\":", dialect.list_key())).unwrap();
        text[start..].to_owned()
    }

    #[test]
    fn anthropic_has_results_in_user_messages() {
        let expected = concat!(
            r#""messages":[{"role":"user","content":"go"},"#,
            r#"{"role":"assistant","content":[{"type":"thinking","signature":"c2ln","thinking":"hm"},"#,
            r#"{"type":"text","text":"ok"},{"type":"tool_use","id":"A","name":"search","input":{"q":1}}]},"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"A","content":[{"type":"text","text":"out"}],"#,
            r#""is_error":true},{"type":"text","text":"and"}]}]}"#,
        );
        assert_eq!(messages(Dialect::AnthropicMessages), expected);
    }

    #[test]
    fn responses_writes_one_item_per_block() {
        let expected = concat!(
            r#""input":[{"role":"system","content":"be"},{"role":"user","content":"go"},"#,
            r#"{"type":"reasoning","id":"rs_c2ln","encrypted_content":"c2ln","#,
            r#""summary":[{"type":"summary_text","text":"hm"}]},"#,
            r#"{"role":"assistant","id":"msg_c2ln_1","content":"ok"},"#,
            r#"{"type":"function_call","id":"fc_c2ln_2","name":"search","arguments":"{\"q\":1}","call_id":"A"},"#,
            r#"{"type":"function_call_output","call_id":"A","output":[{"type":"input_text","text":"out"}]},"#,
            r#"{"role":"user","content":"and"}]}"#,
        );
        assert_eq!(messages(Dialect::OpenAiResponses), expected);
    }

    #[test]
    fn bedrock_names_a_block_by_its_only_member() {
        let expected = concat!(
            r#""messages":[{"role":"user","content":[{"text":"go"}]},{"role":"assistant","content":["#,
            r#"{"reasoningContent":{"reasoningText":{"signature":"c2ln","text":"hm"}}},{"text":"ok"},"#,
            r#"{"toolUse":{"toolUseId":"A","name":"search","input":{"q":1}}}]},"#,
            r#"{"role":"user","content":[{"toolResult":{"toolUseId":"A","content":[{"json":{"output":"out"}}],"#,
            r#""status":"error"}},{"text":"and"}]}],"toolConfig""#,
        );
        let text = messages(Dialect::BedrockConverse);
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn gemini_names_the_tool_of_a_result() {
        let expected = concat!(
            r#""contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":["#,
            r#"{"text":"hm","thought":true,"thoughtSignature":"c2ln"},{"text":"ok"},"#,
            r#"{"functionCall":{"id":"A","name":"search","args":{"q":1}}}]},"#,
            r#"{"role":"user","parts":[{"functionResponse":{"id":"A","name":"search","response":{"error":"out"}}},"#,
            r#"{"text":"and"}]}],"systemInstruction""#,
        );
        let text = messages(Dialect::GeminiGenerate);
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn openai_writes_one_message_per_result() {
        let expected = concat!(
            r#""messages":[{"role":"system","content":"be"},{"role":"user","content":"go"},"#,
            r#"{"role":"assistant","content":"ok","tool_calls":[{"type":"function","id":"A","#,
            r#""function":{"name":"search","arguments":"{\"q\":1}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"A","content":[{"type":"text","text":"out"}]},"#,
            r#"{"role":"user","content":"and"}]}"#,
        );
        assert_eq!(messages(Dialect::OpenAiChat), expected);
    }
}
