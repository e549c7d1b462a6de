//! The places of connections. When all are taken, the connection that is idle for the longest time makes room.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::counts::{Counted, OpenCount};

/// The time between two looks for a connection that has become idle.
const FULL_PAUSE: Duration = Duration::from_millis(50);

/// The places of a proxy.
#[derive(Debug)]
pub(crate) struct Seats {
    free: Arc<Semaphore>,
    taken: Mutex<BTreeMap<u64, Arc<Use>>>,
    /// Numbers seats and requests in their order.
    clock: AtomicU64,
}

/// The use of one connection.
#[derive(Debug, Default)]
struct Use {
    requests: OpenCount,
    /// The time of the last request.
    last: AtomicU64,
    leave: Notify,
}

/// The place of one connection. It is free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    used: Arc<Use>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Seats {
    /// So many places.
    pub(crate) fn new(count: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self { free, taken: Mutex::default(), clock: AtomicU64::new(1) })
    }

    /// Takes a place. Waits while all connections have open requests.
    pub(crate) async fn take(self: &Arc<Self>) -> Seat {
        loop {
            if self.free.available_permits() == 0 {
                self.send_idle_away();
            }
            let free = Arc::clone(&self.free).acquire_owned();
            if let Ok(permit) = tokio::time::timeout(FULL_PAUSE, free).await {
                // The semaphore is never closed.
                return self.seat(permit.ok());
            }
        }
    }

    fn seat(self: &Arc<Self>, permit: Option<OwnedSemaphorePermit>) -> Seat {
        let number = self.tick();
        let used = Arc::new(Use { last: AtomicU64::new(number), ..Use::default() });
        self.lock().insert(number, Arc::clone(&used));
        Seat { seats: Arc::clone(self), number, used, _permit: permit }
    }

    /// Tells the connection to leave that is idle for the longest time. One without a request so far is not idle: it has
    /// the time for its first head.
    fn send_idle_away(&self) {
        let taken = self.lock();
        let is_idle = |(number, used): &(&u64, &Arc<Use>)| {
            used.requests.get() == 0 && used.last.load(Ordering::Relaxed) > **number
        };
        let idle = taken.iter().filter(is_idle).min_by_key(|(_, used)| used.last.load(Ordering::Relaxed));
        if let Some((_, used)) = idle {
            used.leave.notify_one();
        }
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Use>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Counts a request until the result is dropped.
    pub(crate) fn request(&self) -> Counted {
        self.used.last.store(self.seats.tick(), Ordering::Relaxed);
        self.used.requests.enter()
    }

    /// Whether the connection has had a request.
    pub(crate) fn has_request(&self) -> bool {
        self.used.last.load(Ordering::Relaxed) > self.number
    }

    /// Waits until the connection is idle and another one needs its place.
    pub(crate) async fn is_needed(&self) {
        loop {
            self.used.leave.notified().await;
            if self.used.requests.get() == 0 {
                return;
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_is_idle_for_the_longest_time_makes_room() {
        let seats = Seats::new(3);
        let (new, old, busy) = (seats.take().await, seats.take().await, seats.take().await);
        let open = busy.request();
        assert!(!new.has_request());
        drop(old.request());
        drop(new.request());
        assert!(seats.take().now_or_never().is_none());
        assert!(old.is_needed().now_or_never().is_some());
        assert!(new.is_needed().now_or_never().is_none() && busy.is_needed().now_or_never().is_none());
        drop(old);
        let fourth = seats.take().await;
        assert!(!fourth.has_request() && open_requests(&busy) == 1);
        drop(open);
        assert_eq!(open_requests(&busy), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_and_one_with_an_open_request_stay() {
        let seats = Seats::new(2);
        let (new, busy) = (seats.take().await, seats.take().await);
        let _open = busy.request();
        assert!(tokio::time::timeout(Duration::from_secs(9), seats.take()).await.is_err());
        assert!(new.is_needed().now_or_never().is_none() && busy.is_needed().now_or_never().is_none());
    }

    fn open_requests(seat: &Seat) -> usize {
        seat.used.requests.get()
    }
}
