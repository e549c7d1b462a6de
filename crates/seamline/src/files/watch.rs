//! A live session: what breaks and what heals between two looks at it.

use std::collections::BTreeMap;

use super::CheckedFile;
use crate::outline::{OutlineKind, outline};
use crate::{Finding, Options, Severity};

/// The code of a tool call without a result.
const UNANSWERED: &str = "PAIR001";
/// The codes of damage that a program leaves while it writes: the last line, or the end of the document, is not there yet.
const UNFINISHED: [&str; 2] = ["FILE004", "FILE014"];

/// Whether the program may be writing at the moment of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// The file changed since the last look.
    Possible,
    /// The file is the same as at the last look.
    Ended,
}

/// The changes between two looks at a session.
#[derive(Debug, Clone)]
pub enum Change {
    /// A violation is new.
    Broken(Finding),
    /// A violation is gone.
    Healed(Finding),
}

/// The violations of a live session, from one look to the next.
///
/// ```
/// use seamline::files::{Change, SessionHealth, Writing};
///
/// let whole = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#;
/// let look = |bytes: &[u8]| seamline::files::check("s.jsonl", &mut &bytes[..], &seamline::Options::default());
/// let mut health = SessionHealth::default();
/// assert!(health.update(&look(whole)?.unwrap(), Writing::Possible).is_empty());
///
/// // Two writers at once: part of a record is before another one.
/// let next = br#"{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"user","content":"go"}}"#;
/// let spliced = [whole.as_slice(), b"\n{\"type\":\"us", next].concat();
/// let changes = health.update(&look(&spliced)?.unwrap(), Writing::Possible);
/// assert!(matches!(&changes[..], [Change::Broken(finding)] if finding.name == "spliced-record"));
/// assert!(!health.is_healthy());
///
/// let changes = health.update(&look(whole)?.unwrap(), Writing::Possible);
/// assert!(matches!(&changes[..], [Change::Healed(_)]) && health.is_healthy());
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SessionHealth {
    found: BTreeMap<Key, Finding>,
    /// Whether something looks unfinished, so that another look is needed when the program has stopped writing.
    is_unfinished: bool,
}

/// The identity of a finding at the next look: its code, its place in the file, and its message. Calls have ids, which
/// stay where lines move.
type Key = (&'static str, Option<usize>, String);

impl SessionHealth {
    /// Compares the violations with those of the last look. An open tool call at the end of a session is normal: the tool
    /// runs. A torn last line counts only when the program does not write any more.
    pub fn update(&mut self, checked: &CheckedFile, writing: Writing) -> Vec<Change> {
        let is_held = |finding: &Finding| UNFINISHED.contains(&finding.code) && writing == Writing::Possible;
        self.is_unfinished = checked.findings.iter().any(is_held);
        let counts = |finding: &&Finding| {
            finding.severity > Severity::Info && !is_held(finding) && !is_open_end(checked, finding)
        };
        let mut now: BTreeMap<Key, Finding> = BTreeMap::new();
        for finding in checked.findings.iter().filter(counts) {
            let line = finding.line.filter(|_| finding.call_id.is_none());
            now.entry((finding.code, line, finding.message.clone())).or_insert_with(|| finding.clone());
        }
        let healed = self.found.iter().filter(|(key, _)| !now.contains_key(*key));
        let mut changes: Vec<Change> = healed.map(|(_, finding)| Change::Healed(finding.clone())).collect();
        let mut broken: Vec<&Finding> =
            now.iter().filter(|(key, _)| !self.found.contains_key(*key)).map(|(_, finding)| finding).collect();
        broken.sort_by_key(|finding| finding.line);
        changes.extend(broken.into_iter().cloned().map(Change::Broken));
        self.found = now;
        changes
    }

    /// Whether the program can continue the session.
    pub fn is_healthy(&self) -> bool {
        self.found.values().all(|finding| finding.severity < Severity::Error)
    }

    /// Whether another look is needed when the program has stopped writing.
    pub fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }
}

impl CheckedFile {
    /// Whether nothing is wrong but tool calls at the end of the conversation that have no result yet. Such a session is
    /// broken only if its program does not run any more.
    ///
    /// ```
    /// let file = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
    /// {"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}}
    /// "#;
    ///
    /// let checked = seamline::files::check("s.jsonl", &mut &file[..], &seamline::Options::default())?.unwrap();
    /// assert!(checked.is_waiting() && !checked.is_healthy());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_waiting(&self) -> bool {
        let mut errors = self.findings.iter().filter(|finding| finding.severity == Severity::Error).peekable();
        errors.peek().is_some() && errors.all(|finding| is_open_end(self, finding))
    }
}

/// Whether a finding is about a call at the end of the conversation, behind which only calls and results are.
fn is_open_end(checked: &CheckedFile, finding: &Finding) -> bool {
    let Some(index) = finding.message_index.filter(|_| finding.code == UNANSWERED) else { return false };
    let options = Options { dialect: Some(checked.dialect.to_owned()), kept: true, ..Options::default() };
    let rest = outline(checked.body.as_bytes(), &options, index + 1..usize::MAX);
    let is_tool = |kind: OutlineKind| matches!(kind, OutlineKind::Call | OutlineKind::Result);
    rest.is_ok_and(|rest| rest.iter().flat_map(|message| &message.blocks).all(|block| is_tool(block.kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str =
        r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}"#;
    const CALL: &str = r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}}"#;
    const NEXT: &str = r#"{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"s","message":{"role":"user","content":"never mind"}}"#;

    fn look(health: &mut SessionHealth, lines: &[&str], writing: Writing) -> Vec<(bool, &'static str)> {
        let text = lines.join("\n");
        let checked = crate::files::check("s.jsonl", &mut text.as_bytes(), &Options::default()).unwrap().unwrap();
        let told = |change: Change| match change {
            Change::Broken(finding) => (false, finding.name),
            Change::Healed(finding) => (true, finding.name),
        };
        health.update(&checked, writing).into_iter().map(told).collect()
    }

    #[test]
    fn an_open_call_at_the_end_is_not_broken_until_the_session_goes_on() {
        let mut health = SessionHealth::default();
        assert_eq!(look(&mut health, &[USER, CALL], Writing::Ended), []);
        assert!(health.is_healthy());
        assert_eq!(look(&mut health, &[USER, CALL, NEXT], Writing::Possible), [(false, "unanswered-call")]);
        assert_eq!(look(&mut health, &[USER, CALL, NEXT], Writing::Possible), []);
        assert!(!health.is_healthy());
        assert_eq!(look(&mut health, &[USER], Writing::Possible), [(true, "unanswered-call")]);
    }

    #[test]
    fn a_torn_last_line_counts_when_the_program_has_stopped_writing() {
        let mut health = SessionHealth::default();
        let torn = [USER, &CALL[..40]];
        assert_eq!((look(&mut health, &torn, Writing::Possible), health.is_unfinished()), (vec![], true));
        assert_eq!(look(&mut health, &torn, Writing::Ended), [(false, "torn-line")]);
        assert_eq!(look(&mut health, &[USER, CALL], Writing::Possible), [(true, "torn-line")]);
    }
}
