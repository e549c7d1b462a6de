//! Runs a program behind a proxy of its own: finds out how the program learns the URL of its API, and points it to the
//! proxy.
//!
//! A URL that the user set before, such as that of a gateway, becomes an upstream of the proxy. So the program reaches the
//! same server as without the proxy.

mod claude;
mod codex;
mod google;
mod json;
mod opencode;
mod pi;
mod programs;
mod surroundings;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use tempfile::TempPath;

use crate::Error;
use crate::network::exceptions;
use crate::upstreams::{BUILT_IN, Upstream, built_in};

pub use programs::PROGRAMS;
pub use surroundings::Surroundings;

/// A program that runs behind a proxy.
#[derive(Debug)]
pub struct Launch {
    /// The program and its arguments.
    words: Vec<OsString>,
    /// The word that names the program; `npx` and its like come before it.
    named: usize,
    redirects: Vec<Redirect>,
    /// The variables of the caller, in which `{url}` is the URL of the proxy.
    variables: Vec<(String, String)>,
    notes: Vec<String>,
}

/// An upstream that the user configured for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchUpstream {
    /// The name of the upstream.
    pub name: String,
    /// The URL that the program would use.
    pub url: String,
    /// The provider behind the URL, if it is known.
    pub provider: Option<&'static str>,
}

/// The words, variables and files with which the program starts.
#[derive(Debug)]
pub struct Prepared {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// The variables to set.
    pub variables: Vec<(String, String)>,
    /// The file that the program reads, until this value is dropped.
    _file: Option<TempPath>,
}

/// One URL that the program uses, and how it learns another one.
#[derive(Debug)]
struct Redirect {
    channel: Channel,
    /// The name of the upstream and the path behind it.
    target: String,
    /// The upstream that the user configured.
    upstream: Option<LaunchUpstream>,
}

/// How a program learns a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Channel {
    /// By a variable of the environment.
    Variable(&'static str),
    /// By arguments before its own ones; `{url}` is the URL.
    Arguments(Vec<String>),
    /// By a variable that holds the configuration of providers; this one is called so.
    Opencode(String),
    /// By an extension that sets the URLs of providers; this one is called so.
    Pi(String),
}

impl Launch {
    /// Finds out how a program learns the URL of its API. `variables` are `NAME=VALUE`, where `{url}` in the value is the
    /// URL of the proxy.
    ///
    /// # Errors
    /// [`Error::Config`] where there is no program or a variable is not written as `NAME=VALUE`.
    pub fn new(words: Vec<OsString>, variables: &[String], around: &Surroundings) -> Result<Self, Error> {
        if words.is_empty() {
            return Err(Error::Config("no program is named behind `--`".to_owned()));
        }
        let named = position(&words);
        let name = stem(&words[named]);
        let mut launch = Self { named, redirects: Vec::new(), variables: parse(variables)?, notes: Vec::new(), words };
        programs::fill(&mut launch, &name, around);
        if launch.redirects.is_empty() && launch.notes.is_empty() && launch.variables.is_empty() {
            launch.notes.push(format!(
                "the proxy knows no URL that `{name}` uses, so its requests are not checked (`--env NAME={{url}}/…` sets one)"
            ));
        }
        Ok(launch)
    }

    /// The upstreams that the user configured for the program.
    pub fn upstreams(&self) -> impl Iterator<Item = &LaunchUpstream> {
        self.redirects.iter().filter_map(|redirect| redirect.upstream.as_ref())
    }

