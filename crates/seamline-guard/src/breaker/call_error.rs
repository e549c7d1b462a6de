//! Errors of single tool calls.

use serde_json::Value;

use super::round::CallInRound;
use super::schema::ToolSchemas;

/// The error of a tool call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CallError {
    /// The arguments are not JSON, with the parser's error.
    Malformed(String),
    /// No tool has this name.
    Unknown,
    /// The arguments do not fit the tool's schema, with the violations.
    Misfit(Vec<String>),
}

/// Checks a call. Returns its error, if any, and whether only the outermost level of its arguments was checked. Free text
/// fits only a tool without a schema.
pub(super) fn check_call(call: &CallInRound<'_>, tools: &ToolSchemas) -> (Option<CallError>, bool) {
    let name = call.name;
    if !tools.knows(name) {
        return (Some(CallError::Unknown), false);
    }
    if call.free {
        let misfits =
            tools.has_schema(name).then(|| vec!["the arguments are free text, but the tool takes JSON".to_owned()]);
        return (misfits.map(CallError::Misfit), false);
    }
    // Models call tools without arguments with `null` or with an empty text.
    let text = if matches!(call.arguments.trim(), "" | "null") { "{}" } else { call.arguments };
    match serde_json::from_str::<Value>(text) {
        Err(error) => (Some(CallError::Malformed(error.to_string())), false),
        Ok(arguments) => {
            let check = tools.check(name, &arguments);
            (Some(check.complaints).filter(|found| !found.is_empty()).map(CallError::Misfit), check.is_partial)
        }
    }
}

impl CallError {
    /// Returns the error result for the model.
    pub(super) fn text(&self, name: &str) -> String {
        match self {
            Self::Malformed(why) => format!("The arguments of tool '{name}' are not JSON: {why}"),
            Self::Unknown => format!("Tool '{name}' does not exist."),
            Self::Misfit(complaints) => {
                format!("The arguments of tool '{name}' do not fit its schema: {}", complaints.join("; "))
            }
        }
    }

    /// Returns the text that is added when the model repeats its mistake.
    pub(super) fn escalation(&self, name: &str, count: u32, tools: &ToolSchemas) -> String {
        match self {
            Self::Unknown => {
                format!(
                    "Tool '{name}' was called {count} times consecutively. Do NOT call it again: it does not exist."
                )
            }
            Self::Malformed(_) | Self::Misfit(_) => format!(
                "Tool '{name}' has failed schema validation {count} times consecutively. The required fields are: {}. \
                 Do NOT call this tool again without providing all required fields.",
                tools.required(name).join(", ")
            ),
        }
    }
}
