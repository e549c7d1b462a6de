//! The tools: their schemas, and the command that each runs.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;

use seamline::guards::{ChildEnd, ChildLimits, Ran, Stopper, Supervised};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::NamedTempFile;

/// The longest output that goes to the model, in bytes.
const OUTPUT_BYTES_MAX: usize = 200 * 1024;
/// The longest error text, in bytes. An argument of a command has to be short.
const ERROR_BYTES_MAX: usize = 64 * 1024;

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Tool {
    arguments: Vec<String>,
    /// The body that the model gave as a text.
    body: Option<NamedTempFile>,
}

/// Describes the tools for the model.
pub(super) fn list(allows_fix: bool) -> Vec<Value> {
    let mut tools = vec![
        json!({
            "name": "check",
            "title": "Check a request body or a session file",
            "description": "Reports what is wrong with the history in a request body or in the session file of an agent: tool \
                            calls without a result, results without a call, and everything else that makes a provider reject \
                            the request. Give a path or the text of a body.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The path of the request body or session file."},
                    "text": {"type": "string", "description": "The text of a request body, instead of a path."},
                    "provider": {"type": "string", "description": "The provider that gets the request, such as anthropic."},
                },
            },
        }),
        json!({
            "name": "explain_error",
            "title": "Explain the error of a provider",
            "description": "Explains an error that a provider of language models returned: its class, its meaning, what to do, \
                            and which rule of Seamline finds its cause.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "error": {"type": "string", "description": "The text of the error."},
                    "status": {"type": "integer", "description": "The status of HTTP."},
                    "provider": {"type": "string", "description": "The provider that returned it."},
                    "path": {"type": "string", "description": "The path of the request body that caused it."},
                },
                "required": ["error"],
            },
        }),
        json!({
            "name": "doctor",
            "title": "Find broken sessions",
            "description": "Looks through the sessions that agents saved on this machine, and reports which are broken and what a \
                            repair would do.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "folder": {"type": "string", "description": "A folder to look in, instead of those that agents use."},
                },
            },
        }),
    ];
    for tool in &mut tools {
        let repairs = allows_fix && tool["name"] != "explain_error";
        if repairs {
            let text = "Repair what is broken. The old bytes are kept; `seamline undo` brings them back.";
            tool["inputSchema"]["properties"]["fix"] = json!({"type": "boolean", "description": text});
        }
        tool["inputSchema"]["additionalProperties"] = false.into();
        tool["annotations"] = json!({"readOnlyHint": !repairs, "destructiveHint": false, "openWorldHint": false});
    }
    tools
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Given {
    path: Option<String>,
    text: Option<String>,
    provider: Option<String>,
    error: Option<String>,
    status: Option<u16>,
    folder: Option<String>,
    fix: bool,
}

impl Tool {
    /// Reads a call.
    pub(super) fn read(name: &str, arguments: Value, allows_fix: bool) -> Result<Self, String> {
        let is_known = list(allows_fix).into_iter().find(|tool| tool["name"] == name);
        let Some(known) = is_known else { return Err(format!("no tool is called `{name}`")) };
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        let names = arguments.as_object().ok_or("the arguments are an object")?.keys();
        let unknown = names.into_iter().find(|name| known["inputSchema"]["properties"].get(name.as_str()).is_none());
        if let Some(unknown) = unknown {
            return Err(format!("`{name}` has no argument `{unknown}`"));
        }
        let given: Given = serde_json::from_value(arguments).map_err(|error| error.to_string())?;
        match name {
            "check" => given.check(),
            "explain_error" => given.explain(),
            _ => Ok(given.doctor()),
        }
    }

    /// Runs the command, and returns its output as the result of the tool.
    pub(super) async fn run(self, program: &Path) -> Value {
        match self.ran(program).await {
            Ok(ran) if ran.end == ChildEnd::Exited => {
                // The status 1 means that there are findings.
                let failed = ran.status.code().is_none_or(|code| code > 1);
                let (said, complained) = (ran.stdout.text(), ran.stderr.text());
                let text = if failed || said.is_empty() { format!("{said}{complained}") } else { said };
                result(&text, failed)
            }
            Ok(_) => result("the command took too long and was stopped", true),
            Err(error) => result(&format!("the command could not run: {error}"), true),
        }
    }

    async fn ran(self, program: &Path) -> io::Result<Ran> {
        let limits = ChildLimits { output_bytes_max: OUTPUT_BYTES_MAX, ..ChildLimits::default() };
        let child = Supervised::start(Command::new(program).args(&self.arguments), &limits)?;
        let _stop = StopOnDrop(child.stopper());
        let waiting = tokio::task::spawn_blocking(move || child.wait());
        let ran = waiting.await.map_err(io::Error::other)?;
        drop(self.body);
        ran
    }
}

/// Stops the command of a call that the client cancels.
struct StopOnDrop(Stopper);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn result(text: &str, failed: bool) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": failed})
}

impl Given {
    fn check(self) -> Result<Tool, String> {
        if self.fix && self.text.is_some() {
            return Err("only a file can be repaired; give a `path`".to_owned());
        }
        let (path, body) = match (self.path, self.text) {
            (Some(path), None) => (path, None),
            (None, Some(text)) => {
                let file = kept(&text).map_err(|error| format!("cannot keep the text: {error}"))?;
                (file.path().display().to_string(), Some(file))
            }
            _ => return Err("give a `path` or a `text`".to_owned()),
        };
        let command = if self.fix { "fix" } else { "check" };
        let mut arguments = vec![command.to_owned(), "--format=json".to_owned()];
        arguments.extend(self.provider.map(|provider| format!("--provider={provider}")));
        arguments.extend(["--".to_owned(), path]);
        Ok(Tool { arguments, body })
    }

    fn explain(self) -> Result<Tool, String> {
        let error = self.error.ok_or("give the `error`")?.replace('\0', "");
        if error.len() > ERROR_BYTES_MAX {
            return Err(format!("the error has more than {ERROR_BYTES_MAX} bytes; give its first lines"));
        }
        let mut arguments = vec!["explain".to_owned(), format!("--error={error}"), "--format=json".to_owned()];
        arguments.extend(self.status.map(|status| format!("--status={status}")));
        arguments.extend(self.provider.map(|provider| format!("--provider={provider}")));
        arguments.extend(self.path.map(|path| format!("--body={path}")));
        Ok(Tool { arguments, body: None })
    }

    fn doctor(self) -> Tool {
        let mut arguments = vec!["doctor".to_owned(), "--format=json".to_owned()];
        arguments.extend(self.fix.then(|| "--fix".to_owned()));
        if let Some(folder) = self.folder {
            arguments.extend(["--".to_owned(), folder]);
        }
        Tool { arguments, body: None }
    }
}

/// A file with a text, for as long as the command runs.
fn kept(text: &str) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("body-").suffix(".json").tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}
