//! The sources of the settings: file, environment, flags.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::keys::{KEYS, Key, PATHS};
use super::{ProxySettings, UpstreamSetting, nearest, read};
use crate::Error;

/// The start of the variables that are settings.
pub const ENVIRONMENT_PREFIX: &str = "SEAMLINE_PROXY_";
/// The variable that names the file. It is not a key of the file.
const FILE_VARIABLE: &str = "SEAMLINE_PROXY_CONFIG";
/// The start of the variables with upstreams: `SEAMLINE_PROXY_UPSTREAM_MY_GATEWAY` is the upstream `my-gateway`.
const UPSTREAM_PREFIX: &str = "SEAMLINE_PROXY_UPSTREAM_";

/// The sources of the settings, which are read again at a reload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layers {
    /// The file that a flag names.
    pub file: Option<PathBuf>,
    /// The variables of the environment.
    pub environment: Vec<(String, String)>,
    /// The settings of flags: the path of the key, and its value.
    pub flags: Vec<(&'static str, String)>,
    /// The upstreams of flags: `NAME=URL`.
    pub upstreams: Vec<String>,
}

impl Layers {
    /// The file of the settings, if a flag or the environment names one.
    pub fn file(&self) -> Option<PathBuf> {
        let variable = || self.environment.iter().find(|(name, value)| name == FILE_VARIABLE && !value.is_empty());
        self.file.clone().or_else(|| variable().map(|(_, value)| PathBuf::from(value)))
    }

    /// Reads the settings of all sources.
    ///
    /// # Errors
    /// [`Error::Config`], with the source and the key that is wrong.
    pub fn read(&self) -> Result<ProxySettings, Error> {
        let mut settings = ProxySettings::default();
        if let Some(file) = self.file() {
            let text = read("--config", &file)?;
            settings.apply_file(&text, &file)?;
        }
        for (name, value) in &self.environment {
            settings.apply_variable(name, value)?;
        }
        for (path, value) in &self.flags {
            let Some(key) = key(path) else { return Err(Error::Config(format!("no key is called `{path}`"))) };
            key.set(&mut settings, &key.parse(value))
                .map_err(|why| Error::Config(format!("`--{path} {value}`: {why}")))?;
        }
        for upstream in &self.upstreams {
            let (name, url) = upstream
                .split_once('=')
                .ok_or_else(|| Error::Config(format!("`--upstream {upstream}`: it must be written NAME=URL")))?;
            settings.set_upstream(name, url, None);
        }
        Ok(settings)
    }
}

impl ProxySettings {
    /// Applies the text of a file.
    fn apply_file(&mut self, text: &str, file: &Path) -> Result<(), Error> {
        let wrong = |why: String| Error::Config(format!("{}: {why}", file.display()));
        let table: toml::Table = toml::from_str(text).map_err(|error| wrong(error.to_string().trim().to_owned()))?;
        let value = serde_json::to_value(table).map_err(|error| wrong(error.to_string()))?;
        self.apply_table("", &value, file.parent().unwrap_or(Path::new(""))).map_err(wrong)
    }

    /// Applies a table of the file. `prefix` is the path of the table with a dot behind it.
    fn apply_table(&mut self, prefix: &str, table: &Value, folder: &Path) -> Result<(), String> {
        for (name, value) in table.as_object().into_iter().flatten() {
            let path = format!("{prefix}{name}");
            if path == "upstreams" {
                self.apply_upstreams(value)?;
            } else if let Some(key) = key(&path) {
                key.set(self, &in_folder(key, value, folder)).map_err(|why| format!("`{path}`: {why}"))?;
            } else if KEYS.iter().any(|key| key.path.starts_with(&format!("{path}."))) {
                if !value.is_object() {
                    return Err(format!("`{path}`: it must be a table `[{path}]`"));
                }
                self.apply_table(&format!("{path}."), value, folder)?;
            } else {
                return Err(unknown(&path));
            }
        }
        Ok(())
    }

    fn apply_upstreams(&mut self, value: &Value) -> Result<(), String> {
        let table = value.as_object().ok_or("`upstreams`: it must be a table `[upstreams]`")?;
        for (name, upstream) in table {
            let wrong = || format!("`upstreams.{name}`: it must be a URL, or a table with `url` and `provider`");
            if let Some(url) = upstream.as_str() {
                self.set_upstream(name, url, None);
                continue;
            }
            let members = upstream.as_object().ok_or_else(wrong)?;
            if let Some(other) = members.keys().find(|key| !["url", "provider"].contains(&key.as_str())) {
                return Err(format!(
                    "`upstreams.{name}`: unknown key `{other}`; hint: the keys are `url` and `provider`"
                ));
            }
            let text = |key: &str| members.get(key).map(|value| value.as_str().ok_or_else(wrong)).transpose();
            self.set_upstream(name, text("url")?.ok_or_else(wrong)?, text("provider")?);
        }
        Ok(())
    }

    /// Applies a variable of the environment. Other variables than ours are ignored.
    fn apply_variable(&mut self, name: &str, value: &str) -> Result<(), Error> {
        let Some(rest) = name.strip_prefix(ENVIRONMENT_PREFIX).filter(|_| name != FILE_VARIABLE) else { return Ok(()) };
        if value.is_empty() {
            return Ok(());
        }
        if let Some(upstream) = name.strip_prefix(UPSTREAM_PREFIX) {
            self.set_upstream(&upstream.to_lowercase().replace('_', "-"), value, None);
            return Ok(());
        }
        let Some(key) = KEYS.iter().find(|key| variable(key) == name) else {
            let names: Vec<String> = KEYS.iter().map(variable).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let lowered: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
            let lowered: Vec<&str> = lowered.iter().map(String::as_str).collect();
            let hint = nearest(name, &lowered).map(|near| format!("; hint: did you mean `{}`?", near.to_uppercase()));
            return Err(Error::Config(format!(
                "the environment has the unknown setting `{ENVIRONMENT_PREFIX}{rest}`{}",
                hint.unwrap_or_default()
            )));
        };
        key.set(self, &key.parse(value)).map_err(|why| Error::Config(format!("{name}: {why}")))
    }

    fn set_upstream(&mut self, name: &str, url: &str, provider: Option<&str>) {
        let upstream = UpstreamSetting { url: url.to_owned(), provider: provider.map(ToOwned::to_owned) };
        self.upstreams.insert(name.to_owned(), upstream);
    }
}

/// The variable of a key.
pub(super) fn variable(key: &Key) -> String {
    format!("{ENVIRONMENT_PREFIX}{}", key.path.to_uppercase().replace('.', "_"))
}

fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// A path of the file is relative to the folder of the file.
fn in_folder(key: &Key, value: &Value, folder: &Path) -> Value {
    let is_path =
        |text: &str| PATHS.contains(&key.path) && !text.is_empty() && seamline::Policy::preset(text).is_none();
    match value.as_str().filter(|text| is_path(text)).map(|path| folder.join(path)) {
        // A policy that does not name a file is a preset with a typing error.
        Some(path) if key.path == "policy" && !path.exists() => value.clone(),
        Some(path) => Value::String(path.display().to_string()),
        None => value.clone(),
    }
}

fn unknown(path: &str) -> String {
    let mut names: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
    names.push("upstreams");
    match nearest(path, &names) {
        Some(name) => format!("unknown key `{path}`; hint: did you mean `{name}`?"),
        None => format!("unknown key `{path}`; hint: `seamline proxy --print-schema` prints every key"),
    }
}
