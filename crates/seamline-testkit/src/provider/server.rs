//! The connections of the provider, one thread for each.

use std::io::{BufReader, ErrorKind, Result, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use memchr::memmem;
use serde_json::{Value, json};
use socket2::{Domain, Socket as RawSocket, Type};

use super::Options;
use super::exchange::{End, Exchange};
use super::http::{Body, Head};
use super::reply::{self, Answer, DONE, Reply, Said};
use super::route::{Framing, Route};
use super::rules::Rules;
use super::script::{Refusal, Script};
use super::send::Sending;
use super::websocket::Socket;
use super::{coding, reject, signature, tools};
use crate::events::{Event, events};
use crate::strict::Violation;
use crate::{Dialect, provider::http::Headers};

/// The stack of the thread of a connection.
const STACK_BYTES: usize = 512 * 1024;
/// The number of connections that may wait to be taken.
const BACKLOG: i32 = 4096;
/// The size of the buffer of a connection.
const BUFFER_BYTES: usize = 64 * 1024;

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Server {
    options: Options,
    pub(super) rules: Mutex<Rules>,
    pub(super) exchanges: Mutex<Vec<Exchange>>,
    /// The number of responses so far, which makes their ids unique.
    responses: AtomicUsize,
    pub(super) connections: AtomicUsize,
    pub(super) open: AtomicUsize,
    pub(super) is_stopped: AtomicBool,
}

/// The judgement of the provider on a request.
struct Judged {
    reply: Reply,
    body: Value,
    violations: Vec<Violation>,
}

impl Judged {
    fn plain(reply: Reply) -> Self {
        Self { reply, body: Value::Null, violations: Vec::new() }
    }
}

impl Server {
    /// Takes connections in a thread of its own.
    pub(super) fn start(options: Options) -> Result<(Arc<Self>, SocketAddr)> {
        let listener = RawSocket::new(Domain::IPV4, Type::STREAM, None)?;
        listener.set_reuse_address(true)?;
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], options.port)).into())?;
        listener.listen(BACKLOG)?;
        let listener = TcpListener::from(listener);
        let address = listener.local_addr()?;
        let server = Arc::new(Self {
            options,
            rules: Mutex::default(),
            exchanges: Mutex::default(),
            responses: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
        });
        let serving = Arc::clone(&server);
        std::thread::spawn(move || serving.accept(&listener));
        Ok((server, address))
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming().flatten() {
            if self.is_stopped.load(Ordering::Relaxed) {
                return;
            }
            let server = Arc::clone(self);
            let connection = self.connections.fetch_add(1, Ordering::Relaxed);
            self.open.fetch_add(1, Ordering::Relaxed);
            let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                // The provider does not fail when a client hangs up.
                let _ = server.serve(&stream, connection);
                drop(stream);
                server.open.fetch_sub(1, Ordering::Relaxed);
            });
            if started.is_err() {
                self.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn serve(&self, stream: &TcpStream, connection: usize) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut input = BufReader::with_capacity(BUFFER_BYTES, stream);
        // The last answer of the fast mode.
        let mut kept: Option<(Route, Reply)> = None;
        loop {
            let head = match Head::read(&mut input) {
                Ok(Some(head)) => head,
                Ok(None) => return Ok(()),
                Err(error) => return refuse(stream, &error),
            };
            let script = self.script(&head, connection);
            if head.is_upgrade() {
                let socket = Socket { server: self, connection, head: &head, script: &script };
                return socket.serve(stream, input.buffer().to_vec());
            }
            if head.expects_continue() {
                (&*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
            let body = match head.read_body(&mut input, script.reading) {
                Ok(body) => body,
                Err(error) => return refuse(stream, &error),
            };
            let is_bare = head.method == "HEAD";
            let sending = Sending { stream, script: &script, is_last: head.is_last(), is_bare };
            let end = if self.options.is_fast && !has_script(&head.headers) {
                sending.send(self.fast(&head, &body, &script, &mut kept))?
            } else {
                let judged = self.judge(&head, &body, &script);
                let reply = decorate(judged.reply.clone(), &head, &script);
                let record = self.record(connection, head, body, judged);
                let end = sending.send(&reply)?;
                let _ = record.set(end);
                end
            };
            if end != End::Sent {
                return Ok(());
            }
            if sending.closes() {
                return stream.shutdown(Shutdown::Write);
            }
        }
    }

    fn script(&self, head: &Head, connection: usize) -> Script {
        lock(&self.rules).pick(connection, &head.target).with_headers(&head.headers)
    }

    /// The response of the fast mode, which reads of the body only whether it wants a stream.
    fn fast<'k>(&self, head: &Head, body: &Body, script: &Script, kept: &'k mut Option<(Route, Reply)>) -> &'k Reply {
        let mut route = Route::of(head);
        if let Route::Answer { framing: framing @ Framing::ByBody, .. } = &mut route {
            let wants = [&b"\"stream\":true"[..], b"\"stream\": true"]
                .iter()
                .any(|text| memmem::find(&body.raw, text).is_some());
            *framing = if wants { Framing::Events } else { Framing::Whole };
        }
        let reply = match kept.take() {
            Some((held, reply)) if held == route => reply,
            _ => match &route {
                Route::Answer { dialect, framing } => {
                    reply::response(*dialect, *framing, &self.said(*dialect, &Value::Null, script))
                }
                Route::Count { .. } | Route::Other => other(route),
            },
        };
        &kept.insert((route, reply)).1
    }

    fn judge(&self, head: &Head, body: &Body, script: &Script) -> Judged {
        if let Some(refusal) = script.key.as_ref().and_then(|key| signature::refusal(key, head, &body.raw)) {
            return Judged::plain(refusal);
        }
        let route = Route::of(head);
        let coding = head.header("content-encoding").unwrap_or_default();
        let is_coded = !coding.is_empty() && coding != "identity";
        let bytes = match coding::decode(coding, &body.raw) {
            Some(Ok(bytes)) if !(is_coded && script.takes_no_coding) => bytes,
            Some(Err(_)) => return Judged::plain(reply::failure(route.dialect(), 400)),
            Some(Ok(_)) | None => return Judged::plain(reply::failure(route.dialect(), 415)),
        };
        let read = serde_json::from_slice::<Value>(&bytes);
        let value = read.as_ref().ok().cloned().unwrap_or_default();
        if let Some((status, json)) = &script.answer {
            let reply = Reply { frames: vec![json.clone().into_bytes()], ..Reply::json(*status, &Value::Null) };
            return Judged { reply, body: value, violations: Vec::new() };
        }
        if let Some(Refusal::Status(status, seconds)) = script.refusal {
            let reply = reply::failure(route.dialect(), status);
            let wait = seconds.map(|seconds| seconds.to_string());
            let reply = wait.iter().fold(reply, |reply, seconds| reply.with_header("retry-after", seconds));
            return Judged { reply, body: value, violations: Vec::new() };
        }
        let Some(dialect) = route.dialect() else {
            return Judged { reply: other(route), body: value, violations: Vec::new() };
        };
        if self.pretends(script) {
            return Judged { reply: reject::pretended(dialect, &value), body: value, violations: Vec::new() };
        }
        let body = match read {
            Ok(body) => body,
            Err(error) => return Judged::plain(reject::not_json(dialect, &error)),
        };
        let violations = reject::violations(dialect, &body, head.path());
        let reply = match route {
            _ if !violations.is_empty() => reject::rejection(dialect, &body, &violations),
            Route::Answer { framing, .. } => {
                let is_stream = framing == Framing::ByBody && body["stream"] == true;
                let framing = if is_stream { Framing::Events } else { framing };
                reply::response(dialect, framing, &self.said(dialect, &body, script))
            }
            Route::Count { .. } | Route::Other => other(route),
        };
        Judged { reply, body, violations }
    }

    /// Whether the script rejects a request, whatever it holds.
    fn pretends(&self, script: &Script) -> bool {
        match &script.refusal {
            Some(Refusal::Corruption) => true,
            Some(Refusal::CorruptionOnce(key)) => lock(&self.rules).is_first(key),
            Some(Refusal::Status(..)) | None => false,
        }
    }

    /// Selects the response of the model to a request.
    pub(super) fn said(&self, dialect: Dialect, body: &Value, script: &Script) -> Answer {
        let has_result = || events(dialect, body).iter().any(|event| matches!(event, Event::Result { .. }));
        let call = || tools::shell(dialect, body, &self.options.command).filter(|_| !has_result());
        let said = match script.pieces() {
            Some(pieces) => Said::Text(pieces),
            None => call().map_or_else(|| Said::Text(vec![DONE.to_owned()]), Said::Call),
        };
        let number = self.responses.fetch_add(1, Ordering::Relaxed);
        Answer { number, said, is_filtered: script.is_filtered }
    }

    /// Whether requests are neither checked nor recorded.
    pub(super) fn is_fast(&self) -> bool {
        self.options.is_fast
    }

    fn record(&self, connection: usize, head: Head, body: Body, judged: Judged) -> Arc<OnceLock<End>> {
        let dialect = Route::of(&head).dialect();
        self.push(Exchange {
            connection,
            dialect,
            method: head.method,
            path: head.target,
            headers: head.headers,
            raw_head: head.raw,
            raw_body: body.raw,
            is_chunked: body.is_chunked,
            trailers: body.trailers,
            body: judged.body,
            status: judged.reply.status,
            violations: judged.violations.iter().map(|violation| format!("{violation:?}")).collect(),
            end: Arc::default(),
        })
    }

    /// Records a message over a WebSocket.
    pub(super) fn record_message(
        &self,
        connection: usize,
        head: &Head,
        text: &str,
        (body, status, violations): (Value, u16, Vec<Violation>),
    ) -> Arc<OnceLock<End>> {
        self.push(Exchange {
            connection,
            dialect: Some(Dialect::OpenAiResponses),
            method: head.method.clone(),
            path: head.target.clone(),
            headers: head.headers.clone(),
            raw_head: Vec::new(),
            raw_body: text.as_bytes().to_vec(),
            is_chunked: false,
            trailers: Vec::new(),
            body,
            status,
            violations: violations.iter().map(|violation| format!("{violation:?}")).collect(),
            end: Arc::default(),
        })
    }

    fn push(&self, exchange: Exchange) -> Arc<OnceLock<End>> {
        let end = Arc::clone(&exchange.end);
        if !self.options.is_fast {
            lock(&self.exchanges).push(exchange);
        }
        end
    }
}

