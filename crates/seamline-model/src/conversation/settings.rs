//! The settings of a request.

use std::collections::BTreeMap;

/// The settings of a request. Numbers are kept as they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The name of the model.
    pub model: Option<String>,
    /// The highest number of output tokens.
    pub max_tokens: Option<String>,
    /// The sampling temperature, as written.
    pub temperature: Option<String>,
    /// The nucleus sampling threshold, as written.
    pub top_p: Option<String>,
    /// Sequences that stop the output.
    pub stop: Vec<String>,
    /// Whether the response is streamed.
    pub stream: Option<bool>,
    /// The tools the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Which tool the model must call.
    pub tool_choice: Option<ToolChoice>,
    /// The required format of the response.
    pub format: Option<ResponseFormat>,
    /// Further settings that more than one dialect has, by Seamline's names.
    pub others: BTreeMap<&'static str, Other>,
    /// The original positions of settings, by Seamline's names, as JSON pointers.
    pub pointers: BTreeMap<&'static str, String>,
}

impl Settings {
    /// The original position of a setting, by Seamline's name; empty if it was absent.
    pub fn pointer(&self, name: &str) -> &str {
        self.pointers.get(name).map_or("", String::as_str)
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    /// The name of the tool.
    pub name: String,
    /// The description for the model.
    pub description: Option<String>,
    /// The input schema, as JSON Schema text.
    pub schema: Option<String>,
    /// Whether its input must match the schema, if the request says so.
    pub strict: Option<bool>,
    /// Set if the tool takes free text instead of an object.
    pub free: Option<FreeText>,
    /// Its original position, as a JSON pointer.
    pub pointer: String,
}

/// The input of a tool that takes free text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FreeText {
    /// The grammar of the text, if there is one.
    pub grammar: Option<Grammar>,
}

/// The grammar that a text must match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    /// The syntax of the definition.
    pub syntax: String,
    /// The grammar itself.
    pub definition: String,
}

/// A setting that a conversion copies unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Its value as JSON.
    pub json: String,
    /// Its original position, as a JSON pointer.
    pub pointer: String,
}

/// The required format of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseFormat {
    /// Text without structure.
    Text,
    /// Any JSON value.
    Json,
    /// JSON that matches this schema.
    Schema(ResponseSchema),
}

/// The JSON schema of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseSchema {
    /// The name of the schema.
    pub name: Option<String>,
    /// The description of its purpose.
    pub description: Option<String>,
    /// The schema, as JSON Schema text.
    pub schema: Option<String>,
    /// Whether the response must match it, if the request says so.
    pub strict: Option<bool>,
}

/// Which tool the model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call at least one tool.
    Any,
    /// The model must call this tool.
    Tool(String),
}
