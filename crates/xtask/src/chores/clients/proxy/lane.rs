//! The way from a client to the fake provider, with the proxy in it or without, and what was seen on it.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::chores::clients::files::{PROBE, seamline};
use crate::chores::clients::message::Request;
use crate::chores::clients::npm;
use crate::chores::clients::provider::{Provider, Server};
use crate::chores::clients::recorder::{Recorder, address};
use crate::workspace::Workspace;

/// The providers whose requests go to the fake one.
const PROVIDERS: [&str; 5] = ["anthropic", "bedrock", "deepseek", "gemini", "openai"];

/// Headers that belong to one connection, or that the proxy writes itself.
const OWN_HEADERS: [&str; 7] =
    ["connection", "content-length", "expect", "host", "keep-alive", "te", "transfer-encoding"];

/// A recorder before the proxy, the proxy, a recorder behind it, and the fake provider.
pub(super) struct Lane {
    front: Recorder,
    back: Recorder,
    provider: Provider,
    provider_address: SocketAddr,
    proxy_address: SocketAddr,
    /// Ends with the lane.
    _proxy: Server,
}

/// How a client ended.
pub(super) struct Ran {
    pub(super) is_good: bool,
    pub(super) last_line: String,
}

/// The same history without and with the proxy.
pub(super) struct Row {
    /// Whether the provider accepts the history as it is.
    pub(super) is_clean: bool,
    pub(super) without: Seen,
    pub(super) with: Seen,
}

impl Row {
    /// Whether the proxy did what it should: it lets a clean history pass as it is, and all others succeed.
    pub(super) fn is_right(&self) -> bool {
        let is_untouched = self.with.changed == 0 && self.with.lost.is_empty();
        self.with.is_good() && (!self.is_clean || (is_untouched && self.with.has_result))
    }
}

/// The traffic of a run.
pub(super) struct Seen {
    ran: Ran,
    requests: usize,
    rejected: usize,
    is_last_accepted: bool,
    has_result: bool,
    is_proxied: bool,
    /// Requests whose body is not the one that the client sent.
    changed: usize,
    /// Headers that did not reach the provider.
    lost: Vec<String>,
}

impl Seen {
    pub(super) fn is_good(&self) -> bool {
        self.ran.is_good && self.is_last_accepted
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = match (self.requests, self.rejected) {
            (0, _) => format!("no request{}", self.ran.last_line),
            (requests, 0) => format!("{requests} accepted"),
            (requests, rejected) => format!("{rejected} of {requests} rejected"),
        };
        if self.is_proxied && self.requests > 0 {
            match self.changed {
                0 => text.push_str(", unchanged"),
                changed => write!(text, ", {changed} repaired")?,
            }
        }
        if !self.lost.is_empty() {
            write!(text, ", lost headers {}", self.lost.join(" "))?;
        }
        if !self.ran.is_good && self.requests > 0 {
            text += ", client failed";
        }
        f.pad(&text)
    }
}

impl Lane {
    pub(super) fn start(workspace: &Workspace) -> Result<Self> {
        // Changed requests of boto3 are signed again.
        let seamline = seamline(workspace, &["--features", "aws"])?;
        let provider = Provider::start(workspace)?;
        let provider_address = address(&provider.url)?;
        let (front, back) = (Recorder::start(provider_address)?, Recorder::start(provider_address)?);
        let home = npm::folder().join("homes").join("proxy");
        std::fs::create_dir_all(&home)?;
        let mut command = Command::new(seamline);
        command.args(["proxy", "--listen", "127.0.0.1:0"]).env("HOME", &home).env("XDG_DATA_HOME", home.join("data"));
        // A changed Bedrock body is signed with these.
        command.env("AWS_ACCESS_KEY_ID", "dummy").env("AWS_SECRET_ACCESS_KEY", "dummy");
        command.env("AWS_EC2_METADATA_DISABLED", "true");
        for name in PROVIDERS {
            command.args(["--upstream", &format!("{name}={}/{name}", back.url)]);
        }
        let proxy = Server::start(&mut command).context("cannot start `seamline proxy`")?;
        let proxy_address = address(&proxy.url)?;
        Ok(Self { front, back, provider, provider_address, proxy_address, _proxy: proxy })
    }

    /// The URL for clients.
    pub(super) fn url(&self) -> &str {
        &self.front.url
    }

    /// Sends clients to the provider without the proxy.
    pub(super) fn bypass(&self) {
        self.front.aim(self.provider_address);
    }

    /// Runs a client without and with the proxy; nothing if there is nothing to run.
    pub(super) fn compare(&self, is_clean: bool, mut run: impl FnMut() -> Result<Option<Ran>>) -> Result<Option<Row>> {
        self.bypass();
        let Some(without) = self.watch(&mut run, false)? else { return Ok(None) };
        self.front.aim(self.proxy_address);
        let Some(with) = self.watch(&mut run, true)? else { return Ok(None) };
        Ok(Some(Row { is_clean, without, with }))
    }

    fn watch(&self, run: &mut impl FnMut() -> Result<Option<Ran>>, is_proxied: bool) -> Result<Option<Seen>> {
        self.provider.requests();
        self.front.take();
        self.back.take();
        let Some(ran) = run()? else { return Ok(None) };
        let answered = self.provider.requests();
        let is_accepted = |request: &Value| request["status"] == 200;
        let (sent, got) = (self.front.take(), self.back.take());
        let (changed, lost) = if is_proxied { compare(&sent, &got) } else { (0, Vec::new()) };
        Ok(Some(Seen {
            ran,
            requests: answered.len(),
            rejected: answered.iter().filter(|request| !is_accepted(request)).count(),
            is_last_accepted: answered.last().is_some_and(is_accepted),
            has_result: answered.iter().any(|request| request["results"].to_string().contains(PROBE)),
            is_proxied,
            changed,
            lost,
        }))
    }
}

/// The number of requests whose body did not reach the provider as it was sent, and the headers that did not.
fn compare(sent: &[Request], got: &[Request]) -> (usize, Vec<String>) {
    let mut rest: Vec<&Request> = got.iter().collect();
    let mut changed = 0;
    let mut lost = Vec::new();
    for request in sent.iter().filter(|request| request.method == "POST") {
        let same = |other: &&Request| other.target == request.target && other.body == request.body;
        let Some(at) = rest.iter().position(same) else {
            changed += 1;
            continue;
        };
        let other = rest.remove(at);
        let own = |name: &str| OWN_HEADERS.contains(&name);
        let missing = request.headers.iter().filter(|header| !own(&header.0) && !other.headers.contains(header));
        lost.extend(missing.map(|(name, _)| name.clone()));
    }
    lost.sort();
    lost.dedup();
    (changed, lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(body: &str, header: &str) -> Request {
        Request {
            method: "POST".to_owned(),
            target: "/v1/messages".to_owned(),
            headers: vec![("host".to_owned(), "x".to_owned()), (header.to_owned(), "y".to_owned())],
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_changed_body_and_a_lost_header_are_seen() {
        let sent = [request("{}", "a"), request("{ }", "b")];
        assert_eq!(compare(&sent, &[request("{ }", "b"), request("{}", "a")]), (0, Vec::new()));
        assert_eq!(compare(&sent, &[request("{}", "a"), request("[]", "b")]), (1, Vec::new()));
        assert_eq!(compare(&sent, &[request("{}", "c"), request("{ }", "b")]), (0, vec!["a".to_owned()]));
    }
}
