//! The shell tool of a client, found among the tools that its request declares.

use serde_json::{Value, json};

use crate::Dialect;

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) input: Value,
}

/// Names of shell tools, as they occur in clients; a name that contains one counts, too.
const SHELLS: [&str; 7] = ["run_shell_command", "exec_command", "run_commands", "shell", "bash", "exec", "terminal"];

/// The call of the client's shell tool with a command; nothing if it declares none.
pub(super) fn shell(dialect: Dialect, body: &Value, command: &str) -> Option<ToolCall> {
    let declared: Vec<(&str, &Value)> = declared(dialect, body);
    let is_shell = |name: &str, shell: &str| name.to_ascii_lowercase().contains(shell);
    let found = SHELLS.iter().find_map(|shell| declared.iter().find(|(name, _)| is_shell(name, shell)));
    let (name, schema) = *found?;
    Some(ToolCall { name: name.to_owned(), input: input(schema, command) })
}

/// The names and schemas of the declared tools.
fn declared<'b>(dialect: Dialect, body: &'b Value) -> Vec<(&'b str, &'b Value)> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let named = |tool: &'b Value, schema: &str| Some((tool["name"].as_str()?, &tool[schema]));
    match dialect.name() {
        "anthropic_messages" => tools.filter_map(|tool| named(tool, "input_schema")).collect(),
        "openai_chat" => tools.filter_map(|tool| named(&tool["function"], "parameters")).collect(),
        "openai_responses" => tools.filter_map(|tool| named(tool, "parameters")).collect(),
        "gemini_generate" => {
            let functions = tools.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
            // Google's own Python package writes this member in snake case.
            let keys = ["parametersJsonSchema", "parameters_json_schema"];
            let schema = |tool: &'b Value| {
                let key = keys.into_iter().find(|key| tool.get(key).is_some());
                named(tool, key.unwrap_or("parameters"))
            };
            functions.filter_map(schema).collect()
        }
        "gemini_interactions" => tools.filter_map(|tool| named(tool, "parameters")).collect(),
        _ => {
            let tools = body["toolConfig"]["tools"].as_array().into_iter().flatten();
            let spec =
                |tool: &'b Value| Some((tool["toolSpec"]["name"].as_str()?, &tool["toolSpec"]["inputSchema"]["json"]));
            tools.filter_map(spec).collect()
        }
    }
}

/// An input that fits a schema: the command where the schema has a place for one, and a value for what else it requires.
fn input(schema: &Value, command: &str) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut input = serde_json::Map::new();
    for (name, property) in &properties {
        let is_command = matches!(name.as_str(), "command" | "cmd" | "commands" | "script");
        let is_list = property["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("array"));
        if is_command {
            let value = if is_list { json!(["bash", "-lc", command]) } else { json!(command) };
            input.insert(name.clone(), value);
        } else if required.iter().any(|required| required == name) {
            input.insert(name.clone(), filler(property));
        }
    }
    Value::Object(input)
}

fn filler(property: &Value) -> Value {
    match property["type"].as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => property["enum"].get(0).cloned().unwrap_or_else(|| json!("run the probe")),
    }
}
