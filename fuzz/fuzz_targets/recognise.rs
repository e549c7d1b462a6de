#![no_main]

#[path = "../../crates/seamline/tests/suite/entries.rs"]
mod entries;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entries::run("recognise", bytes));
