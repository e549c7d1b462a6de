//! Runs a proxy until it is stopped or its program ends.

use std::sync::Arc;
use std::time::Duration;

use seamline_proxy::config::Config;
use seamline_proxy::settings::ProxySettings;
use seamline_proxy::telemetry::Telemetry;
use seamline_proxy::{Control, Proxy};
use tokio::sync::oneshot;

use super::{Setup, program, reports};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Output};

/// The time that the store has to take the last incidents.
const STORE_PATIENCE: Duration = Duration::from_secs(5);
/// The time that open requests have when the program behind the proxy has ended.
const PROGRAM_DRAIN: Duration = Duration::from_secs(1);

/// Starts the proxy, and the program if there is one.
pub(super) fn run(setup: &Setup) -> Result<Exit, Failure> {
    let settings = setup.read()?;
    let config = with_environment(settings.config()?);
    let telemetry = Arc::new(reports::telemetry(&settings, setup)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
    let done = runtime.block_on(serve(setup, config, settings, &telemetry));
    // Connections that outlast the drain time end here.
    runtime.shutdown_timeout(Duration::ZERO);
    telemetry.close(STORE_PATIENCE);
    done
}

/// The variables with the region of AWS, in the order of its tools.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// Takes the proxy of the network and the region of AWS from the environment.
fn with_environment(config: Config) -> Config {
    let aws_region = REGIONS.iter().find_map(|name| std::env::var(name).ok().filter(|region| !region.is_empty()));
    Config { network: super::network(), aws_region, ..config }
}

async fn serve(
    setup: &Setup,
    config: Config,
    settings: ProxySettings,
    telemetry: &Arc<Telemetry>,
) -> Result<Exit, Failure> {
    let reporter: Arc<Telemetry> = Arc::clone(telemetry);
    let proxy = Proxy::bind(config, reporter).await?;
    let url = format!("http://{}", proxy.address());
    let control = proxy.control();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(proxy.run(async {
        // A dropped sender means the same as a message.
        let _ = stopped.await;
    }));
    if let Some(launch) = &setup.launch {
        let done = program::run(launch, &setup.around, &url).await;
        drop(stop);
        // The program has what it wanted, so a request that is left need not be waited for.
        let _ = tokio::time::timeout(PROGRAM_DRAIN, running).await;
        return done;
    }
    // A program that reads the address may send a signal at once.
    let mut signals = Signals::take()?;
    announce(&url);
    signals.wait_for_stop(|| reload(setup, &control, &settings)).await;
    drop(stop);
    tokio::select! {
        _ = running => {}
        // A second signal ends it at once.
        () = signals.wait_for_stop(|| {}) => {}
    }
    Ok(Exit::Clean)
}

/// Prints the line that programs wait for, and a hint for people.
fn announce(url: &str) {
    let mut output = Output::new();
    output.text(&format!("listening on {url}\n"));
    output.finish(Exit::Clean);
    if reports::is_terminal() {
        output::say(&format!(
            "point a client to it with one of these variables (docs/proxy.md has more); Ctrl-C stops the proxy\n  \
             ANTHROPIC_BASE_URL={url}/anthropic\n  OPENAI_BASE_URL={url}/openai/v1\n  \
             GOOGLE_GEMINI_BASE_URL={url}/gemini\n"
        ));
    }
}

/// Reads the settings again. Settings that are not usable leave the old ones in use.
fn reload(setup: &Setup, control: &Control, started_with: &ProxySettings) {
    let reloaded = setup.read().and_then(|settings| {
        control.reload(with_environment(settings.config()?))?;
        Ok(settings.needs_start(started_with))
    });
    match reloaded {
        Ok(false) => output::say("seamline: the settings were read again\n"),
        Ok(true) => output::say(
            "seamline: the settings were read again; the address, the store and kept bodies change with the next start\n",
        ),
        Err(error) => {
            output::say("seamline: the settings were not changed\n");
            output::complain(&error.into());
        }
    }
}

/// The signals that a proxy hears.
#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn take() -> Result<Self, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        let taken = |kind| signal(kind).map_err(|error| Failure::io("wait for signals", &error));
        Ok(Self {
            interrupt: taken(SignalKind::interrupt())?,
            terminate: taken(SignalKind::terminate())?,
            hang_up: taken(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal that stops the proxy. SIGHUP reloads the settings.
    async fn wait_for_stop(&mut self, reload: impl Fn()) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hang_up.recv() => reload(),
            }
        }
    }
}

/// Other systems have Ctrl-C only.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    #[expect(clippy::unnecessary_wraps, reason = "on Unix it can fail")]
    fn take() -> Result<Self, Failure> {
        Ok(Self)
    }

    async fn wait_for_stop(&mut self, _reload: impl Fn()) {
        // Without a console there is nothing to wait for but the end of the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
