//! How a streamed answer is read, and what it may take.

use seamline_assemble::ArgSource;
use seamline_dialects::{Dialect, providers};
use seamline_frame::Framing;

use crate::Error;

/// How a streamed answer is read. The default detects framing and dialect.
///
/// ```
/// use seamline::{AnswerStream, Framing, StreamOptions};
///
/// let options = StreamOptions {
///     provider: Some("anthropic".to_owned()),
///     // What the response says of itself.
///     framing: Framing::of_content_type("text/event-stream; charset=utf-8"),
///     ..Default::default()
/// };
/// assert!(AnswerStream::new(&options).is_ok());
/// ```
#[derive(Debug, Clone, Default)]
pub struct StreamOptions {
    /// The dialect, by name; told by the first frames when not given. A stream that is
    /// certainly written in another one is refused.
    pub dialect: Option<String>,
    /// The provider, by name. Its errors are known better when it is, and where nothing in the
    /// stream says which dialect it is, it is the provider's.
    pub provider: Option<String>,
    /// How the stream is cut into frames; told by its first bytes when not given.
    pub framing: Option<Framing>,
    /// Which source of a call's input counts when there are several.
    pub arg_source: ArgSource,
    /// What the stream may take at most.
    pub limits: StreamLimits,
}

impl StreamOptions {
    /// What is known of the dialect before anything comes.
    pub(super) fn expected(&self) -> Result<Expected, Error> {
        let known = |name: &str| seamline_dialects::by_name(name).ok_or_else(|| Error::UnknownDialect(name.to_owned()));
        let dialect = self.dialect.as_deref().map(known).transpose()?;
        let named = dialect.map_or(Expected::Nothing, Expected::Named);
        let Some(name) = self.provider.as_deref() else { return Ok(named) };
        match (providers::by_name(name), dialect) {
            (Some(provider), Some(dialect)) if provider.dialect != dialect.name() => {
                Err(Error::WrongProvider { provider: provider.name, serves: provider.dialect, asked: dialect.name() })
            }
            (Some(_), Some(_)) => Ok(named),
            // Many providers answer in other dialects as well.
            (Some(provider), None) => known(provider.dialect).map(Expected::Likely),
            // Errors of more providers are known than demands.
            (None, _) if seamline_guard::is_provider(name) => Ok(named),
            (None, _) => Err(Error::UnknownProvider(name.to_owned())),
        }
    }
}

/// What is known of the dialect of a stream before anything of it came.
#[derive(Clone, Copy)]
pub(super) enum Expected {
    Nothing,
    /// It may be this one; the stream knows better.
    Likely(&'static Dialect),
    /// It is to be this one.
    Named(&'static Dialect),
}

/// What a streamed answer may take at most. What is longer fails the message; nothing grows
/// without bound.
///
/// ```
/// use seamline::{AnswerStream, Ending, StreamLimits, StreamOptions};
///
/// let limits = StreamLimits { message_bytes_max: 8, ..Default::default() };
/// let options = StreamOptions { dialect: Some("openai_chat".to_owned()), limits, ..Default::default() };
/// let mut stream = AnswerStream::new(&options)?;
/// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"rather long\"}}]}\n\n");
/// let answer = stream.finish()?;
/// assert_eq!((answer.ending, answer.findings[0].name), (Ending::Failed, "message-too-long"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLimits {
    /// The longest frame, in bytes.
    pub frame_bytes_max: usize,
    /// How many bytes of text and JSON a message may have.
    pub message_bytes_max: usize,
    /// How many blocks it may have.
    pub blocks_max: usize,
    /// How many findings are noted.
    pub findings_max: usize,
}

impl Default for StreamLimits {
    fn default() -> Self {
        let (frame, message) = (seamline_frame::Limits::default(), seamline_assemble::Limits::default());
        Self {
            frame_bytes_max: frame.frame_bytes_max,
            message_bytes_max: message.message_bytes_max,
            blocks_max: message.blocks_max,
            findings_max: message.flaws_max,
        }
    }
}

impl StreamLimits {
    pub(super) fn of_frames(self) -> seamline_frame::Limits {
        seamline_frame::Limits { frame_bytes_max: self.frame_bytes_max }
    }

    pub(super) fn of_message(self) -> seamline_assemble::Limits {
        seamline_assemble::Limits {
            message_bytes_max: self.message_bytes_max,
            blocks_max: self.blocks_max,
            flaws_max: self.findings_max,
        }
    }
}
