//! opencode: it merges the configuration in a variable over its files.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::json::parse;
use super::{Channel, Launch, Surroundings};

/// The variable with a configuration that wins over all files of the user.
pub(super) const VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";

/// A provider of opencode: its name, the variable with its key, the upstream and the path.
type Provider = (&'static str, &'static str, (&'static str, &'static str));

const PROVIDERS: &[Provider] = &[
    ("anthropic", "ANTHROPIC_API_KEY", ("anthropic", "/v1")),
    ("openai", "OPENAI_API_KEY", ("openai", "/v1")),
    ("google", "GOOGLE_GENERATIVE_AI_API_KEY", ("gemini", "/v1beta")),
    ("openrouter", "OPENROUTER_API_KEY", ("openrouter", "/v1")),
    ("mistral", "MISTRAL_API_KEY", ("mistral", "/v1")),
    ("groq", "GROQ_API_KEY", ("groq", "/v1")),
    ("xai", "XAI_API_KEY", ("xai", "/v1")),
    ("deepseek", "DEEPSEEK_API_KEY", ("deepseek", "")),
    ("cerebras", "CEREBRAS_API_KEY", ("cerebras", "/v1")),
];

pub(super) fn fill(launch: &mut Launch, around: &Surroundings) {
    let configured = configured(around);
    let login = around.folder_of("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("opencode/auth.json"));
    let login = login.and_then(|path| super::surroundings::read(&path)).map(|text| parse(&text)).unwrap_or_default();
    for (name, key, target) in PROVIDERS {
        // opencode offers every provider that the configuration names, so others stay out of it.
        let is_used = around.variable(key).is_some() || login.get(*name).is_some() || configured.contains_key(*name);
        let own = configured.get(*name).cloned().flatten();
        if is_used {
            launch.redirect(Channel::Opencode((*name).to_owned()), *target, own.as_deref());
        }
    }
    for (name, url) in &configured {
        let is_known = PROVIDERS.iter().any(|(known, ..)| known == name);
        if let Some(url) = url.as_ref().filter(|_| !is_known) {
            launch.redirect(Channel::Opencode(name.clone()), (name, ""), Some(url));
        }
    }
}

/// The providers of the user's configuration with their URLs. Later files win.
fn configured(around: &Surroundings) -> BTreeMap<String, Option<String>> {
    let mut providers = BTreeMap::new();
    for text in texts(around) {
        let config = parse(&text);
        for (name, provider) in config["provider"].as_object().into_iter().flatten() {
            let url = provider.pointer("/options/baseURL").and_then(Value::as_str).map(str::to_owned);
            let known = providers.entry(name.clone()).or_insert(None);
            *known = url.or(known.take());
        }
    }
    providers
}

/// The configurations of the user, in the order in which opencode reads them.
fn texts(around: &Surroundings) -> Vec<String> {
    let folder = around.folder_of("XDG_CONFIG_HOME", ".config");
    let global = ["config.json", "opencode.json", "opencode.jsonc"];
    let global =
        global.iter().filter_map(|name| super::surroundings::read(&folder.as_ref()?.join("opencode").join(name)));
    let named = around.variable("OPENCODE_CONFIG").and_then(|path| super::surroundings::read(path.as_ref()));
    let mut texts: Vec<String> = global.chain(named).collect();
    for name in ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"] {
        texts.extend(around.read_upwards(name));
    }
    texts.extend(around.variable(VARIABLE).map(str::to_owned));
    texts
}

/// The configuration for the variable: that of the user, with the URLs of the proxy.
pub(super) fn content(providers: &[(&str, String)], around: &Surroundings) -> String {
    let mut config = around.variable(VARIABLE).map_or(Value::Null, parse);
    if !config.is_object() {
        config = json!({});
    }
    for (name, url) in providers {
        config["provider"][*name]["options"]["baseURL"] = json!(url);
    }
    config.to_string()
}
