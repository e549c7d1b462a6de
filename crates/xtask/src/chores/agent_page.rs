//! `docs/agents.md`: the agents whose files Seamline knows, and where they keep their sessions.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::codegen::{NOTICE, cell};

pub(super) const PATH: &str = "docs/agents.md";

/// The output of `seamline doctor --list --format json`.
#[derive(Deserialize)]
struct Listing {
    agents: Vec<Agent>,
}

#[derive(Deserialize)]
struct Agent {
    name: String,
    what: String,
    reads: bool,
    writes: bool,
    places: Vec<SessionFolder>,
}

#[derive(Deserialize)]
struct SessionFolder {
    path: String,
    variable: Option<String>,
    replaces: Option<String>,
}

pub(super) fn page(printed: &str) -> Result<String> {
    let listing: Listing =
        serde_json::from_str(printed).context("`seamline doctor --list --format json` prints another shape")?;
    if listing.agents.is_empty() {
        bail!("`seamline doctor --list` lists no agent");
    }
    let mut page = format!(
        "{NOTICE}\n\n# Agents\n\nWhat Seamline does with the [session files](session-files.md) of each program, and where \
         `seamline doctor` looks for them. A path is used if it exists, on every system. `recognised` means that Seamline \
         names the program and leaves its file alone.\n\n| Program | The file is | It is | Places |\n|---|---|---|---|\n"
    );
    for agent in &listing.agents {
        let does = match (agent.reads, agent.writes) {
            (true, true) => "read and repaired",
            (true, false) => "read",
            (false, _) => "recognised",
        };
        let places: Vec<_> = agent.places.iter().map(place).collect();
        let _ = writeln!(page, "| {} | {} | {does} | {} |", cell(&agent.name), cell(&agent.what), places.join("<br>"));
    }
    Ok(page)
}

fn place(place: &SessionFolder) -> String {
    let variable = place.variable.as_ref().zip(place.replaces.as_ref());
    let variable = variable.map(|(variable, replaced)| format!(" (`{variable}` replaces `{replaced}`)"));
    format!("`{}`{}", place.path, variable.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_becomes_a_row() {
        let printed = r#"{"version":1,"agents":[{"name":"A","what":"w","reads":true,"writes":false,
            "places":[{"path":"~/.a/s","variable":"A_HOME","replaces":"~/.a","endings":[]},{"path":"~/b","variable":null,"replaces":null}]}]}"#;
        let page = page(printed).unwrap();
        assert!(page.ends_with("| A | w | read | `~/.a/s` (`A_HOME` replaces `~/.a`)<br>`~/b` |\n"), "{page}");
    }
}
