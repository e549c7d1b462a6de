//! Serves a client: reads its requests line by line and writes the responses.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::lines::{self, Read};
use crate::message::{self, Line, Message, Outcome, Wrong, respond};
use crate::{RpcCall, RpcError};

/// The limits of a host.
///
/// ```
/// let limits = seamline_host::HostLimits { objects_max: 10, ..Default::default() };
/// assert_eq!(limits.line_bytes_max, 64 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct HostLimits {
    /// The longest line in bytes.
    pub line_bytes_max: usize,
    /// The most bytes of all requests without a response. The host reads no further request until there is room.
    pub open_bytes_max: usize,
    /// The most requests without a response.
    pub requests_max: usize,
    /// The most open objects.
    pub objects_max: usize,
    /// The most open stores.
    pub stores_max: usize,
}

impl Default for HostLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            line_bytes_max: 64 * MIB,
            open_bytes_max: 256 * MIB,
            requests_max: 1024,
            objects_max: 1024,
            stores_max: 16,
        }
    }
}

/// A running request.
pub type RunningRequest = Pin<Box<dyn Future<Output = Result<Box<RawValue>, RpcError>> + Send>>;

/// The methods behind a protocol of lines.
pub trait Service: Send + Sync + 'static {
    /// Begins a request. The order of requests for one object is the order of these calls.
    fn begin(self: &Arc<Self>, call: RpcCall) -> RunningRequest;

    /// Ends everything that is still open, after the last request.
    fn finish(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;

    /// The notification that cancels a request, and its parameter with the id.
    fn cancellation(&self) -> (&'static str, &'static str);

    /// The limits of the service.
    fn limits(&self) -> HostLimits;
}

/// Serves a client until its input ends, then waits for the running requests and closes the objects.
///
/// # Errors
/// When the input cannot be read or the output cannot be written.
pub async fn serve<S: Service>(
    service: Arc<S>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let (out, lines) = mpsc::channel(WAITING_MAX);
    let writer = tokio::spawn(write_lines(lines, output));
    let mut client = Client::new(service.clone(), out);
    let read = client.read_all(BufReader::new(input)).await;
    while client.tasks.join_next().await.is_some() {}
    service.finish().await;
    drop(client);
    let written = writer.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    read.and(written)
}

/// The most responses that wait for a client that does not read. Their requests stay open.
const WAITING_MAX: usize = 16;

async fn write_lines(mut lines: mpsc::Receiver<String>, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        if lines.is_empty() {
            output.flush().await?;
        }
    }
    output.shutdown().await
}

/// The requests that can be cancelled, by their ids.
type Cancels = Arc<Mutex<HashMap<String, oneshot::Sender<()>>>>;

struct Client<S> {
    service: Arc<S>,
    limits: HostLimits,
    out: mpsc::Sender<String>,
    tasks: JoinSet<()>,
    cancels: Cancels,
    /// Room for bytes of open requests, in units of a KiB.
    room: Arc<Semaphore>,
}

/// The unit in which room for requests is counted.
const UNIT_BYTES: usize = 1024;

impl<S: Service> Client<S> {
    fn new(service: Arc<S>, out: mpsc::Sender<String>) -> Self {
        let limits = service.limits();
        let units = (limits.open_bytes_max / UNIT_BYTES).clamp(1, Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(units));
        Self { service, limits, out, tasks: JoinSet::new(), cancels: Cancels::default(), room }
    }

    async fn read_all(&mut self, mut input: BufReader<impl AsyncRead + Unpin>) -> io::Result<()> {
        loop {
            let line = tokio::select! {
                line = lines::next(&mut input, self.limits.line_bytes_max) => line?,
                // The client reads no responses any more.
                () = self.out.closed() => return Ok(()),
            };
            while self.tasks.try_join_next().is_some() {}
            match line {
                Read::End => return Ok(()),
                Read::TooLong => {
                    let limit = self.limits.line_bytes_max;
                    let error = RpcError::invalid_request(format!("the line has more than {limit} bytes"));
                    self.refuse(Wrong { id: None, error }).await;
                }
                Read::Line(line) => self.handle_line(line).await,
            }
        }
    }

