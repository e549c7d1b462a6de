//! How an answer is asked for.

use std::collections::BTreeMap;

/// How an answer is asked for. Numbers are kept as they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The model.
    pub model: Option<String>,
    /// How long the answer may be.
    pub max_tokens: Option<String>,
    /// How freely it is drawn.
    pub temperature: Option<String>,
    /// From how much of the likely it is drawn.
    pub top_p: Option<String>,
    /// What ends it.
    pub stop: Vec<String>,
    /// Whether it comes in pieces.
    pub stream: Option<bool>,
    /// The tools the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Which of them it must call.
    pub tool_choice: Option<ToolChoice>,
    /// Where settings stood, by the names they have here, as JSON pointers.
    pub pointers: BTreeMap<&'static str, String>,
}

impl Settings {
    /// Where a setting stood, by the name it has here; nothing for one that was nowhere.
    pub fn pointer(&self, name: &str) -> &str {
        self.pointers.get(name).map_or("", String::as_str)
    }
}

/// A tool the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// What it takes, as the text of a JSON schema.
    pub schema: Option<String>,
    /// Where it was defined, as a JSON pointer.
    pub pointer: String,
}

/// Which tool the model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// Whichever it likes, or none.
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// This one.
    Tool(String),
}
