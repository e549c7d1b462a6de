//! Runs the fake provider for real clients: `cargo run -p seamline-testkit --example fake_provider -- [PORT] [COMMAND]`.
//!
//! The first line of output is the URL. Each request that it takes is one line of JSON.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::io::Write as _;

use seamline_testkit::provider::FakeProvider;
use serde_json::json;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let port = args.next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let command = args.next().unwrap_or_else(|| "printf 'probe-output-%s' 4711".to_owned());
    let provider = FakeProvider::start(port, &command)?;
    println!("listening on {}", provider.url());
    loop {
        for exchange in provider.take() {
            let line = json!({
                "path": exchange.path,
                "dialect": exchange.dialect.name(),
                "status": exchange.status,
                "violations": exchange.violations,
                "results": exchange.results(),
                "body": exchange.body,
            });
            println!("{line}");
        }
        std::io::stdout().flush()?;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
