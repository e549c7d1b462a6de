//! Sessions, on every store that there is.

mod crashes;
mod faulty;
mod layers;
mod seed_000;
mod seed_001;
mod seed_002;
mod stores;
mod table;
