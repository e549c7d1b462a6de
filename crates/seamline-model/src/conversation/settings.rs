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
    /// What the answer must look like.
    pub format: Option<AnswerFormat>,
    /// What else is asked for that more than one dialect has, by the names it has here.
    pub others: BTreeMap<&'static str, Other>,
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
    /// Whether its input must fit the schema, where somebody said.
    pub strict: Option<bool>,
    /// That it takes any text, and not an object.
    pub free: Option<FreeText>,
    /// Where it was defined, as a JSON pointer.
    pub pointer: String,
}

/// The text that a tool takes which takes no object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FreeText {
    /// What the text must look like.
    pub grammar: Option<Grammar>,
}

/// What a text must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grammar {
    /// How it is written.
    pub syntax: String,
    /// The grammar itself.
    pub definition: String,
}

/// A setting that is handed over as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Its value, as JSON.
    pub json: String,
    /// Where it stood, as a JSON pointer.
    pub pointer: String,
}

/// What an answer must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Words.
    Text,
    /// Any JSON.
    Json,
    /// JSON of this form.
    Schema(AnswerSchema),
}

/// The form of an answer in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerSchema {
    /// What it is called.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The text of a JSON schema.
    pub schema: Option<String>,
    /// Whether the answer must fit it, where somebody said.
    pub strict: Option<bool>,
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
