//! The host: the objects of a client and the methods that use them.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use seamline::session::Session;
use seamline::store::Store;
use serde::Serialize;
use tokio::sync::{Mutex, Semaphore};

use crate::log;
use crate::message::{Outcome, json};
use crate::methods::METHODS;
use crate::object::{Held, Object, ObjectKind, Objects, Streaming, queue};
use crate::params::Params;
use crate::serve::{HostLimits, RunningRequest, Service};
use crate::table::{Method, Run, Type};
use crate::{RpcCall, RpcError};

/// The objects of a client, and the methods that use them.
#[derive(Debug)]
pub struct Host {
    limits: HostLimits,
    objects: Objects,
    /// The open stores by their addresses.
    stores: Mutex<HashMap<String, Arc<dyn Store>>>,
    /// Turns for methods that compute: as many as there are processors.
    turns: Arc<Semaphore>,
}

impl Host {
    /// A host without objects.
    pub fn new(limits: HostLimits) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            limits,
            objects: Objects::default(),
            stores: Mutex::default(),
            turns: Arc::new(Semaphore::new(processors)),
        }
    }

    /// The store behind an address. It stays open, so that all sessions of one address share it.
    pub(crate) async fn store(&self, address: &str) -> Result<Arc<dyn Store>, RpcError> {
        let mut stores = self.stores.lock().await;
        if let Some(store) = stores.get(address) {
            return Ok(store.clone());
        }
        if stores.len() >= self.limits.stores_max {
            let text = format!("{} stores are open", self.limits.stores_max);
            return Err(RpcError::limit(text, "use another process of the host for other stores"));
        }
        let store = seamline::open_store(address).await?;
        stores.insert(address.to_owned(), store.clone());
        Ok(store)
    }

    /// Begins a request; requests for one object run in the order of these calls.
    pub fn begin(self: &Arc<Self>, call: RpcCall) -> BoxFuture<'static, Outcome> {
        let Some(method) = METHODS.iter().copied().find(|method| method.name == call.method) else {
            return Box::pin(ready(Err(RpcError::no_method(&call.method))));
        };
        let held = match self.held(method, &call) {
            Ok(held) => held,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        let host = self.clone();
        Box::pin(async move {
            let handle = held.handle.clone();
            let run = AssertUnwindSafe(host.run(method, &call, held)).catch_unwind();
            run.await.unwrap_or_else(|_| {
                // The object may be in a state that no code expects.
                if let Some(handle) = handle {
                    host.objects.remove(&handle);
                }
                Err(RpcError::internal())
            })
        })
    }

    /// Takes places in the queues of the objects that a request names.
    fn held(&self, method: &'static Method, call: &RpcCall) -> Result<Queued, RpcError> {
        let params = Params::read(method, call)?;
        let mut queued = Queued { handle: None, object: None, stream: None };
        for param in method.all_params() {
            let Type::Handle(kind) = param.of else { continue };
            let Some(handle) = params.text(param.name)? else { continue };
            let place = queue(self.objects.find(&handle, kind)?);
            // The first handle names the object of the method, another one a stream beside it.
            if queued.object.is_none() {
                (queued.handle, queued.object) = (Some(handle), Some(place));
            } else {
                queued.stream = Some(place);
            }
        }
        Ok(queued)
    }

    async fn run(&self, method: &'static Method, call: &RpcCall, queued: Queued) -> Outcome {
        match &method.run {
            Run::Pure(run) => {
                let _turn = self.turns.acquire().await.map_err(|_| RpcError::internal())?;
                compute(method, call, *run).await
            }
            Run::Host(run) => run(self, &Params::read(method, call)?).await,
            Run::Open(run) => {
                self.objects.check_room(self.limits.objects_max)?;
                let object = run(self, &Params::read(method, call)?).await?;
                let about = About::of(&object);
                json(&Opened { handle: self.objects.add(object), about })
            }
            Run::Object(run) => {
                let mut held = queued.object().await?;
                let object = held.as_mut().ok_or_else(closed)?;
                run(object, &Params::read(method, call)?)
            }
            Run::Session(run) => {
                let Queued { object, stream, .. } = queued;
                let mut held = object.ok_or_else(closed)?.await;
                let Some(Object::Session(session)) = held.as_mut() else { return Err(closed()) };
                let stream = match stream {
                    Some(stream) => Some(stream.await),
                    None => None,
                };
                let response = stream.as_deref().map(|object| ended(object.as_ref())).transpose()?;
                run(session, &Params::read(method, call)?, response).await
            }
            Run::Close => {
                let handle = queued.handle.clone().unwrap_or_default();
                let object = queued.object().await?.take().ok_or_else(closed)?;
                self.objects.remove(&handle);
                close(object).await?;
                json(&serde_json::json!({}))
            }
        }
    }
}

