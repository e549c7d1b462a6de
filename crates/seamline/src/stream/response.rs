//! The outcome of a streamed response.

mod history;

use std::collections::BTreeSet;

use seamline_assemble::FlawKind;
use seamline_dialects::{Dialect, readable};
use seamline_guard::{Certainty, Failure, Filtered, Verdict, classify, filter_message};
use seamline_model::{
    Assembled, AssembledBlock, AssembledCall, Content, Ending, IdDemand, LocatedFlaw, Piece, Severity, StreamFlaw,
};
use serde::{Serialize, Serializer};

use super::kept::{KeptMessages, RefusedCall};
use super::options::{BlankCall, StreamPolicy};
use crate::policy::SyntheticText;

/// An assembled response.
///
/// ```
/// use seamline::stream::{Ending, ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// stream.feed(b"data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hi\"}}]}\n\n");
/// stream.feed(b"data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
/// let response = stream.finish()?;
/// assert_eq!((response.ending, response.stop_reason.as_deref()), (Ending::Complete, Some("stop")));
/// assert!(response.message.contains(r#""content":"Hi""#));
/// assert!(response.is_well());
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The dialect of the stream.
    pub dialect: &'static str,
    /// The ending of the response.
    pub ending: Ending,
    /// The stop reason in the provider's own words.
    pub stop_reason: Option<String>,
    /// The message as the provider writes it in a response without streaming, as valid JSON. An incomplete response is
    /// written as far as it arrived.
    pub message: String,
    /// The blocks of the message, in order, for people.
    pub blocks: Vec<ResponseBlock>,
    /// The calls that the client is to answer, in order.
    pub calls: Vec<ResponseCall>,
    /// The flaws of the stream, and how each was handled.
    pub findings: Vec<StreamFinding>,
    /// The error, if the response failed.
    pub error: Option<ResponseError>,
    /// The filtered or refused part, if there is one.
    pub(crate) filtered: Option<Filtered>,
    /// The messages that a history keeps.
    kept: KeptMessages,
}

/// One block of a streamed response, for people.
///
/// ```
/// use seamline::stream::{Piece, ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Let me look\"}}]}\n\n");
/// let response = stream.finish()?;
/// assert_eq!((response.blocks[0].kind, response.blocks[0].text.as_str()), (Piece::Text, "Let me look"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseBlock {
    /// The kind of the block.
    pub kind: Piece,
    /// The text of the block; for a call the name of its tool.
    pub text: String,
    /// The index of the call, if the block is a call.
    pub call_index: Option<usize>,
}

/// A tool call of a streamed response.
///
/// ```
/// use seamline::stream::{ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// stream.feed(br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"read","arguments":"{\"pa"}}]}}]}"#);
/// let response = stream.finish()?;
/// assert_eq!((response.calls[0].name.as_str(), response.calls[0].executable), ("read", false));
/// assert_eq!(response.calls[0].why_not, Some("the stream ended before the response was complete"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResponseCall {
    /// The id of the call. If the stream gave none and the dialect demands one, it is a made id; otherwise it is empty.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The text of its input.
    pub arguments: String,
    /// Whether the input is free text, as custom tools take it, and not JSON.
    pub free: bool,
    /// Whether the call may run.
    pub executable: bool,
    /// The reason why it must not run.
    pub why_not: Option<&'static str>,
}

/// A flaw of a stream.
///
/// ```
/// use seamline::stream::{ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choi\n\n");
/// let response = stream.finish()?;
/// assert_eq!((response.findings[0].code, response.findings[0].frame), ("STREAM001", Some(2)));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StreamFinding {
    /// The code of the flaw, such as `STREAM001`.
    pub code: &'static str,
    /// The name of the flaw.
    pub name: &'static str,
    /// The severity of the flaw.
    #[serde(serialize_with = "severity")]
    pub severity: Severity,
    /// A description in one clause.
    pub message: &'static str,
    /// The index of the call that it is about, if that call was kept.
    pub call_index: Option<usize>,
    /// The id of that call, if it has one.
    pub call_id: Option<String>,
    /// The frame that shows the flaw, counted from one; `None` if only the complete response shows it.
    pub frame: Option<u64>,
}

/// The error of a failed response.
///
/// ```
/// use seamline::classify::Class;
/// use seamline::stream::{ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// stream.feed(b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n");
/// let error = stream.finish()?.error.unwrap();
/// assert_eq!((error.verdict.class, error.text.as_str()), (Class::Transient, "Overloaded"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseError {
    /// The error text, without everything that wraps it.
    pub text: String,
    /// The classification of the error, with advice.
    pub verdict: Verdict,
}

