use serde_json::{Value, json};

use super::*;

const URL: &str = "http://127.0.0.1:5";

struct Home(tempfile::TempDir);

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn around(&self, environment: &[(&str, &str)]) -> Surroundings {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let work = self.0.path().join("work");
        Surroundings { environment, home: Some(self.0.path().to_owned()), folder: work }
    }
}

/// The start of a program: its arguments, variables, and the upstreams of the proxy.
#[derive(Debug, PartialEq, Eq)]
struct Started {
    words: Vec<String>,
    variables: Vec<(String, String)>,
    upstreams: Vec<(String, String, Option<&'static str>)>,
}

fn start(words: &str, around: &Surroundings) -> Started {
    let words = words.split(' ').map(OsString::from).collect();
    let launch = Launch::new(words, &[], around).unwrap();
    let prepared = launch.prepare(URL, around).unwrap();
    let upstreams = launch.upstreams().cloned().map(|upstream| (upstream.name, upstream.url, upstream.provider));
    Started {
        upstreams: upstreams.collect(),
        words: prepared.words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        variables: prepared.variables,
    }
}

fn started(words: &[&str], variables: &[(&str, &str)], upstreams: &[(&str, &str, Option<&'static str>)]) -> Started {
    Started {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        upstreams: upstreams
            .iter()
            .map(|(name, url, provider)| ((*name).to_owned(), (*url).to_owned(), *provider))
            .collect(),
    }
}

#[test]
fn claude_code_gets_its_variable_and_a_gateway_of_the_user_becomes_the_upstream() {
    let home = Home::new(&[]);
    let variable = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:5/anthropic")];
    assert_eq!(start("claude -p hi", &home.around(&[])), started(&["claude", "-p", "hi"], &variable, &[]));
    let around = home.around(&[("ANTHROPIC_BASE_URL", "https://llm.example.com/claude")]);
    let gateway = [("ANTHROPIC_BASE_URL", "http://127.0.0.1:5/anthropic-gateway")];
    let upstream = [("anthropic-gateway", "https://llm.example.com/claude", None)];
    assert_eq!(start("/usr/bin/claude", &around), started(&["/usr/bin/claude"], &gateway, &upstream));
    let official = start("claude", &home.around(&[("ANTHROPIC_BASE_URL", "https://api.anthropic.com")]));
    assert_eq!(official.upstreams[0].2, Some("anthropic"));
}

#[test]
fn the_settings_of_claude_code_win_over_the_environment() {
    let settings = r#"{"env":{"ANTHROPIC_BASE_URL":"https://llm.example.com"}}"#;
    let home = Home::new(&[(".claude/settings.json", settings)]);
    let expected = r#"{"env":{"ANTHROPIC_BASE_URL":"http://127.0.0.1:5/anthropic-gateway"}}"#;
    let upstream = [("anthropic-gateway", "https://llm.example.com", None)];
    let around = home.around(&[("ANTHROPIC_BASE_URL", "https://other.example.com")]);
    assert_eq!(start("claude", &around), started(&["claude", "--settings", expected], &[], &upstream));
    let bedrock = Launch::new(vec!["claude".into()], &[], &home.around(&[("CLAUDE_CODE_USE_BEDROCK", "1")])).unwrap();
    assert!(bedrock.notes()[0].contains("Amazon Bedrock"));
    let home = Home::new(&[(".claude/settings.json", r#"{"env":{"CLAUDE_CODE_USE_VERTEX":1}}"#)]);
    let notes = |words: &[&str]| {
        let words = words.iter().map(OsString::from).collect();
        Launch::new(words, &[], &home.around(&[])).unwrap().notes().join("\n")
    };
    assert!(notes(&["claude"]).contains("Vertex AI") && !notes(&["claude"]).contains("--settings"));
    assert!(notes(&["claude", "--settings", "mine.json"]).contains("--settings"));
    assert!(notes(&["opencode"]).contains("are not checked"));
}

#[test]
fn codex_gets_arguments_for_the_provider_that_it_uses() {
    let key = |key: &str, target: &str| format!("{key}=\"{URL}/{target}\"");
    let home = Home::new(&[]);
    let openai = key("openai_base_url", "openai/v1");
    assert_eq!(start("codex exec hi", &home.around(&[])), started(&["codex", "-c", &openai, "exec", "hi"], &[], &[]));
    let npx = start("npx -y @openai/codex@latest exec", &home.around(&[]));
    assert_eq!(npx.words, ["npx", "-y", "@openai/codex@latest", "-c", &openai, "exec"]);

    let login = Home::new(&[(".codex/auth.json", r#"{"OPENAI_API_KEY":null,"tokens":{"id_token":"x"}}"#)]);
    assert_eq!(start("codex", &login.around(&[])).words[2], key("openai_base_url", "chatgpt/backend-api/codex"));

    let config = "model_provider = \"mock\"\n[model_providers.mock]\nbase_url = \"http://127.0.0.1:9/v1\"\n\
                  [model_providers.\"my one\"]\nbase_url = \"http://127.0.0.1:8/v1\"\n[profiles.p]\nmodel_provider = \"my one\"\n\
                  [model_providers.bare]\nname = \"x\"\n";
    let home = Home::new(&[(".codex/config.toml", config)]);
    let custom = key("model_providers.mock.base_url", "mock-gateway");
    let upstream = [("mock-gateway", "http://127.0.0.1:9/v1", None)];
    assert_eq!(start("codex", &home.around(&[])), started(&["codex", "-c", &custom], &[], &upstream));
    let profile = start("codex --profile p", &home.around(&[]));
    assert_eq!(profile.words[2], key("model_providers.\"my one\".base_url", "my-one-gateway"));
    let other = Launch::new(vec!["codex".into(), "-c".into(), "model_provider=bare".into()], &[], &home.around(&[]));
    assert!(other.unwrap().notes()[0].contains("`bare`"));
    let local = start("codex --oss", &home.around(&[]));
    assert_eq!(local.variables, [("CODEX_OSS_BASE_URL".to_owned(), format!("{URL}/ollama/v1"))]);
}

#[test]
fn gemini_cli_gets_the_variables_of_both_apis() {
    let home = Home::new(&[(".gemini/settings.json", r#"{"security":{"auth":{"selectedType":"oauth-personal"}}}"#)]);
    let found = start("gemini", &home.around(&[("GOOGLE_CLOUD_LOCATION", "europe-west4")]));
    let variables = [
        ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:5/gemini"),
        ("GOOGLE_VERTEX_BASE_URL", "http://127.0.0.1:5/vertex-gateway"),
    ];
    let upstream = [("vertex-gateway", "https://europe-west4-aiplatform.googleapis.com", None)];
    assert_eq!(found, started(&["gemini"], &variables, &upstream));
    let notes = |environment| Launch::new(vec!["gemini".into()], &[], &home.around(environment)).unwrap().notes().len();
    assert_eq!((notes(&[]), notes(&[("GEMINI_API_KEY", "k")])), (1, 0));
}

#[test]
fn opencode_gets_a_configuration_with_the_providers_that_it_uses() {
    let config = "{ // mine\n \"provider\": {\"mock\": {\"options\": {\"baseURL\": \"http://127.0.0.1:9/v1\"}}, \"openai\": {},},}";
    let home = Home::new(&[
        (".config/opencode/opencode.jsonc", config),
        (".local/share/opencode/auth.json", r#"{"anthropic":{"type":"api","key":"k"}}"#),
    ]);
    let around = home.around(&[("OPENCODE_CONFIG_CONTENT", r#"{"model":"a/b"}"#), ("GROQ_API_KEY", "k")]);
    let found = start("opencode run hi", &around);
    let content: Value = serde_json::from_str(&found.variables[0].1).unwrap();
    let at = |path: &str| json!({"options": {"baseURL": format!("{URL}/{path}")}});
    let providers = json!({
        "anthropic": at("anthropic/v1"), "openai": at("openai/v1"), "groq": at("groq/v1"), "mock": at("mock-gateway"),
    });
    assert_eq!(content, json!({"model": "a/b", "provider": providers}));
    assert_eq!(found.upstreams, [("mock-gateway".to_owned(), "http://127.0.0.1:9/v1".to_owned(), None)]);
}

#[test]
fn pi_gets_an_extension_until_it_ends() {
    let models =
        r#"{"providers":{"mock":{"baseUrl":"http://127.0.0.1:9/v1"},"anthropic":{"baseUrl":"https://x.example.com"}}}"#;
    let home = Home::new(&[(".pi/agent/models.json", models)]);
    let around = home.around(&[]);
    let launch = Launch::new(vec!["pi".into(), "-p".into()], &[], &around).unwrap();
    let prepared = launch.prepare(URL, &around).unwrap();
    assert_eq!((&prepared.words[1], &prepared.words[3]), (&OsString::from("--extension"), &OsString::from("-p")));
    let path = prepared.words[2].clone();
    let text = std::fs::read_to_string(&path).unwrap();
    for expected in [
        r#"["anthropic","http://127.0.0.1:5/anthropic-gateway"]"#,
        r#"["openai","http://127.0.0.1:5/openai/v1"]"#,
        r#"["mock","http://127.0.0.1:5/mock-gateway"]"#,
        "pi.registerProvider(name, { baseUrl })",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    drop(prepared);
    assert!(!Path::new(&path).exists());
}

#[test]
fn qwen_code_keeps_the_server_of_its_files() {
    let home = Home::new(&[(
        "work/.env",
        "A=1\nexport OPENAI_BASE_URL=\"https://dashscope-intl.aliyuncs.com/compatible-mode/v1\"\n",
    )]);
    let variable = [("OPENAI_BASE_URL", "http://127.0.0.1:5/openai-gateway")];
    let url = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1";
    let upstream = [("openai-gateway", url, Some("dashscope"))];
    assert_eq!(start("qwen", &home.around(&[])), started(&["qwen"], &variable, &upstream));
    let settings =
        Home::new(&[(".qwen/settings.json", r#"{"security":{"auth":{"baseUrl":"http://127.0.0.1:9/v1"}}}"#)]);
    assert_eq!(start("qwen", &settings.around(&[])).upstreams[0].1, "http://127.0.0.1:9/v1");
    assert_eq!(start("qwen", &Home::new(&[]).around(&[])).variables[0].1, "http://127.0.0.1:5/openai/v1");
}

#[test]
fn goose_and_aider_get_their_variables() {
    let home = Home::new(&[]);
    let goose = start("goose session", &home.around(&[("OPENAI_HOST", "http://127.0.0.1:9")]));
    assert!(goose.variables.contains(&("ANTHROPIC_HOST".to_owned(), "http://127.0.0.1:5/anthropic".to_owned())));
    assert!(goose.variables.contains(&("OPENAI_HOST".to_owned(), "http://127.0.0.1:5/openai-gateway".to_owned())));
    assert!(goose.upstreams.contains(&(
        "openrouter-gateway".to_owned(),
        "https://openrouter.ai".to_owned(),
        Some("openrouter")
    )));
    let aider = start("aider", &home.around(&[("AIDER_OPENAI_API_BASE", "http://127.0.0.1:9/v1")]));
    let expected = [
        ("AIDER_OPENAI_API_BASE", "http://127.0.0.1:5/openai-gateway"),
        ("OPENAI_API_BASE", "http://127.0.0.1:5/openai/v1"),
        ("ANTHROPIC_API_BASE", "http://127.0.0.1:5/anthropic"),
    ];
    assert_eq!(aider.variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn another_program_gets_the_variables_of_the_sdks_and_those_of_the_caller() {
    let home = Home::new(&[]);
    let around = home.around(&[("OPENAI_BASE_URL", "not a url")]);
    let variables = ["MY_URL={url}/openai/v1".to_owned(), "OTHER=1".to_owned()];
    let launch = Launch::new(vec!["python3".into(), "agent.py".into()], &variables, &around).unwrap();
    let prepared = launch.prepare(URL, &around).unwrap();
    assert_eq!(prepared.words, ["python3", "agent.py"]);
    let expected = [
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:5/anthropic"),
        ("OPENAI_API_BASE", "http://127.0.0.1:5/openai/v1"),
        ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:5/gemini"),
        ("MY_URL", "http://127.0.0.1:5/openai/v1"),
        ("OTHER", "1"),
    ];
    assert_eq!(prepared.variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // A URL that the proxy cannot use stays as it is, and the user hears of it.
    assert!(launch.notes()[0].contains("no usable URL"), "{:?}", launch.notes());
    assert!(Launch::new(Vec::new(), &[], &around).is_err());
    assert!(Launch::new(vec!["x".into()], &["=1".to_owned()], &around).is_err());
}

#[test]
fn an_http_proxy_of_the_network_stays_out_of_the_way() {
    let home = Home::new(&[]);
    let around = home.around(&[("http_proxy", "http://10.0.0.1:3128"), ("NO_PROXY", ".example.com")]);
    let found = start("claude", &around);
    let expected = [
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:5/anthropic"),
        ("NO_PROXY", ".example.com,127.0.0.1,localhost"),
        ("no_proxy", ".example.com,127.0.0.1,localhost"),
    ];
    assert_eq!(found.variables, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let around = home.around(&[("http_proxy", "http://10.0.0.1:3128"), ("no_proxy", "*")]);
    assert_eq!(
        start("claude", &around).variables[1..],
        [("NO_PROXY", "*"), ("no_proxy", "*")].map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}
