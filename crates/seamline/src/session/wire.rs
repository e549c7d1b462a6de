//! Messages of a session in the shape of its dialect.

use seamline_dialects::convert::{Converter, ForeignReasoning, Target};
use seamline_model::conversation::{Answer, Block, Conversation, Message, Says, Speaker};
use seamline_model::{Alphabet, IdDemand, NameDemand};
use seamline_store::{Hash, Raw};

use super::SessionError;
use crate::{Error, Options};

/// The dialect of a session, and what repairs and checks are told.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    pub(super) dialect: &'static str,
    pub(super) options: Options,
    converter: &'static Converter,
}

/// A call that a turn makes.
///
/// ```
/// let call = seamline::session::ToolCall { id: "toolu_1".into(), name: "read".into(), input: "{}".into(), key: None };
/// assert_eq!(call.name, "read");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is called with: JSON, or the text itself where the tool takes text.
    pub input: String,
    /// What makes two runs of it the same for a tool that can tell, once it is begun.
    pub key: Option<String>,
}

/// What a call is answered with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) output: String,
    pub(super) failed: bool,
}

impl Wire {
    pub(super) fn new(options: Options) -> Result<Self, Error> {
        let named = options.dialect.as_deref().unwrap_or_default();
        let dialect = seamline_dialects::by_name(named).ok_or_else(|| Error::UnknownDialect(named.to_owned()))?;
        Ok(Self { dialect: dialect.name(), options, converter: dialect.converter() })
    }

    /// A body with these messages as its last member, and around them what the request says beside them.
    pub(super) fn body<'m>(
        &self,
        envelope: &str,
        messages: impl Iterator<Item = &'m Raw>,
    ) -> Result<Vec<u8>, SessionError> {
        let envelope = envelope.trim();
        let wrong = || SessionError::Refused("what a request says beside its messages is a JSON object".to_owned());
        let inside = envelope.strip_suffix('}').filter(|_| envelope.starts_with('{')).ok_or_else(wrong)?.trim_end();
        let comma = if inside == "{" { "" } else { "," };
        let mut body = format!("{inside}{comma}\"{}\":[", self.converter.list).into_bytes();
        let start = body.len();
        for message in messages {
            if body.len() > start {
                body.push(b',');
            }
            body.extend_from_slice(message.as_bytes());
        }
        body.extend_from_slice(b"]}");
        Ok(body)
    }

    /// The messages of a body, byte for byte.
    pub(super) fn messages(&self, body: &[u8]) -> Result<Vec<Raw>, SessionError> {
        let spans = crate::message_spans(body, &self.options)?;
        let texts = spans.into_iter().map(|span| String::from_utf8_lossy(&body[span]).into_owned());
        texts.map(|text| Ok(Raw::parse(text)?)).collect()
    }

    /// The calls that messages make.
    pub(super) fn calls(&self, turn: &[Raw]) -> Result<Vec<ToolCall>, SessionError> {
        let body = self.body("{}", turn.iter())?;
        let conversation = (self.converter.lift)(&body).map_err(Error::from)?;
        let calls = conversation.calls().map(|call| ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            input: call.free.clone().unwrap_or_else(|| call.input.clone()),
            key: None,
        });
        Ok(calls.collect())
    }

    /// The messages that answer calls.
    pub(super) fn results(&self, answers: &[Answered]) -> Result<Vec<Raw>, SessionError> {
        let blocks = answers.iter().map(|answer| {
            let text = Block::new(Says::Text(answer.output.clone()), String::new());
            let result = Answer {
                id: answer.id.clone(),
                name: Some(answer.name.clone()),
                blocks: vec![text],
                failed: answer.failed,
            };
            Block::new(Says::Result(result), String::new())
        });
        let message = Message { speaker: Speaker::User, blocks: blocks.collect() };
        let conversation = Conversation { messages: vec![message], ..Conversation::default() };
        let anything = IdDemand { alphabet: Alphabet::Any, length_max: usize::MAX, ..self.converter.call_id };
        let target = Target {
            provider: self.options.provider.as_deref().and_then(crate::providers::by_name).map(|found| found.name),
            model: None,
            call_id: anything,
            tool_name: NameDemand { length_max: usize::MAX, ..self.converter.tool_name },
            missing: &self.options.policy.synthetic_text.missing,
            made_up: &[],
            foreign_reasoning: ForeignReasoning::default(),
            layout: b"{}",
        };
        let rendered = (self.converter.render)(&conversation, &target);
        self.messages(rendered.body.as_bytes())
    }

    /// The roles of messages, as their dialect means them.
    pub(super) fn roles(&self, messages: &[&Raw]) -> Result<Vec<&'static str>, SessionError> {
        let body = self.body("{}", messages.iter().copied())?;
        let outline = crate::outline(&body, &self.options, 0..messages.len())?;
        Ok(outline.iter().map(|message| message.role).collect())
    }
}

/// The hash of what a call is called with.
pub(super) fn arguments_hash(call: &ToolCall) -> Hash {
    Hash::of(call.name.as_bytes()).then(call.input.as_bytes())
}
