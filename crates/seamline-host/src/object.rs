//! The objects that a client holds by handles.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use seamline::guards::{Breaker, Retry, StallGuard, ToolSchemas};
use seamline::session::Session;
use seamline::stream::{Response, ResponseStream};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use crate::RpcError;

/// An open object.
#[derive(Debug)]
pub(crate) enum Object {
    Session(Box<Session>),
    Stream(Box<Streaming>),
    Retry(Retry),
    Breaker(Box<Guarded>),
    Stall(StallGuard),
}

/// A stream, before and after its end.
#[derive(Debug)]
pub(crate) enum Streaming {
    Open(Box<ResponseStream>),
    Ended(Box<Response>),
    /// The response could not be read.
    Failed,
}

/// A breaker with the schemas of the tools.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) breaker: Breaker,
    pub(crate) tools: ToolSchemas,
}

/// The kinds of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A durable session.
    Session,
    /// A streamed response.
    Stream,
    /// The retries of a request.
    Retry,
    /// The breaker of a turn.
    Breaker,
    /// The watchdog of a run.
    Stall,
    /// An object of any kind.
    Any,
}

impl ObjectKind {
    /// The name of the kind, and of the parameter that names an object of it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Stream => "stream",
            Self::Retry => "retry",
            Self::Breaker => "breaker",
            Self::Stall => "stall",
            Self::Any => "handle",
        }
    }
}

impl Object {
    pub(crate) fn kind(&self) -> ObjectKind {
        match self {
            Self::Session(_) => ObjectKind::Session,
            Self::Stream(_) => ObjectKind::Stream,
            Self::Retry(_) => ObjectKind::Retry,
            Self::Breaker(_) => ObjectKind::Breaker,
            Self::Stall(_) => ObjectKind::Stall,
        }
    }
}

/// An object, or nothing once it is closed. A request that waits for it has its place in the queue.
pub(crate) type Slot = Arc<Turn<Option<Object>>>;

/// An object that the earlier requests have left.
pub(crate) type Held = OwnedMutexGuard<Option<Object>>;

/// Takes the next place in the queue for an object.
pub(crate) fn queue(slot: Slot) -> Pin<Box<dyn Future<Output = Held> + Send>> {
    let mut place = Box::pin(slot.lock_owned());
    // The first poll takes the place: the lock is fair.
    match (&mut place).now_or_never() {
        Some(held) => Box::pin(std::future::ready(held)),
        None => place,
    }
}

/// The open objects by their handles.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    all: Mutex<Handles>,
}

#[derive(Debug, Default)]
struct Handles {
    last: u64,
    slots: HashMap<String, (ObjectKind, Slot)>,
}

impl Objects {
    /// Finds an object of a kind.
    pub(crate) fn find(&self, handle: &str, kind: ObjectKind) -> Result<Slot, RpcError> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        match all.slots.get(handle) {
            Some((is, slot)) if kind == ObjectKind::Any || *is == kind => Ok(slot.clone()),
            _ => Err(RpcError::no_object(handle)),
        }
    }

    /// Checks that there is room for one more object.
    pub(crate) fn check_room(&self, most: usize) -> Result<(), RpcError> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.slots.len() < most {
            return Ok(());
        }
        Err(RpcError::limit(format!("{most} objects are open"), "close one of them"))
    }

    /// Keeps an object and returns its handle.
    pub(crate) fn add(&self, object: Object) -> String {
        let kind = object.kind();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.last += 1;
        let handle = format!("{}-{}", kind.as_str(), all.last);
        all.slots.insert(handle.clone(), (kind, Arc::new(Turn::new(Some(object)))));
        handle
    }

    pub(crate) fn remove(&self, handle: &str) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).slots.remove(handle);
    }

    /// Removes all objects and returns them.
    pub(crate) fn drain(&self) -> Vec<Slot> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut all.slots).into_values().map(|(_, slot)| slot).collect()
    }
}
