//! Messages of a session in the shape of its dialect.

use std::ops::Range;

use seamline_dialects::convert::{Converter, Target};
use seamline_model::conversation::{Answer, Block, Message, Says, Speaker};
use seamline_model::{Alphabet, IdDemand, NameDemand};
use seamline_store::{Hash, Raw};

use super::SessionError;
use crate::{Error, Options, Policy, Repaired};

/// The rule about results that name another call than the one they answer.
const MISADDRESSED: &str = "PAIR005";

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

    /// The messages of a body that was repaired, byte for byte. Those that stayed as they were are not copied.
    pub(super) fn repaired(&self, old: &[Raw], repaired: &Repaired<'_>) -> Result<Vec<Raw>, SessionError> {
        let body: &[u8] = &repaired.body;
        let spans = crate::message_spans(body, &self.options)?;
        let origins = repaired.origins.iter().copied().chain(std::iter::repeat(None));
        let kept = |(span, origin): (Range<usize>, Option<usize>)| {
            let bytes = &body[span];
            let same = origin.and_then(|from| old.get(from)).filter(|message| message.as_bytes() == bytes);
            same.cloned().map_or_else(|| Raw::parse(String::from_utf8_lossy(bytes)), Ok)
        };
        Ok(spans.into_iter().zip(origins).map(kept).collect::<Result<_, _>>()?)
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

    /// The messages that answer the calls of a turn.
    pub(super) fn results(&self, turn: &[Raw], answers: &[Answered]) -> Result<Vec<Raw>, SessionError> {
        // A dialect writes results as such only behind the calls they answer.
        let mut conversation = (self.converter.lift)(&self.body("{}", turn.iter())?).map_err(Error::from)?;
        let blocks = answers.iter().map(|answer| Block::new(Says::Result(said(answer)), String::new()));
        conversation.messages.push(Message { speaker: Speaker::User, blocks: blocks.collect() });
        let anything = IdDemand { alphabet: Alphabet::Any, length_max: usize::MAX, ..self.converter.call_id };
        let target = Target {
            provider: self.options.provider.as_deref(),
            call_id: anything,
            tool_name: NameDemand { length_max: usize::MAX, ..self.converter.tool_name },
            ..Target::of(self.converter)
        };
        let rendered = (self.converter.render)(&conversation, &target);
        let body = rendered.body.as_bytes();
        let outline = crate::outline(body, &self.options, 0..usize::MAX)?;
        let results = outline.iter().filter(|message| message.blocks.iter().any(|block| block.kind == "result"));
        let texts = results.map(|message| String::from_utf8_lossy(&body[message.span.clone()]).into_owned());
        let results: Vec<Raw> = texts.map(Raw::parse).collect::<Result<_, _>>()?;
        self.addressed(turn, results)
    }

    /// Results, of which those of calls without ids are addressed as the dialect addresses such calls.
    fn addressed(&self, turn: &[Raw], results: Vec<Raw>) -> Result<Vec<Raw>, SessionError> {
        let all: Vec<Raw> = turn.iter().chain(&results).cloned().collect();
        let body = self.body("{}", all.iter())?;
        let options = Options { policy: Policy::default(), ..self.options.clone() };
        if crate::check(&body, &options)?.findings.iter().all(|finding| finding.code != MISADDRESSED) {
            return Ok(results);
        }
        let repaired = crate::repair(&body, &options)?;
        let stems = |origin: &Option<usize>| origin.is_some_and(|from| from >= turn.len());
        let messages = self.repaired(&all, &repaired)?.into_iter().zip(&repaired.origins);
        let addressed: Vec<Raw> = messages.filter(|(_, origin)| stems(origin)).map(|(message, _)| message).collect();
        Ok(if addressed.len() == results.len() { addressed } else { results })
    }

    /// What the result of a call says in a message.
    pub(super) fn result_text(&self, message: &Raw, call: &str) -> Result<Option<String>, SessionError> {
        let conversation = (self.converter.lift)(&self.body("{}", std::iter::once(message))?).map_err(Error::from)?;
        let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
        let mut texts = blocks.filter_map(|block| match &block.says {
            Says::Result(answer) if answer.id == call => match answer.blocks.as_slice() {
                [Block { says: Says::Text(text), .. }] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        });
        Ok(texts.next())
    }

    /// The roles of messages, as their dialect means them.
    pub(super) fn roles(&self, messages: &[&Raw]) -> Result<Vec<&'static str>, SessionError> {
        let body = self.body("{}", messages.iter().copied())?;
        let outline = crate::outline(&body, &self.options, 0..messages.len())?;
        Ok(outline.iter().map(|message| message.role).collect())
    }
}

fn said(answer: &Answered) -> Answer {
    let text = Block::new(Says::Text(answer.output.clone()), String::new());
    Answer { id: answer.id.clone(), name: Some(answer.name.clone()), blocks: vec![text], failed: answer.failed }
}

/// The hash of what a call is called with.
pub(super) fn arguments_hash(call: &ToolCall) -> Hash {
    Hash::of(call.name.as_bytes()).then(call.input.as_bytes())
}
