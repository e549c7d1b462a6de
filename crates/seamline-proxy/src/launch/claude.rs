//! Claude Code: a variable, which its settings files override.

use serde_json::{Value, json};

use super::json::parse;
use super::surroundings::read;
use super::{Channel, Launch, Surroundings};

const VARIABLE: &str = "ANTHROPIC_BASE_URL";

/// The switches for other APIs than Anthropic's own, which do not use the variable.
const OTHER_APIS: [(&str, &str); 2] =
    [("CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"), ("CLAUDE_CODE_USE_VERTEX", "Vertex AI")];

pub(super) fn fill(launch: &mut Launch, around: &Surroundings) {
    for (switch, api) in OTHER_APIS {
        let value = around.variable(switch).map(str::to_owned).or_else(|| in_settings(around, switch));
        if value.is_some_and(|value| !["", "0", "false"].contains(&value.as_str())) {
            launch.notes.push(format!("Claude Code talks to {api} ({switch}), so its requests are not checked"));
        }
    }
    let has_own = launch.words.iter().any(|word| word.to_string_lossy().starts_with("--settings"));
    if has_own {
        launch.notes.push(format!(
            "if the file of `--settings` sets {VARIABLE} or another API, the requests of Claude Code are not checked"
        ));
    }
    match in_settings(around, VARIABLE) {
        // The settings override the environment, and the option `--settings` overrides the settings.
        Some(url) => {
            let settings = json!({"env": {VARIABLE: "{url}"}}).to_string();
            let arguments = vec!["--settings".to_owned(), settings];
            launch.redirect(Channel::Arguments(arguments), ("anthropic", ""), Some(&url));
        }
        None => launch.redirect(Channel::Variable(VARIABLE), ("anthropic", ""), around.variable(VARIABLE)),
    }
}

/// A variable in the settings of the user or the project. The last file wins.
fn in_settings(around: &Surroundings, variable: &str) -> Option<String> {
    let user = around.folder_of("CLAUDE_CONFIG_DIR", ".claude").and_then(|folder| read(&folder.join("settings.json")));
    let project = [".claude/settings.json", ".claude/settings.local.json"];
    let texts = user.into_iter().chain(project.iter().filter_map(|name| read(&around.folder.join(name))));
    let value = |text: String| match &parse(&text)["env"][variable] {
        Value::String(value) => Some(value.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    texts.filter_map(value).next_back().filter(|value| !value.is_empty())
}
