//! The tests of the public interface, in one binary.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failed setup fails the test")]

#[path = "suite/bed.rs"]
mod bed;
#[path = "suite/conformance.rs"]
mod conformance;
#[path = "suite/damage.rs"]
mod damage;
#[path = "suite/erase.rs"]
mod erase;
#[path = "suite/faults.rs"]
mod faults;
#[path = "suite/holders.rs"]
mod holders;
#[path = "suite/hostile.rs"]
mod hostile;
#[path = "suite/index.rs"]
mod index;
#[path = "suite/kills.rs"]
mod kills;
#[path = "suite/logs.rs"]
mod logs;
#[path = "suite/names.rs"]
mod names;
#[path = "suite/queue.rs"]
mod queue;
#[path = "suite/rivals.rs"]
mod rivals;
#[path = "suite/users.rs"]
mod users;