/// The response of a stream that has ended.
fn ended(object: Option<&Object>) -> Result<&seamline::stream::Response, RpcError> {
    match object {
        Some(Object::Stream(stream)) => match &**stream {
            Streaming::Ended(response) => Ok(response),
            Streaming::Open(_) | Streaming::Failed => {
                Err(RpcError::invalid_params("the stream has no response yet; call `stream/finish` first"))
            }
        },
        _ => Err(closed()),
    }
}

/// Runs a method that computes where it holds up no other request.
async fn compute(method: &'static Method, call: &RpcCall, run: fn(&Params<'_>) -> Outcome) -> Outcome {
    let call = RpcCall { method: call.method.clone(), params: call.params.clone() };
    let done = tokio::task::spawn_blocking(move || run(&Params::read(method, &call)?)).await;
    done.unwrap_or_else(|_| Err(RpcError::internal()))
}

async fn close(object: Object) -> Result<(), RpcError> {
    match object {
        Object::Session(session) => Ok(Session::close(*session).await?),
        Object::Stream(_) | Object::Retry(_) | Object::Breaker(_) | Object::Stall(_) => Ok(()),
    }
}

fn closed() -> RpcError {
    RpcError::no_object("of this request")
}

/// The places of a request in the queues of its objects.
struct Queued {
    handle: Option<String>,
    object: Option<Pin<Box<dyn Future<Output = Held> + Send>>>,
    stream: Option<Pin<Box<dyn Future<Output = Held> + Send>>>,
}

impl Queued {
    async fn object(self) -> Result<Held, RpcError> {
        Ok(self.object.ok_or_else(closed)?.await)
    }
}

/// A new object.
#[derive(Serialize)]
struct Opened {
    handle: String,
    #[serde(flatten)]
    about: About,
}

/// The description of a new object for the client.
#[derive(Serialize)]
#[serde(untagged)]
enum About {
    Session { id: String, dialect: &'static str, epoch: u64, messages: usize, whole: bool, damages: serde_json::Value },
    Other {},
}

impl About {
    fn of(object: &Object) -> Self {
        match object {
            Object::Session(session) => {
                let damages = match session.health() {
                    seamline::session::Health::Whole => serde_json::json!([]),
                    seamline::session::Health::Degraded(damages) => serde_json::json!(damages),
                };
                Self::Session {
                    id: session.id().to_string(),
                    dialect: session.dialect(),
                    epoch: session.epoch(),
                    messages: session.entries().len(),
                    whole: session.health().is_whole(),
                    damages,
                }
            }
            Object::Stream(_) | Object::Retry(_) | Object::Breaker(_) | Object::Stall(_) => Self::Other {},
        }
    }
}

impl Service for Host {
    fn begin(self: &Arc<Self>, call: RpcCall) -> RunningRequest {
        Host::begin(self, call)
    }

    fn finish(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            for slot in self.objects.drain() {
                let object = slot.lock().await.take();
                let kind = object.as_ref().map_or(ObjectKind::Any, Object::kind);
                let closed = match object {
                    Some(object) => close(object).await,
                    None => Ok(()),
                };
                if let Err(error) = closed {
                    log::warn_of_unclosed(kind, &error);
                }
            }
        })
    }

    fn cancellation(&self) -> (&'static str, &'static str) {
        ("$/cancelRequest", "id")
    }

    fn limits(&self) -> HostLimits {
        self.limits
    }
}
