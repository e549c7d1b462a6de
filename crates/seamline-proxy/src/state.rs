//! The state that all requests of a proxy share.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use hyper::HeaderMap;
use hyper::header::PROXY_AUTHORIZATION;
use seamline::Options;
use seamline::stream::StreamOptions;
use tokio::sync::watch;

use crate::Error;
use crate::config::Config;
use crate::counts::Counts;
use crate::headers::{self, TOKEN};
use crate::ledger::Ledger;
use crate::report::{Gauges, Reporter};
use crate::room::BodyRoom;
use crate::route::Target;
use crate::sign::Signer;
use crate::upstream::UpstreamClient;
use crate::upstreams::Upstreams;

/// The most combinations of upstream, dialect and model whose options are kept.
const LENSES_MAX: usize = 1024;

/// The most bytes of an assembled response. A longer one is passed on and not assembled.
const ASSEMBLED_BYTES_MAX: usize = 8 << 20;

/// The state that all requests share.
pub(crate) struct Shared {
    settings: RwLock<Arc<Settings>>,
    pub(crate) reporter: Arc<dyn Reporter>,
    pub(crate) signer: Signer,
    pub(crate) open: Counts,
    /// The memory that the bodies of requests take.
    pub(crate) bodies: BodyRoom,
    /// Tells the bridges between `WebSocket` connections to end. Each bridge holds a receiver.
    pub(crate) bridges: watch::Sender<BridgeOrder>,
}

/// The order to all bridges between `WebSocket` connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BridgeOrder {
    /// Messages pass both ways.
    Run,
    /// End when no response is open.
    Finish,
    /// The bridge ends at once.
    End,
}

/// The settings for new requests. A reload replaces them as a whole.
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) upstreams: Upstreams,
    pub(crate) client: UpstreamClient,
    pub(crate) ledger: Arc<Ledger>,
    token: Option<blake3::Hash>,
    lenses: RwLock<Lenses>,
}

/// The options of endpoints, by upstream, dialect and the model of the URL.
#[derive(Debug, Default)]
struct Lenses {
    by_endpoint: HashMap<&'static str, HashMap<String, HashMap<String, Arc<Lens>>>>,
    count: usize,
}

/// The options with which the bodies of one endpoint are read.
#[derive(Debug)]
pub(crate) struct Lens {
    pub(crate) dialect: &'static str,
    pub(crate) options: Arc<Options>,
    pub(crate) stream: StreamOptions,
}

impl Shared {
    pub(crate) fn new(config: Config, reporter: Arc<dyn Reporter>, signer: Signer) -> Result<Self, Error> {
        let ledger = match &config.ledger_store {
            Some(settings) => Ledger::stored(config.ledger, settings.clone()).map_err(Error::Thread)?,
            None => Ledger::new(config.ledger),
        };
        let ledger = Arc::new(ledger);
        let client = UpstreamClient::new(&config)?;
        Ok(Self {
            settings: RwLock::new(Arc::new(Settings::new(config, client, ledger)?)),
            reporter,
            signer,
            open: Counts::default(),
            bodies: BodyRoom::default(),
            bridges: watch::Sender::new(BridgeOrder::Run),
        })
    }

    /// The settings at this moment.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the settings for new requests. What is remembered stays, except the last requests where the bounds change.
    pub(crate) fn reload(&self, config: Config) -> Result<(), Error> {
        let old = self.settings();
        let has_same_ledger = old.config.ledger == config.ledger;
        let ledger =
            if has_same_ledger { Arc::clone(&old.ledger) } else { Arc::new(old.ledger.with_limits(config.ledger)) };
        let network = |config: &Config| (config.network.clone(), config.limits.connect_time);
        let has_same_client = network(&old.config) == network(&config);
        let client = if has_same_client { old.client.clone() } else { UpstreamClient::new(&config)? };
        let settings = Arc::new(Settings::new(config, client, ledger)?);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    pub(crate) fn gauges(&self) -> Gauges {
        let (conversations, conversation_bytes) = self.settings().ledger.size();
        Gauges {
            connections: self.open.connections.get(),
            requests: self.open.requests.get(),
            streams: self.open.streams.get(),
            conversations,
            conversation_bytes,
            body_bytes: self.bodies.bytes(),
        }
    }
}

impl Settings {
    fn new(config: Config, client: UpstreamClient, ledger: Arc<Ledger>) -> Result<Self, Error> {
        Ok(Self {
            upstreams: Upstreams::new(config.upstreams.iter().cloned())?,
            client,
            ledger,
            token: config.token.as_ref().map(|token| blake3::hash(token.as_bytes())),
            lenses: RwLock::default(),
            config,
        })
    }

    /// Whether a request has the access token, if one is set. The comparison of hashes takes the same time for every
    /// token.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(expected) = self.token else { return true };
        let own = headers.get(TOKEN).map(hyper::header::HeaderValue::as_bytes);
        let bearer = headers.get(PROXY_AUTHORIZATION).and_then(headers::bearer);
        own.or(bearer).is_some_and(|token| blake3::hash(token) == expected)
    }

    /// The options for the bodies of a target; `None` where the proxy does not read them.
    pub(crate) fn lens(&self, target: &Target) -> Option<Arc<Lens>> {
        let dialect = target.endpoint.dialect?;
        let (upstream, model) = (&target.upstream.name, target.endpoint.model.as_deref().unwrap_or_default());
        let lenses = self.lenses.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(lens) = lenses.get(dialect, upstream, model) {
            return Some(Arc::clone(lens));
        }
        drop(lenses);
        let lens = Arc::new(Lens::new(&self.config, target, dialect));
        let mut lenses = self.lenses.write().unwrap_or_else(PoisonError::into_inner);
        lenses.put((dialect, upstream, model), Arc::clone(&lens));
        Some(lens)
    }
}

impl Lenses {
    fn get(&self, dialect: &str, upstream: &str, model: &str) -> Option<&Arc<Lens>> {
        self.by_endpoint.get(dialect)?.get(upstream)?.get(model)
    }

    fn put(&mut self, (dialect, upstream, model): (&'static str, &str, &str), lens: Arc<Lens>) {
        // The models of paths come from clients, so the number of combinations needs a bound.
        if self.count >= LENSES_MAX {
            *self = Self::default();
        }
        self.count += 1;
        let models = self.by_endpoint.entry(dialect).or_default().entry(upstream.to_owned()).or_default();
        models.insert(model.to_owned(), lens);
    }
}

impl Lens {
    fn new(config: &Config, target: &Target, dialect: &'static str) -> Self {
        let provider = target.upstream.provider.clone();
        let options = Options {
            dialect: Some(dialect.to_owned()),
            provider: provider.clone(),
            model: target.endpoint.model.clone(),
            policy: config.policy.clone(),
            ..Options::default()
        };
        // The overrides come first, so that they do not lift the bounds below.
        let policy = config.policy_for(provider.as_deref()).into_owned();
        let mut stream =
            StreamOptions { dialect: Some(dialect.to_owned()), provider, policy, ..StreamOptions::default() };
        let limits = &mut stream.policy.stream.limits;
        limits.message_bytes_max = limits.message_bytes_max.min(ASSEMBLED_BYTES_MAX);
        limits.frame_bytes_max = limits.frame_bytes_max.min(ASSEMBLED_BYTES_MAX);
        Self { dialect, options: Arc::new(options), stream }
    }
}
