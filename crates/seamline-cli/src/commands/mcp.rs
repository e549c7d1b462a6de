//! `seamline mcp`: each tool runs this program once and returns what it prints.

mod tools;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use clap::Args;
use seamline_host::{HostLimits, RpcCall, RpcError, Service};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::host::serve;
use crate::exit::Exit;
use crate::failure::Failure;
use tools::Tool;

/// Offer `check`, `explain_error` and `doctor` to an agent as MCP tools
///
/// An agent that speaks the Model Context Protocol starts this command as a server on standard input and output. It has three
/// tools: `check` reports what is wrong with a request body or a session file, `explain_error` explains the error of a
/// provider, and `doctor` lists the sessions of agents on this machine that are broken. The tools only read; with
/// `--allow-fix`, `check` and `doctor` also repair where the agent asks for it, as `seamline fix` and `seamline doctor --fix` do.
///
/// Exit status: 0 the input has ended, 2 the command failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mcp {
    /// Let the agent repair files; `seamline undo` undoes each repair
    #[arg(long)]
    allow_fix: bool,
}

const EXAMPLES: &str = "\
Examples:
  claude mcp add seamline -- seamline mcp
  codex mcp add seamline -- seamline mcp";

impl Mcp {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let program = std::env::current_exe().map_err(|error| Failure::io("find this program", &error))?;
        serve(Server { program, allows_fix: self.allow_fix })
    }
}

/// The versions of MCP that this server speaks, newest first. They agree on everything that it uses.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The most calls of tools at one time.
const CALLS_MAX: usize = 16;

struct Server {
    program: PathBuf,
    allows_fix: bool,
}

impl Service for Server {
    fn begin(self: &Arc<Self>, call: RpcCall) -> Pin<Box<dyn Future<Output = Result<Box<RawValue>, RpcError>> + Send>> {
        let server = self.clone();
        Box::pin(async move {
            let params = call.params.as_deref().map_or("{}", RawValue::get);
            let params: Value = serde_json::from_str(params).unwrap_or_default();
            let result = match call.method.as_str() {
                "initialize" => initialize(&params),
                "ping" => json!({}),
                "tools/list" => json!({"tools": tools::list(server.allows_fix)}),
                "tools/call" => server.call(params).await?,
                // Notifications have no response.
                method if method.starts_with("notifications/") => json!({}),
                method => return Err(RpcError::no_method(method)),
            };
            to_raw_value(&result).map_err(|error| RpcError::invalid_params(error.to_string()))
        })
    }

    fn finish(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(std::future::ready(()))
    }

    fn cancellation(&self) -> (&'static str, &'static str) {
        ("notifications/cancelled", "requestId")
    }

    fn limits(&self) -> HostLimits {
        HostLimits { requests_max: CALLS_MAX, ..HostLimits::default() }
    }
}

fn initialize(params: &Value) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = VERSIONS.into_iter().find(|known| Some(*known) == asked).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {"listChanged": false}},
        "serverInfo": {"name": "seamline", "version": env!("CARGO_PKG_VERSION")},
        "instructions": "Use these tools when a provider rejects a request because of its history, or when the session of an \
                         agent is stuck: explain_error says what an error means, check finds its cause in a file, doctor finds \
                         broken sessions on this machine.",
    })
}

impl Server {
    async fn call(&self, params: Value) -> Result<Value, RpcError> {
        #[derive(Deserialize)]
        struct Asked {
            name: String,
            #[serde(default)]
            arguments: Value,
        }
        let asked: Asked =
            serde_json::from_value(params).map_err(|error| RpcError::invalid_params(error.to_string()))?;
        let tool = Tool::read(&asked.name, asked.arguments, self.allows_fix).map_err(RpcError::invalid_params)?;
        Ok(tool.run(&self.program).await)
    }
}
