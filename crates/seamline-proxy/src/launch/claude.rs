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
        if around.variable(switch).is_some_and(|value| !["0", "false"].contains(&value)) {
            launch.notes.push(format!("Claude Code talks to {api} ({switch}), so its requests are not checked"));
        }
    }
    match in_settings(around) {
        // The settings override the environment, and the option `--settings` overrides the settings.
        Some(url) => {
            let settings = json!({"env": {VARIABLE: "{url}"}}).to_string();
            let arguments = vec!["--settings".to_owned(), settings];
            launch.redirect(Channel::Arguments(arguments), ("anthropic", ""), Some(&url));
        }
        None => launch.redirect(Channel::Variable(VARIABLE), ("anthropic", ""), around.variable(VARIABLE)),
    }
}

/// The URL in the settings of the user or the project. The last file wins.
fn in_settings(around: &Surroundings) -> Option<String> {
    let user = around.folder_of("CLAUDE_CONFIG_DIR", ".claude").and_then(|folder| read(&folder.join("settings.json")));
    let project = [".claude/settings.json", ".claude/settings.local.json"];
    let texts = user.into_iter().chain(project.iter().filter_map(|name| read(&around.folder.join(name))));
    let url = |text: String| parse(&text).pointer("/env/ANTHROPIC_BASE_URL").and_then(Value::as_str).map(str::to_owned);
    texts.filter_map(url).next_back().filter(|url| !url.is_empty())
}