/// Locks, even after a thread failed with the lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn has_script(headers: &Headers) -> bool {
    headers.iter().any(|(name, _)| name.len() > 7 && name.as_bytes()[..7].eq_ignore_ascii_case(b"x-fake-"))
}

/// Lists of models, token counts, telemetry.
fn other(route: Route) -> Reply {
    let count = route.dialect().map(|dialect| (dialect.service().token_count)());
    Reply::json(200, &count.unwrap_or_else(|| json!({"data": [], "models": [], "input_tokens": 1})))
}

/// Adds the headers of the request if the script says so.
fn decorate(reply: Reply, head: &Head, script: &Script) -> Reply {
    let echoed = head.headers.iter().filter(|_| script.is_echo);
    echoed
        .fold(reply, |reply, (name, value)| reply.with_header(&format!("x-echo-{}", name.to_ascii_lowercase()), value))
}

/// Refuses a request that is not HTTP.
fn refuse(mut stream: &TcpStream, error: &std::io::Error) -> Result<()> {
    if error.kind() != ErrorKind::InvalidData {
        return Ok(());
    }
    let body = error.to_string();
    let head = "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length:";
    write!(stream, "{head} {}\r\n\r\n{body}", body.len())?;
    stream.shutdown(Shutdown::Write)
}
