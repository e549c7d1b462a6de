//! The messages of a response for a history.

use super::{RefusedCall, Response};

impl Response {
    /// The messages to append to a request as they are: [`messages`](Self::messages), with the input of malformed calls in an
    /// object where the dialect demands one, and the [`results`](Self::results) of calls that must not run. Run only calls
    /// that are [executable](crate::stream::ResponseCall::executable).
    ///
    /// ```
    /// use seamline::stream::{ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"read","arguments":"{path}"}}]},"finish_reason":"tool_calls"}]}"#);
    /// stream.feed(b"\n\ndata: [DONE]\n\n");
    /// assert_eq!(stream.finish()?.history().len(), 2);
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn history(&self) -> Vec<String> {
        let mut messages = self.kept.legal().to_vec();
        messages.extend(self.results());
        messages
    }

    /// The messages for a session, and the calls in them that must not run.
    pub(crate) fn turn(&self) -> (Vec<&str>, &[RefusedCall]) {
        let (messages, refused) = self.kept.for_session();
        (messages.iter().map(String::as_str).collect(), refused)
    }
}
