//! A streamed response in its JSON form.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::stream::{RefusedCall, Response, ResponseCall, StreamFinding};

/// A streamed response.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ResponseReport<'r> {
    /// Whether the response is complete and has no flaw above the severity `info`.
    pub well: bool,
    /// The assembled response itself.
    #[serde(flatten)]
    pub outcome: ResponseOutcome<'r>,
    /// The blocks of the message, in order, for people.
    pub blocks: Vec<BlockReport<'r>>,
    /// The calls of `messages` that must not run, each with the result that answers it.
    pub refused: &'r [RefusedCall],
    /// The filtered or refused part, if there is one.
    pub filtered: Option<FilteredReport<'r>>,
}

/// The document of `seamline assemble --format json`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ResponseOutcome<'r> {
    /// The dialect of the stream.
    pub dialect: &'r str,
    /// The name of the ending.
    pub ending: &'r str,
    /// The cause that cut the response, if there is one.
    pub cut: Option<&'r str>,
    /// The stop reason in the provider's own words.
    pub stop_reason: Option<&'r str>,
    /// The message as the provider writes it in a response without streaming.
    pub message: Option<&'r RawValue>,
    /// The messages to append to a request, results of calls that must not run included.
    pub messages: Vec<Box<RawValue>>,
    /// The calls that the client is to answer, in order.
    pub calls: &'r [ResponseCall],
    /// The flaws of the stream.
    pub findings: &'r [StreamFinding],
    /// The error, if the response failed.
    pub error: Option<ResponseErrorReport<'r>>,
}

/// The error of a failed response.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ResponseErrorReport<'r> {
    /// The class of the error.
    pub class: &'r str,
    /// The name of the kind of error.
    pub name: &'r str,
    /// The error text, without everything that wraps it.
    pub text: &'r str,
    /// The advice for the caller.
    pub advice: &'r str,
    /// The wait that the provider asks for.
    pub retry_after_ms: Option<u64>,
}

/// One block of a streamed response.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct BlockReport<'r> {
    /// The kind of the block.
    pub kind: &'r str,
    /// The text of the block; for a call the name of its tool.
    pub text: &'r str,
    /// The index of the call, if the block is a call.
    pub call_index: Option<usize>,
}

/// The filtered or refused part of a response.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FilteredReport<'r> {
    /// The part that was filtered.
    pub part: &'r str,
    /// The provider's category of the content, if it names one.
    pub category: Option<&'r str>,
    /// The sentence of the provider or the model about it.
    pub said: Option<&'r str>,
    /// Whether a retry is useless.
    pub is_retry_useless: bool,
    /// The advice for the caller.
    pub advice: &'r str,
}

impl Response {
    /// The response in its JSON form.
    ///
    /// ```
    /// use seamline::stream::{ResponseStream, StreamOptions};
    ///
    /// let mut stream = ResponseStream::new(&StreamOptions::default())?;
    /// stream.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    /// let report = serde_json::to_value(stream.finish()?.report())?;
    /// assert_eq!((&report["ending"], &report["well"]), (&"complete".into(), &true.into()));
    /// assert_eq!(report["messages"][0]["content"], "Hi");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> ResponseReport<'_> {
        let blocks = self.blocks.iter().map(|block| BlockReport {
            kind: block.kind.as_str(),
            text: &block.text,
            call_index: block.call_index,
        });
        ResponseReport {
            well: self.is_well(),
            outcome: self.outcome(),
            blocks: blocks.collect(),
            refused: self.refused(),
            filtered: self.filtered.as_ref().map(|filtered| FilteredReport {
                part: filtered.part.as_str(),
                category: filtered.category.as_deref(),
                said: filtered.said.as_deref(),
                is_retry_useless: filtered.is_retry_useless,
                advice: filtered.kind.advice,
            }),
        }
    }

    fn outcome(&self) -> ResponseOutcome<'_> {
        let error = self.error.as_ref().map(|error| ResponseErrorReport {
            class: error.verdict.class.as_str(),
            name: error.verdict.name,
            text: &error.text,
            advice: error.verdict.advice,
            retry_after_ms: error.verdict.retry_after.map(|wait| wait.as_millis() as u64),
        });
        let messages = self.history().into_iter();
        ResponseOutcome {
            dialect: self.dialect,
            ending: self.ending.as_str(),
            cut: self.ending.cut(),
            stop_reason: self.stop_reason.as_deref(),
            message: serde_json::from_str(&self.message).ok(),
            messages: messages.filter_map(|message| RawValue::from_string(message).ok()).collect(),
            calls: &self.calls,
            findings: &self.findings,
            error,
        }
    }
}
