//! Tests of records.

use super::*;

#[test]
fn the_size_of_a_turn_counts_all_its_messages() {
    let message = |bytes: usize| Raw::parse(format!("\"{}\"", "x".repeat(bytes))).unwrap();
    let (cycle, checkpoint, calls, dialect) = ("cycle_1".into(), None, Vec::new(), None);
    let more = vec![message(20_000), message(30_000)];
    let turn = Record::Turn(Turn { cycle, checkpoint, message: message(10_000), more, calls, dialect });
    assert!((60_000..61_000).contains(&turn.bytes_about()), "{}", turn.bytes_about());
}
