//! Codex: it takes the URL from its configuration, which `-c KEY=VALUE` overrides, and from no variable.

use serde_json::Value;

use super::surroundings::read;
use super::{Channel, Launch, Surroundings};

/// The provider without a configuration.
const OPENAI: &str = "openai";

pub(super) fn fill(launch: &mut Launch, around: &Surroundings) {
    let folder = around.folder_of("CODEX_HOME", ".codex");
    let text = folder.as_ref().and_then(|folder| read(&folder.join("config.toml"))).unwrap_or_default();
    let config: toml::Table = toml::from_str(&text).unwrap_or_default();
    let words: Vec<String> = launch.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.iter().any(|word| word == "--oss") {
        const LOCAL: &str = "CODEX_OSS_BASE_URL";
        return launch.redirect(Channel::Variable(LOCAL), ("ollama", "/v1"), around.variable(LOCAL));
    }
    let provider = provider(&words, &config);
    let base_url = |provider: &str| text_at(&config, &["model_providers", provider, "base_url"]);
    match base_url(&provider) {
        Some(url) => {
            let key = format!("model_providers.{}.base_url", quoted(&provider));
            launch.redirect(override_of(&key), (&provider, ""), Some(&url));
        }
        None if provider == OPENAI => {
            let login = folder.and_then(|folder| read(&folder.join("auth.json"))).unwrap_or_default();
            let default = if is_chatgpt(&login) { ("chatgpt", "/backend-api/codex") } else { (OPENAI, "/v1") };
            let current = text_at(&config, &["openai_base_url"]);
            launch.redirect(override_of("openai_base_url"), default, current.as_deref());
        }
        None => launch.notes.push(format!(
            "Codex uses the provider `{provider}`, which has no `base_url` in config.toml, so its requests are not checked"
        )),
    }
}

/// The arguments that set a key to the URL.
fn override_of(key: &str) -> Channel {
    Channel::Arguments(vec!["-c".to_owned(), format!("{key}=\"{{url}}\"")])
}

/// The provider that Codex uses: by an argument, by a profile, by the configuration.
fn provider(words: &[String], config: &toml::Table) -> String {
    let after = |names: [&str; 2]| {
        let index = words.iter().position(|word| names.contains(&word.as_str()))?;
        words.get(index + 1).cloned()
    };
    let by_override = || {
        let value = words.iter().rev().find_map(|word| word.strip_prefix("model_provider="))?;
        Some(value.trim_matches(['"', '\'']).to_owned())
    };
    let profile = after(["--profile", "-p"]).or_else(|| text_at(config, &["profile"]));
    let by_profile = || text_at(config, &["profiles", profile.as_deref()?, "model_provider"]);
    let by_config = || text_at(config, &["model_provider"]);
    by_override().or_else(by_profile).or_else(by_config).unwrap_or_else(|| OPENAI.to_owned())
}

fn text_at(config: &toml::Table, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let found = rest.iter().try_fold(config.get(*first)?, |value, key| value.get(*key))?;
    found.as_str().map(str::to_owned)
}

/// A key with other characters than letters, digits, `-` and `_` needs quotes.
fn quoted(key: &str) -> String {
    let is_bare = key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if is_bare { key.to_owned() } else { format!("\"{key}\"") }
}

/// Whether the login is one of `ChatGPT`, whose requests go to another server than those with an API key.
fn is_chatgpt(login: &str) -> bool {
    let login = super::json::parse(login);
    match login.get("auth_mode").and_then(Value::as_str) {
        Some(mode) => mode.eq_ignore_ascii_case("chatgpt"),
        None => login["tokens"].is_object() && login["OPENAI_API_KEY"].as_str().is_none_or(str::is_empty),
    }
}
