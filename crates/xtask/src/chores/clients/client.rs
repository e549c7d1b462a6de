//! The clients: how each is installed, pointed at a provider, run and resumed.

use std::path::{Path, PathBuf};

use super::damage::Damage;

/// The id and the file of a session to continue.
pub(super) type Resume<'s> = (&'s str, &'s Path);

/// A client that runs without a terminal.
pub(super) struct Client {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    /// Writes its configuration.
    pub(super) prepare: fn(home: &Path, url: &str) -> std::io::Result<()>,
    /// The variables that point it at the provider.
    pub(super) variables: fn(url: &str) -> Vec<(&'static str, String)>,
    /// The command of a turn. `session` continues one: its id, and its file.
    pub(super) turn: fn(prompt: &str, session: Option<Resume<'_>>) -> Vec<String>,
    /// Its sessions in its home.
    pub(super) sessions: Sessions,
}

/// Where a client keeps its sessions.
pub(super) enum Sessions {
    /// In a folder of files with one record per line.
    Lines(&'static str),
    /// In an SQLite database.
    Database(&'static Database),
}

/// A database with sessions.
pub(super) struct Database {
    pub(super) path: &'static str,
    /// The query for the id of the last session.
    pub(super) id: &'static str,
    /// The statements that do a damage; nothing if rows cannot have it.
    pub(super) damage: fn(Damage) -> Option<&'static str>,
}

pub(super) const ALL: [&Client; 8] = [&CLAUDE_CODE, &CODEX, &GEMINI_CLI, &GOOSE, &OPENCLAW, &OPENCODE, &PI, &QWEN_CODE];

/// Codex with a hook, whose context it writes between a call and its result, against an endpoint of `DeepSeek`.
pub(super) const CODEX_WITH_HOOK: Client = Client {
    prepare: |home, url| {
        let config = codex_config(&format!("{url}/deepseek/v1")).replace("gpt-5", "deepseek-v4");
        write(&home.join(".codex/config.toml"), &config)?;
        let context = "{\\\"hookSpecificOutput\\\":{\\\"hookEventName\\\":\\\"PreToolUse\\\",\\\"additionalContext\\\":\\\"hook context\\\"}}";
        let hook = format!("{{\"type\":\"command\",\"command\":\"echo '{context}'\"}}");
        let hooks = format!("{{\"hooks\":{{\"PreToolUse\":[{{\"matcher\":\".*\",\"hooks\":[{hook}]}}]}}}}");
        write(&home.join(".codex/hooks.json"), &hooks)
    },
    turn: |prompt, _| words("codex exec --json --skip-git-repo-check --dangerously-bypass-hook-trust %s", prompt),
    ..CODEX
};

const CLAUDE_CODE: Client = Client {
    name: "claude",
    package: "@anthropic-ai/claude-code@2.1.325",
    prepare: |_, _| Ok(()),
    variables: |url| {
        let mut variables = vec![("ANTHROPIC_BASE_URL", format!("{url}/anthropic")), ("ANTHROPIC_API_KEY", dummy())];
        variables.extend(["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER"].map(|name| (name, one())));
        variables
    },
    turn: |prompt, session| {
        let resume = session.map(|(id, _)| format!("--resume {id}")).unwrap_or_default();
        words(
            &format!("claude -p %s --output-format json --allowedTools Bash --model claude-sonnet-4-5 {resume}"),
            prompt,
        )
    },
    sessions: Sessions::Lines(".claude/projects"),
};

const CODEX: Client = Client {
    name: "codex",
    package: "@openai/codex@0.166.0",
    prepare: |home, url| write(&home.join(".codex/config.toml"), &codex_config(&format!("{url}/openai/v1"))),
    variables: |_| vec![("MOCK_KEY", dummy())],
    turn: |prompt, session| match session {
        None => words("codex exec --json --skip-git-repo-check %s", prompt),
        Some((id, _)) => words(&format!("codex exec resume {id} --json --skip-git-repo-check %s"), prompt),
    },
    sessions: Sessions::Lines(".codex/sessions"),
};

const GEMINI_CLI: Client = Client {
    name: "gemini",
    package: "@google/gemini-cli@0.61.0",
    prepare: |home, _| {
        write(&home.join(".gemini/settings.json"), "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}")
    },
    variables: |url| vec![("GEMINI_API_KEY", dummy()), ("GOOGLE_GEMINI_BASE_URL", format!("{url}/gemini"))],
    turn: |prompt, session| {
        let resume = session.map(|(id, _)| format!("--resume {id}")).unwrap_or_default();
        words(&format!("gemini -m gemini-2.5-pro --yolo --skip-trust -o json {resume} -p %s"), prompt)
    },
    sessions: Sessions::Lines(".gemini/tmp"),
};

const GOOSE: Client = Client {
    name: "goose",
    package: "@aaif/goose@0.20.1",
    prepare: |_, _| Ok(()),
    variables: |url| {
        let named = [
            ("GOOSE_PROVIDER", "openai"),
            ("GOOSE_MODEL", "mock-model"),
            ("GOOSE_MODE", "auto"),
            ("GOOSE_DISABLE_KEYRING", "1"),
            ("OPENAI_API_KEY", "dummy"),
            ("OPENAI_HOST", url),
            ("OPENAI_BASE_PATH", "openai/v1/chat/completions"),
        ];
        named.map(|(name, value)| (name, value.to_owned())).to_vec()
    },
    turn: |prompt, session| {
        let resume = if session.is_some() { "--resume" } else { "" };
        words(&format!("goose run {resume} --with-builtin developer --name probe -t %s"), prompt)
    },
    sessions: Sessions::Database(&Database {
        path: ".local/share/goose/sessions/sessions.db",
        id: "SELECT id FROM sessions ORDER BY id DESC LIMIT 1",
        damage: |damage| match damage {
            Damage::Missing => Some(
                "DELETE FROM messages WHERE id >= (SELECT min(id) FROM messages WHERE content_json LIKE '%toolResponse%')",
            ),
            Damage::Orphan => Some("DELETE FROM messages WHERE content_json LIKE '%toolRequest%'"),
            _ => None,
        },
    }),
};

const OPENCLAW: Client = Client {
    name: "openclaw",
    package: "openclaw@2026.9.6",
    prepare: |home, url| {
        let config = format!(
            "{{\"agents\":{{\"defaults\":{{\"model\":{{\"primary\":\"mock/mock-model\"}},\"workspace\":\"{}\",\"skipBootstrap\":true}}}},\
             \"models\":{{\"mode\":\"merge\",\"providers\":{{\"mock\":{{\"baseUrl\":\"{url}/openai/v1\",\"apiKey\":\"dummy\",\
             \"api\":\"openai-completions\",\"models\":[{{\"id\":\"mock-model\",\"name\":\"mock\",\"reasoning\":false,\"input\":[\"text\"],\
             \"contextWindow\":128000,\"maxTokens\":8000,\
             \"cost\":{{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0}}}}]}}}}}},\
             \"tools\":{{\"exec\":{{\"host\":\"gateway\",\"security\":\"full\",\"ask\":\"off\"}}}},\"update\":{{\"checkOnStart\":false}}}}",
            home.join("work").display()
        );
        write(&home.join(".openclaw/openclaw.json"), &config)
    },
    variables: |_| Vec::new(),
    turn: |prompt, _| words("openclaw agent --local --session-id probe --json --message %s", prompt),
    sessions: Sessions::Database(&Database {
        path: ".openclaw/agents/main/agent/openclaw-agent.sqlite",
        id: "SELECT 'probe'",
        damage: |damage| match damage {
            Damage::Missing => Some(
                "DELETE FROM transcript_events WHERE seq >= \
                 (SELECT min(seq) FROM transcript_events WHERE event_json LIKE '%\"toolResult\"%')",
            ),
            Damage::Orphan => Some("DELETE FROM transcript_events WHERE event_json LIKE '%\"toolCall\"%'"),
            _ => None,
        },
    }),
};

const OPENCODE: Client = Client {
    name: "opencode",
    package: "opencode-ai@1.18.33",
    prepare: |home, url| {
        let config = format!(
            "{{\"model\":\"mock/mock-model\",\"permission\":{{\"bash\":\"allow\"}},\"provider\":{{\"mock\":{{\
             \"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"Mock\",\
             \"options\":{{\"baseURL\":\"{url}/openai/v1\",\"apiKey\":\"dummy\"}},\
             \"models\":{{\"mock-model\":{{\"name\":\"mock\"}}}}}}}}}}"
        );
        write(&home.join(".config/opencode/opencode.json"), &config)
    },
    variables: |_| {
        let names = ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD"];
        names.map(|name| (name, one())).to_vec()
    },
    turn: |prompt, session| {
        let resume = session.map(|(id, _)| format!("--session {id}")).unwrap_or_default();
        words(&format!("opencode run --format json {resume} %s"), prompt)
    },
    sessions: Sessions::Database(&Database {
        path: ".local/share/opencode/opencode.db",
        id: "SELECT id FROM session ORDER BY id LIMIT 1",
        damage: |damage| match damage {
            // A call and its result are one row, so that no result can lose its call.
            Damage::Missing => Some(
                "DELETE FROM part WHERE id > (SELECT id FROM part WHERE data ->> '$.type' = 'tool'); \
                 DELETE FROM message WHERE id > (SELECT message_id FROM part WHERE data ->> '$.type' = 'tool'); \
                 UPDATE part SET data = json_remove(json_set(data, '$.state.status', 'running'), '$.state.output', \
                 '$.state.metadata', '$.state.title', '$.state.time.end') WHERE data ->> '$.type' = 'tool'",
            ),
            _ => None,
        },
    }),
};

const PI: Client = Client {
    name: "pi",
    package: "@mariozechner/pi-coding-agent@0.73.1",
    prepare: |home, url| {
        let models = format!(
            "{{\"providers\":{{\"mock\":{{\"baseUrl\":\"{url}/openai/v1\",\"apiKey\":\"dummy\",\"api\":\"openai-completions\",\
             \"models\":[{{\"id\":\"mock-model\",\"name\":\"mock\",\"reasoning\":false,\"input\":[\"text\"],\
             \"contextWindow\":128000,\"maxTokens\":8000,\
             \"cost\":{{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0}}}}]}}}}}}"
        );
        write(&home.join(".pi/agent/models.json"), &models)
    },
    variables: |_| vec![("PI_OFFLINE", one())],
    turn: |prompt, session| {
        let resume = session.map(|(_, file)| format!("--session {}", file.display())).unwrap_or_default();
        words(&format!("pi --provider mock --model mock-model --mode json {resume} -p %s"), prompt)
    },
    sessions: Sessions::Lines(".pi/agent/sessions"),
};

const QWEN_CODE: Client = Client {
    name: "qwen",
    package: "@qwen-code/qwen-code@0.24.4",
    prepare: |_, _| Ok(()),
    variables: |url| {
        vec![
            ("OPENAI_API_KEY", dummy()),
            ("OPENAI_BASE_URL", format!("{url}/openai/v1")),
            ("OPENAI_MODEL", "mock-model".to_owned()),
        ]
    },
    turn: |prompt, session| {
        let resume = session.map(|(id, _)| format!("--resume {id}")).unwrap_or_default();
        words(&format!("qwen --auth-type openai --yolo -o json {resume} -p %s"), prompt)
    },
    sessions: Sessions::Lines(".qwen/projects"),
};

fn codex_config(url: &str) -> String {
    format!(
        "model = \"gpt-5\"\nmodel_provider = \"mock\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
         [model_providers.mock]\nname = \"Mock\"\nbase_url = \"{url}\"\nenv_key = \"MOCK_KEY\"\n\
         wire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"
    )
}

fn dummy() -> String {
    "dummy".to_owned()
}

fn one() -> String {
    "1".to_owned()
}

/// The words of a command; `%s` is the prompt.
fn words(command: &str, prompt: &str) -> Vec<String> {
    command.split_whitespace().map(|word| if word == "%s" { prompt.to_owned() } else { word.to_owned() }).collect()
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)
}

/// The newest session file below a folder.
pub(super) fn newest_session(folder: &Path) -> Option<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                let time = entry.metadata().and_then(|found| found.modified()).ok();
                found.push((time, path));
            }
        }
    }
    found.into_iter().max().map(|(_, path)| path)
}
