//! What checking and repairing cost beside parsing the same bytes.
//!
//! Every figure is the best of several interleaved rounds, so that the ratios hold on a
//! busy machine too. Nothing here passes or fails; `cargo xtask bench core` prints it.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use seamline::{Options, check, repair};
use serde::de::IgnoredAny;
use serde_json::Value;

/// How many messages the bodies have.
const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// How many bytes a message has, about.
const MESSAGE_BYTES: usize = 1_000;

/// Every so many cycles one is damaged.
const DAMAGE_EVERY: usize = 20;

/// How long one figure is measured, over all rounds.
const BUDGET: Duration = Duration::from_millis(1_200);

fn main() {
    println!("best of interleaved rounds; ratios are against the same bytes in the same run\n");
    println!(
        "{:<20} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}",
        "body", "messages", "MB", "syntax ms", "Value ms", "check ms", "repair ms", "ch/Val", "ch/syn", "rep/Val"
    );
    for dialect in ["anthropic_messages", "openai_chat"] {
        for damaged in [false, true] {
            let rows: Vec<Row> = SIZES.iter().map(|&size| measure(dialect, damaged, size)).collect();
            let growth = |figure: fn(&Row) -> Duration| ratio(figure(&rows[3]), figure(&rows[1]));
            println!(
                "{:<20} growth 1,000 to 100,000: check {:.1}, repair {:.1}\n",
                "",
                growth(|row| row.check),
                growth(|row| row.repair)
            );
        }
    }
}

struct Row {
    check: Duration,
    repair: Duration,
}

fn measure(dialect: &str, damaged: bool, size: usize) -> Row {
    let body = body(dialect, damaged, size);
    let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
    let mut best = [Duration::MAX; 4];
    let started = Instant::now();
    while started.elapsed() < BUDGET {
        let figures = [
            time(|| serde_json::from_slice::<IgnoredAny>(&body).is_ok()),
            time(|| serde_json::from_slice::<Value>(&body).is_ok()),
            time(|| check(&body, &options).is_ok()),
            time(|| repair(&body, &options).is_ok()),
        ];
        for (best, figure) in best.iter_mut().zip(figures) {
            *best = (*best).min(figure);
        }
    }
    let [syntax, value, check, repair] = best;
    let ms = |figure: Duration| figure.as_secs_f64() * 1e3;
    let name = format!("{dialect}{}", if damaged { " !" } else { "" });
    println!(
        "{name:<20} {size:>8} {:>8.2} {:>10.3} {:>10.3} {:>10.3} {:>10.3} {:>8.2} {:>8.2} {:>8.2}",
        body.len() as f64 / 1e6,
        ms(syntax),
        ms(value),
        ms(check),
        ms(repair),
        ratio(check, value),
        ratio(check, syntax),
        ratio(repair, value)
    );
    Row { check, repair }
}

fn time(work: impl FnOnce() -> bool) -> Duration {
    let start = Instant::now();
    assert!(black_box(work()));
    start.elapsed()
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// A conversation of a coding agent: a prompt, then cycles of a call and its result.
fn body(dialect: &str, damaged: bool, size: usize) -> Vec<u8> {
    let mut messages = Vec::with_capacity(size);
    messages.push(format!(r#"{{"role":"user","content":"{}"}}"#, prose(0)));
    let mut cycle = 0;
    while messages.len() < size {
        let id = format!("call_{cycle:024x}");
        let lost = damaged && cycle % DAMAGE_EVERY == 3;
        let text = prose(cycle);
        let (call, result) = match dialect {
            "openai_chat" => openai(&id, &text),
            _ => anthropic(&id, &text),
        };
        messages.push(call);
        let steering = format!(r#"{{"role":"user","content":"{}"}}"#, prose(cycle + 1));
        match (lost, cycle % (2 * DAMAGE_EVERY) == 3) {
            (true, true) => messages.push(steering),
            (true, false) => messages.extend([steering, result]),
            (false, _) => messages.push(result),
        }
        cycle += 1;
    }
    let model = if dialect == "openai_chat" { "gpt-4o" } else { "claude-sonnet-4-5" };
    format!(r#"{{"model":"{model}","max_tokens":1024,"messages":[{}]}}"#, messages.join(",")).into_bytes()
}

fn anthropic(id: &str, text: &str) -> (String, String) {
    (
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}},{{"type":"tool_use","id":"{id}","name":"read_file","input":{{"path":"src/main.rs","line":12}}}}]}}"#
        ),
        format!(r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"{text}"}}]}}"#),
    )
}

fn openai(id: &str, text: &str) -> (String, String) {
    (
        format!(
            r#"{{"role":"assistant","content":"{text}","tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"src/main.rs\",\"line\":12}}"}}}}]}}"#
        ),
        format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{text}"}}"#),
    )
}

/// About a kilobyte of text as agents see it: words, code, line breaks.
fn prose(seed: usize) -> String {
    const LINES: [&str; 4] = [
        "The function reads the configuration and returns the first entry that matches the pattern. ",
        "    let value = map.get(&key).copied().unwrap_or_default();\\n",
        "running 14 tests, all of them passed in the usual time and without a warning; ",
        "see the notes on ordering before you change the loop below, it is not obvious.\\n",
    ];
    let mut text = String::with_capacity(MESSAGE_BYTES + 100);
    let mut line = seed;
    while text.len() < MESSAGE_BYTES - 150 {
        text.push_str(LINES[line % LINES.len()]);
        line += 1;
    }
    text
}
