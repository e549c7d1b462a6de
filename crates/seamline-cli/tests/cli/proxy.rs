//! `seamline proxy`

#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Duration;

use seamline_testkit::provider::{FakeProvider, Script};

use crate::bench::{BROKEN, Bench, CLEAN, Ran};

/// A running proxy, and what it prints.
pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Running {
    fn start(bench: &Bench, args: &[&str]) -> Self {
        Self::of(command(bench, args))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        Self { child, out: BufReader::new(out), err: BufReader::new(err) }
    }

    /// Waits for the next line of standard output.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits for the next line of standard error.
    fn complaint(&mut self) -> String {
        let mut line = String::new();
        self.err.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Waits for the address, which is the first line.
    fn address(&mut self) -> String {
        let line = self.line();
        line.strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned()
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Waits for the end: the status, and the rest of both outputs.
    fn end(mut self) -> Ran {
        let code = self.child.wait().unwrap().code();
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.err.read_to_string(&mut err).unwrap();
        Ran { code, out, err }
    }

    fn stop(self) -> Ran {
        self.signal("TERM");
        self.end()
    }
}

fn command(bench: &Bench, args: &[&str]) -> Command {
    let mut command = bench.command(&[&["proxy"], args].concat());
    for name in ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "GOOGLE_GEMINI_BASE_URL"] {
        command.env_remove(name);
    }
    command
}

/// The status, the head and the body of a response.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

fn ask(address: &str, request: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let text = format!("{request}\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text}"));
    let status = head.split_whitespace().nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

fn post(address: &str, path: &str, body: &str) -> Answer {
    ask(address, &format!("POST {path} HTTP/1.1\r\ncontent-type: application/json"), body)
}

fn get(address: &str, path: &str) -> Answer {
    ask(address, &format!("GET {path} HTTP/1.1"), "")
}

fn provider() -> FakeProvider {
    FakeProvider::start(0, "true").unwrap()
}

/// The flag that puts a fake provider in the place of Anthropic.
fn upstream(provider: &FakeProvider) -> String {
    format!("--upstream=anthropic={}", provider.url())
}

const FREE: [&str; 2] = ["--listen", "127.0.0.1:0"];

fn script(bench: &Bench, name: &str, text: &str) -> String {
    let path = bench.write(name, format!("#!/bin/sh\n{text}"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_broken_request_is_repaired_on_its_way_and_its_incident_is_shown() {
    let (bench, provider) = (Bench::new(), provider());
    let mut proxy = Running::start(&bench, &[&FREE[..], &[&upstream(&provider), "--traffic", "always"]].concat());
    let address = proxy.address();
    assert_eq!(post(&address, "/v1/messages", CLEAN).status, 200);
    let broken = post(&address, "/anthropic/v1/messages", BROKEN);
    assert_eq!(broken.status, 200, "{}", broken.body);
    let id = broken.header("x-seamline-incident").unwrap().to_owned();
    let got = provider.wait(2, Duration::from_secs(20));
    assert_eq!(got[0].raw_body, CLEAN.as_bytes());
    assert!(got[1].violations.is_empty() && got[1].raw_body != BROKEN.as_bytes());

    let ran = proxy.stop();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert!(lines[0].contains(" anthropic /v1/messages 200 ") && !lines[0].contains("finding"), "{lines:?}");
    assert!(lines[1].ends_with(&format!("1 finding, 1 repair (PAIR001)  {id}")), "{lines:?}");

    let list = bench.run(&["incidents", "--format", "json"]).expect(0);
    let exchange = &list.json()["incidents"][0]["exchange"];
    assert_eq!((exchange["id"].as_str(), exchange["outcome"].as_str()), (Some(id.as_str()), Some("repaired")));
    let shown = bench.run(&["incidents", "show", &id]).expect(0).out;
    for part in
        ["repaired: the repaired body went to the provider", "PAIR001", "anthropic_messages", "seamline explain"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown, bench.run(&["incidents", "show", "last"]).expect(0).out);
    let text = bench.run(&["incidents"]).expect(0).out;
    assert!(text.contains(&id) && text.contains("anthropic: PAIR001"), "{text}");
    for output in [&ran.err, &list.out, &shown, &text] {
        assert!(!output.contains("never mind") && !output.contains("main.rs"), "{output}");
    }
}

#[test]
fn the_pages_of_the_proxy_tell_its_health_and_its_metrics() {
    let (bench, provider) = (Bench::new(), provider());
    let mut proxy = Running::start(&bench, &[&FREE[..], &[&upstream(&provider)]].concat());
    let address = proxy.address();
    assert_eq!((get(&address, "/-/healthz").status, get(&address, "/-/readyz").status), (200, 200));
    assert_eq!(post(&address, "/v1/messages", BROKEN).status, 200);
    let metrics = get(&address, "/-/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for sample in [
        r#"seamline_requests_total{upstream="anthropic",dialect="anthropic_messages",status="2xx"} 1"#,
        r#"seamline_findings_total{rule="PAIR001"} 1"#,
        r#"seamline_incidents_total{outcome="repaired"} 1"#,
        "seamline_incident_store_up 1",
    ] {
        assert!(metrics.body.contains(sample), "{sample}: {}", metrics.body);
    }
    // Without `--traffic` and a terminal nothing is printed.
    assert_eq!(proxy.stop().err, "");
}

#[test]
fn settings_are_read_again_on_sighup_and_wrong_ones_leave_the_old_ones() {
    let (bench, provider) = (Bench::new(), provider());
    bench.write("proxy.toml", "mode = \"report\"\n");
    let args = ["--config", "proxy.toml", &upstream(&provider)];
    let mut proxy = Running::start(&bench, &[&FREE[..], &args].concat());
    let address = proxy.address();
    assert_eq!(post(&address, "/v1/messages", BROKEN).status, 400);
    bench.write("proxy.toml", "mode = \"repair\"\n");
    proxy.signal("HUP");
    assert_eq!(proxy.complaint(), "seamline: the settings were read again");
    assert_eq!(post(&address, "/v1/messages", BROKEN).status, 200);
    bench.write("proxy.toml", "modus = \"block\"\n");
    proxy.signal("HUP");
    assert_eq!(proxy.complaint(), "seamline: the settings were not changed");
    assert!(proxy.complaint().contains("proxy.toml: unknown key `modus`"));
    assert_eq!(proxy.complaint(), "hint: did you mean `mode`?");
    assert_eq!(post(&address, "/v1/messages", BROKEN).status, 200);
    bench.write("proxy.toml", "mode = \"block\"\nstore = \"off\"\n");
    proxy.signal("HUP");
    assert!(proxy.complaint().contains("change with the next start"));
    let blocked = post(&address, "/v1/messages", BROKEN);
    assert!(blocked.status == 400 && blocked.body.contains("PAIR001"), "{}", blocked.body);
    assert_eq!(proxy.stop().code, Some(0));
}

#[test]
fn another_address_than_this_machine_needs_a_token() {
    let (bench, provider) = (Bench::new(), provider());
    let open = ["--listen", "0.0.0.0:0", &upstream(&provider)];
    let ran = Ran::of(&mut command(&bench, &open)).expect(2);
    assert!(ran.err.contains("has no access token") && ran.err.contains("hint: set `SEAMLINE_PROXY_TOKEN`"), "{ran:?}");
    assert!(ran.out.is_empty());
    let mut with_token = command(&bench, &open);
    with_token.env("SEAMLINE_PROXY_TOKEN", "s3cret");
    let mut proxy = Running::of(with_token);
    let address = proxy.address().replace("0.0.0.0", "127.0.0.1");
    assert_eq!(post(&address, "/v1/messages", CLEAN).status, 407);
    let request = |token: &str| format!("POST /v1/messages HTTP/1.1\r\nx-seamline-token: {token}");
    assert_eq!(ask(&address, &request("wrong"), CLEAN).status, 407);
    assert_eq!(ask(&address, &request("s3cret"), CLEAN).status, 200);
    let sent = provider.wait(1, Duration::from_secs(20));
    assert!(sent.len() == 1 && sent[0].header("x-seamline-token").is_none());
    assert_eq!(proxy.stop().code, Some(0));
}

#[test]
fn a_program_runs_behind_a_proxy_of_its_own_and_keeps_the_gateway_of_its_user() {
    let (bench, provider) = (Bench::new(), provider());
    let agent = script(
        &bench,
        "claude",
        "echo \"$ANTHROPIC_BASE_URL $MINE $*\"\nwhile [ ! -e done ]; do sleep 0.05; done\nexit 7\n",
    );
    let mut command = command(&bench, &["--env", "MINE={url}/x", "--", &agent, "-p", "hello you"]);
    command.env("ANTHROPIC_BASE_URL", provider.url());
    let mut running = Running::of(command);
    // Standard output belongs to the program.
    let line = running.line();
    let words: Vec<&str> = line.split(' ').collect();
    let base = words[0].strip_suffix("/anthropic-gateway").unwrap_or_else(|| panic!("{line}"));
    assert_eq!(words[1..], [&format!("{base}/x"), "-p", "hello", "you"]);
    let address = base.strip_prefix("http://").unwrap();
    assert_eq!(post(address, "/anthropic-gateway/v1/messages", BROKEN).status, 200);
    assert!(provider.wait(1, Duration::from_secs(20))[0].violations.is_empty());
    bench.write("done", "");
    let ran = running.end();
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(7), "", ""));
    assert!(TcpStream::connect(address).is_err(), "the proxy still listens");
    assert!(bench.run(&["incidents"]).expect(0).out.contains("anthropic-gateway: PAIR001"));
}

#[test]
fn a_program_needs_no_token_and_an_explicit_address_with_one_is_refused() {
    let (bench, provider) = (Bench::new(), provider());
    let agent = script(&bench, "agent", "echo \"$ANTHROPIC_BASE_URL\"\nwhile [ ! -e done ]; do sleep 0.05; done\n");
    let mut with_token = command(&bench, &[&upstream(&provider), "--", &agent]);
    let mut running = Running::of({
        with_token.env("SEAMLINE_PROXY_TOKEN", "s3cret");
        with_token
    });
    let line = running.line();
    let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/anthropic")).unwrap();
    assert_eq!(post(address, "/v1/messages", CLEAN).status, 200);
    bench.write("done", "");
    assert_eq!(running.end().code, Some(0));
    let mut explicit = command(&bench, &[&FREE[..], &["--", &agent]].concat());
    let ran = Ran::of(explicit.env("SEAMLINE_PROXY_TOKEN", "s3cret")).expect(2);
    assert!(
        ran.err.contains("does not send the access token") && ran.err.contains("hint: leave `--listen` out"),
        "{ran:?}"
    );
}

#[test]
fn signals_reach_the_program_and_its_end_is_the_end_of_the_command() {
    let bench = Bench::new();
    let patient =
        script(&bench, "patient", "trap 'exit 9' TERM\ntrap 'exit 8' INT\necho ready\nwhile :; do sleep 0.05; done\n");
    for (signal, code) in [("TERM", 9), ("INT", 8)] {
        let mut alone = command(&bench, &["--store", "off", "--", &patient]);
        // A terminal of the person who runs the test sends its signals to another group.
        let mut running = Running::of({
            alone.process_group(0);
            alone
        });
        assert_eq!(running.line(), "ready");
        running.signal(signal);
        assert_eq!(running.end().code, Some(code), "{signal}");
    }
    let killed = script(&bench, "killed", "kill -KILL $$\n");
    assert_eq!(Running::start(&bench, &["--", &killed]).end().code, Some(137));
    assert_eq!(Running::start(&bench, &["--", "sh", "-c", "exit 0"]).end().code, Some(0));
    let missing = Running::start(&bench, &["--", "cluade"]).end();
    assert!(missing.code == Some(2) && missing.err.contains("could not start `cluade`"), "{missing:?}");
    assert!(missing.err.contains("did you mean `claude`?"), "{missing:?}");
}

#[test]
fn a_broken_store_does_not_stop_the_proxy() {
    let (bench, provider) = (Bench::new(), provider());
    bench.write("state/seamline/incidents.db", "this is not a database, and long enough to be looked at as one");
    let mut proxy = Running::start(&bench, &[&FREE[..], &[&upstream(&provider)]].concat());
    let address = proxy.address();
    let complaint = proxy.complaint();
    assert!(complaint.starts_with("seamline: incidents are not stored: "), "{complaint}");
    let repaired = post(&address, "/v1/messages", BROKEN);
    assert_eq!((repaired.status, repaired.header("x-seamline-incident")), (200, None));
    assert!(repaired.header("x-seamline-repairs").is_some());
    assert!(get(&address, "/-/metrics").body.contains("seamline_incident_store_up 0"));
    assert_eq!(proxy.stop().code, Some(0));
    let ran = bench.run(&["incidents"]).expect(2);
    assert!(ran.err.contains("cannot read the `sqlite` store of incidents"), "{ran:?}");
}

#[test]
fn a_rejected_body_is_kept_without_its_texts_where_the_user_asks_for_it() {
    let (bench, provider) = (Bench::new(), provider());
    provider.always(Script::default().reject());
    let mut proxy = Running::start(&bench, &[&FREE[..], &[&upstream(&provider), "--keep-rejected"]].concat());
    let address = proxy.address();
    let rejected = post(&address, "/v1/messages", CLEAN);
    assert_eq!(rejected.status, 400);
    let id = rejected.header("x-seamline-incident").unwrap().to_owned();
    assert_eq!(proxy.stop().code, Some(0));
    let path = format!("state/seamline/rejected/{id}.redacted.json");
    let kept = bench.read(&path);
    let written = ["fn main", "what is", "toolu_1"];
    assert!(!written.iter().any(|text| kept.contains(text)), "{kept}");
    let body: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let (call, result) = (&body["messages"][1]["content"][0]["id"], &body["messages"][2]["content"][0]["tool_use_id"]);
    assert!(call.is_string() && call == result, "a kept result still names its call: {kept}");
    assert_eq!(bench.path(&path).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(bench.run(&["incidents", "show", &id]).expect(0).out.contains("rejected"));
}

#[test]
fn wrong_settings_are_refused_with_a_hint() {
    let bench = Bench::new();
    for (args, expected) in [
        (&["--mode", "fix"][..], "`--mode fix`: it must be one of `repair`, `report`, `block`"),
        (&["--upstream", "x"], "it must be written NAME=URL"),
        (&["--upstream", "x=ftp://y"], "upstream `x` has no usable URL"),
        (&["--policy", "losless"], "hint: did you mean `lossless`?"),
        (&["--config", "none.toml"], "cannot read none.toml"),
        (&["--env", "A", "--", "true"], "it must be written NAME=VALUE"),
    ] {
        let ran = Ran::of(&mut command(&bench, args)).expect(2);
        assert!(ran.err.contains(expected) && ran.out.is_empty(), "{args:?}: {ran:?}");
    }
    let mut typing_error = command(&bench, &[]);
    typing_error.env("SEAMLINE_PROXY_MOD", "x");
    assert!(Ran::of(&mut typing_error).expect(2).err.contains("did you mean `SEAMLINE_PROXY_MODE`?"));
    let schema = Ran::of(&mut command(&bench, &["--print-schema"])).expect(0).json();
    assert_eq!(schema["properties"]["policy"]["default"], "lossless");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let bench = Bench::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = Ran::of(&mut command(&bench, &["--listen", &address])).expect(2);
    assert!(ran.err.contains(&format!("cannot listen on {address}")), "{ran:?}");
}
