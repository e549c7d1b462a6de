//! Bodies and streams with features of 2026, where `SEAMLINE_CASES` points at them. The test prints a table of what each
//! is judged to be.

use std::fmt::Write as _;
use std::path::Path;

use seamline::check::Checked;
use seamline::stream::{ResponseStream, StreamOptions};
use seamline::{Options, Severity, check, repair};

/// The right verdict of a body.
enum Judged {
    /// No errors and no warnings.
    Valid,
    /// Errors or warnings with these codes, and no others.
    Finds(&'static [&'static str]),
}

use Judged::{Finds, Valid};

/// Each body, its dialect and the name of its company, and its verdict.
const BODIES: [(&str, &str, &str, Judged); 22] = [
    ("oar-async-call-pending", "openai_responses", "openai", Valid),
    ("oar-output-without-call-id", "openai_responses", "openai", Valid),
    ("gem-interactions-healthy", "gemini_interactions", "gemini", Valid),
    ("ant-thread-continue", "anthropic_messages", "anthropic", Valid),
    ("ant-system-output-config-only", "anthropic_messages", "anthropic", Valid),
    ("ant-toolset-name-result", "anthropic_messages", "anthropic", Valid),
    ("ant-advisor-split", "anthropic_messages", "anthropic", Finds(&["PAIR009"])),
    ("ant-ptc-text-after-result", "anthropic_messages", "anthropic", Finds(&["ORDER006", "PAIR008"])),
    ("oar-program-interrupted", "openai_responses", "openai", Finds(&["PAIR001"])),
    ("deepseek-responses-interleaved", "openai_responses", "deepseek", Finds(&["PAIR004"])),
    ("deepseek-chat-v4", "openai_chat", "deepseek", Finds(&["REASON003"])),
    ("oar-tool-search-client-unanswered", "openai_responses", "openai", Finds(&["PAIR001"])),
    ("oar-mcp-approval-unanswered", "openai_responses", "openai", Finds(&["PAIR014"])),
    ("oar-program-child-orphan-caller", "openai_responses", "openai", Finds(&["PAIR013"])),
    ("oar-configuration-update", "openai_responses", "openai", Valid),
    ("oar-ws-create", "openai_responses", "openai", Valid),
    ("ant-compaction-misplaced", "anthropic_messages", "anthropic", Finds(&["ORDER007"])),
    ("ant-tool-addition", "anthropic_messages", "anthropic", Finds(&["LIMIT008"])),
    ("ant-ptc-no-container", "anthropic_messages", "anthropic", Finds(&["LIMIT009"])),
    ("gem-interactions-unanswered", "gemini_interactions", "gemini", Finds(&["PAIR001"])),
    ("bed-system-role-tooladdition", "bedrock_converse", "bedrock", Valid),
    ("chat-gpt6", "openai_chat", "openai", Valid),
];

/// A test of a repaired body.
type IsRight = fn(&str) -> bool;

