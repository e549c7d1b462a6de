//! The shell tool of a client, found among the tools that its request declares.

use serde_json::{Value, json};

use crate::Dialect;

/// The names and schemas of the tools that a request declares.
pub(crate) type Declared<'b> = Vec<(&'b str, &'b Value)>;

/// A call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct ToolCall {
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// Names of shell tools, as they occur in clients; a name that contains one counts, too.
const SHELLS: [&str; 7] = ["run_shell_command", "exec_command", "run_commands", "shell", "bash", "exec", "terminal"];

/// The call of the client's shell tool with a command; nothing if it declares none.
pub(super) fn shell(dialect: Dialect, body: &Value, command: &str) -> Option<ToolCall> {
    let declared = (dialect.service().tools)(body);
    let is_shell = |name: &str, shell: &str| name.to_ascii_lowercase().contains(shell);
    let found = SHELLS.iter().find_map(|shell| declared.iter().find(|(name, _)| is_shell(name, shell)));
    let (name, schema) = *found?;
    Some(ToolCall { name: name.to_owned(), input: input(schema, command) })
}

/// The names and schemas of tools whose name and schema are members with these names.
pub(crate) fn listed<'b>(tools: &'b Value, schema: &str) -> Declared<'b> {
    tools.as_array().into_iter().flatten().filter_map(|tool| named(tool, schema)).collect()
}

/// The name and the schema of a tool.
pub(crate) fn named<'b>(tool: &'b Value, schema: &str) -> Option<(&'b str, &'b Value)> {
    Some((tool["name"].as_str()?, &tool[schema]))
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
