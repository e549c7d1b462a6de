//! The settings of the command `seamline proxy`: a TOML file, the environment and flags.
//!
//! A flag wins over the environment, the environment over the file, the file over the defaults. `keys.rs` lists every
//! key once; the file, the environment, the schema and the documentation come from that list.

mod keys;
mod layers;
mod schema;

use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use seamline::Policy;

use crate::Error;
use crate::config::{Config, DEFAULT_PORT};
use crate::journal::JournalSettings;
use crate::keep::KeepSettings;
use crate::ledger::LedgerStoreSettings;
use crate::upstreams::Upstream;

pub use layers::{ENVIRONMENT_PREFIX, Layers};
pub use schema::schema;

/// The settings of a proxy, before files that they name are read.
#[derive(Debug, Clone)]
pub struct ProxySettings {
    /// The settings of the traffic. `listen`, `policy`, `upstreams` and `token` are empty here.
    config: Config,
    listen: String,
    policy: String,
    token: String,
    token_file: String,
    store: String,
    ledger_store: String,
    ledger_store_bytes_max: u64,
    incident_time: Duration,
    incidents_max: u64,
    keeps_rejected: bool,
    rejected_folder: String,
    rejected_bytes_max: usize,
    rejected_max: usize,
    upstreams: BTreeMap<String, UpstreamSetting>,
}

/// An upstream as the settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct UpstreamSetting {
    url: String,
    provider: Option<String>,
}

/// The text that turns the store of incidents off.
pub const NO_STORE: &str = "off";

/// The largest policy file and token file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Default for ProxySettings {
    fn default() -> Self {
        let (journal, keep) = (JournalSettings::new(""), KeepSettings::new(""));
        Self {
            config: Config::default(),
            listen: format!("127.0.0.1:{DEFAULT_PORT}"),
            policy: "lossless".to_owned(),
            token: String::new(),
            token_file: String::new(),
            store: String::new(),
            ledger_store: String::new(),
            ledger_store_bytes_max: 32 << 20,
            incident_time: journal.keep_time,
            incidents_max: journal.count_max,
            keeps_rejected: false,
            rejected_folder: String::new(),
            rejected_bytes_max: keep.bytes_max,
            rejected_max: keep.count_max,
            upstreams: BTreeMap::new(),
        }
    }
}

impl ProxySettings {
    /// The settings of the traffic. Reads the files that the settings name.
    ///
    /// # Errors
    /// [`Error::Config`] and [`Error::Upstream`], with the key that is wrong.
    pub fn config(&self) -> Result<Config, Error> {
        let upstreams = self
            .upstreams
            .iter()
            .map(|(name, upstream)| Upstream::new(name, &upstream.url, upstream.provider.as_deref()));
        check_store("store", &self.store)?;
        check_store("ledger.store", &self.ledger_store)?;
        let has_store = !self.ledger_store.is_empty() && self.ledger_store != NO_STORE;
        let ledger_store = has_store.then(|| LedgerStoreSettings {
            address: self.ledger_store.clone(),
            bytes_max: self.ledger_store_bytes_max,
        });
        Ok(Config {
            listen: address(&self.listen)?,
            policy: policy(&self.policy)?,
            token: self.token()?,
            ledger_store,
            upstreams: upstreams.collect::<Result<_, _>>()?,
            ..self.config.clone()
        })
    }

    /// The settings of the journal; `None` where it is turned off. `default` is the store without a setting.
    pub fn journal(&self, default: Option<String>) -> Option<JournalSettings> {
        let address = match self.store.as_str() {
            "" => default?,
            NO_STORE => return None,
            address => address.to_owned(),
        };
        Some(JournalSettings { keep_time: self.incident_time, count_max: self.incidents_max, address })
    }

    /// The settings of kept bodies; `None` unless they are turned on. `default` is the folder without a setting.
    pub fn rejected(&self, default: Option<PathBuf>) -> Option<KeepSettings> {
        let named = (!self.rejected_folder.is_empty()).then(|| PathBuf::from(&self.rejected_folder));
        let folder = self.keeps_rejected.then_some(()).and_then(|()| named.or(default))?;
        Some(KeepSettings { folder, bytes_max: self.rejected_bytes_max, count_max: self.rejected_max })
    }