    async fn handle_line(&mut self, line: Vec<u8>) {
        let most = self.limits.open_bytes_max / UNIT_BYTES;
        let units = (line.len() / UNIT_BYTES + 1).min(most.max(1));
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let Ok(room) = self.room.clone().acquire_many_owned(units).await else { return };
        match message::read(&line) {
            None => {}
            Some(Line::One(Ok(message))) if self.is_cancellation(&message) => self.cancel(&message),
            Some(Line::One(Ok(message))) => self.handle_message(message, room).await,
            Some(Line::One(Err(wrong))) => self.refuse(wrong).await,
            Some(Line::Batch(all)) => self.handle_batch(all, room),
        }
    }

    async fn refuse(&self, wrong: Wrong) {
        // A closed output ends the reading.
        let _ = self.out.send(respond(wrong.id.as_deref(), &Err(wrong.error))).await;
    }

    fn is_full(&self) -> bool {
        self.tasks.len() >= self.limits.requests_max
    }

    async fn handle_message(&mut self, message: Message, room: OwnedSemaphorePermit) {
        if self.is_full() {
            return self.refuse(Wrong { id: message.id, error: self.full() }).await;
        }
        let (run, out) = (self.begin(message), self.out.clone());
        self.tasks.spawn(async move {
            if let Some(response) = run.await {
                let _ = out.send(response).await;
            }
            drop(room);
        });
    }

    fn full(&self) -> RpcError {
        let text = format!("{} requests have no response yet", self.limits.requests_max);
        RpcError::limit(text, "wait for their responses")
    }

    fn handle_batch(&mut self, all: Vec<Result<Message, Wrong>>, room: OwnedSemaphorePermit) {
        let has_room = all.len() <= self.limits.requests_max && !self.is_full();
        let mut running = Vec::with_capacity(all.len().min(self.limits.requests_max));
        for one in all {
            running.push(match one {
                Ok(message) if self.is_cancellation(&message) => {
                    self.cancel(&message);
                    continue;
                }
                Ok(message) if has_room => self.begin(message),
                Ok(message) => ready(respond(message.id.as_deref(), &Err(self.full()))),
                Err(wrong) => ready(respond(wrong.id.as_deref(), &Err(wrong.error))),
            });
        }
        let out = self.out.clone();
        self.tasks.spawn(async move {
            let responses: Vec<String> = futures_util::future::join_all(running).await.into_iter().flatten().collect();
            // A batch of notifications has no response.
            if !responses.is_empty() {
                let _ = out.send(format!("[{}]", responses.join(","))).await;
            }
            drop(room);
        });
    }

    /// Begins a request on a task of its own, so that a defect ends only this request.
    fn begin(&self, message: Message) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> {
        let Message { id, call } = message;
        let task = tokio::spawn(self.service.begin(call));
        let Some(id) = id else {
            return Box::pin(async move {
                // A notification has no response, not even an error.
                drop(task.await);
                None
            });
        };
        let (cancel, cancelled) = oneshot::channel();
        let (key, cancels) = (id.get().to_owned(), self.cancels.clone());
        cancels.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone(), cancel);
        Box::pin(async move {
            let stop = task.abort_handle();
            let outcome: Outcome = tokio::select! {
                biased;
                done = task => done.unwrap_or_else(|_| Err(RpcError::internal())),
                Ok(()) = cancelled => {
                    stop.abort();
                    Err(RpcError::cancelled())
                }
            };
            cancels.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
            Some(respond(Some(&id), &outcome))
        })
    }

    fn is_cancellation(&self, message: &Message) -> bool {
        message.id.is_none() && message.call.method == self.service.cancellation().0
    }

    fn cancel(&self, message: &Message) {
        let Some(params) = &message.call.params else { return };
        let Ok(params) = serde_json::from_str::<serde_json::Value>(params.get()) else { return };
        let Some(id) = params.get(self.service.cancellation().1) else { return };
        let cancel = self.cancels.lock().unwrap_or_else(PoisonError::into_inner).remove(&id.to_string());
        if let Some(cancel) = cancel {
            // The request may have ended meanwhile.
            let _ = cancel.send(());
        }
    }
}

fn ready(response: String) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> {
    Box::pin(std::future::ready(Some(response)))
}
