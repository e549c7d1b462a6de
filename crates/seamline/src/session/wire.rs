//! The dialect of a session: reads turns, writes results, and wraps messages into request bodies.

mod identify;
mod mixed;
mod outline;
mod parts;
mod render;
mod turn;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use seamline_dialects::{AnsweredCall, Dialect, Provider, providers};
use seamline_model::conversation::{LiftedBlock, LiftedCall, Says};
use seamline_store::{CallId, CallOutcome, DialectName, Hash, OpenCycle, Raw, Switch};

use super::recover::texts;
use super::{NoMessage, Refusal, SessionError, SessionPolicy};
use crate::outline::{OutlineKind, OutlineMessage};
use crate::policy::{RepairKnob, RepairPolicy, TrailingCall, UnansweredCall};
use crate::repair::Repaired;
use crate::rules::codes;
use crate::{Error, Options, Policy};

pub(super) use mixed::{key, key_of};
pub(super) use render::Rendered;
pub use turn::ToolCall;
pub(super) use turn::{NotRun, ToolTurn, TurnCall};

/// The dialect of a session, and the options for checks and repairs.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    pub(super) dialect: &'static str,
    /// The dialect of messages that name none: that of the first record.
    pub(super) first_dialect: &'static str,
    pub(super) options: Options,
    /// The data and functions of the dialect.
    functions: &'static Dialect,
}

/// The result of a call, as the model reads it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallResult {
    /// The id that the turn gives the call.
    pub(super) id: CallId,
    /// The name of the tool.
    pub(super) name: String,
    /// The text that the model reads.
    pub(super) output: String,
    /// Whether the text reports a failure.
    pub(super) failed: bool,
    /// The outcome of the call; none where the call has no result, and the text says so.
    pub(super) outcome: Option<CallOutcome>,
}

impl CallResult {
    /// Whether a part of the text, or all of it, is neither the tool's nor the executor's.
    pub(super) fn is_synthetic(&self) -> bool {
        self.outcome.is_none_or(CallOutcome::is_synthetic)
    }
}

impl Wire {
    pub(super) fn new(mut options: Options) -> Result<Self, Error> {
        let by_name =
            |name: &str| crate::providers::by_name(name).ok_or_else(|| Error::UnknownProvider(name.to_owned()));
        let provider = options.provider.as_deref().map(by_name).transpose()?;
        let asked = options.dialect.as_deref().filter(|name| !name.is_empty());
        let named = asked.or(provider.map(|provider| provider.dialect)).unwrap_or_default();
        let dialect = seamline_dialects::by_name(named).ok_or_else(|| Error::UnknownDialect(named.to_owned()))?;
        options.dialect = Some(dialect.name().to_owned());
        Ok(Self { dialect: dialect.name(), first_dialect: dialect.name(), options, functions: dialect })
    }

    /// The same wire after a switch.
    pub(super) fn switched(&self, switch: &Switch) -> Result<Self, Error> {
        self.with(Some(switch.dialect.to_string()), switch.provider.clone())
    }

    /// The wire for a provider or a dialect of this name, with the same policy.
    pub(super) fn named(&self, name: &str) -> Result<Self, Error> {
        let (provider, dialect) = crate::providers::side(name).ok_or_else(|| Error::UnknownSide(name.to_owned()))?;
        // Records name a company by its entry of the dialect, where there is one.
        let provider = provider.map(|provider| provider.speaking(dialect.name(), None).provider.name.to_owned());
        self.with(Some(dialect.name().to_owned()), provider)
    }

    fn with(&self, dialect: Option<String>, provider: Option<String>) -> Result<Self, Error> {
        let wire = Self::new(Options { dialect, provider, ..self.options.clone() })?;
        Ok(Self { first_dialect: self.first_dialect, ..wire })
    }

