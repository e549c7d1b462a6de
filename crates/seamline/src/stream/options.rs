//! The options and limits of streamed responses.

use std::borrow::Cow;

use seamline_assemble::ArgSource;
use seamline_dialects::{Dialect, providers};
use seamline_frame::Framing;
use seamline_model::knob::Count;

use crate::{Error, Policy};

/// The options of a streamed response. The default detects the framing and the dialect.
///
/// ```
/// use seamline::stream::{Framing, ResponseStream, StreamOptions};
///
/// let options = StreamOptions {
///     provider: Some("anthropic".to_owned()),
///     // The header `content-type` of the response.
///     framing: Framing::of_content_type("text/event-stream; charset=utf-8"),
///     ..Default::default()
/// };
/// let mut stream = ResponseStream::new(&options)?;
/// stream.feed(b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\"}}\n\n");
/// assert_eq!(stream.finish()?.dialect, "anthropic_messages");
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StreamOptions {
    /// The name of the dialect; the first frames tell it when not given. A stream that is certainly written in another
    /// dialect is an error.
    pub dialect: Option<String>,
    /// The name of the provider. It improves the classification of errors, and its dialect is used where the stream
    /// does not tell its dialect.
    pub provider: Option<String>,
    /// The framing; the first bytes tell it when not given.
    pub framing: Option<Framing>,
    /// How the stream is read: the section `stream`, with the overrides for the provider.
    pub policy: Policy,
}

impl StreamOptions {
    /// The policy for the provider.
    pub(super) fn policy(&self) -> Cow<'_, Policy> {
        match &self.provider {
            Some(provider) => self.policy.for_provider(provider),
            None => Cow::Borrowed(&self.policy),
        }
    }

    /// Reads from the options the dialect that the caller expects.
    pub(super) fn expected(&self) -> Result<Expected, Error> {
        let known = |name: &str| seamline_dialects::by_name(name).ok_or_else(|| Error::UnknownDialect(name.to_owned()));
        let dialect = self.dialect.as_deref().map(known).transpose()?;
        let named = dialect.map_or(Expected::Nothing, Expected::Named);
        let Some(name) = self.provider.as_deref() else { return Ok(named) };
        match (providers::by_name(name), dialect) {
            (Some(_), Some(_)) => Ok(named),
            // Many providers respond in other dialects as well.
            (Some(provider), None) => known(provider.dialect).map(Expected::Likely),
            // More providers have known errors than known constraints.
            (None, _) if seamline_guard::is_provider(name) => Ok(named),
            (None, _) => Err(Error::UnknownProvider(name.to_owned())),
        }
    }
}

/// The `[stream]` section of a policy: how streamed responses are read.
///
/// ```
/// use seamline::stream::{PartialCall, StreamPolicy};
///
/// assert_eq!(StreamPolicy::default().partial_call, PartialCall::DropCall);
/// assert_eq!(StreamPolicy::default().malformed_call, PartialCall::ErrorResult);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamPolicy {
    /// The source of a tool call's arguments that is used when the stream has several.
    pub arg_source: ArgSource,
    /// The part of an incomplete response that stays in the conversation. Its tool calls may not run.
    pub partial_call: PartialCall,
    /// The part of a complete response that stays in the conversation if a tool call in it may not run.
    pub malformed_call: PartialCall,
    /// Treatment of a tool call without a name, or without an id where the dialect demands one.
    pub blank_call: BlankCall,
    /// The limits of one response.
    pub limits: StreamLimits,
}

impl Default for StreamPolicy {
    fn default() -> Self {
        Self {
            arg_source: ArgSource::default(),
            partial_call: PartialCall::default(),
            // The model made the call and the response is complete: only a result tells the model what was wrong.
            malformed_call: PartialCall::ErrorResult,
            blank_call: BlankCall::default(),
            limits: StreamLimits::default(),
        }
    }
}

seamline_model::knobs! {
    StreamPolicy {
        /// The source of a tool call's arguments that is used when the stream has several.
        arg_source ["X17"]: ArgSource = arg_source;
        /// The part of an incomplete response that stays in the conversation. Its tool calls may not run.
        partial_call ["X16"]: PartialCall = partial_call;
        /// The part of a complete response that stays in the conversation if a tool call in it may not run: the call
        /// names no tool, its arguments are broken, or a part of it is missing.
        malformed_call ["S3-07"]: PartialCall = malformed_call;
        /// Treatment of a tool call without a name, or without an id where the dialect demands one.
        blank_call ["S0-30"]: BlankCall = blank_call;
        /// How many bytes the longest frame may have.
        frame_bytes_max [""]: Count<1> = limits.frame_bytes_max;
        /// How many bytes of text and JSON a message may have.
        message_bytes_max [""]: Count<1> = limits.message_bytes_max;
        /// How many blocks a message may have.
        blocks_max [""]: Count<1> = limits.blocks_max;
        /// How many findings are noted.
        findings_max [""]: Count<0> = limits.findings_max;
    }
}

seamline_model::words! {
    /// The part of tool calls that a history keeps if they may not run.
    PartialCall default DropCall {
        /// The message without these calls.
        DropCall = "drop_call",
        /// Nothing of the message.
        DropTurn = "drop_turn",
        /// The message with these calls; each gets a result that says why it was not run.
        ErrorResult = "error_result",
    }
}

seamline_model::words! {
    /// Treatment of a tool call without an id or a name.
    BlankCall default Mend {
        /// A call without an id gets one, made from its place, its tool and its input, and may run. A call without a name is malformed.
        Mend = "mend",
        /// The call may not run, and a history does not keep it.
        DropCall = "drop_call",
    }
}

/// The expected dialect before the first frame.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    Nothing,
    /// Probably this one; the stream decides.
    Likely(&'static Dialect),
    /// The one that the caller named.
    Named(&'static Dialect),
}

/// The limits of a streamed response. A response that exceeds them fails; no buffer grows without bound.
///
/// ```
/// use seamline::stream::{Ending, ResponseStream, StreamOptions};
/// use seamline::Policy;
///
/// let policy = Policy::from_toml("message_bytes_max = 8")?;
/// let options = StreamOptions { dialect: Some("openai_chat".to_owned()), policy, ..Default::default() };
/// let mut stream = ResponseStream::new(&options)?;
/// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"rather long\"}}]}\n\n");
/// let response = stream.finish()?;
/// assert_eq!((response.ending, response.findings[0].name), (Ending::Failed, "message-too-long"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// The longest frame, in bytes.
    pub frame_bytes_max: usize,
    /// The most bytes of text and JSON of a message.
    pub message_bytes_max: usize,
    /// The most blocks of a message.
    pub blocks_max: usize,
    /// The most findings that are recorded.
    pub findings_max: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        let (frame, message) = (seamline_frame::FrameLimits::default(), seamline_assemble::AssemblyLimits::default());
        Self {
            frame_bytes_max: frame.frame_bytes_max,
            message_bytes_max: message.message_bytes_max,
            blocks_max: message.blocks_max,
            findings_max: message.flaws_max,
        }
    }
}

impl StreamLimits {
    pub(super) fn of_frames(self) -> seamline_frame::FrameLimits {
        seamline_frame::FrameLimits { frame_bytes_max: self.frame_bytes_max }
    }

    pub(super) fn of_message(self) -> seamline_assemble::AssemblyLimits {
        seamline_assemble::AssemblyLimits {
            message_bytes_max: self.message_bytes_max,
            blocks_max: self.blocks_max,
            flaws_max: self.findings_max,
        }
    }
}
