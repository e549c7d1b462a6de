//! Real clients behind `seamline proxy`: healthy turns pass unchanged, damaged histories are accepted.

mod lane;

use anyhow::{Result, bail};

use super::client::{self, CODEX_WITH_HOOK, Client};
use super::damage::Damage;
use super::home::Home;
use super::library::{self, Library};
use super::npm;
use crate::workspace::Workspace;
use lane::{Lane, Ran, Row};

/// Agents that this group leaves out: OpenClaw takes half a minute for each turn.
const LEFT_OUT: [&str; 1] = ["openclaw"];

/// The kind of history that an agent sends with and without the proxy.
#[derive(Clone, Copy)]
enum Story {
    /// A first turn with a tool.
    Turn,
    /// A first turn whose second request this agent damages.
    DamagedTurn(&'static str),
    /// Going on with a healthy session.
    Resume,
    /// Going on with a damaged session.
    Damaged(Damage),
}

/// The stories of every agent.
const STORIES: [Story; 4] =
    [Story::Turn, Story::Resume, Story::Damaged(Damage::Missing), Story::Damaged(Damage::Orphan)];

impl Story {
    fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::DamagedTurn(name) => name,
            Self::Resume => "resume",
            Self::Damaged(damage) => damage.name(),
        }
    }
}

/// Runs every client, or those named, without and with the proxy, and prints a table.
pub(super) fn run(workspace: &Workspace, names: &[&str]) -> Result<()> {
    let is_named = |name: &str| names.is_empty() || names.contains(&name);
    let agents: Vec<&'static Client> =
        client::ALL.into_iter().filter(|agent| is_named(agent.name) && !LEFT_OUT.contains(&agent.name)).collect();
    let libraries: Vec<Library> = library::ALL.into_iter().filter(|library| is_named(library.name)).collect();
    if agents.is_empty() && libraries.is_empty() {
        let known = client::ALL.iter().map(|agent| agent.name).chain(library::ALL.iter().map(|library| library.name));
        let known: Vec<&str> = known.filter(|name| !LEFT_OUT.contains(name)).collect();
        bail!("no client has this name\nhint: the clients are {}", known.join(", "));
    }
    let lane = Lane::start(workspace)?;
    let mut rows = Rows::default();
    println!("{:<15}{:<12}{:<36}with the proxy", "client", "history", "without the proxy");
    for agent in agents {
        match npm::install(agent.name, agent.package) {
            Err(error) => println!("{:<15}not installable: {error}", agent.name),
            Ok(programs) => {
                for story in STORIES {
                    rows.add(agent.name, story.name(), tell(&lane, agent, &programs, story)?);
                }
                if agent.name == CODEX_WITH_HOOK.name {
                    let story = Story::DamagedTurn("hook");
                    rows.add("codex deepseek", story.name(), tell(&lane, &CODEX_WITH_HOOK, &programs, story)?);
                }
            }
        }
    }
    for library in libraries {
        match library.install(workspace) {
            Err(error) => println!("{:<15}not installable: {error}", library.name),
            Ok(installed) => {
                let stories = library.clean.iter().map(|name| (*name, true));
                for (case, is_clean) in stories.chain(library.damaged.iter().map(|name| (*name, false))) {
                    let run = || {
                        let status = installed.run(lane.url(), case)?;
                        Ok(Some(Ran { is_good: status.success(), last_line: installed.last_line() }))
                    };
                    rows.add(library.name, case, lane.compare(is_clean, run)?);
                }
            }
        }
    }
    rows.finish()
}

/// Runs one story of an agent without and with the proxy; nothing if its sessions cannot have the damage.
fn tell(lane: &Lane, agent: &'static Client, programs: &[std::path::PathBuf], story: Story) -> Result<Option<Row>> {
    match story {
        Story::Turn | Story::DamagedTurn(_) => lane.compare(matches!(story, Story::Turn), || {
            let home = Home::make(agent, lane.url(), programs)?;
            let status = home.turn("run the probe", None)?;
            Ok(Some(Ran { is_good: status.success(), last_line: home.last_line() }))
        }),
        Story::Resume | Story::Damaged(_) => {
            lane.bypass();
            let home = Home::make(agent, lane.url(), programs)?;
            home.turn("run the probe", None)?;
            home.save()?;
            lane.compare(false, || {
                let file = match story {
                    Story::Damaged(damage) => home.damage(damage)?,
                    _ => Some(home.restore()?),
                };
                let Some(file) = file else { return Ok(None) };
                let status = home.resume(&file)?;
                Ok(Some(Ran { is_good: status.success(), last_line: home.last_line() }))
            })
        }
    }
}

/// The rows of the table.
#[derive(Default)]
struct Rows {
    healthy: usize,
    rejected: usize,
    rescued: usize,
    wrong: usize,
}

impl Rows {
    fn add(&mut self, client: &str, story: &str, row: Option<Row>) {
        let Some(row) = row else {
            println!("{client:<15}{story:<12}not possible in this format");
            return;
        };
        let is_right = row.is_right();
        let mark = if is_right { "" } else { "   WRONG" };
        println!("{client:<15}{story:<12}{:<36}{}{mark}", row.without.to_string(), row.with);
        self.healthy += usize::from(row.is_clean && is_right);
        self.rejected += usize::from(!row.without.is_good());
        self.rescued += usize::from(!row.without.is_good() && row.with.is_good());
        self.wrong += usize::from(!is_right);
    }

    fn finish(&self) -> Result<()> {
        println!(
            "\n{} healthy histories passed unchanged; {} of {} that failed without the proxy succeeded with it",
            self.healthy, self.rescued, self.rejected
        );
        if self.wrong > 0 {
            bail!("{} histories did not pass the proxy as they should", self.wrong);
        }
        Ok(())
    }
}
