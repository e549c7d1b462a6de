//! `seamline session request`

use std::path::PathBuf;

use clap::Args;
use seamline::session::{Refusal, SessionError};
use seamline::store::SessionId;

use super::context::{StoreContext, exit_of};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Source;
use crate::output::{self, Output};
use crate::render::{Counts, style, text};
use crate::screen;

/// Print the request body to send to the provider
///
/// Joins the envelope (the model, the system prompt, the tools) with the messages of the session, repaired as the policy
/// says. The stored messages do not change. Tool calls whose results are still to come are left out.
///
/// Without `--envelope` the body has only the messages, and you add the rest before you send it; the exit status is about
/// the messages.
///
/// Send the body unchanged, for example with `curl --data-binary`: `curl -d` removes line breaks.
///
/// Exit status: 0 the provider accepts the body, 1 findings remain in it or the session is degraded, so that messages may
/// be missing, 2 the command failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Request {
    /// The name of the session
    #[arg(value_name = "NAME")]
    pub(super) name: SessionId,
    /// A JSON object with everything but the messages, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    envelope: Option<PathBuf>,
    /// Write the body for this provider or dialect, or both, such as `groq/openai_responses`; the session does not switch
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The policy of repairs: a preset or a TOML file (see `seamline policies`) [default: the stored one]
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  echo '{\"model\":\"claude-sonnet-4-5\",\"max_tokens\":1024}' > envelope.json
  seamline session request s-1 --envelope envelope.json > body.json
  curl --data-binary @body.json -H 'content-type: application/json' \\
    -H \"x-api-key: $ANTHROPIC_API_KEY\" -H 'anthropic-version: 2023-06-01' \\
    https://api.anthropic.com/v1/messages";

impl Request {
    pub(super) fn run(&self, context: &StoreContext) -> Result<Exit, Failure> {
        let envelope = self.envelope()?;
        let session = context.read_aloud(&self.name)?;
        let policy = args::policy_or_stored(self.policy.as_deref(), &session)?;
        context.warn_of_calls(&session.unresolved());
        let request = match &self.provider {
            Some(name) => session.request_for(name, &envelope, policy),
            None => session.request_with(&envelope, policy),
        };
        let request = request.map_err(|error| self.failure(context, &error))?;
        output::say_note(self.name.as_str(), request.note.as_deref());
        let mut output = Output::new();
        output.bytes(&request.body);
        if output::is_terminal() {
            output.text("\n");
        }
        if !request.actions.is_empty() {
            let count = screen::count(request.found.len(), "finding");
            output::say(&format!("seamline: {count} fixed for this request; the stored messages do not change\n"));
        }
        let counts = Counts::of(&request.remaining);
        if counts.is_wrong() {
            let still = style::ERROR.paint(&text::counted(counts));
            output::say(&format!("seamline: still wrong: {still}; {} lists it\n", context.command("check")));
        }
        // A body that was not read counts as not written.
        let exit = if output.is_gone() { Exit::Failed } else { exit_of(session.health()) };
        Ok(output.finish(if counts.is_wrong() { exit.max(Exit::Findings) } else { exit }))
    }

    fn envelope(&self) -> Result<String, Failure> {
        let Some(source) = self.source() else { return Ok("{}".to_owned()) };
        let text = source.read_text().map_err(|failure| about(&source, failure))?;
        match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text) {
            Ok(_) => Ok(text),
            Err(error) => Err(about(&source, Failure::new(format!("not a JSON object: {error}")))
                .with_hint("an envelope is a request body without its messages, such as {\"model\":\"…\"}")),
        }
    }

    fn source(&self) -> Option<Source> {
        let path = self.envelope.as_ref()?;
        Some(if path.as_os_str() == "-" { Source::Stdin } else { Source::Path(path.clone()) })
    }

    /// Explains a failed request. An envelope with messages of its own is the mistake of a file, so that is named.
    fn failure(&self, context: &StoreContext, error: &SessionError) -> Failure {
        match (error, self.source()) {
            (SessionError::Refused(Refusal::EnvelopeHoldsMessages { list }), Some(source)) => {
                let message = format!("it contains `{list}`, but the session provides the messages");
                let hint = format!("omit it; {} adds the messages of a body", context.command("append --body"));
                about(&source, Failure::new(message)).with_hint(hint)
            }
            _ => context.failure(error),
        }
    }
}

/// Names the source of an envelope in a failure.
fn about(source: &Source, failure: Failure) -> Failure {
    Failure { message: format!("{}: {}", output::named(&source.label()), failure.message), ..failure }
}