    /// Sentences for the user about traffic that does not go through the proxy.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The words, variables and files for a proxy at this URL.
    ///
    /// # Errors
    /// Fails when a file cannot be written.
    pub fn prepare(&self, url: &str, around: &Surroundings) -> std::io::Result<Prepared> {
        let (mut words, mut variables) = (self.words.clone(), Vec::new());
        let (mut of_opencode, mut of_pi, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
        for redirect in &self.redirects {
            let at = format!("{url}/{}", redirect.target);
            match &redirect.channel {
                Channel::Variable(name) => variables.push(((*name).to_owned(), at)),
                Channel::Arguments(words) => {
                    arguments.extend(words.iter().map(|word| OsString::from(word.replace("{url}", &at))));
                }
                Channel::Opencode(provider) => of_opencode.push((provider.as_str(), at)),
                Channel::Pi(provider) => of_pi.push((provider.as_str(), at)),
            }
        }
        if !of_opencode.is_empty() {
            variables.push((opencode::VARIABLE.to_owned(), opencode::content(&of_opencode, around)));
        }
        let mut file = None;
        if !of_pi.is_empty() {
            let path = pi::write_extension(&of_pi)?;
            arguments.extend([OsString::from("--extension"), path.as_os_str().to_owned()]);
            file = Some(path);
        }
        variables.extend(without_proxy(around));
        variables.extend(self.variables.iter().map(|(name, value)| (name.clone(), value.replace("{url}", url))));
        words.splice(self.named + 1..=self.named, arguments);
        Ok(Prepared { words, variables, _file: file })
    }

    /// Points a URL to the proxy. `current` is the URL that the user configured; without one, the program uses the
    /// built-in upstream `name` with `path` behind it.
    fn redirect(&mut self, channel: Channel, (name, path): (&str, &str), current: Option<&str>) {
        let upstream = match current.map(str::trim).filter(|url| !url.is_empty()) {
            None => None,
            Some(url) => match gateway(&self.free_name(name), url) {
                Ok(upstream) => Some(upstream),
                // The program keeps a URL that the proxy cannot use.
                Err(error) => return self.notes.push(format!("its requests are not checked: {error}")),
            },
        };
        let target = match &upstream {
            Some(upstream) => upstream.name.clone(),
            None if built_in(name).is_some() => format!("{name}{path}"),
            // A program of the user's own needs a URL.
            None => return,
        };
        self.redirects.push(Redirect { channel, target, upstream });
    }

    /// A name for the gateway in front of an upstream that no other one has.
    fn free_name(&self, name: &str) -> String {
        let is_taken = |name: &str| self.upstreams().any(|upstream| upstream.name == name);
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let numbered = |number: usize| match number {
            1 => format!("{plain}-gateway"),
            _ => format!("{plain}-gateway-{number}"),
        };
        // Each redirect takes at most one name.
        let numbers = 1..=self.redirects.len() + 1;
        numbers.map(numbered).find(|name| !is_taken(name)).unwrap_or_else(|| plain.clone())
    }
}

/// The upstream for a URL of the user. Where it is that of a known provider, the provider's demands apply; else the model
/// of each request selects them.
fn gateway(name: &str, url: &str) -> Result<LaunchUpstream, Error> {
    let upstream = Upstream::new(name, url, None)?;
    let is_same = |url: &str| Upstream::new(name, url, None).is_ok_and(|known| known.authority == upstream.authority);
    let provider = BUILT_IN.iter().find(|built_in| is_same(built_in.url)).map(|built_in| built_in.provider);
    Ok(LaunchUpstream { name: name.to_owned(), url: url.to_owned(), provider })
}

/// The variables that keep an HTTP proxy of the network out of the way to this machine.
fn without_proxy(around: &Surroundings) -> Vec<(String, String)> {
    let proxies = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
    if proxies.iter().all(|name| around.variable(name).is_none()) {
        return Vec::new();
    }
    let value = |name: &str| around.variable(name).map(str::to_owned);
    // Programs read one of the two spellings.
    let others = exceptions(value("NO_PROXY"), value("no_proxy"));
    let all = exceptions(Some(others), Some("127.0.0.1,localhost".to_owned()));
    ["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), all.clone())).into()
}

/// The programs that run another one, which their first argument names.
const RUNNERS: [&str; 4] = ["npx", "bunx", "pnpx", "uvx"];

fn position(words: &[OsString]) -> usize {
    if !RUNNERS.contains(&stem(&words[0]).as_str()) {
        return 0;
    }
    let is_name = |word: &OsString| !word.to_string_lossy().starts_with('-');
    words.iter().skip(1).position(is_name).map_or(0, |index| index + 1)
}

/// The name of a program without its folder, its ending and its version: `codex` for `@openai/codex@latest`.
fn stem(word: &OsStr) -> String {
    let file = Path::new(word).file_name().unwrap_or(word).to_string_lossy().to_lowercase();
    let name = file.split('@').next().unwrap_or_default();
    let name = [".exe", ".cmd", ".ps1", ".js"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.to_owned()
}

fn parse(variables: &[String]) -> Result<Vec<(String, String)>, Error> {
    let pair = |text: &String| {
        let wrong = || {
            Error::Config(format!(
                "`--env {text}`: it must be written NAME=VALUE; hint: `{{url}}` in the value is the URL of the proxy"
            ))
        };
        let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
        Ok((name.to_owned(), value.to_owned()))
    };
    variables.iter().map(pair).collect()
}

#[cfg(test)]
mod tests;
