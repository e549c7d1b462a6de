//! The agents that `seamline doctor` knows.

use seamline::files::{ALL, Program, SessionFolder};
use serde::Serialize;

use crate::args::ListFormat;
use crate::render::{json, style};
use crate::screen;

/// An agent or another program with files of its own.
#[derive(Serialize)]
struct Agent {
    name: &'static str,
    what: &'static str,
    reads: bool,
    writes: bool,
    places: Vec<ListedPlace>,
}

/// A folder in which an agent keeps its sessions.
#[derive(Serialize)]
struct ListedPlace {
    /// The path, with `~` for the home folder.
    path: String,
    /// The variable that names the first folders of the path, and the folders that it replaces.
    variable: Option<&'static str>,
    replaces: Option<String>,
    endings: &'static [&'static str],
}

impl Agent {
    fn of(program: &Program) -> Self {
        Self {
            name: program.name,
            what: program.what,
            reads: program.is_read(),
            writes: program.is_written(),
            places: program.places.iter().map(ListedPlace::of).collect(),
        }
    }

    /// Adds what Seamline does with another kind of its files.
    fn join(&mut self, other: Self) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        for place in other.places {
            if self.places.iter().all(|known| known.path != place.path) {
                self.places.push(place);
            }
        }
    }

    fn does(&self) -> &'static str {
        match (self.reads, self.writes) {
            (true, true) => "files are read and repaired",
            (true, false) => "files are read",
            (false, _) => "files are recognised",
        }
    }
}

impl ListedPlace {
    fn of(place: &SessionFolder) -> Self {
        Self {
            path: tilde(&[place.home, place.path]),
            variable: place.variable,
            replaces: place.variable.map(|_| tilde(&[place.home])),
            endings: place.endings,
        }
    }

    fn text(&self) -> String {
        match (self.variable, &self.replaces) {
            (Some(variable), Some(replaced)) => format!("{} ({variable} replaces {replaced})", self.path),
            _ => self.path.clone(),
        }
    }
}

/// A path below the home folder.
fn tilde(parts: &[&str]) -> String {
    let parts = parts.iter().filter(|part| !part.is_empty());
    std::iter::once(&"~").chain(parts).copied().collect::<Vec<_>>().join("/")
}

/// The names that `--agent` takes, one word each: `claude-code`, `cline`, `roo-code`.
pub(super) fn short_names() -> Vec<String> {
    let programs = ALL.iter().filter(|program| !program.places.is_empty());
    let each = programs.flat_map(|program| program.name.split(", ").flat_map(|part| part.split(" or ")));
    let mut names: Vec<_> = each.map(|name| name.to_lowercase().replace(' ', "-")).collect();
    names.sort();
    names.dedup();
    names
}

/// Lists the agents that are wanted: those that Seamline reads first.
pub(super) fn list(format: ListFormat, is_wanted: impl Fn(&Program) -> bool) -> String {
    let mut agents: Vec<Agent> = Vec::new();
    for agent in ALL.iter().filter(|program| is_wanted(program)).map(|program| Agent::of(program)) {
        // A program with several kinds of files is one agent.
        match agents.iter_mut().find(|known| known.name == agent.name) {
            Some(known) => known.join(agent),
            None => agents.push(agent),
        }
    }
    agents.sort_by_key(|agent| (!agent.writes, !agent.reads, agent.name.to_lowercase()));
    match format {
        ListFormat::Json => json::listing("agents", &agents),
        ListFormat::Text => {
            let one = |agent: &Agent| {
                let heading = format!("{}: {}\n", style::STRONG.paint(agent.name), agent.does());
                let place =
                    |place: &ListedPlace| screen::sentence(&format!("  {}", place.text()), screen::width()) + "\n";
                heading + &agent.places.iter().map(place).collect::<String>()
            };
            agents.iter().map(one).collect()
        }
    }
}