/// Each body whose repair matters, and the test of it.
const REPAIRS: [(&str, IsRight); 3] = [
    // The real result moves behind its call.
    ("ant-advisor-split", |body| body.contains(r#""encrypted_content":"zz""#) && !body.contains("unavailable")),
    // The call that runs the program stays open.
    ("ant-ptc-text-after-result", |body| !body.contains("code_execution_tool_result_error")),
    // The synthetic output names the program that made the call, as the call does.
    ("oar-program-interrupted", |body| body.matches(r#""caller_id":"call_prog""#).count() == 2),
];

/// Each stream, its dialect, how it ends, and the cause of a cut.
const STREAMS: [(&str, &str, &str, &str); 2] = [
    ("oar-steered", "openai_responses", "truncated", "steered"),
    ("gem-interactions", "gemini_interactions", "truncated", "stream"),
];

/// Small bodies of the project's own with the same features, and their verdicts. They are here, so that the judgement is
/// tested where the shared ones are not.
const OWN_BODIES: [(&str, &str, &str, Judged); 22] = [
    ("async-call-pending", "openai_responses", "openai", Valid),
    ("output-without-call-id", "openai_responses", "openai", Valid),
    ("interactions-healthy", "gemini_interactions", "gemini", Valid),
    ("thread-continue", "anthropic_messages", "anthropic", Valid),
    ("system-setting", "anthropic_messages", "anthropic", Valid),
    ("toolset-name", "anthropic_messages", "anthropic", Valid),
    ("advisor-split", "anthropic_messages", "anthropic", Finds(&["PAIR009"])),
    ("program-text-after-result", "anthropic_messages", "anthropic", Finds(&["ORDER006", "PAIR008"])),
    ("program-interrupted", "openai_responses", "openai", Finds(&["PAIR001"])),
    ("deepseek-interleaved", "openai_responses", "deepseek", Finds(&["PAIR004"])),
    ("deepseek-chat", "openai_chat", "deepseek", Finds(&["REASON003"])),
    ("search-unanswered", "openai_responses", "openai", Finds(&["PAIR001"])),
    ("approval-unanswered", "openai_responses", "openai", Finds(&["PAIR014"])),
    ("orphan-caller", "openai_responses", "openai", Finds(&["PAIR013"])),
    ("configuration-update", "openai_responses", "openai", Valid),
    ("socket-create", "openai_responses", "openai", Valid),
    ("compaction-misplaced", "anthropic_messages", "anthropic", Finds(&["ORDER007"])),
    ("tool-addition", "anthropic_messages", "anthropic", Finds(&["LIMIT008"])),
    ("no-container", "anthropic_messages", "anthropic", Finds(&["LIMIT009"])),
    ("interactions-unanswered", "gemini_interactions", "gemini", Finds(&["PAIR001"])),
    ("bedrock-system-addition", "bedrock_converse", "bedrock", Valid),
    ("chat-newest-model", "openai_chat", "openai", Valid),
];

#[test]
fn own_bodies_with_features_of_2026_are_judged_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/protocols");
    for (name, dialect, company, judged) in &OWN_BODIES {
        let checked = check(&body(&root, name).unwrap(), &Options::default()).unwrap();
        let expected: &[&str] = match judged {
            Valid => &[],
            Finds(expected) => expected,
        };
        assert_eq!((codes(&checked).as_slice(), checked.dialect), (expected, *dialect), "{name}");
        assert!(checked.provider.starts_with(company), "{name}: {}", checked.provider);
    }
    let repaired = |name: &str| {
        let body = body(&root, name).unwrap();
        let repaired = repair(&body, &Options::default()).unwrap();
        String::from_utf8(repaired.body.to_vec()).unwrap()
    };
    let split = repaired("advisor-split");
    assert!(split.contains("the real advice") && !split.contains("unavailable"), "{split}");
    assert!(!repaired("program-text-after-result").contains("code_execution_tool_result_error"));
    assert_eq!(repaired("program-interrupted").matches(r#""caller_id": "call_run_7""#).count(), 2);
}

#[test]
fn bodies_and_streams_of_2026_are_judged_right() {
    let Some(cases) = std::env::var_os("SEAMLINE_CASES") else {
        println!("skipped: SEAMLINE_CASES is not set");
        return;
    };
    let cases = Path::new(&cases);
    let mut table = String::new();
    let mut wrong = 0;
    let mut row = |name: &str, found: &str, is_right: bool| {
        wrong += usize::from(!is_right);
        let _ = writeln!(table, "{} {name:<36} {found}", if is_right { "right" } else { "WRONG" });
    };
    let index = std::fs::read_to_string(cases.join("INDEX.tsv")).unwrap();
    for case in index.lines().skip(1).map(Case::read) {
        let judged = BODIES.iter().find(|(name, ..)| *name == case.name).map(|(.., judged)| judged);
        let is_right = match judged {
            // No source tells what is right; the table shows what the body is judged to be today.
            None if case.kind == "open question" => true,
            None => STREAMS.iter().any(|(name, ..)| *name == case.name),
            Some(judged) => !case.verdict.starts_with("valid:") || matches!(judged, Valid),
        };
        if !is_right {
            row(case.name, &format!("the index says {:?}, and this test does not", case.verdict), false);
        } else if case.kind == "open question" {
            let checked = check(&body(cases, case.name).unwrap(), &Options::default()).unwrap();
            let found = format!("open question, judged {} {:?}: {}", checked.dialect, codes(&checked), case.verdict);
            row(case.name, &found, true);
        }
    }
    for (name, dialect, company, judged) in &BODIES {
        assert!(index.contains(&format!("\n{name}.json\t")), "the index does not list {name}");
        let checked = check(&body(cases, name).unwrap(), &Options::default()).unwrap();
        let codes = codes(&checked);
        let is_judged = match judged {
            Valid => codes.is_empty(),
            Finds(expected) => codes == *expected,
        };
        let is_placed = checked.dialect == *dialect && checked.provider.starts_with(company);
        let found = format!("{} {} {}", checked.dialect, checked.provider, codes.join(" "));
        row(name, &found, is_judged && is_placed);
    }
    for (name, is_right) in REPAIRS {
        let body = body(cases, name).unwrap();
        let repaired = repair(&body, &Options::default()).unwrap();
        let text = String::from_utf8(repaired.body.to_vec()).unwrap();
        row(name, "repaired", is_right(&text));
    }
    for (name, dialect, ending, cut) in STREAMS {
        let bytes = std::fs::read(cases.join("streams").join(format!("{name}.sse"))).unwrap();
        let mut stream = ResponseStream::new(&StreamOptions::default()).unwrap();
        stream.feed(&bytes);
        let response = stream.finish().unwrap();
        let (ended, cause) = (response.ending.as_str(), response.ending.cut().unwrap_or_default());
        let is_right = response.dialect == dialect && ended == ending && cause == cut;
        let found = format!("{} {ended} {cause}", response.dialect);
        row(name, &found, is_right);
    }
    println!("{table}");
    assert_eq!(wrong, 0, "cases judged wrong\n{table}");
}

/// A line of the index of the shared bodies and streams.
struct Case<'i> {
    /// The name of the file without its folder and ending.
    name: &'i str,
    /// The verdict of a correct tool.
    verdict: &'i str,
    kind: &'i str,
}

impl<'i> Case<'i> {
    #[expect(clippy::panic, reason = "an index in another form fails its test")]
    fn read(line: &'i str) -> Self {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, verdict, _, kind, _] = cells[..] else { panic!("the index has another form: {line}") };
        let name = file.rsplit('/').next().unwrap_or(file);
        Self { name: name.rsplit_once('.').map_or(name, |(name, _)| name), verdict, kind }
    }
}

fn body(cases: &Path, name: &str) -> std::io::Result<Vec<u8>> {
    std::fs::read(cases.join(format!("{name}.json")))
}

/// The codes of errors and warnings, sorted.
fn codes(checked: &Checked) -> Vec<&'static str> {
    let serious = checked.findings.iter().filter(|finding| finding.severity != Severity::Info);
    let mut codes: Vec<_> = serious.map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes
}
