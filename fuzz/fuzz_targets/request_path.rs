#![no_main]

#[path = "../../crates/seamline-proxy/tests/request_path/entry.rs"]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| entry::run(bytes));
