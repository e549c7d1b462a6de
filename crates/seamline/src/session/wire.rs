//! Messages of a session in the shape of its dialect.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use seamline_dialects::convert::Converter;
use seamline_dialects::{Answering, Results};
use seamline_model::conversation::{Block, Call, Conversation, Says};
use seamline_store::{Hash, Raw};

use super::runnable::{NotRun, without_answered};
use super::{SessionError, ToolCallRef, texts};
use crate::{Error, Options, Policy, Repaired};

/// The rule about results that name another call than the one they answer.
const MISADDRESSED: &str = "PAIR005";

/// The dialect of a session, and what repairs and checks are told.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    pub(super) dialect: &'static str,
    pub(super) options: Options,
    converter: &'static Converter,
    results: &'static Results,
}

/// A call that a turn makes.
///
/// ```
/// let call = seamline::session::ToolCall { id: "toolu_1".into(), name: "read".into(), input: "{}".into(), key: None };
/// assert_eq!(call.name, "read");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id. Where calls of one turn share an id, the second is `id#2`, and so on: messages keep the id as it came.
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
    pub(super) fn new(mut options: Options) -> Result<Self, Error> {
        let by_name =
            |name: &str| crate::providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.to_owned()));
        let provider = options.provider.as_deref().map(by_name).transpose()?;
        let asked = options.dialect.as_deref().filter(|name| !name.is_empty());
        let named = asked.or(provider.map(|provider| provider.dialect)).unwrap_or_default();
        let dialect = seamline_dialects::by_name(named).ok_or_else(|| Error::UnknownDialect(named.to_owned()))?;
        if let Some(provider) = provider.filter(|provider| provider.dialect != dialect.name()) {
            let (provider, serves) = (provider.name, provider.dialect);
            return Err(Error::WrongProvider { provider, serves, asked: dialect.name() });
        }
        options.dialect = Some(dialect.name().to_owned());
        Ok(Self { dialect: dialect.name(), options, converter: dialect.converter(), results: dialect.results() })
    }

    /// The start of a body whose last member is the list of messages, up to the first message.
    pub(super) fn head(&self, envelope: &str) -> Result<String, SessionError> {
        let envelope = envelope.trim();
        let wrong = || SessionError::Refused("what a request says beside its messages is a JSON object".to_owned());
        let inside = envelope.strip_suffix('}').filter(|_| envelope.starts_with('{')).ok_or_else(wrong)?.trim_end();
        let list = self.converter.list;
        if inside != "{" && self.converter.holds_list(envelope) {
            let why = format!("`{list}` is made of the messages of the session, and may not stand in the envelope too");
            return Err(SessionError::Refused(why));
        }
        let comma = if inside == "{" { "" } else { "," };
        Ok(format!("{inside}{comma}\"{list}\":["))
    }

    /// A body with these messages as its last member, and around them what the request says beside them.
    pub(super) fn body<'m>(
        &self,
        envelope: &str,
        messages: impl Iterator<Item = &'m Raw> + Clone,
    ) -> Result<Vec<u8>, SessionError> {
        let mut body = self.head(envelope)?.into_bytes();
        let start = body.len();
        body.reserve_exact(messages.clone().map(|message| message.as_bytes().len() + 1).sum::<usize>() + 2);
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

    /// The calls that messages make, each under a name that no other one of them has.
    pub(super) fn calls(&self, turn: &[Raw]) -> Result<Vec<ToolCall>, SessionError> {
        let conversation = self.lifted(turn)?;
        let ids: Vec<&str> = run_here(&conversation).map(|call| call.id.as_str()).collect();
        let calls = run_here(&conversation).zip(names(&ids)).map(|(call, id)| ToolCall {
            id,
            name: call.name.clone(),
            input: call.free.clone().unwrap_or_else(|| call.input.clone()),
            key: None,
        });
        Ok(calls.collect())
    }

    /// The ids of the calls that messages make, as they stand there.
    pub(super) fn call_ids(&self, turn: &[Raw]) -> Result<Vec<String>, SessionError> {
        Ok(run_here(&self.lifted(turn)?).map(|call| call.id.clone()).collect())
    }

    /// The same, but for ids that were made up because a call has none.
    pub(super) fn own_ids(&self, turn: &[Raw]) -> Result<Vec<Option<String>>, SessionError> {
        let conversation = self.lifted(turn)?;
        let is_made = |id: &String| conversation.made.contains_key(id);
        let ids = run_here(&conversation).map(|call| Some(call.id.clone()).filter(|id| !is_made(id)));
        Ok(ids.collect())
    }

    /// Why calls that messages make must not be run, for each of them.
    pub(super) fn not_run(&self, turn: &[Raw]) -> Result<Vec<Option<NotRun>>, SessionError> {
        Ok(run_here(&self.lifted(turn)?).map(NotRun::of).collect())
    }

    /// What messages say, but for calls that they answer themselves.
    fn lifted(&self, messages: &[Raw]) -> Result<Conversation, SessionError> {
        let mut conversation = (self.converter.lift)(&self.body("{}", messages.iter())?).map_err(Error::from)?;
        without_answered(&mut conversation);
        Ok(conversation)
    }

    /// The messages that answer the calls of a turn.
    pub(super) fn results(&self, turn: &[Raw], answers: &[Answered]) -> Result<Vec<Raw>, SessionError> {
        let conversation = self.lifted(turn)?;
        let made: Vec<&Call> = run_here(&conversation).collect();
        // A record may name fewer calls, or others, than are seen in the turn today.
        let by_id = |answer: &Answered| made.iter().copied().find(|call| call.id == answer.id);
        let made_by = |(at, answer): (usize, &Answered)| {
            if made.len() == answers.len() { made.get(at).copied() } else { by_id(answer) }
        };
        let calls = answers.iter().enumerate().map(|it| made_by(it).cloned().unwrap_or_else(|| of(it.1)));
        let calls: Vec<Call> = calls.collect();
        let answering = calls.iter().zip(answers).map(|(call, answer)| Answering {
            call,
            has_id: !conversation.made.contains_key(&call.id),
            text: &answer.output,
            failed: answer.failed,
            made_up: self.is_made_up(&answer.output),
        });
        let written = (self.results.write)(&answering.collect::<Vec<_>>());
        let results: Vec<Raw> = written.into_iter().map(Raw::parse).collect::<Result<_, _>>()?;
        // Calls that share an id have results that share it: they are told apart by their order.
        let mut ids = HashSet::new();
        if calls.iter().all(|call| ids.insert(&call.id)) { self.addressed(turn, results) } else { Ok(results) }
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

    /// Whether a result says what recovery or a policy says of calls without one.
    pub(super) fn is_made_up(&self, text: &str) -> bool {
        texts::is_made_up(text) || self.is_made_up_by_policy(text)
    }

    /// The same of a certain call, about which recovery says which one it is.
    pub(super) fn is_made_up_for(&self, text: &str, call: &ToolCallRef<'_>) -> bool {
        texts::is_about(text, call.name, call.id) || self.is_made_up_by_policy(text)
    }

    fn is_made_up_by_policy(&self, text: &str) -> bool {
        seamline_model::is_synthetic(text) || self.options.policy.own_texts().iter().any(|own| own == text)
    }

    /// What each result in a message says, where that is one text.
    pub(super) fn result_texts(&self, message: &Raw) -> Result<Vec<Option<String>>, SessionError> {
        let conversation = (self.converter.lift)(&self.body("{}", std::iter::once(message))?).map_err(Error::from)?;
        let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
        let texts = blocks.filter_map(|block| match &block.says {
            Says::Result(answer) => Some(match answer.blocks.as_slice() {
                [Block { says: Says::Text(text), .. }] => Some((self.results.said)(text.clone())),
                _ => None,
            }),
            _ => None,
        });
        Ok(texts.collect())
    }

    /// The roles of messages, as their dialect means them.
    pub(super) fn roles(&self, messages: &[&Raw]) -> Result<Vec<&'static str>, SessionError> {
        let body = self.body("{}", messages.iter().copied())?;
        let outline = crate::outline(&body, &self.options, 0..messages.len())?;
        Ok(outline.iter().map(|message| message.role).collect())
    }

    /// Which of these messages the model or its tools said: answers, calls, and what holds results and nothing else.
    pub(super) fn by_model(&self, messages: &[&Raw]) -> Result<Vec<bool>, SessionError> {
        let body = self.body("{}", messages.iter().copied())?;
        let outline = crate::outline(&body, &self.options, 0..messages.len())?;
        let holds_results = |message: &crate::OutlineMessage| {
            !message.blocks.is_empty() && message.blocks.iter().all(|block| block.kind == "result")
        };
        let by_model = |message: &crate::OutlineMessage| {
            matches!(message.role, "assistant" | "tool" | "function") || holds_results(message)
        };
        Ok(outline.iter().map(by_model).collect())
    }
}

/// The calls that are for the client to run.
fn run_here(conversation: &Conversation) -> impl Iterator<Item = &Call> {
    conversation.calls().filter(|call| !call.hosted)
}

/// A call of which nothing is known but what it is answered with.
fn of(answer: &Answered) -> Call {
    let (id, name, input) = (answer.id.clone(), answer.name.clone(), "{}".to_owned());
    Call { id, name, input, free: None, seal: None, whole: true, answered_by: "", hosted: false }
}

/// The hash of what a call is called with.
pub(super) fn arguments_hash(call: &ToolCall) -> Hash {
    Hash::of(call.name.as_bytes()).then(call.input.as_bytes())
}

/// Names for calls of these ids that differ: the first call of an id has it, the next ones a number behind it.
fn names(ids: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut names = Vec::with_capacity(ids.len());
    for id in ids {
        let count = counts.entry(id).or_insert(0);
        *count += 1;
        let mut name = (*id).to_owned();
        // A call may have such an id of its own.
        while *count > 1 && taken.contains(&name) {
            name = format!("{id}#{count}");
            if taken.contains(&name) {
                *count += 1;
            }
        }
        taken.insert(name.clone());
        names.push(name);
    }
    names
}
