//! Any bytes as a request to a running proxy, whose upstream sends each body back.
//!
//! The fuzz target `request_path` and a property test on stable call the same function. The first byte selects whether the
//! rest is sent to the proxy as it is, or as the body of a request to an endpoint. The body that comes back must be
//! the original, or what `seamline::repair` makes of it.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use seamline::Options;
use seamline_proxy::Proxy;
use seamline_proxy::config::Config;
use seamline_proxy::report::NoReport;
use seamline_proxy::upstreams::Upstream;

/// How long the proxy may be silent.
const SILENCE: Duration = Duration::from_secs(10);

/// Endpoints: the upstream, the rest of the path, and the dialect.
const ENDPOINTS: [(&str, &str, &str); 6] = [
    ("anthropic", "/v1/messages", "anthropic_messages"),
    ("openai", "/v1/chat/completions", "openai_chat"),
    ("openai", "/v1/responses", "openai_responses"),
    ("gemini", "/v1beta/models/gemini-2.5-pro:generateContent", "gemini_generate"),
    ("bedrock", "/model/anthropic.claude-3-5-sonnet-20241022-v2:0/converse", "bedrock_converse"),
    ("gemini", "/v1beta/interactions", "gemini_interactions"),
];

/// Sends the bytes to the proxy.
pub(crate) fn run(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let proxy = proxy();
    if let Some(&endpoint) = ENDPOINTS.get(usize::from(first)) {
        let response = send(proxy, endpoint, rest);
        assert!(response.is_ok(), "the proxy does not respond: {response:?}");
        let Ok((status, body)) = response else { return };
        assert_eq!(status, 200, "a body was refused: {}", String::from_utf8_lossy(&body));
        assert!(body == rest || body == repaired(endpoint, rest), "{}", String::from_utf8_lossy(&body));
    } else {
        // The proxy may respond or close; it must do one of them.
        let ended = send_raw(proxy, rest);
        assert!(!ended.is_err_and(|error| is_timeout(&error)), "the proxy neither responds nor closes");
    }
    if first == u8::MAX {
        let health = TcpStream::connect(proxy).and_then(|mut stream| {
            stream.write_all(b"GET /-/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")?;
            read_end(&mut stream)
        });
        assert!(health.is_ok_and(|page| page.starts_with(b"HTTP/1.1 200")), "the proxy is down");
    }
}

/// Repairs a body.
fn repaired((provider, _, dialect): (&str, &str, &str), body: &[u8]) -> Vec<u8> {
    let model = match dialect {
        "gemini_generate" => Some("gemini-2.5-pro".to_owned()),
        "bedrock_converse" => Some("anthropic.claude-3-5-sonnet-20241022-v2:0".to_owned()),
        _ => None,
    };
    let options =
        Options { dialect: Some(dialect.to_owned()), provider: Some(provider.to_owned()), model, ..Options::default() };
    seamline::repair(body, &options).map_or_else(|_| body.to_vec(), |repaired| repaired.body.to_vec())
}

fn send(proxy: SocketAddr, (upstream, path, _): (&str, &str, &str), body: &[u8]) -> Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(proxy)?;
    stream.set_read_timeout(Some(SILENCE))?;
    let length = body.len();
    let head = format!(
        "POST /{upstream}{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let response = read_end(&mut stream)?;
    let end = find(&response, b"\r\n\r\n").ok_or_else(|| Error::other("no head"))?;
    let status = response.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    Ok((status.ok_or_else(|| Error::other("no status"))?, response[end + 4..].to_vec()))
}

fn send_raw(proxy: SocketAddr, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(proxy)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.write_all(bytes)?;
    stream.shutdown(Shutdown::Write)?;
    read_end(&mut stream)
}

fn read_end(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_timeout(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn find(bytes: &[u8], text: &[u8]) -> Option<usize> {
    bytes.windows(text.len()).position(|window| window == text)
}

/// The address of the proxy, which runs until the process ends.
fn proxy() -> SocketAddr {
    static PROXY: OnceLock<SocketAddr> = OnceLock::new();
    *PROXY.get_or_init(|| {
        let started = start();
        assert!(started.is_ok(), "{started:?}");
        started.unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)))
    })
}

fn start() -> Result<SocketAddr> {
    let upstream = start_upstream()?;
    let (sender, address) = std::sync::mpsc::channel();
    std::thread::spawn(move || -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.block_on(async {
            let named = |name| Upstream::new(name, &format!("http://{upstream}"), Some(name));
            let upstreams = ["anthropic", "openai", "gemini", "bedrock"].map(named).into_iter();
            let upstreams = upstreams.map(|made| made.map_err(Error::other)).collect::<Result<Vec<_>>>()?;
            let config = Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), upstreams, ..Config::default() };
            let proxy = Proxy::bind(config, Arc::new(NoReport)).await.map_err(Error::other)?;
            let _ = sender.send(proxy.address());
            proxy.run(std::future::pending()).await;
            Ok(())
        })
    });
    address.recv_timeout(SILENCE).map_err(Error::other)
}

/// An upstream that answers every request with its own body.
fn start_upstream() -> Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || while echo(&mut stream).is_ok() {});
        }
    });
    Ok(address)
}

fn echo(stream: &mut TcpStream) -> Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    let mut more = |bytes: &mut Vec<u8>| match stream.read(&mut piece)? {
        0 => Err(Error::from(ErrorKind::UnexpectedEof)),
        length => {
            bytes.extend(&piece[..length]);
            Ok(())
        }
    };
    let head = loop {
        match find(&bytes, b"\r\n\r\n") {
            Some(end) => break end + 4,
            None => more(&mut bytes)?,
        }
    };
    let lines = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length =
        lines.split("\r\n").find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    let is_chunked = lines.contains("transfer-encoding: chunked");
    while bytes.len() < head + length.unwrap_or(0) || (is_chunked && !bytes.ends_with(b"0\r\n\r\n")) {
        more(&mut bytes)?;
    }
    let body = &bytes[head..];
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(&[answer.as_bytes(), body].concat())
}
