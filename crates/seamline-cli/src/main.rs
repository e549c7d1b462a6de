//! The `seamline` command.
fn main() {}
