//! Every key of the settings.

use std::time::Duration;

use serde_json::{Value, json};

use super::ProxySettings;
use crate::breaker::OnTrip;
use crate::config::{Mode, OnFailure, StallTime};

/// A key of the settings.
pub(super) struct Key {
    /// The path in the file, such as `limits.body_bytes_max`.
    pub(super) path: &'static str,
    /// The description of the setting in the schema.
    pub(super) about: &'static str,
    pub(super) field: Field,
}

/// The kind of a key's value, and its place in the settings.
pub(super) enum Field {
    Text(fn(&mut ProxySettings) -> &mut String),
    Size(fn(&mut ProxySettings) -> &mut usize),
    Count(fn(&mut ProxySettings) -> &mut u64),
    /// A time in seconds.
    Time(fn(&mut ProxySettings) -> &mut Duration),
    /// A time in seconds; 0 for never.
    Limit(fn(&mut ProxySettings) -> &mut Option<Duration>),
    /// A time in seconds that replaces one of the policy; 0 for never.
    Override(fn(&mut ProxySettings) -> &mut StallTime),
    /// A time in days.
    Days(fn(&mut ProxySettings) -> &mut Duration),
    Switch(fn(&mut ProxySettings) -> &mut bool),
    Choice(&'static [ChoiceOption]),
}

/// One value of a choice.
pub(super) struct ChoiceOption {
    pub(super) word: &'static str,
    pub(super) is_set: fn(&ProxySettings) -> bool,
    pub(super) set: fn(&mut ProxySettings),
}

/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;

const MODES: &[ChoiceOption] = &[
    ChoiceOption {
        word: "repair",
        is_set: |s| s.config.mode == Some(Mode::Repair),
        set: |s| s.config.mode = Some(Mode::Repair),
    },
    ChoiceOption {
        word: "report",
        is_set: |s| s.config.mode == Some(Mode::Report),
        set: |s| s.config.mode = Some(Mode::Report),
    },
    ChoiceOption {
        word: "block",
        is_set: |s| s.config.mode == Some(Mode::Block),
        set: |s| s.config.mode = Some(Mode::Block),
    },
];

const ON_FAILURE: &[ChoiceOption] = &[
    ChoiceOption {
        word: "pass",
        is_set: |s| s.config.on_failure == OnFailure::Pass,
        set: |s| s.config.on_failure = OnFailure::Pass,
    },
    ChoiceOption {
        word: "reject",
        is_set: |s| s.config.on_failure == OnFailure::Reject,
        set: |s| s.config.on_failure = OnFailure::Reject,
    },
];

const BREAKER: &[ChoiceOption] = &[
    ChoiceOption { word: "off", is_set: |s| s.config.breaker.is_none(), set: |s| s.config.breaker = None },
    ChoiceOption {
        word: "escalate",
        is_set: |s| s.config.breaker == Some(OnTrip::Escalate),
        set: |s| s.config.breaker = Some(OnTrip::Escalate),
    },
    ChoiceOption {
        word: "block",
        is_set: |s| s.config.breaker == Some(OnTrip::Block),
        set: |s| s.config.breaker = Some(OnTrip::Block),
    },
];

/// All keys but the upstreams, in the order of the documentation.
pub(super) const KEYS: &[Key] = &[
    Key {
        path: "listen",
        about: "The address to listen on. Port 0 picks a free port. An address that other machines reach needs a token.",
        field: Field::Text(|s| &mut s.listen),
    },
    Key {
        path: "mode",
        about: "What happens to a broken history: `repair` sends the repaired one, `report` sends it as it is and \
                records what a repair would do, `block` answers with an error. Without it: as `on_invalid` of the policy \
                says, which is `repair` in the default policy.",
        field: Field::Choice(MODES),
    },
    Key {
        path: "policy",
        about: "How damage is repaired: a preset, or a policy file; a path is relative to this file.",
        field: Field::Text(|s| &mut s.policy),
    },
    Key {
        path: "on_failure",
        about: "What happens to a request when the check itself fails: `pass` sends it as it is, `reject` answers with \
                an error.",
        field: Field::Choice(ON_FAILURE),
    },
    Key {
        path: "breaker",
        about: "What happens when the model repeats wrong tool calls: `off`, `escalate` tells the model so, `block` \
                answers with an error. The limits are those of the policy.",
        field: Field::Choice(BREAKER),
    },
    Key {
        path: "token",
        about: "The access token that clients send as `x-seamline-token` or `proxy-authorization: Bearer …`. Better in \
                `SEAMLINE_PROXY_TOKEN` or a `token_file`.",
        field: Field::Text(|s| &mut s.token),
    },
    Key {
        path: "token_file",
        about: "A file with the access token; a path is relative to this file.",
        field: Field::Text(|s| &mut s.token_file),
    },
    Key {
        path: "store",
        about: "The store of incidents: `sqlite:FILE`, `postgres://…`, or `off`. Without it: a file in the user's state \
                folder.",
        field: Field::Text(|s| &mut s.store),
    },
    Key {
        path: "limits.body_bytes_max",
        about: "The largest body of a request, also after decoding, in bytes.",
        field: Field::Size(|s| &mut s.config.limits.body_bytes_max),
    },
    Key {
        path: "limits.all_bodies_bytes_max",
        about: "The most bytes of the bodies of all requests at a time, also of decoded ones. A request over it gets \
                the status 503.",
        field: Field::Size(|s| &mut s.config.limits.all_bodies_bytes_max),
    },
    Key {
        path: "limits.head_bytes_max",
        about: "The largest head of a request, in bytes.",
        field: Field::Size(|s| &mut s.config.limits.head_bytes_max),
    },
    Key {
        path: "limits.headers_max",
        about: "The most headers of a request.",
        field: Field::Size(|s| &mut s.config.limits.headers_max),
    },
    Key {
        path: "limits.connections_max",
        about: "The most connections of clients at a time. When all are taken, the one that is idle for the longest \
                time is closed.",
        field: Field::Size(|s| &mut s.config.limits.connections_max),
    },
    Key {
        path: "limits.head_seconds",
        about: "The time until the head of a request must be complete.",
        field: Field::Time(|s| &mut s.config.limits.head_time),
    },
    Key {
        path: "limits.idle_seconds",
        about: "The time that a connection without a request is kept.",
        field: Field::Time(|s| &mut s.config.limits.idle_time),
    },
    Key {
        path: "limits.body_seconds",
        about: "The time until the body of a request must be complete.",
        field: Field::Time(|s| &mut s.config.limits.body_time),
    },
    Key {
        path: "limits.connect_seconds",
        about: "The time until a connection to an upstream must be open.",
        field: Field::Time(|s| &mut s.config.limits.connect_time),
    },
    Key {
        path: "limits.response_seconds",
        about: "The time until the upstream must start its response.",
        field: Field::Time(|s| &mut s.config.limits.response_time),
    },
    Key {
        path: "limits.drain_seconds",
        about: "The time that open requests have after a stop.",
        field: Field::Time(|s| &mut s.config.limits.drain_time),
    },
    Key {
        path: "stall.warn_seconds",
        about: "The time without progress of a streamed response until a warning; 0 for never. Without it: `stall_warn_ms` \
                of the policy, 10 seconds in the default policy.",
        field: Field::Override(|s| &mut s.config.stall.warn_after),
    },
    Key {
        path: "stall.kill_seconds",
        about: "The time in which the upstream of a streamed response sends nothing until the proxy ends it; 0 for never, \
                whatever it sends. Without it: `stall_timeout_ms` of the policy, 5 minutes in the default policy.",
        field: Field::Override(|s| &mut s.config.stall.kill_after),
    },
    Key {
        path: "stall.alive_kill_seconds",
        about: "The time in which the upstream of a streamed response sends only signs of life (comments, pings) until \
                the proxy ends it; 0 for never.",
        field: Field::Limit(|s| &mut s.config.stall.alive_kill_after),
    },
    Key {
        path: "ledger.conversations_max",
        about: "The most conversations that are remembered.",
        field: Field::Size(|s| &mut s.config.ledger.conversations_max),
    },
    Key {
        path: "ledger.bytes_max",
        about: "The most bytes that remembered conversations hold.",
        field: Field::Size(|s| &mut s.config.ledger.bytes_max),
    },
    Key {
        path: "ledger.signature_bytes_max",
        about: "The most bytes of remembered signatures.",
        field: Field::Size(|s| &mut s.config.ledger.signature_bytes_max),
    },
    Key {
        path: "ledger.store",
        about: "A store in which signatures and repairs outlive the proxy, and which several proxies share: `sqlite:FILE` \
                or `postgres://…`. It gets hashes and signatures, and no content.",
        field: Field::Text(|s| &mut s.ledger_store),
    },
    Key {
        path: "ledger.store_bytes_max",
        about: "The most bytes of ledgers in that store, about; the oldest entries go first.",
        field: Field::Count(|s| &mut s.ledger_store_bytes_max),
    },
    Key {
        path: "incidents.keep_days",
        about: "The age at which incidents are removed, in days.",
        field: Field::Days(|s| &mut s.incident_time),
    },
    Key {
        path: "incidents.count_max",
        about: "The most incidents that are kept, about; the oldest ones go first.",
        field: Field::Count(|s| &mut s.incidents_max),
    },
    Key {
        path: "rejected.keep",
        about: "Whether bodies that a provider rejected are kept. Every text in them is replaced by its length and a hash.",
        field: Field::Switch(|s| &mut s.keeps_rejected),
    },
    Key {
        path: "rejected.folder",
        about: "The folder of kept bodies; a path is relative to this file. Without it: one in the user's state folder.",
        field: Field::Text(|s| &mut s.rejected_folder),
    },
    Key {
        path: "rejected.bytes_max",
        about: "The largest kept body, in bytes; the rest is cut off.",
        field: Field::Size(|s| &mut s.rejected_bytes_max),
    },
    Key {
        path: "rejected.count_max",
        about: "The most kept bodies; the oldest one makes room.",
        field: Field::Size(|s| &mut s.rejected_max),
    },
];

/// The keys whose value is a path, unless it names a preset.
pub(super) const PATHS: [&str; 3] = ["policy", "token_file", "rejected.folder"];

impl Key {
    /// Sets the key. The error says what the value should be.
    pub(super) fn set(&self, settings: &mut ProxySettings, value: &Value) -> Result<(), String> {
        match &self.field {
            Field::Text(place) => text(value)?.clone_into(place(settings)),
            Field::Size(place) => *place(settings) = usize::try_from(whole(value)?).map_err(|e| e.to_string())?,
            Field::Count(place) => *place(settings) = whole(value)?,
            Field::Time(place) => *place(settings) = Duration::from_secs(whole(value)?),
            Field::Days(place) => *place(settings) = Duration::from_secs(whole(value)?.saturating_mul(DAY)),
            Field::Limit(place) => *place(settings) = limit(value)?,
            Field::Override(place) => *place(settings) = limit(value)?.map_or(StallTime::Never, StallTime::After),
            Field::Switch(place) => *place(settings) = value.as_bool().ok_or("it must be true or false")?,
            Field::Choice(options) => {
                let words = || options.iter().map(|option| format!("`{}`", option.word)).collect::<Vec<_>>().join(", ");
                let found = value.as_str().and_then(|word| options.iter().find(|option| option.word == word));
                let option = found.ok_or_else(|| format!("it must be one of {}", words()))?;
                (option.set)(settings);
            }
        }
        Ok(())
    }

