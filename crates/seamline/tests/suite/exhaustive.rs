//! Every transcript of up to six messages over a small alphabet.

use seamline::policy::PRESETS;
use seamline::providers::Provider;
use seamline::{Options, Policy, providers};
use seamline_testkit::Dialect;
use seamline_testkit::scope::{self, Kind};

use super::laws::{self, Judge, Mendable, Outcome};

const LENGTH_MAX: usize = 6;
const SHORTER_LENGTH_MAX: u32 = 4;
const SHORTEST_LENGTH_MAX: u32 = 3;
/// Providers whose demands on the order of messages differ from those of the provider that defines their dialect.
const REPRESENTATIVE: [&str; 6] =
    ["anthropic-compatible", "openai-compatible", "mistral", "moonshot", "deepseek-responses", "bedrock-nova"];
/// The most failures that are shown.
const SHOWN_MAX: usize = 3;

mod every_small_transcript_obeys_the_laws {
    seamline_testkit::test_each_dialect!(super::every_small_transcript);
}

#[test]
fn every_provider_and_preset_settles_every_shorter_transcript() {
    let count: usize = std::thread::scope(|threads| {
        let started: Vec<_> =
            providers::ALL.iter().map(|provider| threads.spawn(move || every_preset(provider))).collect();
        started.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    });
    println!("every provider and preset: {count} transcripts checked");
}

/// How many transcripts settle for a provider under every preset.
#[expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]
fn every_preset(provider: &Provider) -> usize {
    let dialect = Dialect::by_name(provider.dialect).unwrap();
    let is_representative = REPRESENTATIVE.contains(&provider.name) || dialect.provider() == provider.name;
    let length = if is_representative { SHORTER_LENGTH_MAX } else { SHORTEST_LENGTH_MAX };
    let mut count = 0;
    for preset in PRESETS {
        let policy = Policy::preset(preset.name).unwrap();
        let options = Options { provider: Some(provider.name.to_owned()), policy, ..laws::options(dialect) };
        for kinds in scope::transcripts(length) {
            let body = scope::render(dialect, &kinds);
            if let Err(failure) = laws::hold_everywhere(&body, &scope::payloads(&kinds), &options) {
                panic!("{} {} {kinds:?}: {failure}", provider.name, preset.name);
            }
            count += 1;
        }
    }
    count
}

#[test]
fn every_small_transcript_obeys_the_laws_for_deepseek_responses() {
    every_small_transcript_for(Judge::DeepSeekResponses);
}

fn every_small_transcript(dialect: Dialect) {
    every_small_transcript_for(Judge::Of(dialect));
}

#[expect(clippy::print_stdout, reason = "the number of transcripts belongs in the output")]
fn every_small_transcript_for(judge: Judge) {
    let walks: Vec<Walk> = std::thread::scope(|threads| {
        let walk = |first: Kind| {
            let mut walk = Walk::new(judge);
            walk.visit(&mut vec![first], None);
            walk
        };
        let started: Vec<_> = Kind::ALL.into_iter().map(|first| threads.spawn(move || walk(first))).collect();
        started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let count: usize = walks.iter().map(|walk| walk.count).sum();
    let failed: usize = walks.iter().map(|walk| walk.failed).sum();
    println!("{}: {count} transcripts checked", judge.dialect().name());
    assert_eq!(count, scope::transcripts(LENGTH_MAX as u32).count());
    let shown: Vec<_> = walks.into_iter().flat_map(|walk| walk.failures).take(SHOWN_MAX).collect();
    assert!(failed == 0, "{failed} of {count} fail, the first:\n{}", shown.join("\n\n"));
}

/// Walks over all transcripts with the same start, each after its own start, whose outcome is then known.
struct Walk {
    judge: Judge,
    count: usize,
    failed: usize,
    failures: Vec<String>,
}

impl Walk {
    fn new(judge: Judge) -> Self {
        Self { judge, count: 0, failed: 0, failures: Vec::new() }
    }

    fn visit(&mut self, kinds: &mut Vec<Kind>, head: Option<&Outcome<'_>>) {
        let body = scope::render(self.judge.dialect(), kinds);
        let outcome = laws::hold_for(self.judge, &body, &scope::payloads(kinds), Mendable::Wholly);
        self.count += 1;
        let stable = match (head, &outcome) {
            (Some(head), Ok(whole)) => laws::prefix_stable(head, whole),
            _ => Ok(()),
        };
        for failure in [outcome.as_ref().err(), stable.as_ref().err()].into_iter().flatten() {
            self.failed += 1;
            if self.failures.len() < SHOWN_MAX {
                self.failures.push(format!("{kinds:?}: {failure}"));
            }
        }
        if kinds.len() == LENGTH_MAX {
            return;
        }
        for kind in Kind::ALL {
            kinds.push(kind);
            self.visit(kinds, outcome.as_ref().ok());
            kinds.pop();
        }
    }
}
