//! A proxy in front of a fake provider.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use seamline_proxy::config::Config;
use seamline_proxy::incident::{IncidentOutcome, ProxyIncident};
use seamline_proxy::report::{Finished, Gauges, Page, Reporter, Summary};
use seamline_proxy::sign::Signer;
use seamline_proxy::telemetry::Telemetry;
use seamline_proxy::upstreams::Upstream;
use seamline_proxy::{Control, Proxy};
use seamline_testkit::Dialect;
use seamline_testkit::provider::FakeProvider;
use tokio::sync::oneshot;

use super::client::Client;

/// A running proxy, its provider and its reports.
pub(crate) struct Stage {
    pub(crate) provider: FakeProvider,
    pub(crate) address: SocketAddr,
    pub(crate) reports: Arc<Reports>,
    pub(crate) control: Control,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Keeps what a proxy reports.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// Hears of everything, too.
    telemetry: Option<Telemetry>,
    incidents: Mutex<Vec<ProxyIncident>>,
    summaries: Mutex<Vec<Summary>>,
}

impl Reporter for Reports {
    fn record_incident(&self, incident: ProxyIncident) -> Option<String> {
        let mut incidents = self.incidents.lock().unwrap();
        incidents.push(incident.clone());
        let own = Some(format!("i-{}", incidents.len()));
        self.telemetry.as_ref().map_or(own, |telemetry| telemetry.record_incident(incident))
    }

    fn record_exchange(&self, summary: &Summary) {
        self.summaries.lock().unwrap().push(summary.clone());
        self.telemetry.iter().for_each(|telemetry| telemetry.record_exchange(summary));
    }

    fn keep_rejected(&self, incident: Option<&str>, body: &Bytes) {
        self.telemetry.iter().for_each(|telemetry| telemetry.keep_rejected(incident, body));
    }

    fn wants_finished(&self) -> bool {
        self.telemetry.as_ref().is_some_and(Reporter::wants_finished)
    }

    fn finish(&self, finished: &Finished) {
        self.telemetry.iter().for_each(|telemetry| telemetry.finish(finished));
    }

    fn page(&self, name: &str, gauges: &Gauges) -> Option<Page> {
        if let Some(telemetry) = &self.telemetry {
            return telemetry.page(name, gauges);
        }
        (name == "gauges").then(|| Page { status: 200, content_type: "text/plain", body: format!("{gauges:?}") })
    }
}

impl Reports {
    /// Ends the telemetry, after it has written everything.
    pub(crate) fn close(&self) {
        self.telemetry.iter().for_each(|telemetry| telemetry.close(Duration::from_secs(20)));
    }

    /// The outcomes of the incidents so far.
    pub(crate) fn outcomes(&self) -> Vec<IncidentOutcome> {
        self.incidents.lock().unwrap().iter().map(|incident| incident.outcome).collect()
    }

    pub(crate) fn incidents(&self) -> Vec<ProxyIncident> {
        self.incidents.lock().unwrap().clone()
    }

    pub(crate) fn summaries(&self) -> Vec<Summary> {
        self.summaries.lock().unwrap().clone()
    }

    /// Waits until an incident has this outcome.
    pub(crate) fn wait_for(&self, outcome: IncidentOutcome) {
        wait_until(|| self.outcomes().contains(&outcome));
    }
}

impl Stage {
    /// Starts a provider and a proxy with the default configuration.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// Starts a provider and a proxy with another configuration.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        Self::signing(Signer::without_credentials(), change)
    }

    /// Starts a provider and a proxy that signs requests to AWS.
    pub(crate) fn signing(signer: Signer, change: impl FnOnce(&mut Config)) -> Self {
        Self::reporting(None, signer, change)
    }

    /// Starts a provider and a proxy with telemetry.
    pub(crate) fn with_telemetry(telemetry: Telemetry, change: impl FnOnce(&mut Config)) -> Self {
        Self::reporting(Some(telemetry), Signer::without_credentials(), change)
    }

    /// Starts a provider and a proxy with a configuration that names the provider.
    pub(crate) fn with_provider(change: impl FnOnce(&mut Config, &FakeProvider)) -> Self {
        Self::built(None, Signer::without_credentials(), change)
    }

    fn reporting(telemetry: Option<Telemetry>, signer: Signer, change: impl FnOnce(&mut Config)) -> Self {
        Self::built(telemetry, signer, |config, _| change(config))
    }

    fn built(telemetry: Option<Telemetry>, signer: Signer, change: impl FnOnce(&mut Config, &FakeProvider)) -> Self {
        let provider = FakeProvider::start(0, "echo probe").unwrap();
        let mut config = Config { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), ..Config::default() };
        config.upstreams = upstreams(&provider);
        change(&mut config, &provider);
        let reports = Arc::new(Reports { telemetry, ..Reports::default() });
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, started) = std::sync::mpsc::channel();
        let reporter = Arc::clone(&reports);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let proxy = Proxy::bind_with(config, reporter, signer).await.unwrap();
                ready.send((proxy.address(), proxy.control())).unwrap();
                let stop = async {
                    let _ = stopped.await;
                };
                proxy.run(stop).await;
            });
        });
        let (address, control) = started.recv().unwrap();
        Self { provider, address, reports, control, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Tells the proxy to stop, and does not wait for it.
    pub(crate) fn begin_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Stops the proxy and waits until all its connections have ended.
    pub(crate) fn stop(&mut self) {
        self.begin_stop();
        self.thread.take().into_iter().for_each(|thread| thread.join().unwrap());
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.begin_stop();
    }
}

/// The upstreams of a test: the names of the vendors, all at the fake provider, behind a path.
pub(crate) fn upstreams(provider: &FakeProvider) -> Vec<Upstream> {
    let url = format!("{}/base", provider.url());
    let vendors = Dialect::ALL.into_iter().filter_map(|dialect| dialect.path().split('/').nth(1));
    let names: BTreeSet<&str> = vendors.chain(["deepseek"]).collect();
    names.into_iter().map(|name| Upstream::new(name, &url, None).unwrap()).collect()
}

/// The path of a dialect through the proxy.
pub(crate) fn path(dialect: Dialect) -> &'static str {
    dialect.path()
}

/// The path of a dialect for streams.
pub(crate) fn stream_path(dialect: Dialect) -> &'static str {
    dialect.stream_path()
}

/// Waits until something is so, and fails after a while.
pub(crate) fn wait_until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "waited too long");
        std::thread::yield_now();
    }
}
