//! Every transcript of up to six messages over a small alphabet.

use seamline_testkit::{Dialect, scope};

use super::laws;

#[test]
fn every_small_anthropic_transcript_obeys_the_laws() {
    every_small_transcript(Dialect::AnthropicMessages);
}

#[test]
fn every_small_openai_transcript_obeys_the_laws() {
    every_small_transcript(Dialect::OpenAiChat);
}

#[expect(clippy::print_stdout, reason = "the number of transcripts belongs in the output")]
fn every_small_transcript(dialect: Dialect) {
    let mut count = 0;
    let mut failures = Vec::new();
    for kinds in scope::transcripts(LENGTH_MAX) {
        let body = scope::render(dialect, &kinds);
        if let Err(failure) = laws::hold(dialect, &body, &scope::payloads(&kinds)) {
            failures.push(format!("{kinds:?}: {failure}"));
        }
        // Every head is a transcript of the scope itself, so one more message is enough.
        let head = scope::render(dialect, &kinds[..kinds.len() - 1]);
        if kinds.len() > 1
            && let Err(failure) = laws::prefix_stable(dialect, &head, &body)
        {
            failures.push(format!("{kinds:?}: {failure}"));
        }
        count += 1;
    }
    println!("{}: {count} transcripts checked", dialect.name());
    assert!(
        failures.is_empty(),
        "{} of {count} fail, the first:\n{}",
        failures.len(),
        failures.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n")
    );
}

const LENGTH_MAX: u32 = 6;
