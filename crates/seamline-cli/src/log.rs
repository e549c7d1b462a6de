//! Logs on standard error, and the span of a file.

use clap::ValueEnum;
use tracing::info_span;
use tracing::level_filters::LevelFilter;
use tracing::span::EnteredSpan;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Logs the events of our own crates up to a level. Other crates might log the text of a conversation.
pub(crate) fn start(level: Level) {
    let filter = match level {
        Level::Off => return,
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
        Level::Trace => LevelFilter::TRACE,
    };
    let ours = Targets::new().with_target("seamline", filter);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    // It fails only if logs were started before.
    let _ = tracing_subscriber::registry().with(ours).with(lines).try_init();
}

/// Opens the span of a file. It ends when the caller drops it.
pub(crate) fn enter_file(label: &str) -> EnteredSpan {
    info_span!("file", path = label).entered()
}
