//! Streamed responses: bytes in, one message with its ending out.

mod flaws;
mod kept;
mod listening;
mod opening;
mod options;
mod progress;
mod response;

pub use flaws::{FLAWS, FlawKind, flaw, flaw_documentation};
pub use kept::RefusedCall;
pub use options::{BlankCall, PartialCall, StreamLimits, StreamOptions, StreamPolicy};
pub use seamline_model::Piece;

pub use response::{Response, ResponseBlock, ResponseCall, ResponseError, StreamFinding};

use seamline_assemble::Assembler;
use seamline_frame::Framer;

use self::listening::Listening;
use self::opening::Opening;
use self::response::{Beside, Keeping};
use crate::policy::SyntheticText;
use crate::{Error, log};

#[doc(inline)]
pub use seamline_assemble::ArgSource;
#[doc(inline)]
pub use seamline_frame::Framing;
#[doc(inline)]
pub use seamline_model::Ending;

/// A streamed response while it arrives: takes its bytes in pieces of any size and assembles one message.
///
/// The same bytes give the same response in any pieces. A response is complete only when the provider said so; a call
/// that may be incomplete is never executable.
///
/// ```
/// use seamline::stream::{Ending, ResponseStream, StreamOptions};
///
/// let mut stream = ResponseStream::new(&StreamOptions::default())?;
/// for piece in [
///     "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",",
///     "\"role\":\"assistant\",\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",",
///     "\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"read\",\"input\":{}}}\n\n",
///     "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",",
///     "\"partial_json\":\"{\\\"path\\\":\\\"a.rs\\\"}\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
/// ] {
///     stream.feed(piece.as_bytes());
/// }
/// let response = stream.finish()?;
/// // The provider did not finish the response, so the call must not run although it looks complete.
/// assert_eq!((response.dialect, response.ending), ("anthropic_messages", Ending::Truncated));
/// assert_eq!(response.calls[0].arguments, r#"{"path":"a.rs"}"#);
/// assert!(!response.calls[0].executable);
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug)]
pub struct ResponseStream {
    framed: Framed,
    listening: Listening,
    beside: Beside,
    policy: StreamPolicy,
    /// The policy's text about calls that were cut off.
    refusal: SyntheticText,
    /// Whether the caller left: later bytes are ignored.
    left: bool,
}

/// Whether the messages of an AWS event stream are events of a dialect. `InvokeModel` of Bedrock wraps the events of other
/// dialects in messages of its own, which are not read.
pub fn is_aws_framed(dialect: &str) -> bool {
    seamline_dialects::by_name(dialect).is_some_and(|dialect| dialect.streaming().is_aws_framed)
}

/// ```text
///           first byte that says something
/// Opening ─────────────────────────────────▸ Frames
/// ```
#[derive(Debug)]
enum Framed {
    /// The framing is not known yet.
    Opening(Opening),
    Frames(Framer),
}

impl ResponseStream {
    /// A stream that begins.
    ///
    /// # Errors
    ///
    /// Fails when the dialect or the provider is unknown, or the provider serves another dialect.
    ///
    /// ```
    /// let options = seamline::stream::StreamOptions { dialect: Some("morse".to_owned()), ..Default::default() };
    /// let error = seamline::stream::ResponseStream::new(&options).unwrap_err();
    /// assert_eq!(error.to_string(), "no dialect is called `morse`");
    /// ```
    pub fn new(options: &StreamOptions) -> Result<Self, Error> {
        let expected = options.expected()?;
        let policy = options.policy();
        let refusal = policy.repair.synthetic_text.truncated.clone();
        let policy = policy.stream;
        let framed = match options.framing {
            Some(framing) => Framed::Frames(Framer::new(framing, policy.limits.of_frames())),
            None => Framed::Opening(Opening::default()),
        };
        let assembler = Assembler::new(policy.arg_source, policy.limits.of_message());
        Ok(Self {
            framed,
            listening: Listening::new(expected, assembler, policy.limits.frame_bytes_max),
            beside: Beside { provider: options.provider.clone(), ..Beside::default() },
            policy,
            refusal,
            left: false,
        })
    }

    /// Takes the status and the headers of the response, at any time before [`finish`](Self::finish). Often only the
    /// status determines the meaning of an error, and only a header gives the time to wait.
    ///
    /// ```
    /// use seamline::classify::Class;
    /// use seamline::stream::{ResponseStream, StreamOptions};
    ///
    /// let options = StreamOptions { dialect: Some("openai_chat".to_owned()), ..Default::default() };
    /// let mut stream = ResponseStream::new(&options)?;
    /// stream.head(429, &[("retry-after", "9")]);
    /// stream.feed(br#"{"error":{"message":"slow down"}}"#);
    /// let verdict = stream.finish()?.error.unwrap().verdict;
    /// assert_eq!((verdict.class, verdict.retry_after.unwrap().as_secs()), (Class::Transient, 9));
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn head(&mut self, status: u16, headers: &[(&str, &str)]) {
        self.beside.status = Some(status);
        self.beside.headers = headers.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    }

