//! Runs the fake provider for real clients: `cargo run -p seamline-testkit --example fake_provider -- [PORT] [COMMAND]`.
//!
//! The first line of output is the URL. Each request that it takes is one line of JSON.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::io::Write as _;

use seamline_testkit::provider::{Exchange, FakeProvider, HELP, Options};
use serde_json::{Value, json};

const USAGE: &str = "\
usage: fake_provider [--fast] [--all] [PORT] [COMMAND]

Takes requests of every dialect on 127.0.0.1, behind any prefix: /v1/messages (and /count_tokens), /v1/chat/completions,
/v1/responses (also as a WebSocket), /v1beta/models/ID:generateContent and :streamGenerateContent,
/v1beta/interactions, /model/ID/converse and /converse-stream. It rejects what the real provider rejects, in its words.
The first line of output is the URL; each further line is a request as JSON.

  --fast   check and record nothing, for benchmarks
  --all    print requests to other paths, too
";

fn main() -> std::io::Result<()> {
    let (flags, values): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|held| held == flag);
    if has("--help") {
        println!("{USAGE}\n{HELP}");
        return Ok(());
    }
    let port = values.first().and_then(|port| port.parse().ok()).unwrap_or(0);
    let command = values.get(1).cloned().unwrap_or_else(|| "printf 'probe-output-%s' 4711".to_owned());
    let provider = FakeProvider::start_with(Options { port, command, is_fast: has("--fast") })?;
    println!("listening on {}", provider.url());
    loop {
        for exchange in provider.take().iter().filter(|exchange| has("--all") || exchange.dialect.is_some()) {
            println!("{}", line(exchange));
        }
        std::io::stdout().flush()?;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn line(exchange: &Exchange) -> Value {
    json!({
        "method": exchange.method,
        "path": exchange.path,
        "dialect": exchange.dialect.map(seamline_testkit::Dialect::name),
        "status": exchange.status,
        "violations": exchange.violations,
        "results": exchange.results(),
        "body": exchange.body,
    })
}
