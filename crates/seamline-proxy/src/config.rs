//! The settings of a proxy.

use std::borrow::Cow;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use seamline::Policy;
use seamline::guards::StallLimits;
use seamline::policy::OnInvalid;

use crate::breaker::OnTrip;
use crate::ledger::{LedgerLimits, LedgerStoreSettings};
use crate::network::NetworkProxy;
use crate::upstreams::Upstream;

/// The port of a proxy without a configuration.
pub const DEFAULT_PORT: u16 = 4180;

/// The settings of a proxy.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address to listen on. Port 0 picks a free port.
    pub listen: SocketAddr,
    /// Treatment of a broken history; `None` lets the policy decide (`on_invalid`).
    pub mode: Option<Mode>,
    /// The policy for checks and repairs.
    pub policy: Policy,
    /// Treatment of a request when the check itself fails.
    pub on_failure: OnFailure,
    /// Treatment of a history in which the model repeats wrong tool calls; `None` leaves it alone. The limits are
    /// those of the policy.
    pub breaker: Option<OnTrip>,
    /// The bounds of connections and requests.
    pub limits: TrafficLimits,
    /// The times without progress of a streamed response until a warning and until its end, as far as they are not those
    /// of the policy.
    pub stall: StallSettings,
    /// The bounds of the memory about earlier requests.
    pub ledger: LedgerLimits,
    /// The store in which signatures and repairs outlive the proxy, and which other proxies can share.
    pub ledger_store: Option<LedgerStoreSettings>,
    /// The upstreams beside the built-in ones.
    pub upstreams: Vec<Upstream>,
    /// The proxy of the network through which upstreams are reached. This machine is always reached directly.
    pub network: NetworkProxy,
    /// The region of requests to the built-in upstream of Bedrock that are not signed for one.
    pub aws_region: Option<String>,
    /// The access token that clients send as `x-seamline-token` or as `proxy-authorization: Bearer …`.
    pub token: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)),
            mode: None,
            policy: Policy::default(),
            on_failure: OnFailure::default(),
            breaker: None,
            limits: TrafficLimits::default(),
            stall: StallSettings::default(),
            ledger: LedgerLimits::default(),
            ledger_store: None,
            upstreams: Vec::new(),
            network: NetworkProxy::default(),
            aws_region: None,
            token: None,
        }
    }
}

impl Config {
    /// The treatment of a broken history for a provider.
    pub fn mode_for(&self, provider: Option<&str>) -> Mode {
        let of_policy = |policy: &Policy| match policy.repair.on_invalid {
            OnInvalid::Repair => Mode::Repair,
            // The proxy cannot ask whether the repair is wanted; `mode` says so.
            OnInvalid::Offer | OnInvalid::Block => Mode::Block,
            OnInvalid::Warn => Mode::Report,
        };
        self.mode.unwrap_or_else(|| of_policy(&self.policy_for(provider)))
    }

    /// The times without progress of a streamed response of a provider.
    pub fn stall_for(&self, provider: Option<&str>) -> StallTimes {
        let StallLimits { warn_after, kill_after, .. } = self.policy_for(provider).guard.stall;
        StallTimes {
            warn_after: self.stall.warn_after.or(warn_after),
            kill_after: self.stall.kill_after.or(kill_after),
            alive_kill_after: self.stall.alive_kill_after,
        }
    }

    /// The policy with the overrides for a provider.
    pub(crate) fn policy_for(&self, provider: Option<&str>) -> Cow<'_, Policy> {
        provider.map_or(Cow::Borrowed(&self.policy), |provider| self.policy.for_provider(provider))
    }
}

/// The times without progress of a streamed response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallTimes {
    /// The time without progress until a warning; none for no warning.
    pub warn_after: Option<Duration>,
    /// The time in which the upstream sends nothing until the response ends; none for no end, whatever it sends.
    pub kill_after: Option<Duration>,
    /// The time in which the upstream sends only signs of life, such as comments and pings, until the response ends;
    /// none for no end. A time below `kill_after` counts as that.
    pub alive_kill_after: Option<Duration>,
}

/// The settings of the proxy for streamed responses without progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StallSettings {
    /// The time until a warning, in place of `stall_warn_ms` of the policy.
    pub warn_after: StallTime,
    /// The time until the end of a silent response, in place of `stall_timeout_ms` of the policy.
    pub kill_after: StallTime,
    /// As [`StallTimes::alive_kill_after`]. A policy has no such time.
    pub alive_kill_after: Option<Duration>,
}

