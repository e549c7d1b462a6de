//! The cost of checks and repairs compared with parsing the same bytes.
//!
//! Every figure is the best of several interleaved rounds, and every round processes the same number of messages, so
//! that the ratios hold on a busy machine too. Nothing here passes or fails; `cargo xtask bench core` prints it.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::cast_precision_loss, reason = "megabytes are printed with two digits")]

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use seamline::{Options, check, repair};
use serde::de::IgnoredAny;
use serde_json::Value;

/// The dialects; those named on the command line are measured, or all.
const DIALECTS: [&str; 5] =
    ["anthropic_messages", "openai_chat", "openai_responses", "bedrock_converse", "gemini_generate"];

/// The numbers of messages of the bodies.
const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// The number of cycles per damaged one.
const DAMAGE_EVERY: usize = 20;

/// The number of messages that one figure processes per round, for every size of body: otherwise a small body would be
/// measured by its best moment and a large one by its average.
const MESSAGES_PER_ROUND: usize = 100_000;

/// The number of rounds; the best counts.
const ROUNDS: usize = 5;

fn main() {
    println!("best of interleaved rounds; ratios are against the same bytes in the same run");
    println!("repair gives pieces to a sink that looks at both ends of each; join puts them into one Vec as well\n");
    println!(
        "{:<20} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8}",
        "body",
        "messages",
        "MB",
        "copy ms",
        "syntax ms",
        "Value ms",
        "check ms",
        "repair ms",
        "join ms",
        "ch/Val",
        "ch/syn",
        "rep/Val"
    );
    let chosen: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for dialect in DIALECTS.into_iter().filter(|name| chosen.is_empty() || chosen.iter().any(|chosen| chosen == name)) {
        for damaged in [false, true] {
            let rows: Vec<Row> = SIZES.iter().map(|&size| measure(dialect, damaged, size)).collect();
            let growth = |figure: fn(&Row) -> Duration| ratio(figure(&rows[3]), figure(&rows[1]));
            println!(
                "{:<20} growth 1,000 to 100,000: check {:.1}, repair {:.1}, join {:.1}; copy {:.1}, syntax {:.1}, Value {:.1}\n",
                "",
                growth(|row| row.check),
                growth(|row| row.repair),
                growth(|row| row.join),
                growth(|row| row.copy),
                growth(|row| row.syntax),
                growth(|row| row.value),
            );
        }
    }
}

struct Row {
    /// A bare copy of the bytes.
    copy: Duration,
    /// A pass that only checks the syntax.
    syntax: Duration,
    /// A parse into [`Value`].
    value: Duration,
    check: Duration,
    /// A repair whose pieces are written out.
    repair: Duration,
    /// A repair whose pieces are joined.
    join: Duration,
}

fn measure(dialect: &str, damaged: bool, size: usize) -> Row {
    let body = body(dialect, damaged, size);
    let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
    let is_clean = check(&body, &options).is_ok_and(|checked| checked.findings.is_empty());
    assert_ne!(is_clean, damaged, "a body is damaged exactly if the name says so");
    let mut best = [Duration::MAX; 6];
    let times = (MESSAGES_PER_ROUND / size) as u32;
    for _ in 0..ROUNDS {
        let figures = [
            time(times, || black_box(body.clone()).len() == body.len()),
            time(times, || serde_json::from_slice::<IgnoredAny>(&body).is_ok()),
            time(times, || serde_json::from_slice::<Value>(&body).is_ok()),
            time(times, || check(&body, &options).is_ok()),
            time(times, || {
                repair(&body, &options).is_ok_and(|repaired| repaired.body.write_to(Sink::default()).is_ok())
            }),
            time(times, || repair(&body, &options).is_ok_and(|repaired| !repaired.body.into_bytes().is_empty())),
        ];
        for (best, figure) in best.iter_mut().zip(figures) {
            *best = (*best).min(figure);
        }
    }
    let [copy, syntax, value, check, repair, join] = best;
    let ms = |figure: Duration| figure.as_secs_f64() * 1e3;
    let name = format!("{dialect}{}", if damaged { " !" } else { "" });
    println!(
        "{name:<20} {size:>8} {:>8.2} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>8.2} {:>8.2} {:>8.2}",
        body.len() as f64 / 1e6,
        ms(copy),
        ms(syntax),
        ms(value),
        ms(check),
        ms(repair),
        ms(join),
        ratio(check, value),
        ratio(check, syntax),
        ratio(repair, value)
    );
    Row { copy, syntax, value, check, repair, join }
}

