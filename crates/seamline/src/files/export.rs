//! Writes a conversation as a new session of another program.

use std::collections::BTreeMap;

use seamline_files::EXPORTERS;
use seamline_files::session::{About, Export, Exporter, session_id, time};
use seamline_model::conversation::Fate;
use serde_json::value::RawValue;

use super::saved::SavedConversation;
use crate::convert::{ConversionLoss, ConvertOptions, Converted};
use crate::{Error, Finding, Options, outline, providers};

/// The members of a request body that hold the text of the system, in all dialects.
const SYSTEM: [&str; 4] = ["system", "instructions", "systemInstruction", "system_instruction"];

/// The programs that write their own system text into the messages have these roles for it.
const SYSTEM_ROLES: [&str; 2] = ["system", "developer"];

/// How a conversation is written as a session.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The folder that the program is to work in; that of the source when not given.
    pub folder: Option<String>,
    /// The time of a session whose source does not tell one, in milliseconds since 1970.
    pub time_ms: i64,
    /// The conversion; the program determines its target.
    pub convert: ConvertOptions,
}

/// A conversation, written as a new session of a program.
///
/// ```
/// use seamline::files::{ExportOptions, exporter};
///
/// let file = br#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","cwd":"/w","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"hi"}}"#;
/// let saved = seamline::files::conversation("s.jsonl", file, &seamline::Options::default())?.unwrap();
///
/// let exported = saved.export(exporter("codex").unwrap(), &ExportOptions::default())?;
/// assert!(exported.path.starts_with("2026/01/02/rollout-2026-01-02T03-04-05-"));
/// assert!(exported.text.starts_with(r#"{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta""#));
/// assert!(exported.findings.is_empty() && exported.resume.unwrap().starts_with("codex resume "));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ExportedSession {
    /// How the program's sessions are written.
    pub exporter: &'static Exporter,
    /// The text of the new file.
    pub text: String,
    /// The path of the new file, with `/` between folders, below the first place of the program, or below the folder of
    /// the project there.
    pub path: String,
    /// The name that the folder of the project gets, for a program that names it in a file of that folder.
    pub project: Option<String>,
    /// The description of the new session.
    pub about: About,
    /// The command that continues the session in its program; `{FILE}` means the new file.
    pub resume: Option<String>,
    /// The conversion of the messages.
    pub converted: Converted,
    /// The violations of the new file.
    pub findings: Vec<Finding>,
}

/// Finds the program with this name to write sessions for, such as `claude-code`.
pub fn exporter(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().copied().find(|exporter| exporter.name == name)
}

impl SavedConversation {
    /// Writes the conversation as a new session of a program. The id of the session is made from the conversation, and its
    /// time is that of the source, so the same source gives the same file.
    ///
    /// # Errors
    ///
    /// Fails when the options name something that does not exist, the conversation has no messages, or the records of the
    /// program cannot hold one.
    pub fn export(&self, exporter: &'static Exporter, options: &ExportOptions) -> Result<ExportedSession, Error> {
        let to = exporter.side.to_owned();
        let mut converted = self.convert(&ConvertOptions { to, ..options.convert.clone() })?;
        let messages = messages(exporter, &mut converted)?;
        if messages.is_empty() {
            return Err(Error::NoMessages);
        }
        let about = About {
            id: Some(session_id(exporter.name, self.body.as_bytes())),
            title: self.about.title.clone(),
            folder: options.folder.clone().or_else(|| self.about.folder.clone()),
            model: options.convert.model.clone().or_else(|| self.model_for(exporter)),
            ..About::default()
        };
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        let time_ms = self.about.updated.as_deref().and_then(time::parse).unwrap_or(options.time_ms);
        let new = exporter.write(&Export { messages: &messages, about: &about, time_ms });
        let new = new.ok_or(Error::CannotExport(exporter.program.name))?;
        let plain = Options { policy: options.convert.policy.clone(), ..Options::default() };
        let checked = super::check(&new.path, &mut new.text.as_bytes(), &plain)?;
        let resume = exporter.program.session.and_then(|format| format.resume(&about));
        let findings = checked.map(|checked| checked.findings).unwrap_or_default();
        Ok(ExportedSession {
            exporter,
            text: new.text,
            path: new.path,
            project: new.project,
            about,
            resume,
            converted,
            findings,
        })
    }

    /// The model of the session, if the provider of another program serves it.
    fn model_for(&self, exporter: &Exporter) -> Option<String> {
        let model = self.about.model.as_ref()?;
        let (provider, _) = providers::side(exporter.side)?;
        provider.filter(|provider| provider.models.is_empty() || provider.claims(model)).map(|_| model.clone())
    }
}

/// The messages of a converted body, each on one line. Programs write their own system text, so that of the source stays out.
fn messages(exporter: &Exporter, converted: &mut Converted) -> Result<Vec<String>, Error> {
    let options = Options { dialect: Some(converted.to.dialect.to_owned()), ..Options::default() };
    let spans = outline::message_spans(&converted.body, &options)?;
    let text = |span: std::ops::Range<usize>| {
        // A string has no line breaks in JSON, so these are between values.
        String::from_utf8_lossy(&converted.body[span]).replace(['\n', '\r'], " ")
    };
    let mut messages: Vec<String> = spans.into_iter().map(text).collect();
    let first = messages.iter().position(|message| !is_system(message)).unwrap_or(messages.len());
    let is_chat = converted.to.dialect == "openai_chat";
    let mut has_system = has_member(&converted.body);
    if is_chat && first > 0 {
        messages.drain(..first);
        has_system = true;
    }
    // A session has messages only. The program adds the settings, the tools and the model of its next request.
    let is_setting = |lost: &ConversionLoss| lost.pointer == "/model" || lost.what.starts_with("model");
    converted.lost.retain(|lost| lost.fate != Fate::Added && !is_setting(lost));
    if has_system {
        converted.lost.push(ConversionLoss {
            what: "system text".to_owned(),
            pointer: String::new(),
            fate: Fate::Dropped,
            note: format!("{} writes its own", exporter.program.name),
        });
    }
    Ok(messages)
}

fn is_system(message: &str) -> bool {
    let message: serde_json::Value = serde_json::from_str(message).unwrap_or_default();
    message["role"].as_str().is_some_and(|role| SYSTEM_ROLES.contains(&role))
}

fn has_member(body: &[u8]) -> bool {
    let body: BTreeMap<&str, &RawValue> = serde_json::from_slice(body).unwrap_or_default();
    SYSTEM.iter().any(|name| body.contains_key(name))
}