/// The policy for tool calls that must not run.
pub(super) struct Keeping {
    pub(super) policy: StreamPolicy,
    pub(super) refusal: SyntheticText,
}

/// The facts about a response outside its body.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) provider: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    /// The error text of the broken connection.
    pub(super) broken: Option<String>,
}

impl Beside {
    /// Classifies an error with all known facts.
    fn classified(&self, dialect: &Dialect, text: &str, status: Option<u16>) -> Verdict {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (provider, dialect) = (self.provider.as_deref(), Some(dialect.name()));
        classify(&Failure { provider, dialect, status, headers: &headers, text, ..Failure::default() })
    }

    /// Whether the status of the response is an error.
    fn is_refused(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }
}

impl Response {
    pub(super) fn of(dialect: &Dialect, beside: &Beside, mut assembled: Assembled, keeping: Keeping) -> Self {
        let Keeping { policy, refusal } = keeping;
        let ids = &dialect.constraints().call_id;
        let dropped = if ids.demanded { identify(&mut assembled, ids, policy.blank_call) } else { BTreeSet::new() };
        let mut message = (dialect.streaming().response)(&assembled);
        if let Some(readable) = readable(&message) {
            message = readable;
            if assembled.flaws.len() < policy.limits.findings_max {
                assembled.flaws.push(LocatedFlaw { flaw: StreamFlaw::Rewritten, frame: None });
            }
        }
        let is_wrong = |noted: &&LocatedFlaw| ids.demanded || !matches!(noted.flaw, StreamFlaw::NoId { .. });
        let findings = assembled.flaws.iter().filter(is_wrong).map(|noted| StreamFinding::of(noted, &assembled));
        Self {
            dialect: dialect.name(),
            ending: assembled.ending,
            findings: findings.collect(),
            blocks: blocks(&assembled),
            calls: calls(&assembled, &dropped),
            error: ResponseError::of(dialect, beside, &assembled, &message),
            filtered: filter_message(&assembled),
            stop_reason: assembled.stop.as_ref().map(|(_, word)| word.clone()),
            message,
            kept: {
                assembled.blocks.retain(|block| !dropped.contains(&block.place));
                if policy.blank_call == BlankCall::DropCall {
                    assembled.nameless.clear();
                }
                KeptMessages::of(dialect, assembled, &policy, &refusal)
            },
        }
    }

    /// The messages that a history keeps, ready to send back: the message of the dialect, or its items where the
    /// dialect has items. Members that only responses have (ids, models, usage) are left out.
    ///
    /// Calls of an incomplete response that are not [executable](ResponseCall::executable), such as cut calls, are left
    /// out too: providers reject a request with half a call or with a call without a result. Every call that is left
    /// needs a result. If nothing is left, there is no message. The knob `partial_call` of the policy drops the whole
    /// message instead, or keeps such calls for [`refused`](Self::refused) to answer.
    ///
    /// Malformed calls of a complete response are kept as the model wrote them, unless the knob `malformed_call` says
    /// otherwise. Only their result tells the model what was wrong; [`refused`](Self::refused) has it. A
    /// [session](crate::session) does not run them and makes requests that the provider accepts. A program without a
    /// session adds the results and [repairs](crate::repair()) the request.
    ///
    /// ```
    /// use seamline::stream::{ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(br#"data: {"id":"c1","choices":[{"delta":{"content":"Hi","tool_calls":[{"index":0,"id":"call_1","function":{"name":"read","arguments":"{\"pa"}}]}}]}"#);
    /// stream.feed(b"\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n");
    /// let response = stream.finish()?;
    /// assert_eq!(response.messages(), [r#"{"role":"assistant","content":"Hi"}"#]);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    ///
    /// A session takes the response itself:
    ///
    /// ```
    /// use seamline::session::{Session, SessionOptions, TurnEnd};
    /// use seamline::stream::{ResponseStream, StreamOptions};
    ///
    /// # futures_executor::block_on(async {
    /// let options = SessionOptions { dialect: Some("openai_chat".to_owned()), ..SessionOptions::default() };
    /// let mut session = Session::create(seamline::open_store("memory:").await?, "s-1".parse()?, options).await?;
    /// session.append(r#"{"role":"user","content":"hello"}"#).await?;
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    /// // With executable calls, use `begin_response`.
    /// session.agent_end(TurnEnd::Response(&stream.finish()?)).await?;
    /// assert_eq!(session.messages().last(), Some(r#"{"role":"assistant","content":"Hi"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// The caller decides whether to keep a response that did not end well; see `docs/guards.md`.
    pub fn messages(&self) -> Vec<&str> {
        self.kept.messages().iter().map(String::as_str).collect()
    }

