//! pi: it reads no variable with a URL. An extension sets the URLs of its providers.

use std::io::Write as _;

use serde_json::Value;
use tempfile::TempPath;

use super::json::parse;
use super::surroundings::read;
use super::{Channel, Launch, Surroundings};

/// The providers of pi, each with the upstream and path that it uses.
const PROVIDERS: &[(&str, (&str, &str))] = &[
    ("anthropic", ("anthropic", "")),
    ("openai", ("openai", "/v1")),
    ("google", ("gemini", "/v1beta")),
    ("openai-codex", ("chatgpt", "/backend-api")),
    ("openrouter", ("openrouter", "/v1")),
    ("groq", ("groq", "/v1")),
    ("xai", ("xai", "/v1")),
    ("deepseek", ("deepseek", "")),
    ("cerebras", ("cerebras", "/v1")),
    ("fireworks", ("fireworks", "")),
    ("moonshotai", ("moonshot", "/v1")),
    ("minimax", ("minimax", "/anthropic")),
];

pub(super) fn fill(launch: &mut Launch, around: &Surroundings) {
    let folder = around.folder_of("PI_CODING_AGENT_DIR", ".pi/agent");
    let models =
        folder.and_then(|folder| read(&folder.join("models.json"))).map(|text| parse(&text)).unwrap_or_default();
    let url = |name: &str| models["providers"][name]["baseUrl"].as_str();
    for (name, target) in PROVIDERS {
        launch.redirect(Channel::Pi((*name).to_owned()), *target, url(name));
    }
    let configured = models["providers"].as_object();
    for name in configured.into_iter().flat_map(serde_json::Map::keys) {
        let is_known = PROVIDERS.iter().any(|(known, _)| known == name);
        if let Some(url) = url(name).filter(|_| !is_known) {
            launch.redirect(Channel::Pi(name.clone()), (name, ""), Some(url));
        }
    }
}

/// Writes the extension that sets the URLs. The file goes when the value is dropped.
pub(super) fn write_extension(providers: &[(&str, String)]) -> std::io::Result<TempPath> {
    let list: Vec<Value> = providers.iter().map(|(name, url)| serde_json::json!([name, url])).collect();
    let mut file = tempfile::Builder::new().prefix("seamline-").suffix(".js").tempfile()?;
    writeln!(file, "const providers = {};", Value::from(list))?;
    writeln!(file, "export default function (pi) {{")?;
    writeln!(file, "  for (const [name, baseUrl] of providers) pi.registerProvider(name, {{ baseUrl }});\n}}")?;
    Ok(file.into_temp_path())
}
