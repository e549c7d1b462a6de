//! The bodies that tests send.

use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;
use seamline_testkit::generate::{self, Mangled};
use seamline_testkit::text::Style;
use seamline_testkit::{Dialect, render};

/// The number of cases of a test: the usual one, or a thousand with `SEAMLINE_PROXY_CASES`.
pub(crate) fn cases(usual: usize) -> usize {
    std::env::var("SEAMLINE_PROXY_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// Draws values, the same in every run.
pub(crate) fn drawn<T>(strategy: &impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Healthy bodies.
pub(crate) fn healthy(dialect: Dialect, count: usize) -> Vec<String> {
    let render = |(transcript, style): (_, Style)| render::render(dialect, &generate::fit(dialect, transcript), style);
    drawn(&(generate::good(), generate::style()), count).into_iter().map(render).collect()
}

/// Bodies whose conversation was broken.
pub(crate) fn broken(dialect: Dialect, count: usize) -> Vec<String> {
    let broken = generate::broken().prop_map(|broken| Mangled { broken, wire: Vec::new() });
    let render = |(mangled, style): (Mangled, Style)| mangled.render(dialect, style).text;
    drawn(&(broken, generate::style()), count).into_iter().map(render).collect()
}

/// A short healthy body.
pub(crate) fn short(dialect: Dialect) -> &'static str {
    dialect.short_body()
}

/// A short body that asks for a stream, where the body does that.
pub(crate) fn streamed(dialect: Dialect) -> String {
    if dialect.stream_path() != dialect.path() {
        return short(dialect).to_owned();
    }
    short(dialect).replacen('{', r#"{"stream":true,"#, 1)
}

/// A body with a call that has no result, which the provider rejects.
pub(crate) const DAMAGED: &str = r#"{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[
    {"role":"user","content":"what is in main.rs?"},
    {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]},
    {"role":"user","content":"never mind"}],
    "tools":[{"name":"read","input_schema":{"type":"object"}}]}"#;
