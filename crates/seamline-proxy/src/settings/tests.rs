use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::keys::{Field, KEYS};
use super::*;
use crate::config::{Mode, OnFailure};

/// Every key of the settings, as the documentation shows it.
const EXAMPLE: &str = include_str!("../../../../deploy/proxy.toml");
const PAGE: &str = include_str!("../../../../docs/proxy.md");

fn file(text: &str) -> Result<ProxySettings, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proxy.toml");
    std::fs::write(&path, text).unwrap();
    let read = Layers { file: Some(path), ..Layers::default() }.read();
    read.map_err(|error| error.to_string())
}

fn layered(text: &str, environment: &[(&str, &str)], flags: &[(&'static str, &str)]) -> ProxySettings {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proxy.toml");
    std::fs::write(&path, text).unwrap();
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let flags = flags.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Layers { file: Some(path), environment, flags, upstreams: Vec::new() }.read().unwrap()
}

/// The TOML blocks of a page.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn a_flag_wins_over_the_environment_and_the_environment_over_the_file() {
    let text = "mode = \"block\"\non_failure = \"reject\"\nlisten = \"127.0.0.1:1\"\n[limits]\nheaders_max = 7\n";
    let variables = [("SEAMLINE_PROXY_MODE", "report"), ("SEAMLINE_PROXY_LISTEN", "127.0.0.1:2"), ("OTHER", "x")];
    let config = layered(text, &variables, &[("listen", "127.0.0.1:3")]).config().unwrap();
    assert_eq!((config.mode, config.on_failure), (Some(Mode::Report), OnFailure::Reject));
    assert_eq!((config.listen.to_string().as_str(), config.limits.headers_max), ("127.0.0.1:3", 7));
    assert_eq!(config.limits.body_bytes_max, Config::default().limits.body_bytes_max);
}

#[test]
fn upstreams_come_from_every_source() {
    let text = "[upstreams]\nmine = \"http://127.0.0.1:9/v1\"\n[upstreams.other]\nurl = \"http://127.0.0.1:8\"\nprovider = \"groq\"\n";
    let mut layers = Layers { upstreams: vec!["third=http://127.0.0.1:7".to_owned()], ..Layers::default() };
    layers.environment.push(("SEAMLINE_PROXY_UPSTREAM_MY_GATEWAY".to_owned(), "http://127.0.0.1:6".to_owned()));
    let mut settings = layers.read().unwrap();
    settings.add_upstream("third", "http://127.0.0.1:1", None);
    let names = |settings: &ProxySettings| {
        let upstreams = settings.config().unwrap().upstreams.into_iter();
        upstreams.map(|upstream| (upstream.name, upstream.authority.to_string(), upstream.provider)).collect::<Vec<_>>()
    };
    let row =
        |name: &str, at: &str, provider: Option<&str>| (name.to_owned(), at.to_owned(), provider.map(str::to_owned));
    assert_eq!(names(&settings), [row("my-gateway", "127.0.0.1:6", None), row("third", "127.0.0.1:7", None)]);
    assert_eq!(
        names(&file(text).unwrap()),
        [row("mine", "127.0.0.1:9", None), row("other", "127.0.0.1:8", Some("groq"))]
    );
}

#[test]
fn an_unknown_key_is_an_error_with_the_nearest_name() {
    for (text, expected) in [
        ("modus = \"repair\"", "unknown key `modus`; hint: did you mean `mode`?"),
        (
            "[limits]\nbody_byte_max = 1",
            "unknown key `limits.body_byte_max`; hint: did you mean `limits.body_bytes_max`?",
        ),
        ("[upstream]\na = \"http://x\"", "unknown key `upstream`; hint: did you mean `upstreams`?"),
        ("xyzzy = 1", "hint: `seamline proxy --print-schema` prints every key"),
        ("mode = \"fix\"", "`mode`: it must be one of `repair`, `report`, `block`"),
        ("limits = 3", "`limits`: it must be a table `[limits]`"),
        ("[limits]\nheaders_max = 0", "`limits.headers_max`: it must be a whole number above 0"),
        ("[stall]\nkill_seconds = \"soon\"", "`stall.kill_seconds`: it must be a whole number of seconds"),
        ("[upstreams.x]\naddress = \"http://x\"", "`upstreams.x`: unknown key `address`"),
        ("[upstreams]\nx = 3", "`upstreams.x`: it must be a URL"),
        ("mode = ", "TOML parse error at line 1"),
    ] {
        let error = file(text).unwrap_err();
        assert!(error.contains("proxy.toml") && error.contains(expected), "{text}: {error}");
    }
    let variable = |name: &str, value: &str| {
        let environment = vec![(name.to_owned(), value.to_owned())];
        Layers { environment, ..Layers::default() }.read().unwrap_err().to_string()
    };
    assert!(variable("SEAMLINE_PROXY_MODUS", "x").contains("did you mean `SEAMLINE_PROXY_MODE`?"));
    assert!(variable("SEAMLINE_PROXY_LIMITS_HEADERS_MAX", "many").contains("it must be a whole number above 0"));
    let missing = Layers { file: Some("/nowhere/proxy.toml".into()), ..Layers::default() }.read().unwrap_err();
    assert!(missing.to_string().contains("/nowhere/proxy.toml"), "{missing}");
}

#[test]
fn a_wrong_value_is_reported_when_it_is_used() {
    for (text, expected) in [
        ("listen = \"here\"", "`listen`: `here` is not an address"),
        ("store = \"incidents.db\"", "hint: `sqlite:FILE`, `postgres://…` or `off`"),
        ("policy = \"losless\"", "hint: did you mean `lossless`?"),
        ("token_file = \"none.txt\"", "`token_file`: cannot read"),
        ("[upstreams]\nmine = \"ftp://x\"", "upstream `mine` has no usable URL"),
        ("[upstreams.mine]\nurl = \"http://x\"\nprovider = \"nowhere\"", "no provider is called `nowhere`"),
    ] {
        let error = file(text).unwrap().config().unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn files_are_beside_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("token"), "secret-token\n").unwrap();
    std::fs::write(folder.path().join("mine.toml"), "preset = \"minimal\"\n").unwrap();
    let path = folder.path().join("proxy.toml");
    std::fs::write(
        &path,
        "token_file = \"token\"\npolicy = \"mine.toml\"\n[rejected]\nkeep = true\nfolder = \"kept\"\n",
    )
    .unwrap();
    let settings = Layers { file: Some(path), ..Layers::default() }.read().unwrap();
    assert_eq!(settings.config().unwrap().token.as_deref(), Some("secret-token"));
    assert_eq!(settings.rejected(None).unwrap().folder, folder.path().join("kept"));
}

#[test]
fn the_store_and_kept_bodies_are_settings() {
    let settings = ProxySettings::default();
    assert_eq!(settings.journal(Some("sqlite:a.db".to_owned())), Some(JournalSettings::new("sqlite:a.db")));
    assert_eq!((settings.journal(None), settings.rejected(Some("x".into()))), (None, None));
    let settings = file("store = \"off\"\n[rejected]\nkeep = true\n").unwrap();
    assert_eq!(settings.journal(Some("sqlite:a.db".to_owned())), None);
    assert_eq!(settings.rejected(Some("x".into())), Some(KeepSettings::new("x")));
    let settings = file("store = \"postgres://h/d\"\n[incidents]\nkeep_days = 2\ncount_max = 3\n").unwrap();
    let journal = settings.journal(None).unwrap();
    assert_eq!(
        (journal.address.as_str(), journal.keep_time.as_secs(), journal.count_max),
        ("postgres://h/d", 172_800, 3)
    );
}

/// A value of a key that is not its default.
fn another_value(key: &keys::Key) -> Value {
    match (&key.field, key.get(&ProxySettings::default())) {
        (Field::Text(_), _) => json!("another"),
        (Field::Switch(_), value) => json!(value != json!(true)),
        (Field::Choice(options), _) => json!(options[1].word),
        (Field::Override(_), _) => json!(0),
        (_, value) => json!(value.as_u64().unwrap() + 1),
    }
}

#[test]
fn every_key_of_the_schema_is_read() {
    let (schema, mut paths) = (schema(), BTreeSet::new());
    for (name, property) in schema["properties"].as_object().unwrap() {
        match property["properties"].as_object() {
            Some(inner) => paths.extend(inner.keys().map(|inner| format!("{name}.{inner}"))),
            None => drop(paths.insert(name.clone())),
        }
    }
    let known: BTreeSet<String> = KEYS.iter().map(|key| key.path.to_owned()).chain(["upstreams".to_owned()]).collect();
    assert_eq!(paths, known);
    for key in KEYS {
        let (mut settings, value) = (ProxySettings::default(), another_value(key));
        key.set(&mut settings, &value).unwrap();
        assert_eq!(key.get(&settings), value, "{}", key.path);
        let changed = KEYS.iter().filter(|other| other.get(&settings) != other.get(&ProxySettings::default())).count();
        assert_eq!(changed, 1, "{}", key.path);
    }
}

#[test]
fn the_documented_examples_fit_the_schema_and_are_read() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let examples = [vec![EXAMPLE], blocks(PAGE)].concat();
    assert!(examples.len() >= 2);
    for example in examples {
        let table: toml::Table = toml::from_str(example).unwrap();
        let value = serde_json::to_value(table).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{example}");
        file(example).unwrap();
    }
    assert!(!validator.is_valid(&json!({"modus": 1})) && !validator.is_valid(&json!({"limits": {"headers_max": 0}})));
    assert!(validator.is_valid(&json!({"upstreams": {"a": "http://x", "b": {"url": "http://x"}}})));
}

