//! The places of connections. When all are taken, the connection that is idle for the longest time makes room.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::counts::{Counted, OpenCount};

/// The time between two looks for a connection that has become idle.
const FULL_PAUSE: Duration = Duration::from_millis(50);

/// The places of a proxy.
#[derive(Debug)]
pub(crate) struct Seats {
    taken: Mutex<BTreeMap<u64, Arc<Use>>>,
    /// Tells that a place was left.
    left: Notify,
    /// Numbers seats and requests in their order.
    clock: AtomicU64,
    /// The number of taken places, for the reports.
    open: OpenCount,
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
    _open: Counted,
}

impl Seats {
    /// Places that are all free. `open` counts those that are taken.
    pub(crate) fn new(open: OpenCount) -> Arc<Self> {
        Arc::new(Self { taken: Mutex::default(), left: Notify::new(), clock: AtomicU64::new(1), open })
    }

    /// Takes one of so many places. Waits while all connections have open requests. The number can change meanwhile.
    pub(crate) async fn take(self: &Arc<Self>, count_max: impl Fn() -> usize) -> Seat {
        loop {
            if let Some(seat) = self.free_seat(count_max().max(1)) {
                return seat;
            }
            self.send_idle_away();
            let _ = tokio::time::timeout(FULL_PAUSE, self.left.notified()).await;
        }
    }

    fn free_seat(self: &Arc<Self>, count_max: usize) -> Option<Seat> {
        let mut taken = self.lock();
        if taken.len() >= count_max {
            return None;
        }
        let number = self.tick();
        let used = Arc::new(Use { last: AtomicU64::new(number), ..Use::default() });
        taken.insert(number, Arc::clone(&used));
        Some(Seat { seats: Arc::clone(self), number, used, _open: self.open.enter() })
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
        self.seats.left.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_is_idle_for_the_longest_time_makes_room() {
        let seats = Seats::new(OpenCount::default());
        let take = || seats.take(|| 3);
        let (new, old, busy) = (take().await, take().await, take().await);
        let open = busy.request();
        assert!(!new.has_request());
        drop(old.request());
        drop(new.request());
        assert!(take().now_or_never().is_none());
        assert!(old.is_needed().now_or_never().is_some());
        assert!(new.is_needed().now_or_never().is_none() && busy.is_needed().now_or_never().is_none());
        drop(old);
        let fourth = take().await;
        assert!(!fourth.has_request() && open_requests(&busy) == 1);
        drop(open);
        assert_eq!(open_requests(&busy), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_and_one_with_an_open_request_stay() {
        let seats = Seats::new(OpenCount::default());
        let take = || seats.take(|| 2);
        let (new, busy) = (take().await, take().await);
        let _open = busy.request();
        assert!(tokio::time::timeout(Duration::from_secs(9), take()).await.is_err());
        assert!(new.is_needed().now_or_never().is_none() && busy.is_needed().now_or_never().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_places_can_change() {
        let (seats, count) = (Seats::new(OpenCount::default()), std::cell::Cell::new(1));
        let take = || seats.take(|| count.get());
        let first = take().await;
        let second = take();
        tokio::pin!(second);
        assert!(tokio::time::timeout(Duration::from_secs(9), &mut second).await.is_err());
        count.set(2);
        let second = second.await;
        count.set(1);
        drop(first);
        assert!(tokio::time::timeout(Duration::from_secs(9), take()).await.is_err());
        drop(second);
        take().await;
    }

    fn open_requests(seat: &Seat) -> usize {
        seat.used.requests.get()
    }
}
