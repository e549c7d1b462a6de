//! Damaged requests are repaired, and the provider accepts them.

use seamline_testkit::Dialect;
use seamline_testkit::provider::rejection;

use super::bodies::{broken, cases};
use super::stage::{Stage, path};

seamline_testkit::test_each_dialect!(damaged_requests_are_accepted);

#[expect(clippy::print_stdout, reason = "the numbers show what the proxy is good for")]
fn damaged_requests_are_accepted(dialect: Dialect) {
    let stage = Stage::new();
    let mut client = stage.client();
    let mut without = 0;
    for body in broken(dialect, cases(200)) {
        let is_damaged = rejection(dialect, body.as_bytes()).is_some();
        without += usize::from(is_damaged);
        let answer = client.post(path(dialect), body.as_bytes());
        let sent = stage.provider.take();
        assert_eq!(answer.status, 200, "{body}\n{}\n{}", answer.text(), String::from_utf8_lossy(&sent[0].raw_body));
        assert_eq!(answer.header("x-seamline-repairs").is_some(), sent[0].raw_body != body.as_bytes());
        if is_damaged {
            assert!(answer.header("x-seamline-findings").is_some() && answer.header("x-seamline-incident").is_some());
        }
    }
    println!("{}: {without} of {} requests are rejected without the proxy, 0 with it", dialect.name(), cases(200));
    // Most of the bodies are rejected without the proxy, or the test shows nothing.
    assert!(without * 2 > cases(200), "{without}");
}