    /// The calls of [`messages`](Self::messages) that must not run, each with the result that answers it: malformed calls
    /// of a complete response, and those of an incomplete one under `partial_call = "error_result"`.
    ///
    /// ```
    /// use seamline::stream::{ResponseStream, StreamOptions};
    /// use seamline::Policy;
    ///
    /// let policy = Policy::from_toml("partial_call = 'error_result'")?;
    /// let mut stream = ResponseStream::new(&StreamOptions { policy, ..StreamOptions::default() })?;
    /// stream.feed(br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"read","arguments":"{\"pa"}}]},"finish_reason":"length"}]}"#);
    /// stream.feed(b"\n\ndata: [DONE]\n\n");
    /// let response = stream.finish()?;
    /// assert!(response.messages()[0].contains("call_1"));
    /// assert_eq!((response.refused()[0].id.as_str(), response.refused()[0].name.as_str()), ("call_1", "read"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refused(&self) -> &[RefusedCall] {
        self.kept.refused()
    }

    /// The messages with the results of [`refused`](Self::refused) calls, to append after [`messages`](Self::messages). The
    /// model reads in them why its calls did not run.
    ///
    /// ```
    /// use seamline::stream::{ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"read","arguments":"{path}"}}]},"finish_reason":"tool_calls"}]}"#);
    /// stream.feed(b"\n\ndata: [DONE]\n\n");
    /// let results = stream.finish()?.results();
    /// assert!(results[0].starts_with(r#"{"role":"tool","tool_call_id":"call_1","content":"[synthetic] [not executed]"#));
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn results(&self) -> Vec<String> {
        seamline_dialects::by_name(self.dialect).map(|dialect| self.kept.results(dialect)).unwrap_or_default()
    }

    /// Whether the response is complete and has no flaw above the severity `info`.
    ///
    /// ```
    /// let options = seamline::stream::StreamOptions { provider: Some("openai".to_owned()), ..Default::default() };
    /// let response = seamline::stream::ResponseStream::new(&options)?.finish()?;
    /// assert!(!response.is_well());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_well(&self) -> bool {
        let is_wrong = |finding: &StreamFinding| finding.severity > Severity::Info;
        self.ending == Ending::Complete && !self.findings.iter().any(is_wrong)
    }
}

fn blocks(assembled: &Assembled) -> Vec<ResponseBlock> {
    let mut call_indices = 0..;
    let block = |block: &AssembledBlock| {
        let text = match &block.content {
            Content::Text(text) => text.text.clone(),
            Content::Call(call) => call.name.clone(),
            Content::Opaque => String::new(),
        };
        ResponseBlock { kind: block.piece, text, call_index: block.call().and_then(|_| call_indices.next()) }
    };
    assembled.blocks.iter().map(block).collect()
}

/// Gives ids to the calls without one. Forbids running them where the policy drops them, and returns their places.
fn identify(assembled: &mut Assembled, ids: &IdDemand, missing: BlankCall) -> BTreeSet<u32> {
    let mut dropped = BTreeSet::new();
    if missing == BlankCall::DropCall {
        for block in assembled.blocks.iter_mut().filter(|block| block.piece == Piece::Call) {
            let Content::Call(call) = &mut block.content else { continue };
            if call.needs_id && call.id.trim().is_empty() {
                call.executable = false;
                dropped.insert(block.place);
            }
        }
    }
    assembled.make_ids(ids);
    dropped
}

fn calls(assembled: &Assembled, dropped: &BTreeSet<u32>) -> Vec<ResponseCall> {
    let hindrance = hindrance(assembled.ending);
    let calls = assembled.blocks.iter().filter_map(|block| Some((block, block.call()?)));
    let why_not = |block: &AssembledBlock, call| match hindrance {
        Some(why) => why,
        None if dropped.contains(&block.place) => "the stream gave it no id",
        None => defect(assembled, block.place, call),
    };
    calls
        .map(|(block, call)| ResponseCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            free: call.free,
            executable: call.executable,
            why_not: (!call.executable).then(|| why_not(block, call)),
        })
        .collect()
}

