//! Where the reports of a proxy go: the store, the folder of kept bodies, and lines on standard error.

use std::io::IsTerminal as _;

use seamline_proxy::journal::{IncidentJournal, JournalNotice};
use seamline_proxy::keep::RejectedBodies;
use seamline_proxy::settings::ProxySettings;
use seamline_proxy::telemetry::Telemetry;

use super::{Setup, Traffic};
use crate::commands::incidents::default_store;
use crate::failure::Failure;
use crate::files::state;
use crate::output;
use crate::render::proxy::{line, notice};

/// The receivers of the reports, as the settings ask for them.
pub(super) fn telemetry(settings: &ProxySettings, setup: &Setup) -> Result<Telemetry, Failure> {
    let mut telemetry = Telemetry::new();
    if let Some(journal) = settings.journal(default_store()) {
        let started = IncidentJournal::start(journal, say_notice).map_err(|error| Failure::io("start", &error))?;
        telemetry = telemetry.with_journal(started);
    }
    let folder = state::folder().map(|folder| folder.join("rejected"));
    if let Some(rejected) = settings.rejected(folder) {
        let about = rejected.folder.display().to_string();
        let complain = move |error: &std::io::Error| {
            output::complain_about(&about, &Failure::io("keep a rejected body", error));
        };
        let started = RejectedBodies::start(rejected, complain);
        telemetry = telemetry
            .with_rejected(started.map_err(|error| Failure::io("create the folder of rejected bodies", &error))?);
    }
    #[cfg(feature = "otel")]
    let telemetry = with_spans(telemetry)?;
    let has_lines = match setup.traffic {
        Traffic::Always => true,
        Traffic::Never => false,
        // Lines would disturb the screen of a program.
        Traffic::Auto => is_terminal() && setup.launch.is_none(),
    };
    if !has_lines {
        return Ok(telemetry);
    }
    Ok(telemetry.with_exchanges(Box::new(|summary| output::say(&line(summary, crate::time::now())))))
}

/// The variables that name a collector of OpenTelemetry.
#[cfg(feature = "otel")]
const COLLECTORS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Sends spans to the collector that the environment names, if there is one.
#[cfg(feature = "otel")]
fn with_spans(telemetry: Telemetry) -> Result<Telemetry, Failure> {
    if COLLECTORS.iter().all(|name| std::env::var_os(name).is_none_or(|url| url.is_empty())) {
        return Ok(telemetry);
    }
    let spans = seamline_proxy::spans::Spans::start(None, &super::network())?;
    Ok(telemetry.with_finished(Box::new(move |finished| spans.record(finished))))
}

/// Says that the store failed, or works again. The proxy goes on without it.
#[expect(clippy::needless_pass_by_value, reason = "the journal passes notices on by value")]
fn say_notice(change: JournalNotice) {
    output::say(&notice(&change));
}

/// Whether standard error is a terminal.
pub(super) fn is_terminal() -> bool {
    std::io::stderr().is_terminal()
}