/// Takes pieces as a socket does, and reads both ends of each.
#[derive(Default)]
struct Sink {
    seen: u8,
}

impl Write for Sink {
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        let ends = piece.first().copied().unwrap_or(0) ^ piece.last().copied().unwrap_or(0);
        self.seen = black_box(self.seen ^ ends);
        Ok(piece.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn time(times: u32, work: impl Fn() -> bool) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        assert!(black_box(work()));
    }
    start.elapsed() / times
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// A conversation of a coding agent: a prompt, then cycles of one to three calls and
/// their results.
fn body(dialect: &str, damaged: bool, size: usize) -> Vec<u8> {
    let (head, list, write, user): (&str, &str, Dialect, User) = match dialect {
        "openai_chat" => (r#""model":"gpt-4o""#, "messages", openai, user),
        "openai_responses" => (r#""model":"gpt-5""#, "input", responses, user),
        "bedrock_converse" => (BEDROCK_TOOLS, "messages", bedrock, bedrock_user),
        "gemini_generate" => (r#""tools":[]"#, "contents", gemini, gemini_user),
        _ => (r#""model":"claude-sonnet-4-5","max_tokens":1024"#, "messages", anthropic, user),
    };
    let mut messages = Vec::with_capacity(size + 4);
    messages.push(user(&prose(0, 900)));
    let mut cycle = 0;
    while messages.len() < size {
        let ids: Vec<String> = (0..=cycle % 3).map(|call| format!("call_{cycle:016x}{call:08x}")).collect();
        let (call, mut results) = write(&ids, &prose(cycle, 350), &code(cycle, 1_150));
        messages.push(call);
        if damaged && cycle % DAMAGE_EVERY == 3 {
            // In turn, a result is lost, or the user speaks before it arrives.
            messages.push(user(&prose(cycle, 200)));
            if cycle % (2 * DAMAGE_EVERY) == 3 {
                results.pop();
            }
        }
        messages.extend(results);
        cycle += 1;
    }
    format!(r#"{{{head},"{list}":[{}]}}"#, messages.join(",")).into_bytes()
}

/// Bedrock requires a declaration of every called tool.
const BEDROCK_TOOLS: &str =
    r#""toolConfig":{"tools":[{"toolSpec":{"name":"read_file","inputSchema":{"json":{"type":"object"}}}}]}"#;

/// Writes a message of the user.
type User = fn(&str) -> String;

/// Writes the message that makes calls, and their results.
type Dialect = fn(&[String], &str, &str) -> (String, Vec<String>);

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

fn anthropic(ids: &[String], text: &str, output: &str) -> (String, Vec<String>) {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"type":"tool_use","id":"{id}","name":"read_file","input":{{"path":"src/main.rs","offset":120,"limit":40}}}}"#))
        .collect();
    let results: Vec<String> = ids
        .iter()
        .map(|id| {
            format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{{"type":"text","text":"{output}"}}]}}"#)
        })
        .collect();
    (
        format!(r#"{{"role":"assistant","content":[{{"type":"text","text":"{text}"}},{}]}}"#, calls.join(",")),
        vec![format!(r#"{{"role":"user","content":[{}]}}"#, results.join(","))],
    )
}

fn bedrock_user(text: &str) -> String {
    format!(r#"{{"role":"user","content":[{{"text":"{text}"}}]}}"#)
}

fn bedrock(ids: &[String], text: &str, output: &str) -> (String, Vec<String>) {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"toolUse":{{"toolUseId":"{id}","name":"read_file","input":{{"path":"src/main.rs","offset":120,"limit":40}}}}}}"#))
        .collect();
    let results: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"toolResult":{{"toolUseId":"{id}","content":[{{"text":"{output}"}}]}}}}"#))
        .collect();
    (
        format!(r#"{{"role":"assistant","content":[{{"text":"{text}"}},{}]}}"#, calls.join(",")),
        vec![format!(r#"{{"role":"user","content":[{}]}}"#, results.join(","))],
    )
}

fn gemini_user(text: &str) -> String {
    format!(r#"{{"role":"user","parts":[{{"text":"{text}"}}]}}"#)
}

fn gemini(ids: &[String], text: &str, output: &str) -> (String, Vec<String>) {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"functionCall":{{"id":"{id}","name":"read_file","args":{{"path":"src/main.rs","offset":120,"limit":40}}}}}}"#))
        .collect();
    let results: Vec<String> = ids
        .iter()
        .map(|id| {
            format!(r#"{{"functionResponse":{{"id":"{id}","name":"read_file","response":{{"output":"{output}"}}}}}}"#)
        })
        .collect();
    (
        format!(r#"{{"role":"model","parts":[{{"text":"{text}"}},{}]}}"#, calls.join(",")),
        vec![format!(r#"{{"role":"user","parts":[{}]}}"#, results.join(","))],
    )
}

fn openai(ids: &[String], text: &str, output: &str) -> (String, Vec<String>) {
    let calls: Vec<String> = ids
        .iter()
        .map(|id| format!(r#"{{"id":"{id}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"src/main.rs\",\"offset\":120,\"limit\":40}}"}}}}"#))
        .collect();
    (
        format!(r#"{{"role":"assistant","content":"{text}","tool_calls":[{}]}}"#, calls.join(",")),
        ids.iter().map(|id| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"{output}"}}"#)).collect(),
    )
}

/// Items follow each other, so several of them make the calls.
fn responses(ids: &[String], text: &str, output: &str) -> (String, Vec<String>) {
    let said =
        format!(r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#);
    let calls = ids.iter().map(|id| {
        format!(r#"{{"type":"function_call","call_id":"{id}","name":"read_file","arguments":"{{\"path\":\"src/main.rs\",\"offset\":120,\"limit\":40}}"}}"#)
    });
    let results =
        ids.iter().map(|id| format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{output}"}}"#));
    (std::iter::once(said).chain(calls).collect::<Vec<_>>().join(","), results.collect())
}

/// Sentences, as users and models write them.
fn prose(seed: usize, bytes: usize) -> String {
    const SENTENCES: [&str; 4] = [
        "The function reads the configuration and returns the first entry that matches the pattern. ",
        "I will look at the caller next, since the value is only used there and nowhere else. ",
        "All of the tests passed in the usual time and without a warning.\\n\\n",
        "Please see the notes on ordering before you change the loop below, it is not obvious. ",
    ];
    filled(&SENTENCES, seed, bytes)
}

/// Lines of code, as tools return them.
fn code(seed: usize, bytes: usize) -> String {
    const LINES: [&str; 4] = [
        "    let value = map.get(&key).copied().unwrap_or_default();\\n",
        "    if let Some(entry) = entries.iter().find(|entry| entry.name == value) {\\n",
        "        return Err(Error::new(format!(\\\"unknown entry {value}\\\")));\\n",
        "    // The order of the entries matters to the reader below; see the design notes.\\n",
    ];
    filled(&LINES, seed, bytes)
}

fn filled(lines: &[&str], seed: usize, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    let mut line = seed;
    while text.len() < bytes {
        text.push_str(lines[line % lines.len()]);
        line += 1;
    }
    text
}
