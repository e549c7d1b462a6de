//! Staged results: the result of a call, before its cycle is committed.

use std::io::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{CallId, CycleId};
use crate::raw::Raw;

/// The result of a call, before its cycle is committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredStaged", into = "StoredStaged")]
pub struct Staged {
    /// The id of the cycle.
    pub cycle: CycleId,
    /// The id of the call.
    pub call: CallId,
    /// The origin of the text.
    pub outcome: CallOutcome,
    /// The text that the model reads.
    pub text: ResultText,
    /// Whether the text reports a failure.
    pub failed: bool,
}

/// The outcome of a call that has a result. It says who wrote the text of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool ran, and the text is its output.
    Returned,
    /// The tool ran, and its output was too large: the text has the start of it, and says so.
    Truncated,
    /// The executor could not run the tool, and the text has its reason.
    Failed,
    /// The executor panicked, and the text says so.
    Crashed,
    /// The call must not run, and the text says why.
    NotRun,
}

impl CallOutcome {
    /// All outcomes, in this order.
    pub const ALL: [Self; 5] = [Self::Returned, Self::Truncated, Self::Failed, Self::Crashed, Self::NotRun];

    /// Whether the tool ran, or may have run.
    pub fn has_run(self) -> bool {
        match self {
            Self::Returned | Self::Truncated | Self::Failed | Self::Crashed => true,
            Self::NotRun => false,
        }
    }

    /// Whether a result is marked as synthetic: all of its text, or a part of it, is neither the tool's nor the
    /// executor's.
    pub fn is_synthetic(self) -> bool {
        match self {
            Self::Truncated | Self::NotRun => true,
            Self::Returned | Self::Failed | Self::Crashed => false,
        }
    }
}

/// The text of a result. A clone shares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultText {
    text: Arc<str>,
    stored_bytes: usize,
}

impl ResultText {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The number of bytes of the text as a JSON string, which is how a commit holds it.
    pub fn stored_bytes(&self) -> usize {
        self.stored_bytes
    }
}

impl From<&str> for ResultText {
    fn from(text: &str) -> Self {
        let mut count = Count(0);
        // The writer accepts every byte, and a string is always JSON.
        let _ = serde_json::to_writer(&mut count, text);
        Self { text: text.into(), stored_bytes: count.0 }
    }
}

/// A writer that only counts bytes.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A staged result as stores have it. Version 0.1 wrote no outcome: it marked the result itself.
#[derive(Serialize, Deserialize)]
struct StoredStaged {
    cycle: CycleId,
    call: CallId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<CallOutcome>,
    result: Raw,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

/// The result as version 0.1 wrote it and reads it.
#[derive(Serialize, Deserialize)]
struct MarkedResult<T> {
    output: T,
    /// Whether the call must not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    told: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl<T> MarkedResult<T> {
    /// The outcome that the marks of version 0.1 mean.
    fn outcome(&self) -> CallOutcome {
        match (self.told, self.truncated) {
            (true, _) => CallOutcome::NotRun,
            (false, true) => CallOutcome::Truncated,
            (false, false) => CallOutcome::Returned,
        }
    }
}

impl TryFrom<StoredStaged> for Staged {
    type Error = serde_json::Error;

    fn try_from(stored: StoredStaged) -> Result<Self, Self::Error> {
        let StoredStaged { cycle, call, outcome, result, failed } = stored;
        let read = serde_json::from_str::<MarkedResult<String>>(result.as_str());
        let (outcome, text) = match (outcome, read) {
            (Some(outcome), read) => (outcome, read?.output),
            (None, Ok(read)) => (read.outcome(), read.output),
            // Version 0.1 took a result without marks for the output of the tool.
            (None, Err(_)) => (CallOutcome::Returned, result.as_str().to_owned()),
        };
        Ok(Self { cycle, call, outcome, text: text.as_str().into(), failed })
    }
}

impl From<Staged> for StoredStaged {
    fn from(staged: Staged) -> Self {
        let Staged { cycle, call, outcome, text, failed } = staged;
        let (told, truncated) = (outcome == CallOutcome::NotRun, outcome == CallOutcome::Truncated);
        // A text and two marks are always JSON.
        let result = Raw::of(&MarkedResult { output: text.as_str(), told, truncated }).unwrap_or_default();
        Self { cycle, call, outcome: Some(outcome), result, failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    fn read(members: &str) -> Record {
        Record::read(&format!(r#"{{"staged":{{"cycle":"cycle_3","call":"toolu_1",{members}}}}}"#))
    }

    #[test]
    fn a_result_of_version_0_1_gets_its_outcome_from_its_marks() {
        let cases = [
            (r#""result":{"output":"paid"}"#, CallOutcome::Returned, "paid"),
            (r#""result":{"output":"no tool","told":true},"failed":true"#, CallOutcome::NotRun, "no tool"),
            (r#""result":{"output":"pa","truncated":true}"#, CallOutcome::Truncated, "pa"),
            (r#""result":{"told":true}"#, CallOutcome::Returned, r#"{"told":true}"#),
            (r#""result":"paid""#, CallOutcome::Returned, r#""paid""#),
        ];
        for (members, outcome, text) in cases {
            let Record::Staged(staged) = read(members) else { panic!("{members}") };
            assert_eq!((staged.outcome, staged.text.as_str()), (outcome, text), "{members}");
            assert_eq!(staged.failed, members.contains("failed"), "{members}");
        }
    }

    #[test]
    fn a_written_outcome_takes_precedence_over_the_marks() {
        let written = read(r#""outcome":"crashed","result":{"output":"it crashed","told":true}"#);
        assert!(matches!(written, Record::Staged(staged) if staged.outcome == CallOutcome::Crashed));
    }

    #[test]
    fn a_result_that_version_0_1_would_take_for_an_output_is_unreadable_beside_an_outcome() {
        for members in [r#""outcome":"not_run","result":"paid""#, r#""outcome":"later","result":{"output":"paid"}"#] {
            assert!(matches!(read(members), Record::Unreadable(_)), "{members}");
        }
    }

    #[test]
    fn a_staged_result_is_read_as_it_was_written() {
        for outcome in CallOutcome::ALL {
            let (cycle, call, text) = ("cycle_3".into(), "toolu_1".into(), ResultText::from("a \"b\"\n\u{1}é"));
            let staged = Record::Staged(Staged { cycle, call, outcome, text, failed: outcome.is_synthetic() });
            let written = serde_json::to_string(&staged).unwrap();
            assert_eq!(Record::read(&written), staged, "{written}");
            let marks = (outcome == CallOutcome::NotRun, outcome == CallOutcome::Truncated);
            let marked = (written.contains(r#""told":true"#), written.contains(r#""truncated":true"#));
            assert_eq!(marked, marks, "version 0.1 reads the marks: {written}");
        }
    }

    #[test]
    fn the_stored_bytes_of_a_text_are_those_of_its_json() {
        for text in ["", "paid", "a \"b\"\n\u{1}é\\"] {
            assert_eq!(ResultText::from(text).stored_bytes(), serde_json::to_string(text).unwrap().len(), "{text}");
        }
    }
}