/// The reason why a call of a complete response must not run. The number of recorded flaws is limited, so without a
/// flaw the call itself gives the reason.
fn defect(assembled: &Assembled, place: u32, call: &AssembledCall) -> &'static str {
    let is_noted = |flaw| assembled.flaws.iter().any(|noted| noted.flaw == flaw);
    let is_object = call.free
        || call.arguments.trim_start().starts_with('{')
            && serde_json::from_str::<serde::de::IgnoredAny>(&call.arguments).is_ok();
    if is_noted(StreamFlaw::Repeated { place }) && has_same_id(assembled, place, call) {
        "another call has its id"
    } else if is_noted(StreamFlaw::BrokenInput { place }) || !is_object && !is_noted(StreamFlaw::Unfinished { place }) {
        "its input is not a JSON object"
    } else {
        "it is incomplete"
    }
}

/// Whether an earlier call has the same id.
fn has_same_id(assembled: &Assembled, place: u32, call: &AssembledCall) -> bool {
    let before = assembled.blocks.iter().take_while(|block| block.place != place);
    before.filter_map(AssembledBlock::call).any(|other| other.id == call.id)
}

/// The reason why no call of a response with this ending runs.
fn hindrance(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Complete => None,
        Ending::Length => Some("the response reached its length limit"),
        Ending::CutCall => Some("the response reached its length limit inside this call"),
        Ending::Steered => Some("the response was steered, and another one follows"),
        Ending::Truncated => Some("the stream ended before the response was complete"),
        Ending::Filtered => Some("the response was filtered or refused"),
        Ending::Failed => Some("the provider failed before the response was complete"),
        Ending::Stalled => Some("the stream stalled before the response was complete"),
        Ending::Aborted => Some("the response was aborted before it was complete"),
    }
}

impl StreamFinding {
    fn of(noted: &LocatedFlaw, assembled: &Assembled) -> Self {
        let LocatedFlaw { flaw, frame } = noted;
        let kind = FlawKind::of(flaw);
        let mut calls = assembled.blocks.iter().filter(|block| block.call().is_some()).enumerate();
        let found = place(flaw).and_then(|place| calls.find(|(_, block)| block.place == place));
        let id = found.and_then(|(_, block)| block.call()).map(|call| call.id.clone());
        Self {
            code: kind.code,
            name: kind.name,
            severity: kind.severity,
            message: kind.message,
            call_index: found.map(|(index, _)| index),
            call_id: id.filter(|id| !id.is_empty()),
            frame: *frame,
        }
    }
}

/// The index of the block that a flaw is about.
fn place(flaw: &StreamFlaw) -> Option<u32> {
    match flaw {
        StreamFlaw::TwoInputs { place }
        | StreamFlaw::TwoTexts { place }
        | StreamFlaw::BrokenInput { place }
        | StreamFlaw::Unfinished { place }
        | StreamFlaw::Half { place }
        | StreamFlaw::Unsigned { place }
        | StreamFlaw::NoId { place }
        | StreamFlaw::Snapshots { place }
        | StreamFlaw::Unbegun { place }
        | StreamFlaw::Repeated { place }
        | StreamFlaw::Nameless { place, .. } => Some(*place),
        StreamFlaw::Unreadable(_)
        | StreamFlaw::BegunAgain
        | StreamFlaw::UnknownStop
        | StreamFlaw::TooLong
        | StreamFlaw::Rewritten => None,
    }
}

/// The error text of a stream that broke off.
const BROKEN_OFF: &str = "stream disconnected before completion";

impl ResponseError {
    fn of(dialect: &Dialect, beside: &Beside, assembled: &Assembled, message: &str) -> Option<Self> {
        if assembled.ending != Ending::Failed {
            return None;
        }
        let classified = |text| beside.classified(dialect, text, beside.status);
        Some(match (&assembled.failure, &assembled.stop) {
            (Some(said), _) => {
                let mut verdict = classified(said);
                // A connection error with an unknown text still means that the connection broke.
                let is_broken = beside.broken.as_ref() == Some(said) && !beside.is_refused();
                if is_broken && verdict.certainty == Certainty::Guess {
                    let said = std::mem::take(&mut verdict.said);
                    verdict = classified(BROKEN_OFF);
                    verdict.said = said;
                }
                Self { text: verdict.said.clone(), verdict }
            }
            (None, Some((_, word))) if beside.is_refused() => Self { text: word.clone(), verdict: classified(word) },
            // A stop reason is classified by its place in a response.
            (None, Some((_, word))) => {
                Self { text: word.clone(), verdict: beside.classified(dialect, message, Some(200)) }
            }
            (None, None) => {
                let text = "the message is longer than the limit";
                Self { text: text.to_owned(), verdict: classified(text) }
            }
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn severity<S: Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(severity.as_str())
}
