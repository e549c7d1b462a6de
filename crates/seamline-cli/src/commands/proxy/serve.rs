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
    let config = settings.config()?;
    let telemetry = Arc::new(reports::telemetry(&settings, setup)?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
    let done = runtime.block_on(serve(setup, config, settings, &telemetry));
    // Connections that outlast the drain time end here.
    runtime.shutdown_timeout(Duration::ZERO);
    telemetry.close(STORE_PATIENCE);
    done
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
    announce(&url);
    wait_for_stop(|| reload(setup, &control, &settings)).await?;
    drop(stop);
    tokio::select! {
        _ = running => {}
        // A second signal ends it at once.
        _ = wait_for_stop(|| {}) => {}
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
            "point a client to it: ANTHROPIC_BASE_URL={url}/anthropic, OPENAI_BASE_URL={url}/openai/v1,\n\
             GOOGLE_GEMINI_BASE_URL={url}/gemini; metrics: {url}/-/metrics; Ctrl-C stops it\n"
        ));
    }
}

/// Reads the settings again. Settings that are not usable leave the old ones in use.
fn reload(setup: &Setup, control: &Control, started_with: &ProxySettings) {
    let reloaded = setup.read().and_then(|settings| {
        control.reload(settings.config()?)?;
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

/// Waits for a signal that stops the proxy. SIGHUP reloads the settings.
#[cfg(unix)]
async fn wait_for_stop(reload: impl Fn()) -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| Failure::io("wait for signals", &error);
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(failed)?;
    loop {
        tokio::select! {
            _ = interrupt.recv() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
            _ = hang_up.recv() => reload(),
        }
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
async fn wait_for_stop(_reload: impl Fn()) -> Result<(), Failure> {
    tokio::signal::ctrl_c().await.map_err(|error| Failure::io("wait for signals", &error))
}
