//! Results of calls that OpenAI's Responses API has types of their own for.

use seamline_model::conversation::Call;
use seamline_store::Raw;
use serde::{Deserialize, Serialize};

use super::SessionError;
use super::wire::Answered;

/// The dialect that has them.
const DIALECT: &str = "openai_responses";

/// What a shell is said to have ended with where that is not known.
const EXIT_UNKNOWN: i32 = -1;

/// The types of items that are calls for the client to run.
const CALLS: [&str; 5] = ["function_call", "custom_tool_call", "shell_call", "apply_patch_call", "local_shell_call"];

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: String,
    environment: Option<Environment>,
}

/// Where a shell runs.
#[derive(Deserialize)]
struct Environment {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct ShellInput {
    environment: Option<Environment>,
}

/// A result as it is written for a function.
#[derive(Deserialize)]
struct Plain {
    call_id: String,
    output: String,
}

/// What one command of a shell did.
#[derive(Serialize, Deserialize)]
struct Command {
    stdout: String,
    stderr: String,
    outcome: Outcome,
}

#[derive(Serialize, Deserialize)]
struct Outcome {
    #[serde(rename = "type")]
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
}

#[derive(Serialize)]
struct ShellResult<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    output: &'a [Command],
}

#[derive(Serialize)]
struct PatchResult<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    status: &'static str,
    output: &'a str,
}

#[derive(Serialize)]
struct LocalShellResult<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    output: &'a str,
}

/// Whether a call is run where the provider keeps a container for it: its result comes from there.
pub(super) fn is_run_by_server(dialect: &str, call: &Call) -> bool {
    let input = || serde_json::from_str::<ShellInput>(&call.input).ok();
    dialect == DIALECT && call.name == "shell" && is_container(input().and_then(|input| input.environment).as_ref())
}

fn is_container(environment: Option<&Environment>) -> bool {
    environment.is_some_and(|environment| environment.kind == "container_reference")
}

/// Results, one for each call of a turn, of the types that their calls want.
pub(super) fn retyped(
    dialect: &str,
    turn: &[Raw],
    answers: &[Answered],
    results: Vec<Raw>,
) -> Result<Vec<Raw>, SessionError> {
    if dialect != DIALECT || results.len() != answers.len() {
        return Ok(results);
    }
    let items = turn.iter().filter_map(|item| serde_json::from_str::<Item>(item.as_str()).ok());
    let is_run_here = |item: &Item| CALLS.contains(&item.kind.as_str()) && !is_container(item.environment.as_ref());
    let calls: Vec<Item> = items.filter(is_run_here).collect();
    if calls.len() != answers.len() {
        return Ok(results);
    }
    let pairs = calls.iter().zip(answers).zip(results);
    pairs.map(|((call, answer), result)| of_type(&call.kind, answer, result)).collect()
}

fn of_type(call: &str, answer: &Answered, result: Raw) -> Result<Raw, SessionError> {
    let Ok(Plain { call_id, output }) = serde_json::from_str(result.as_str()) else { return Ok(result) };
    Ok(match call {
        "shell_call" => Raw::of(&ShellResult {
            kind: "shell_call_output",
            call_id: &call_id,
            output: &commands(&answer.output, answer.failed),
        })?,
        "apply_patch_call" => Raw::of(&PatchResult {
            kind: "apply_patch_call_output",
            call_id: &call_id,
            status: if answer.failed { "failed" } else { "completed" },
            output: &answer.output,
        })?,
        // It has no place for a failure but its text, and names its call under `id`.
        "local_shell_call" => {
            Raw::of(&LocalShellResult { kind: "local_shell_call_output", id: &call_id, output: &output })?
        }
        _ => result,
    })
}

/// What a shell returned, as a list of what its commands did. A tool that gives such a list has it taken as it is; one
/// that gives a text did one command.
fn commands(output: &str, failed: bool) -> Vec<Command> {
    if let Ok(commands) = serde_json::from_str(output) {
        return commands;
    }
    let (stdout, stderr, exit_code) = if failed { ("", output, EXIT_UNKNOWN) } else { (output, "", 0) };
    let outcome = Outcome { kind: "exit".to_owned(), exit_code: Some(exit_code) };
    vec![Command { stdout: stdout.to_owned(), stderr: stderr.to_owned(), outcome }]
}

/// What a result says, without what a shell wraps it in.
pub(super) fn unwrapped(dialect: &str, text: String) -> String {
    let command = || serde_json::from_str::<Command>(&text).ok().filter(|command| command.stdout.is_empty());
    if dialect == DIALECT
        && let Some(command) = command()
    {
        command.stderr
    } else {
        text
    }
}
