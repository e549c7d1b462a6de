//! The programs, and how each one learns the URL of its API.

use super::{Channel, Launch, Surroundings, claude, codex, google, opencode, pi};

/// The programs that are known by name, with a description for people.
pub const PROGRAMS: &[(&str, &str)] = &[
    ("claude", "Claude Code"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("opencode", "opencode"),
    ("goose", "goose"),
    ("qwen", "Qwen Code"),
    ("pi", "pi"),
    ("aider", "aider"),
];

/// A variable with a base URL, and the upstream and path that the program uses without it.
type BaseUrl = (&'static str, (&'static str, &'static str));

/// The variables that the SDKs of the providers read.
const OF_SDKS: &[BaseUrl] = &[
    ("ANTHROPIC_BASE_URL", ("anthropic", "")),
    ("OPENAI_BASE_URL", ("openai", "/v1")),
    ("OPENAI_API_BASE", ("openai", "/v1")),
    ("GOOGLE_GEMINI_BASE_URL", ("gemini", "")),
];

const OF_GOOSE: &[BaseUrl] =
    &[("OPENAI_HOST", ("openai", "")), ("ANTHROPIC_HOST", ("anthropic", "")), ("GOOGLE_HOST", ("gemini", ""))];

/// LiteLLM, which aider uses, appends `/v1/messages` to Anthropic's URL.
const OF_AIDER: &[BaseUrl] = &[("OPENAI_API_BASE", ("openai", "/v1")), ("ANTHROPIC_API_BASE", ("anthropic", ""))];

/// Finds the URLs of a program. One that is not known is taken for one that uses the SDKs of the providers.
pub(super) fn fill(launch: &mut Launch, name: &str, around: &Surroundings) {
    match name {
        "claude" => claude::fill(launch, around),
        "codex" => codex::fill(launch, around),
        "gemini" => google::fill(launch, around),
        "opencode" => opencode::fill(launch, around),
        "goose" => fill_goose(launch, around),
        "qwen" => fill_qwen(launch, around),
        "pi" => pi::fill(launch, around),
        "aider" => fill_aider(launch, around),
        _ => fill_variables(launch, OF_SDKS, around),
    }
}

/// Points variables to the proxy.
pub(super) fn fill_variables(launch: &mut Launch, variables: &[BaseUrl], around: &Surroundings) {
    for (name, target) in variables {
        launch.redirect(Channel::Variable(name), *target, around.variable(name));
    }
}

/// goose appends the whole path of OpenRouter's API to the host, so the built-in upstream, which has a path, does not fit.
fn fill_goose(launch: &mut Launch, around: &Surroundings) {
    const ROUTER: &str = "OPENROUTER_HOST";
    fill_variables(launch, OF_GOOSE, around);
    let host = around.variable(ROUTER).unwrap_or("https://openrouter.ai");
    launch.redirect(Channel::Variable(ROUTER), ("openrouter", ""), Some(host));
}

/// Qwen Code reads the URL from the environment, from `.env` files, and from its settings.
fn fill_qwen(launch: &mut Launch, around: &Surroundings) {
    const NAME: &str = "OPENAI_BASE_URL";
    let in_files = || {
        let mut texts = around.read_upwards(".qwen/.env");
        texts.extend(around.read_upwards(".env"));
        texts.extend(around.read_in_home(".qwen/.env"));
        texts.iter().find_map(|text| in_env_file(text, NAME))
    };
    let in_settings = || {
        let settings = super::json::parse(&around.read_in_home(".qwen/settings.json")?);
        settings.pointer("/security/auth/baseUrl")?.as_str().map(str::to_owned)
    };
    let current = around.variable(NAME).map(str::to_owned).or_else(in_files).or_else(in_settings);
    launch.redirect(Channel::Variable(NAME), ("openai", "/v1"), current.as_deref());
}

/// Aider also takes the URL of OpenAI from a variable of its own, which it prefers.
fn fill_aider(launch: &mut Launch, around: &Surroundings) {
    const OWN: &str = "AIDER_OPENAI_API_BASE";
    if let Some(url) = around.variable(OWN) {
        launch.redirect(Channel::Variable(OWN), ("openai", "/v1"), Some(url));
    }
    fill_variables(launch, OF_AIDER, around);
}

/// The value of a variable in an `.env` file.
fn in_env_file(text: &str, name: &str) -> Option<String> {
    let value = |line: &str| {
        let (found, value) = line.trim().trim_start_matches("export ").split_once('=')?;
        (found.trim() == name).then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    };
    text.lines().find_map(value).filter(|value| !value.is_empty())
}
