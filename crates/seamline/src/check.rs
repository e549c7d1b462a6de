//! Checks a body.

use seamline_dialects::Dialect;
use seamline_model::{RuleFinding, Transcript};
use seamline_rules::{Found, Settled};
use serde::Serialize;

use crate::native::Native;
use crate::subject::Subject;
use crate::{Error, Finding, Options, Severity, log};

/// The outcome of a check.
///
/// ```
/// let body = br#"{"model":"gpt-5","messages":[{"role":"user","content":"hello"}]}"#;
///
/// let checked = seamline::check(body, &seamline::Options::default())?;
/// assert_eq!((checked.dialect, checked.provider), ("openai_chat", "openai"));
/// assert_eq!((checked.messages, checked.calls), (1, 0));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Checked {
    /// The dialect that the body is written in.
    pub dialect: &'static str,
    /// The provider that the body was checked for.
    pub provider: &'static str,
    /// A note that the demands of the provider in this dialect are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The number of messages.
    pub messages: usize,
    /// The number of tool calls.
    pub calls: usize,
    /// The violations, in the order of the body.
    pub findings: Vec<Finding>,
}

impl Checked {
    /// Whether the provider would accept the body.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
    ///
    /// let checked = seamline::check(body, &seamline::Options::default())?;
    /// assert!(!checked.is_accepted());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_accepted(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity < Severity::Error)
    }

    fn of(subject: &Subject, transcript: &Transcript<'_>, findings: Vec<RuleFinding>) -> Self {
        let described = |finding| Finding::of(subject.dialect, transcript, finding);
        let checked = Self {
            dialect: subject.dialect.name(),
            provider: subject.provider.name,
            note: subject.note.clone(),
            messages: transcript.messages.len(),
            calls: transcript.has.calls as usize,
            findings: findings.into_iter().map(described).collect(),
        };
        log::record_check(&checked);
        checked
    }
}

/// Checks a body and returns its violations.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"user","content":"what is in main.rs?"},
///   {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
///   {"role":"user","content":"never mind"}]}"#;
///
/// let checked = seamline::check(body, &seamline::Options::default())?;
/// let finding = &checked.findings[0];
/// assert_eq!((finding.code, finding.pointer.as_str()), ("PAIR001", "/messages/1/content/0"));
/// # Ok::<(), seamline::Error>(())
/// ```
///
/// # Errors
///
/// Fails when the body is not JSON, is not a conversation, or the options name something that does not exist.
pub fn check(body: &[u8], options: &Options) -> Result<Checked, Error> {
    if let Some(native) = Native::named(body, options)? {
        return native.check();
    }
    let _span = log::enter("check", body);
    let looked = look(body, options);
    if let Some(native) = Native::suspected(body, options, &looked)? {
        return native.check();
    }
    let (subject, transcript, found) = looked?;
    Ok(Checked::of(&subject, &transcript, found.findings))
}

/// Checks a body in the dialect that the options name.
pub(crate) fn check_body(body: &[u8], options: &Options) -> Result<Checked, Error> {
    let (subject, transcript, found) = look(body, options)?;
    Ok(Checked::of(&subject, &transcript, found.findings))
}

/// A body that was read, and its violations.
pub(crate) type Looked<'b> = (Subject, Transcript<'b>, Found);

/// Reads a body and finds its violations.
pub(crate) fn look<'b>(body: &'b [u8], options: &Options) -> Result<Looked<'b>, Error> {
    let dialect = Subject::dialect(body, options)?;
    let transcript = Subject::transcript(dialect, body, options)?;
    let subject = Subject::of(dialect, &transcript, options)?;
    let policy = options.policy.repair_for(subject.provider.name);
    let found = seamline_rules::check(&transcript, &subject.provider.constraints, &policy);
    Ok((subject, transcript, found))
}

/// Checks a transcript, and skips messages that an earlier check with the same options settled.
pub(crate) fn check_transcript(
    dialect: &'static Dialect,
    transcript: &Transcript<'_>,
    options: &Options,
    settled: &mut Settled,
) -> Result<Checked, Error> {
    let (subject, found) = look_on(dialect, transcript, options, settled)?;
    Ok(Checked::of(&subject, transcript, found.findings))
}

/// Finds the violations of a transcript without checking messages that an earlier check with the same options settled.
pub(crate) fn look_on(
    dialect: &'static Dialect,
    transcript: &Transcript<'_>,
    options: &Options,
    settled: &mut Settled,
) -> Result<(Subject, Found), Error> {
    let subject = Subject::of(dialect, transcript, options)?;
    let policy = options.policy.repair_for(subject.provider.name);
    let found = seamline_rules::check_on(transcript, &subject.provider.constraints, &policy, settled);
    Ok((subject, found))
}
