//! The tests of the public interface, in one binary.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a fixture that cannot be read fails its test")]

#[path = "suite/breaker.rs"]
mod breaker;
#[path = "suite/filter.rs"]
mod filter;
#[path = "suite/fixtures.rs"]
mod fixtures;
#[path = "suite/properties.rs"]
mod properties;
#[path = "suite/reference.rs"]
mod reference;
#[path = "suite/schemas.rs"]
mod schemas;
#[path = "suite/seeds.rs"]
mod seeds;
#[path = "suite/settings.rs"]
mod settings;
#[path = "suite/wrappings.rs"]
mod wrappings;