    /// Takes the next piece, cut anywhere. Returns whether it brought progress: text, reasoning, a piece of a call, an
    /// ending. Pings, comments, empty pieces and half frames only show that the server is alive, which a
    /// [`StallGuard`](crate::guards::StallGuard) does not count as progress.
    ///
    /// ```
    /// let mut stream = seamline::stream::ResponseStream::new(&seamline::stream::StreamOptions::default())?;
    /// for byte in b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n" {
    ///     stream.feed(&[*byte]);
    /// }
    /// assert!(!stream.feed(b": keep-alive\n\n"));
    /// assert!(stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\" there\"}}]}\n\n"));
    /// assert_eq!(stream.finish()?.dialect, "openai_chat");
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn feed(&mut self, piece: &[u8]) -> bool {
        if self.left {
            return false;
        }
        if let Framed::Opening(opening) = &mut self.framed {
            let Some((framing, start)) = opening.handle_piece(piece) else { return false };
            self.framed = Framed::Frames(Framer::new(framing, self.policy.limits.of_frames()));
            self.read_piece(&start);
        } else {
            self.read_piece(piece);
        }
        self.listening.take_moved()
    }

    /// Aborts the response: the caller does not want the rest. Later bytes are ignored.
    ///
    /// ```
    /// use seamline::stream::{Ending, ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Once upon a time\"}}]}\n\n");
    /// stream.abort();
    /// assert_eq!(stream.finish()?.ending, Ending::Aborted);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn abort(&mut self) {
        self.left = true;
        self.listening.assembler.handle_abort();
    }

    /// Ends the response because there was no progress for too long. Later bytes are ignored.
    ///
    /// ```
    /// use seamline::stream::{Ending, ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Let me\"}}]}\n\n");
    /// stream.stall();
    /// assert_eq!(stream.finish()?.ending, Ending::Stalled);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn stall(&mut self) {
        self.left = true;
        self.listening.assembler.handle_stall();
    }

    /// Ends the response because the connection broke, with the connection's error text. The failure is transient
    /// unless the text is known to mean something else. Does nothing after an abort or a stall.
    ///
    /// ```
    /// use seamline::classify::Class;
    /// use seamline::stream::{Ending, ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Let me\"}}]}\n\n");
    /// stream.fail("connection reset by peer");
    /// let response = stream.finish()?;
    /// assert_eq!(response.ending, Ending::Failed);
    /// assert_eq!(response.error.unwrap().verdict.class, Class::Transient);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn fail(&mut self, said: &str) {
        // A caller that leaves closes the connection, which is not a failure of the provider.
        if self.left {
            return;
        }
        self.listening.handle_failure(said);
        self.beside.broken.get_or_insert_with(|| said.to_owned());
    }

    /// Whether later bytes cannot change the response: the bytes are unreadable, the message exceeds its limit, no
    /// dialect was found in time, or the caller left. A caller of an endless stream stops reading then.
    ///
    /// ```
    /// let mut stream = seamline::stream::ResponseStream::new(&seamline::stream::StreamOptions::default())?;
    /// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n");
    /// assert!(!stream.is_over());
    /// let mut zeros = seamline::stream::ResponseStream::new(&seamline::stream::StreamOptions::default())?;
    /// zeros.feed(&[0; 64]);
    /// assert!(zeros.is_over());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_over(&self) -> bool {
        let has_failed = matches!(&self.framed, Framed::Frames(framer) if framer.has_failed());
        self.left || has_failed || self.listening.is_over()
    }

    /// Ends the stream and returns the response.
    ///
    /// # Errors
    ///
    /// Fails when neither dialect nor provider was named and no frame identifies the dialect, or when the stream is
    /// certainly written in another dialect than the named one.
    ///
    /// ```
    /// let mut stream = seamline::stream::ResponseStream::new(&seamline::stream::StreamOptions::default())?;
    /// stream.feed(b"<html>Bad gateway</html>");
    /// assert_eq!(stream.finish().unwrap_err(), seamline::Error::UnknownStream);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn finish(mut self) -> Result<Response, Error> {
        if let Framed::Opening(opening) = &mut self.framed {
            let start = opening.take();
            self.framed = Framed::Frames(Framer::new(Framing::Sse, self.policy.limits.of_frames()));
            self.read_piece(&start);
        }
        if let Framed::Frames(framer) = &mut self.framed {
            let listening = &mut self.listening;
            if let Err(error) = framer.finish(|frame| listening.handle_frame(&frame)) {
                listening.handle_failure(&error.to_string());
            }
        }
        let (dialect, assembled) = self.listening.finish()?;
        let response =
            Response::of(dialect, &self.beside, assembled, Keeping { policy: self.policy, refusal: self.refusal });
        log::record_response(&response);
        Ok(response)
    }

    fn read_piece(&mut self, piece: &[u8]) {
        let Framed::Frames(framer) = &mut self.framed else { return };
        let listening = &mut self.listening;
        if let Err(error) = framer.feed(piece, |frame| listening.handle_frame(&frame)) {
            listening.handle_failure(&error.to_string());
        }
    }
}

/// Runs the examples of `docs/streams.md`.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/streams.md")]
struct Page;
