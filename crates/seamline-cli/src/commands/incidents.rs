//! `seamline incidents`

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use futures_executor::block_on;
use seamline::store::{Error, Store};
use seamline_proxy::journal::{IncidentReader, NotedIncident, Sessions};

use crate::args::ListFormat;
use crate::commands::session::context::{of_store, with_key};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::state;
use crate::output::{self, Output};
use crate::render::incidents as render;
use crate::{screen, time};

/// The variable that names the store of a proxy.
const VARIABLE: &str = "SEAMLINE_PROXY_STORE";
/// The time between two looks at the store.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest time between two looks at the interruption of the user.
const NAP: Duration = Duration::from_millis(50);

/// Show what the proxy found and did
///
/// An incident says what happened to one request: the rules that it broke, the repairs, the outcome, sizes and hashes. It never
/// contains the text of a conversation, a key or a header. The response header `x-seamline-incident` has its id.
///
/// The store is the URL of `--store`, else of `$SEAMLINE_PROXY_STORE`, else `$XDG_STATE_HOME/seamline/incidents.db` or
/// `~/.local/state/seamline/incidents.db`.
///
/// As JSON: `version` and `incidents`, each with `session`, `type`, `severity`, `at` in milliseconds since 1970, `detail`,
/// and for those of a proxy `exchange`: `id`, `outcome`, `upstream`, `findings` and `actions` by code, and if known `provider`,
/// `dialect`, `conversation`, `before`, `after`, `status` and `cause`. With `--follow` it is one object per line.
///
/// Exit status: 0 the incidents were shown, 2 there is no such incident or the store cannot be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Incidents {
    #[command(subcommand)]
    command: Option<Action>,
    /// The URL of the store: `sqlite:FILE` or `postgres://…`
    #[arg(long, value_name = "URL", global = true)]
    store: Option<String>,
    /// Only incidents since a time: `2026-11-15`, `2026-11-15T06:20:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = since, global = true)]
    since: Option<u64>,
    /// At most this many incidents, the newest ones
    #[arg(long, value_name = "COUNT", default_value_t = 50, global = true)]
    limit: usize,
    /// Go on and show new incidents as they come
    #[arg(long, short, global = true)]
    follow: bool,
    /// Also show the incidents of all sessions in the store
    #[arg(long, global = true)]
    sessions: bool,
    /// The format of the list
    #[arg(long, value_enum, default_value_t = ListFormat::Text, global = true)]
    format: ListFormat,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List incidents, the newest last; this is the default
    List,
    /// Show everything about one incident
    Show {
        /// The id of the incident, or `last`
        id: String,
    },
}

const EXAMPLES: &str = "\
Examples:
  seamline incidents                         # the newest incidents
  seamline incidents show last               # everything about the newest one
  seamline incidents --since 2h --format json
  seamline incidents --follow                # as they come";

fn since(text: &str) -> Result<u64, String> {
    let wrong = || "a time is written `2026-11-15`, `2026-11-15T06:20:00Z`, `30m`, `2h` or `7d`".to_owned();
    time::parse(text, time::now()).ok_or_else(wrong)
}

/// The store of incidents without a setting.
pub(crate) fn default_store() -> Option<String> {
    Some(format!("sqlite:{}", state::folder()?.join("incidents.db").display()))
}

impl Incidents {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let named = || self.store.clone().or_else(|| std::env::var(VARIABLE).ok().filter(|value| !value.is_empty()));
        let address = named().or_else(default_store).ok_or_else(|| {
            Failure::new("no folder for incidents: neither XDG_STATE_HOME nor HOME is set")
                .with_hint("`--store sqlite:FILE` names a store")
        })?;
        if address == seamline_proxy::settings::NO_STORE {
            return Err(Failure::new(format!("{VARIABLE} turns the store of incidents off")));
        }
        if is_missing(&address)
            && named().is_none()
            && !self.follow
            && !matches!(self.command, Some(Action::Show { .. }))
        {
            return Ok(self.list(&[]));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let sessions = if self.sessions { Sessions::All } else { Sessions::OfProxies };
        match &self.command {
            Some(Action::Show { id }) => self.show(&mut IncidentReader::new(open(&address)?, sessions), id),
            Some(Action::List) | None if self.follow => {
                watch_signals(&stop)?;
                self.follow(&address, sessions, &stop)
            }
            Some(Action::List) | None => {
                let incidents = read(&mut IncidentReader::new(open(&address)?, sessions))?;
                Ok(self.list(&self.wanted(incidents)))
            }
        }
    }

