//! `seamline proxy`

mod program;
mod reports;
mod serve;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use seamline_proxy::launch::{Launch, Surroundings};
use seamline_proxy::network::NetworkProxy;
use seamline_proxy::settings::{ENVIRONMENT_PREFIX, Layers, ProxySettings};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Repair requests on their way from an agent to a model
///
/// The proxy takes the requests of an agent, checks the history in each and repairs it, so that the provider does not
/// reject it. Then it sends the request to the provider. Requests without errors and responses are
/// forwarded byte for byte.
///
/// Behind `--` it starts a program with a proxy of its own: on a free port, with the settings that make the program use it,
/// and with the status of the program at the end. It knows Claude Code, Codex, Gemini CLI, opencode, goose, Qwen Code, pi and
/// aider; other programs get the variables that the SDKs of OpenAI, Anthropic and Google read, and those of `--env`. A base
/// URL that you use already, such as that of a gateway, becomes the upstream.
///
/// Without a program it listens on 127.0.0.1:4180 and prints `listening on http://…` when it is ready. `/NAME/…` goes to the
/// upstream NAME (`anthropic`, `openai`, `gemini`, `bedrock`, `deepseek`, `mistral`, `groq`, `openrouter`, `ollama` and others), and paths such
/// as `/v1/messages` or `/v1/responses` to the API that has them. Only these and the upstreams of the settings are reached.
/// SIGHUP makes it read its settings again; SIGTERM and Ctrl-C let open requests end first.
///
/// Settings come from flags, then from variables such as `SEAMLINE_PROXY_MODE`, then from the file. `docs/proxy.md` explains
/// them, with a line for each client. `seamline incidents` shows what the proxy found and did.
///
/// Exit status: 0 the proxy was stopped, 2 it could not start; with a program, the status of the program.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Proxy {
    /// The address to listen on; port 0 picks a free one [default: 127.0.0.1:4180, with a program a free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// A server beside the built-in ones, at `/NAME/…`; may be repeated
    #[arg(long = "upstream", value_name = "NAME=URL")]
    upstreams: Vec<String>,
    /// Treatment of a broken history: repair, report or block [default: repair]
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// The policy of repairs: a preset or a TOML file [default: lossless]
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,
    /// The store of incidents: `sqlite:FILE`, `postgres://…` or `off` [default: a file in the state folder]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The file with the settings
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Keep the bodies that a provider rejects, with every text replaced by its length and a hash
    #[arg(long)]
    keep_rejected: bool,
    /// When to print a line about each request to standard error; auto is on a terminal, without a program
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Traffic::Auto)]
    traffic: Traffic,
    /// A variable for the program; `{url}` in its value is the URL of the proxy; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE", requires = "program")]
    variables: Vec<String>,
    /// Print the JSON schema of the settings file
    #[arg(long, exclusive = true)]
    print_schema: bool,
    /// The program to run behind the proxy, with its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// When a line about each request is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Traffic {
    Auto,
    Always,
    Never,
}

const EXAMPLES: &str = "\
Examples:
  seamline proxy -- claude                       # Claude Code behind a proxy
  seamline proxy -- codex exec 'fix the tests'   # any agent, any arguments
  seamline proxy --env MY_URL={url}/openai/v1 -- ./agent
  seamline proxy                                 # on port 4180, for all clients
  seamline proxy --mode report --listen 127.0.0.1:0
  seamline proxy --upstream mine=https://llm.example.com/v1
  seamline proxy --print-schema                  # every setting of the file";

impl Proxy {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if self.print_schema {
            let mut output = Output::new();
            let schema = serde_json::to_string_pretty(&seamline_proxy::settings::schema()).unwrap_or_default();
            output.text(&(schema + "\n"));
            return Ok(output.finish(Exit::Clean));
        }
        let around = Surroundings::of_process();
        let launch = if self.program.is_empty() {
            None
        } else {
            Some(Launch::new(self.program.clone(), &self.variables, &around)?)
        };
        serve::run(&Setup { layers: self.layers(), launch, around, traffic: self.traffic })
    }

    fn layers(&self) -> Layers {
        let is_ours = |(name, _): &(OsString, OsString)| name.to_string_lossy().starts_with(ENVIRONMENT_PREFIX);
        let text = |(name, value): (OsString, OsString)| {
            (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
        };
        let named = [("listen", &self.listen), ("mode", &self.mode), ("policy", &self.policy), ("store", &self.store)];
        let mut flags: Vec<_> = named.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))).collect();
        if self.keep_rejected {
            flags.push(("rejected.keep", "true".to_owned()));
        }
        Layers {
            file: self.config.clone(),
            environment: std::env::vars_os().filter(is_ours).map(text).collect(),
            flags,
            upstreams: self.upstreams.clone(),
        }
    }
}

/// Inputs of the proxy that it reads at its start and again at a reload.
struct Setup {
    layers: Layers,
    launch: Option<Launch>,
    around: Surroundings,
    traffic: Traffic,
}

impl Setup {
    /// Reads the settings of all sources. A program gets a port of its own and the servers that its user configured.
    fn read(&self) -> Result<ProxySettings, seamline_proxy::Error> {
        let mut settings = self.layers.read()?;
        if let Some(launch) = &self.launch {
            if !self.layers.flags.iter().any(|(key, _)| *key == "listen") {
                settings.listen_for_program();
            } else if settings.has_token() {
                return Err(seamline_proxy::Error::Config(
                    "a program behind the proxy does not send the access token; hint: leave `--listen` out (then none is \
                     needed), or unset `SEAMLINE_PROXY_TOKEN`, `token` and `token_file`"
                        .to_owned(),
                ));
            }
            for upstream in launch.upstreams() {
                settings.add_upstream(&upstream.name, &upstream.url, upstream.provider);
            }
        }
        Ok(settings)
    }
}

/// The proxy of the network, if the environment names one.
fn network() -> NetworkProxy {
    NetworkProxy::of_environment(|name| std::env::var(name).ok())
}

impl From<seamline_proxy::Error> for Failure {
    /// Moves the hint of the message to a line of its own.
    fn from(error: seamline_proxy::Error) -> Self {
        let message = error.to_string();
        match message.split_once("; hint: ") {
            Some((message, hint)) => Self::new(message).with_hint(hint),
            None => Self::new(message),
        }
    }
}