    /// The wire for messages of this dialect, with the same policy. Without a name, it is the one of the first record.
    pub(super) fn for_dialect(&self, dialect: Option<&DialectName>) -> Result<Cow<'_, Self>, SessionError> {
        let dialect = self.dialect_of(dialect);
        if dialect == self.dialect {
            return Ok(Cow::Borrowed(self));
        }
        Ok(Cow::Owned(self.with(Some(dialect.to_owned()), None)?))
    }

    /// The dialect that a record means.
    pub(super) fn dialect_of<'d>(&self, dialect: Option<&'d DialectName>) -> &'d str {
        dialect.map_or(self.first_dialect, DialectName::as_str)
    }

    /// The dialect as records name it.
    pub(super) fn mark(&self) -> Option<DialectName> {
        (self.dialect != self.first_dialect).then(|| self.dialect.into())
    }

    /// Reads the turn of an open cycle, in the dialect of that turn.
    pub(super) fn read_open(&self, open: &OpenCycle) -> Result<ToolTurn, SessionError> {
        self.for_dialect(open.dialect.as_ref())?.read_turn(open.turn.clone())
    }

    /// The provider of the session: the one that it names, else the usual one of its dialect.
    pub(super) fn provider(&self) -> &'static str {
        self.demands().name
    }

    /// The provider of the session, with its demands in the dialect of the session.
    fn demands(&self) -> Provider {
        let named = self.options.provider.as_deref().and_then(providers::by_name);
        let usual = || *providers::for_model(self.dialect, None);
        named.map_or_else(usual, |provider| provider.speaking(self.dialect, None).provider)
    }

    /// The policy for the provider of the session.
    pub(super) fn policy(&self) -> Cow<'_, Policy> {
        self.options.policy.for_provider(self.provider())
    }

    /// The `[session]` section of the policy, for the provider of the session.
    pub(super) fn config(&self) -> Cow<'_, SessionPolicy> {
        self.options.policy.session_for(self.provider())
    }

    /// The `[repair]` section of the policy, for the provider of the session.
    pub(super) fn repairs(&self) -> Cow<'_, RepairPolicy> {
        self.options.policy.repair_for(self.provider())
    }

    /// The options for requests. A call that may stay open in the store must not stay open in a request, since the
    /// provider rejects it: the policy for unanswered calls decides.
    pub(super) fn for_request(&self) -> Cow<'_, Self> {
        if self.repairs().trailing_call != TrailingCall::AllowPending {
            return Cow::Borrowed(self);
        }
        let mut wire = self.clone();
        wire.options.policy.set_for_all(RepairKnob::TrailingCall, |repair| {
            repair.trailing_call = match (repair.trailing_call, repair.unanswered_call) {
                (TrailingCall::AllowPending, UnansweredCall::RemoveCall) => TrailingCall::Remove,
                (TrailingCall::AllowPending, UnansweredCall::Synthesize) => TrailingCall::Close,
                (other, _) => other,
            };
        });
        Cow::Owned(wire)
    }

    /// Writes the start of a request body, up to the first message: the members of the envelope and the list's name.
    pub(super) fn head(&self, envelope: &str) -> Result<String, SessionError> {
        let envelope = envelope.trim();
        let inside = envelope.strip_suffix('}').filter(|_| envelope.starts_with('{'));
        let inside = inside.ok_or(Refusal::EnvelopeNotObject)?.trim_end();
        let list = self.functions.list();
        if inside != "{" && self.functions.holds_list(envelope) {
            return Err(Refusal::EnvelopeHoldsMessages { list }.into());
        }
        let comma = if inside == "{" { "" } else { "," };
        Ok(format!("{inside}{comma}\"{list}\":["))
    }

    /// Writes a request body: the members of the envelope, then these messages.
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

    /// Reads the messages of a repaired body, byte for byte. Messages that stayed as they were are not copied.
    pub(super) fn repaired(&self, old: &[Raw], repaired: &Repaired<'_>) -> Result<Vec<Raw>, SessionError> {
        let body: &[u8] = &repaired.body;
        let spans = crate::outline::message_spans(body, &self.options)?;
        let origins = repaired.origins.iter().copied().chain(std::iter::repeat(None));
        let kept = |(span, origin): (Range<usize>, Option<usize>)| {
            let bytes = &body[span];
            let same = origin.and_then(|from| old.get(from)).filter(|message| message.as_bytes() == bytes);
            same.cloned().map_or_else(|| Raw::parse(String::from_utf8_lossy(bytes)), Ok)
        };
        Ok(spans.into_iter().zip(origins).map(kept).collect::<Result<_, _>>()?)
    }

    /// Writes the messages with the results of the calls of a turn, in the dialect of the turn.
    pub(super) fn write_results(&self, turn: &ToolTurn, results: &[CallResult]) -> Result<Vec<Raw>, SessionError> {
        self.for_dialect(turn.dialect.as_ref())?.write_own_results(turn, results)
    }

    /// Writes the messages with the results of the calls of a turn, in this dialect. The turn may be of another one.
    pub(super) fn write_own_results(&self, turn: &ToolTurn, results: &[CallResult]) -> Result<Vec<Raw>, SessionError> {
        let made = turn.lifted_calls();
        // A record may name fewer calls, or others, than this version reads in the turn.
        let by_id = |result: &CallResult| made.iter().copied().find(|call| result.id == *call.id);
        let call_of = |(at, result): (usize, &CallResult)| {
            if made.len() == results.len() { made.get(at).copied() } else { by_id(result) }
        };
        let calls = results.iter().enumerate().map(|it| call_of(it).cloned().unwrap_or_else(|| unknown_call(it.1)));
        let calls: Vec<LiftedCall> = calls.collect();
        // A policy's own words about a tool that crashed are kept as its output, but get no mark of a failed tool.
        let has_own_words = self.repairs().synthetic_text.crashed.own().is_some();
        let answered = calls.iter().zip(results).map(|(call, result)| AnsweredCall {
            call,
            has_id: turn.has_own_id(&call.id),
            text: &result.output,
            failed: result.failed,
            made_up: result.is_synthetic() || (has_own_words && result.outcome == Some(CallOutcome::Crashed)),
        });
        let written = (self.functions.results().write)(&answered.collect::<Vec<_>>());
        let results: Vec<Raw> = written.into_iter().map(Raw::parse).collect::<Result<_, _>>()?;
        // Calls that share an id have results that share it: their order tells them apart. Results for a turn of another
        // dialect name its ids.
        let mut ids = HashSet::new();
        if turn.dialect == self.mark() && calls.iter().all(|call| ids.insert(&call.id)) {
            self.address(&turn.messages, results)
        } else {
            Ok(results)
        }
    }

    /// Addresses the results of calls without ids as the dialect addresses such calls.
    fn address(&self, turn: &[Raw], results: Vec<Raw>) -> Result<Vec<Raw>, SessionError> {
        let all: Vec<Raw> = turn.iter().chain(&results).cloned().collect();
        let body = self.body("{}", all.iter())?;
        let options = Options { policy: Policy::default(), ..self.options.clone() };
        if crate::check(&body, &options)?.findings.iter().all(|finding| finding.code != codes::MISADDRESSED_RESULT) {
            return Ok(results);
        }
        let repaired = crate::repair(&body, &options)?;
        let stems = |origin: &Option<usize>| origin.is_some_and(|from| from >= turn.len());
        let messages = self.repaired(&all, &repaired)?.into_iter().zip(&repaired.origins);
        let addressed: Vec<Raw> = messages.filter(|(_, origin)| stems(origin)).map(|(message, _)| message).collect();
        Ok(if addressed.len() == results.len() { addressed } else { results })
    }

    /// Whether a text is one that recovery or the policy gives calls without a result.
    pub(super) fn is_synthetic(&self, text: &str) -> bool {
        texts::is_synthetic(text) || self.is_text_of_policy(text)
    }

    /// Whether a text is one that recovery gives this call, or the policy gives any call.
    pub(super) fn is_synthetic_for(&self, text: &str, tool: &str, ids: &[&str]) -> bool {
        texts::is_about(text, tool, ids) || self.is_text_of_policy(text)
    }

    fn is_text_of_policy(&self, text: &str) -> bool {
        seamline_model::is_synthetic(text) || self.options.policy.own_texts().iter().any(|own| own == text)
    }

    /// Reads the text of each result in a message, where the result is one text.
    pub(super) fn result_texts(&self, message: &Raw) -> Result<Vec<Option<String>>, SessionError> {
        let conversation = self.functions.lift(&self.body("{}", std::iter::once(message))?).map_err(Error::from)?;
        let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
        let texts = blocks.filter_map(|block| {
            let Says::Result(result) = &block.says else { return None };
            let [LiftedBlock { says: Says::Text(text), .. }] = result.blocks.as_slice() else { return Some(None) };
            Some(Some((self.functions.results().said)(text.clone())))
        });
        Ok(texts.collect())
    }

    /// Parses messages that the caller gives. Each must be a message of the dialect; nothing else is checked.
    pub(super) fn parse_messages(&self, messages: &[&str]) -> Result<Vec<Raw>, SessionError> {
        let raws: Vec<Raw> = messages.iter().map(|message| Raw::parse(*message)).collect::<Result<_, _>>()?;
        for (number, message) in (1..).zip(&raws) {
            if let Some(what) = NoMessage::of(Some(self.dialect), message.as_str()) {
                return Err(SessionError::NoMessage { number, what });
            }
        }
        Ok(raws)
    }
}

/// Whether a message has results and nothing else.
pub(super) fn holds_only_results(message: &OutlineMessage) -> bool {
    !message.blocks.is_empty() && message.blocks.iter().all(|block| block.kind == OutlineKind::Result)
}

/// A call whose result is the only known part.
fn unknown_call(result: &CallResult) -> LiftedCall {
    let (id, name, input) = (result.id.to_string(), result.name.clone(), "{}".to_owned());
    LiftedCall::new(id, name, input)
}

/// The hash of the name and the arguments of a call.
pub(super) fn arguments_hash(call: &ToolCall) -> Hash {
    Hash::of(call.name.as_bytes()).then(call.input.as_bytes())
}