#[test]
fn the_documented_file_has_every_key_with_its_default() {
    // Keys without a default are commented out in the file.
    let shown: String =
        EXAMPLE.lines().map(|line| line.strip_prefix("#: ").unwrap_or(line).to_owned() + "\n").collect();
    let table: toml::Table = toml::from_str(&shown).unwrap();
    let value = serde_json::to_value(table).unwrap();
    for key in KEYS {
        let shown = value.pointer(&format!("/{}", key.path.replace('.', "/")));
        let default = key.get(&ProxySettings::default());
        assert!(shown.is_some(), "{} is not in deploy/proxy.toml", key.path);
        assert!(default == json!("") || shown == Some(&default), "{}: {shown:?}", key.path);
    }
}

#[test]
fn a_key_that_a_reload_does_not_apply_needs_a_start() {
    let needs_start =
        |path: &'static str, value: &str| layered("", &[], &[(path, value)]).needs_start(&ProxySettings::default());
    for (path, value) in [
        ("listen", "127.0.0.1:1"),
        ("store", "off"),
        ("ledger.store", "sqlite:x"),
        ("ledger.store_bytes_max", "1"),
        ("incidents.keep_days", "1"),
        ("incidents.count_max", "1"),
        ("rejected.keep", "true"),
        ("rejected.folder", "x"),
        ("rejected.bytes_max", "1"),
        ("rejected.count_max", "1"),
    ] {
        assert!(needs_start(path, value), "{path}");
    }
    for (path, value) in [("mode", "block"), ("limits.headers_max", "1"), ("limits.connections_max", "1")] {
        assert!(!needs_start(path, value), "{path}");
    }
}