impl Default for StallSettings {
    fn default() -> Self {
        Self {
            warn_after: StallTime::OfPolicy,
            kill_after: StallTime::OfPolicy,
            // Providers send signs of life while a request waits for its turn and while a model thinks.
            alive_kill_after: Some(Duration::from_mins(30)),
        }
    }
}

/// A time of the settings that can replace one of the policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StallTime {
    /// The time of the policy.
    #[default]
    OfPolicy,
    /// There is no limit.
    Never,
    /// This time replaces it.
    After(Duration),
}

impl StallTime {
    fn or(self, of_policy: Option<Duration>) -> Option<Duration> {
        match self {
            Self::OfPolicy => of_policy,
            Self::Never => None,
            Self::After(time) => Some(time),
        }
    }
}

impl StallTimes {
    /// No warning and no end.
    pub const NONE: Self = Self { warn_after: None, kill_after: None, alive_kill_after: None };
}

/// Treatment of a broken history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The repaired history is sent.
    #[default]
    Repair,
    /// The history is sent as it is, and the incident says what a repair would do.
    Report,
    /// The client gets an error that says what is wrong.
    Block,
}

/// Treatment of a request when the check itself fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The original request is sent, and an incident says so.
    #[default]
    Pass,
    /// The client gets an error.
    Reject,
}

/// The bounds of connections and requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrafficLimits {
    /// The largest body of a request, also after decoding, in bytes.
    pub body_bytes_max: usize,
    /// The most bytes of the bodies of all requests at a time, also of decoded ones. A request over it gets an
    /// error that tells the client to try again.
    pub all_bodies_bytes_max: usize,
    /// The largest head of a request, in bytes.
    pub head_bytes_max: usize,
    /// The most headers of a request.
    pub headers_max: usize,
    /// The time until the head of a request must be complete.
    pub head_time: Duration,
    /// The time that a connection without a request is kept. It is closed earlier when another one needs its place.
    pub idle_time: Duration,
    /// The time until the body of a request must be complete.
    pub body_time: Duration,
    /// The time until a connection to an upstream must be open.
    pub connect_time: Duration,
    /// The time until the upstream must start its response.
    pub response_time: Duration,
    /// The time that open requests have after the stop.
    pub drain_time: Duration,
    /// The most connections of clients at a time.
    pub connections_max: usize,
}

impl Default for TrafficLimits {
    fn default() -> Self {
        Self {
            body_bytes_max: 64 << 20,
            all_bodies_bytes_max: 1 << 30,
            head_bytes_max: 64 << 10,
            headers_max: 200,
            head_time: Duration::from_secs(15),
            // As nginx does it.
            idle_time: Duration::from_secs(75),
            body_time: Duration::from_mins(2),
            connect_time: Duration::from_secs(10),
            response_time: Duration::from_mins(15),
            drain_time: Duration::from_secs(30),
            connections_max: 16_384,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_has_the_stall_times_and_the_settings_replace_them() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let times = |policy: Policy, stall: StallSettings, provider: Option<&str>| {
            let StallTimes { warn_after, kill_after, alive_kill_after } =
                Config { policy, stall, ..Config::default() }.stall_for(provider);
            assert_eq!(alive_kill_after, seconds(1800));
            (warn_after, kill_after)
        };
        let unset = StallSettings::default();
        assert_eq!(times(Policy::default(), unset, None), (seconds(10), seconds(300)));
        assert_eq!(times(Policy::preset("opal").unwrap(), unset, None), (seconds(10), None));
        assert_eq!(times(Policy::preset("kilroy").unwrap(), unset, None), (None, seconds(300)));
        let text = "stall_timeout_ms = 600000\n[provider.groq]\nstall_timeout_ms = 60000";
        let policy = || Policy::from_toml(text).unwrap();
        assert_eq!(times(policy(), unset, None).1, seconds(600));
        assert_eq!(times(policy(), unset, Some("openai")).1, seconds(600));
        assert_eq!(times(policy(), unset, Some("groq")).1, seconds(60));
        let set = StallSettings {
            warn_after: StallTime::Never,
            kill_after: StallTime::After(Duration::from_secs(7)),
            ..unset
        };
        assert_eq!(times(policy(), set, Some("groq")), (None, seconds(7)));
        let never = StallSettings { kill_after: StallTime::Never, ..unset };
        assert_eq!(times(Policy::default(), never, None), (seconds(10), None));
    }
}