    /// The newest incidents of those since the time.
    fn wanted(&self, mut incidents: Vec<NotedIncident>) -> Vec<NotedIncident> {
        incidents.retain(|noted| self.since.is_none_or(|since| noted.incident.at >= since));
        let surplus = incidents.len().saturating_sub(self.limit);
        incidents.split_off(surplus)
    }

    fn list(&self, incidents: &[NotedIncident]) -> Exit {
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&render::json(incidents)),
            ListFormat::Text if incidents.is_empty() => output.text("no incidents\n"),
            ListFormat::Text => output.text(&render::list(incidents, screen::width())),
        }
        output.finish(Exit::Clean)
    }

    fn show(&self, reader: &mut IncidentReader, id: &str) -> Result<Exit, Failure> {
        let found = match id {
            "last" => read(reader)?.pop(),
            id => block_on(reader.find(id)).map_err(|error| of_store(&error))?,
        };
        let found = found.ok_or_else(|| {
            Failure::new(format!("there is no incident `{}`", screen::printable(id)))
                .with_hint("`seamline incidents` lists them; old ones are removed")
        })?;
        let mut output = Output::new();
        match self.format {
            ListFormat::Json => output.text(&render::json_line(&found)),
            ListFormat::Text => output.text(&render::details(&found, screen::width())),
        }
        Ok(output.finish(Exit::Clean))
    }

    /// Shows incidents until the user interrupts it. The store may not exist yet, and it may come and go.
    fn follow(&self, address: &str, sessions: Sessions, stop: &AtomicBool) -> Result<Exit, Failure> {
        let mut output = Output::new();
        let mut reader = None;
        let mut is_first = true;
        while !stop.load(Ordering::Relaxed) && !output.is_gone() {
            if reader.is_none() && !is_missing(address) {
                reader = Some(IncidentReader::new(open(address)?, sessions));
            }
            let mut incidents = match reader.as_mut().map(read).transpose() {
                Ok(incidents) => incidents.unwrap_or_default(),
                Err(failure) if is_first => return Err(failure),
                Err(_) => Vec::new(),
            };
            if std::mem::take(&mut is_first) {
                incidents = self.wanted(incidents);
                if incidents.is_empty() {
                    output::say("waiting for incidents; Ctrl-C ends it\n");
                }
            }
            for noted in &incidents {
                match self.format {
                    ListFormat::Json => output.text(&render::json_line(noted)),
                    ListFormat::Text => output.text(&render::list(std::slice::from_ref(noted), screen::width())),
                }
            }
            output.flush();
            wait(stop);
        }
        Ok(output.finish(Exit::Clean))
    }
}

fn read(reader: &mut IncidentReader) -> Result<Vec<NotedIncident>, Failure> {
    block_on(reader.read_new()).map_err(|error| of_store(&error))
}

fn open(address: &str) -> Result<Arc<dyn Store>, Failure> {
    let opened = block_on(seamline::store::open_store_to_read(address)).and_then(with_key);
    opened.map_err(|error: Error| {
        let failure = of_store(&error);
        let scheme = address.split(':').next().unwrap_or_default();
        Failure { message: format!("cannot read the `{scheme}` store of incidents: {}", failure.message), ..failure }
    })
}

/// Whether the store is a file that does not exist, or one that a proxy has only begun to write.
fn is_missing(address: &str) -> bool {
    let path = address.strip_prefix("sqlite:").map(|path| path.strip_prefix("//").unwrap_or(path));
    path.is_some_and(|path| match Path::new(path).metadata() {
        Ok(file) => file.is_file() && file.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

fn watch_signals(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered = signal_hook::flag::register(signal, Arc::clone(stop));
        registered.map_err(|error| Failure::io("wait for Ctrl-C", &error))?;
    }
    Ok(())
}

fn wait(stop: &AtomicBool) {
    let end = Instant::now() + PAUSE;
    while !stop.load(Ordering::Relaxed) && Instant::now() < end {
        std::thread::sleep(NAP);
    }
}
