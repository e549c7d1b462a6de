//! The bounded queue of incidents on their way to the store, and their ids.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::incident::ProxyIncident;

/// The most incidents that wait for the store.
pub(super) const WAITING_MAX: usize = 4_096;
/// The most incidents of one session. A session shows its last thousand incidents.
pub(super) const SESSION_INCIDENTS_MAX: u64 = 500;
/// The longest time that one session gets incidents, so that old ones can be removed with their session.
const SESSION_TIME_MS: u64 = 24 * 60 * 60 * 1000;
/// The start of the names of the sessions with incidents of proxies.
pub(super) const SESSION_PREFIX: &str = "proxy-";

/// Incidents on their way to the store.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: VecDeque<ProxyIncident>,
    /// The series of ids; a series is one session of the store.
    series: String,
    series_began: u64,
    next: u64,
    dropped: u64,
    is_closed: bool,
    is_unavailable: bool,
}

impl Queue {
    /// Takes an incident. Returns its id, unless the store is known to be unavailable.
    pub(super) fn push(&self, mut incident: ProxyIncident) -> Option<String> {
        let mut state = self.lock();
        if state.is_closed {
            state.dropped += 1;
            return None;
        }
        let id = state.next_id();
        incident.id.clone_from(&id);
        if state.waiting.len() >= WAITING_MAX {
            state.waiting.pop_front();
            state.dropped += 1;
        }
        state.waiting.push_back(incident);
        let id = (!state.is_unavailable).then_some(id);
        drop(state);
        self.changed.notify_one();
        id
    }

    /// Waits for incidents. Returns those of one session, at most `max`; none when the queue is closed and empty.
    pub(super) fn take(&self, max: usize) -> Vec<ProxyIncident> {
        let mut state = self.lock();
        while state.waiting.is_empty() && !state.is_closed {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let series = state.waiting.front().map(|incident| series_of(&incident.id).to_owned()).unwrap_or_default();
        let is_of_series = |incident: &&ProxyIncident| series_of(&incident.id) == series;
        let count = state.waiting.iter().take(max).take_while(is_of_series).count();
        state.waiting.drain(..count).collect()
    }

    /// Waits before the next attempt. Returns whether there should be one.
    pub(super) fn wait_to_retry(&self, pause: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, pause, |state| !state.is_closed);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_closed
    }

    /// Notes whether the store works. Returns whether that is new.
    pub(super) fn set_available(&self, is_available: bool) -> bool {
        let mut state = self.lock();
        let was_available = !std::mem::replace(&mut state.is_unavailable, !is_available);
        was_available != is_available
    }

    /// Counts incidents that cannot be written.
    pub(super) fn count_dropped(&self, count: u64) {
        self.lock().dropped += count;
    }

    /// Takes no further incidents.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    pub(super) fn is_available(&self) -> bool {
        !self.lock().is_unavailable
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn next_id(&mut self) -> String {
        let now = now_ms();
        let is_over = self.next >= SESSION_INCIDENTS_MAX || now.saturating_sub(self.series_began) >= SESSION_TIME_MS;
        if self.series.is_empty() || is_over {
            self.series = new_series(now);
            self.series_began = now;
            self.next = 0;
        }
        self.next += 1;
        format!("{}-{}", self.series, self.next)
    }
}

/// The name of a new series: its time, so that names sort by age, and a part that no other process has.
pub(crate) fn new_series(now: u64) -> String {
    let chance = RandomState::new().hash_one(std::process::id());
    format!("{}{}", in_base_36(now, TIME_DIGITS), in_base_36(chance % 36_u64.pow(CHANCE_DIGITS), CHANCE_DIGITS))
}

/// Eight digits hold the milliseconds until 2059, and the time sorts as text.
const TIME_DIGITS: u32 = 8;
const CHANCE_DIGITS: u32 = 4;

fn in_base_36(number: u64, digits: u32) -> String {
    let digit = |index: u32| (number / 36_u64.pow(index) % 36) as u32;
    (0..digits).rev().filter_map(|index| char::from_digit(digit(index), 36)).collect()
}

/// The time when a series began, in milliseconds since 1970.
pub(crate) fn time_of_series(series: &str) -> Option<u64> {
    u64::from_str_radix(series.get(..TIME_DIGITS as usize)?, 36).ok()
}

/// The series of an id.
pub(super) fn series_of(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(series, _)| series)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
