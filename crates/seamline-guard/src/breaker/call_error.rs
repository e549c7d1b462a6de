//! What is wrong with a single call.

use serde_json::Value;

use super::round::CallInRound;
use super::schema::ToolSchemas;

/// What is wrong with a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its arguments are no JSON, and why.
    Malformed(String),
    /// There is no such tool.
    Unknown,
    /// Its arguments do not fit the tool's schema, and in what.
    Misfit(Vec<String>),
}

/// What is wrong with a call, nothing when it may be run; and whether that is said of no more than
/// the outermost level of its arguments. Free text fits a tool that has no schema, and no other.
pub(super) fn fault(call: &CallInRound<'_>, tools: &ToolSchemas) -> (Option<Fault>, bool) {
    let name = call.name;
    if !tools.knows(name) {
        return (Some(Fault::Unknown), false);
    }
    if call.free {
        let misfits = tools.has_schema(name).then(|| vec!["they are free text, and it takes JSON".to_owned()]);
        return (misfits.map(Fault::Misfit), false);
    }
    // Nothing, written as `null` or not at all, is what tools without arguments are called with.
    let text = if matches!(call.arguments.trim(), "" | "null") { "{}" } else { call.arguments };
    match serde_json::from_str::<Value>(text) {
        Err(error) => (Some(Fault::Malformed(error.to_string())), false),
        Ok(arguments) => {
            let look = tools.look(name, &arguments);
            (Some(look.complaints).filter(|found| !found.is_empty()).map(Fault::Misfit), look.is_partial)
        }
    }
}

impl Fault {
    /// What the model is told.
    pub(super) fn text(&self, name: &str) -> String {
        match self {
            Self::Malformed(why) => format!("The arguments of tool '{name}' are not JSON: {why}"),
            Self::Unknown => format!("There is no tool '{name}'."),
            Self::Misfit(complaints) => {
                format!("The arguments of tool '{name}' do not fit its schema: {}", complaints.join("; "))
            }
        }
    }

    /// What it is told that makes the mistake again and again.
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