    /// Whether only a new start can apply the differences to other settings: the address, the stores and kept bodies,
    /// with their bounds.
    pub fn needs_start(&self, other: &Self) -> bool {
        let of_stores = |settings: &Self| {
            let Self { store, ledger_store, ledger_store_bytes_max, incident_time, incidents_max, .. } =
                settings.clone();
            (store, ledger_store, ledger_store_bytes_max, incident_time, incidents_max)
        };
        let of_rejected = |settings: &Self| {
            let Self { keeps_rejected, rejected_folder, rejected_bytes_max, rejected_max, .. } = settings.clone();
            (keeps_rejected, rejected_folder, rejected_bytes_max, rejected_max)
        };
        self.listen != other.listen || of_stores(self) != of_stores(other) || of_rejected(self) != of_rejected(other)
    }

    /// Listens on a free port of this machine, for one program. Programs do not send an access token, so none is needed.
    pub fn listen_for_program(&mut self) {
        "127.0.0.1:0".clone_into(&mut self.listen);
        self.token.clear();
        self.token_file.clear();
    }

    /// Whether clients need an access token.
    pub fn has_token(&self) -> bool {
        !(self.token.is_empty() && self.token_file.is_empty())
    }

    /// Adds an upstream, unless the settings have one with this name.
    pub fn add_upstream(&mut self, name: &str, url: &str, provider: Option<&str>) {
        let upstream = UpstreamSetting { url: url.to_owned(), provider: provider.map(ToOwned::to_owned) };
        self.upstreams.entry(name.to_owned()).or_insert(upstream);
    }

    fn token(&self) -> Result<Option<String>, Error> {
        if self.token_file.is_empty() {
            return Ok(Some(self.token.clone()).filter(|token| !token.is_empty()));
        }
        let text = read("token_file", Path::new(&self.token_file))?;
        let token = text.trim().to_owned();
        if token.is_empty() {
            return Err(Error::Config(format!("`token_file`: {} is empty", self.token_file)));
        }
        Ok(Some(token))
    }
}

/// Refuses a URL that cannot be a store. A store that only does not work is reported while the proxy runs. The URL may
/// hold a password, so the error does not repeat it.
fn check_store(key: &str, address: &str) -> Result<(), Error> {
    let is_url = ["sqlite:", "postgres:", "postgresql:", "memory:"].iter().any(|start| address.starts_with(start));
    if is_url || address.is_empty() || address == NO_STORE {
        return Ok(());
    }
    Err(Error::Config(format!("`{key}`: it is not the URL of a store; hint: `sqlite:FILE`, `postgres://…` or `off`")))
}

fn address(text: &str) -> Result<SocketAddr, Error> {
    let wrong = |why: String| {
        Error::Config(format!(
            "`listen`: {why}; hint: an address is written `127.0.0.1:{DEFAULT_PORT}`, port 0 is a free one"
        ))
    };
    let found = text.to_socket_addrs().map_err(|error| wrong(format!("`{text}` is not an address: {error}")));
    found?.next().ok_or_else(|| wrong(format!("`{text}` has no address")))
}

/// The preset with this name, or the policy in a file.
fn policy(name_or_file: &str) -> Result<Policy, Error> {
    if let Some(policy) = Policy::preset(name_or_file) {
        return Ok(policy);
    }
    let names: Vec<&str> = seamline::policy::PRESETS.iter().map(|preset| preset.name).collect();
    let path = Path::new(name_or_file);
    if !path.exists() {
        let hint = nearest(name_or_file, &names)
            .map_or_else(|| format!("the presets are {}", names.join(", ")), |name| format!("did you mean `{name}`?"));
        return Err(Error::Config(format!(
            "`policy`: no preset is called `{name_or_file}`, and there is no such file; hint: {hint}"
        )));
    }
    let wrong = |error: seamline::policy::PolicyError| {
        let line = error.line.map(|line| format!(", line {line}")).unwrap_or_default();
        Error::Config(format!("`policy`: {name_or_file}{line}: {}", error.kind))
    };
    Policy::from_toml(&read("policy", path)?).map_err(wrong)
}

/// Reads a file that a key names.
fn read(key: &str, path: &Path) -> Result<String, Error> {
    let wrong = |why: String| Error::Config(format!("`{key}`: cannot read {}: {why}", path.display()));
    let size = path.metadata().map_err(|error| wrong(error.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(wrong(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))
}

/// The name that is most similar to another one, if one is similar at all.
fn nearest<'n>(asked: &str, names: &[&'n str]) -> Option<&'n str> {
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&asked.to_lowercase(), name);
    let scored = names.iter().map(|name| (likeness(name), *name));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= LIKENESS_MIN).then_some(best.1)
}

/// The least similarity of a proposed name, from 0 to 1.
const LIKENESS_MIN: f64 = 0.6;

#[cfg(test)]
mod tests;
