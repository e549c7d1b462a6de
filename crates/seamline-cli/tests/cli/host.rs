//! `seamline host` and `seamline mcp` as programs use them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::bench::{BROKEN, Bench, Ran};

/// A server and its client.
struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(bench: &Bench, arguments: &[&str]) -> Self {
        let mut command = bench.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends the input, and returns the status.
    fn end(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        self.child.wait().unwrap().code()
    }

    /// Calls a tool, and returns its text and whether it failed.
    fn tool(&mut self, name: &str, arguments: &Value) -> (String, bool) {
        let response = self.ask("tools/call", &json!({"name": name, "arguments": arguments}));
        let result = &response["result"];
        (result["content"][0]["text"].as_str().unwrap_or_default().to_owned(), result["isError"] == true)
    }
}

#[test]
fn the_host_serves_until_its_input_ends() {
    let bench = Bench::new();
    let mut host = Server::start(&bench, &["host"]);
    assert_eq!(host.ask("initialize", &json!({"versions": [1]}))["result"]["version"], 1);
    let repaired = host.ask("repair", &json!({"text": BROKEN}));
    assert_eq!(repaired["result"]["changed"], true);
    let store = format!("sqlite:{}", bench.path("s.db").display());
    let created = host.ask("session/create", &json!({"store": store, "id": "s-1"}));
    assert_eq!(created["result"]["handle"], "session-1");
    assert_eq!(host.end(), Some(0));
    bench.run(&["session", "verify", "--store", &store]).expect(0);
}

#[test]
fn the_schema_is_printed() {
    let printed = Bench::new().run(&["host", "--print-schema"]).expect(0);
    let schema: Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(schema["properties"]["jsonrpc"]["const"], "2.0");
}

/// Runs an example client, if its language is installed.
fn example(program: &str, arguments: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/host");
    let mut command = Command::new(program);
    command.args(arguments).args([env!("CARGO_BIN_EXE_seamline"), "host"]).current_dir(folder);
    command.env("GOCACHE", Bench::new().path("go")).env("GO111MODULE", "off");
    if Command::new(program).arg(if program == "go" { "version" } else { "--version" }).output().is_err() {
        return;
    }
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let said = ran.out.to_lowercase().replace(['[', ']', ',', '\''], "");
    let expected = "repaired: true pair001\nstream: complete read\nsession: proceed user assistant tool\nerror: body\n";
    assert_eq!(said, expected);
}

#[test]
fn the_client_in_python_runs() {
    example("python3", &["python/host.py"]);
}

#[test]
fn the_client_in_go_runs() {
    example("go", &["run", "go/main.go"]);
}

#[test]
fn the_client_in_elixir_runs() {
    example("elixir", &["elixir/host.exs"]);
}

#[test]
fn an_agent_uses_the_tools() {
    let bench = Bench::new();
    let path = bench.write("request.json", BROKEN).display().to_string();
    let mut mcp = Server::start(&bench, &["mcp"]);
    let begun = mcp
        .ask("initialize", &json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}));
    assert_eq!(begun["result"]["protocolVersion"], "2025-06-18");
    mcp.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = mcp.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["check", "explain_error", "doctor"]);
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert!(tools.iter().all(|tool| tool["inputSchema"]["properties"].get("fix").is_none()));

    for arguments in [json!({"path": path}), json!({"text": BROKEN})] {
        let (text, failed) = mcp.tool("check", &arguments);
        assert!(text.contains("PAIR001") && !failed, "{text}");
    }
    let error = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.";
    let (text, failed) = mcp.tool("explain_error", &json!({"error": error, "status": 400, "path": path}));
    assert!(text.contains("\"corruption\"") && text.contains("PAIR001") && !failed, "{text}");
    let (text, failed) = mcp.tool("doctor", &json!({"folder": bench.folder}));
    assert!(text.contains("\"programs\"") && !failed, "{text}");

    let (text, failed) = mcp.tool("check", &json!({"path": bench.path("none.json")}));
    assert!(text.contains("no such file") && failed, "{text}");
    let refused = mcp.ask("tools/call", &json!({"name": "check", "arguments": {"path": path, "fix": true}}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(mcp.ask("tools/call", &json!({"name": "rm", "arguments": {}}))["error"]["code"], -32602);
    assert_eq!(mcp.ask("resources/list", &json!({}))["error"]["code"], -32601);
    assert_eq!(mcp.end(), Some(0));
    assert_eq!(bench.read("request.json"), BROKEN, "the tools only read");
}

#[test]
fn a_tool_repairs_only_where_the_user_allows_it() {
    let bench = Bench::new();
    let path = bench.write("request.json", BROKEN).display().to_string();
    let mut mcp = Server::start(&bench, &["mcp", "--allow-fix"]);
    let (text, failed) = mcp.tool("check", &json!({"path": path, "fix": true}));
    assert!(text.contains("\"changed\":true") && !failed, "{text}");
    assert_ne!(bench.read("request.json"), BROKEN);
    let (text, failed) = mcp.tool("check", &json!({"path": path}));
    assert!(text.contains("\"findings\":[]") && !failed, "{text}");
    assert_eq!(mcp.end(), Some(0));
}

#[test]
fn the_plugin_starts_the_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/claude-code-plugin");
    let read =
        |name: &str| serde_json::from_str::<Value>(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap();
    assert_eq!(read(".claude-plugin/plugin.json")["version"], env!("CARGO_PKG_VERSION"));
    let server = &read(".mcp.json")["mcpServers"]["seamline"];
    assert_eq!((&server["command"], &server["args"]), (&json!("seamline"), &json!(["mcp"])));
}