    /// The value of the key; empty where a text, a choice or the override of a policy is not set.
    pub(super) fn get(&self, settings: &ProxySettings) -> Value {
        let mut settings = settings.clone();
        let settings = &mut settings;
        match &self.field {
            Field::Text(place) => json!(place(settings)),
            Field::Size(place) => json!(place(settings)),
            Field::Count(place) => json!(place(settings)),
            Field::Time(place) => json!(place(settings).as_secs()),
            Field::Days(place) => json!(place(settings).as_secs() / DAY),
            Field::Limit(place) => json!(place(settings).map_or(0, |time| time.as_secs())),
            Field::Override(place) => match place(settings) {
                StallTime::OfPolicy => json!(""),
                StallTime::Never => json!(0),
                StallTime::After(time) => json!(time.as_secs()),
            },
            Field::Switch(place) => json!(place(settings)),
            Field::Choice(options) => json!(options.iter().find(|o| (o.is_set)(settings)).map_or("", |o| o.word)),
        }
    }

    /// Reads a value as the environment and flags write it.
    pub(super) fn parse(&self, text: &str) -> Value {
        match &self.field {
            Field::Text(_) | Field::Choice(_) => json!(text),
            Field::Size(_)
            | Field::Count(_)
            | Field::Time(_)
            | Field::Days(_)
            | Field::Limit(_)
            | Field::Override(_) => text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number)),
            Field::Switch(_) => text.parse::<bool>().map_or_else(|_| json!(text), |switch| json!(switch)),
        }
    }
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "it must be a text".to_owned())
}

/// A time in seconds; `None` for never.
fn limit(value: &Value) -> Result<Option<Duration>, String> {
    let seconds = value.as_u64().ok_or("it must be a whole number of seconds, or 0 for never")?;
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

fn whole(value: &Value) -> Result<u64, String> {
    value.as_u64().filter(|number| *number > 0).ok_or_else(|| "it must be a whole number above 0".to_owned())
}
