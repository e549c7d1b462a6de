//! The source documents' own test cases, each under the preset that behaves as its
//! document describes.
//!
//! `fixtures/presets/<preset>/<case>/` holds `case.toml`, `input.json` and the output: `findings.snap`, and
//! `repaired.json` unless the bytes do not change. The output can be blessed; the expectations of the source document,
//! in the table `[expect]`, cannot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use seamline::policy::{self, OrphanResult, TrailingCall, UnansweredCall};
use seamline::{Finding, Options, Policy, check, repair};
use seamline_testkit::{Dialect, scope, strict};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{fixtures::described, laws};

/// The fewest cases that each source document has.
const CASES_MIN: [(&str, usize); 5] = [("clawos", 14), ("kilroy", 5), ("libr-agent", 14), ("llxprt", 12), ("opal", 13)];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CaseFile {
    pub(crate) dialect: String,
    pub(crate) provider: String,
    pub(crate) policy: String,
    source: String,
    why: String,
    expect: Expect,
}

/// The expectations of the source document. Names and kinds are compared as whole lists.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Whether the check finds no error.
    valid: bool,
    /// The names of the findings.
    names: Vec<String>,
    /// Whether the repair returns exactly the same bytes.
    #[serde(default)]
    unchanged: bool,
    /// The roles of the repaired messages.
    roles: Vec<String>,
    /// The calls of the repaired body, as `id: name(input)`.
    #[serde(default)]
    calls: Vec<String>,
    /// Its results, as `id: text`.
    #[serde(default)]
    results: Vec<String>,
    /// The ids of the results that are marked as errors, where a dialect has such a mark.
    #[serde(default)]
    error_results: Vec<String>,
    /// Texts that are in exactly one string of the repaired body.
    #[serde(default)]
    texts_kept: Vec<String>,
    /// Texts that are in no string of the repaired body.
    #[serde(default)]
    texts_gone: Vec<String>,
    /// The names of the findings that the repair leaves.
    #[serde(default)]
    remaining: Vec<String>,
    /// The violations that the strict check still finds in the repaired body.
    #[serde(default)]
    rejected: Vec<String>,
    /// The case whose repaired messages this one's start with.
    starts_with: Option<String>,
}

pub(crate) struct Case {
    pub(crate) folder: PathBuf,
    pub(crate) file: CaseFile,
}

#[test]
fn every_case_gives_the_output_that_its_source_document_expects() {
    let bless = std::env::var_os("SEAMLINE_BLESS").is_some();
    let mut failures = Vec::new();
    for case in cases().unwrap() {
        if let Err(failure) = case.run(bless) {
            failures.push(format!("{}: {failure}", case.folder.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_source_document_has_its_cases() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases().unwrap() {
        *counts.entry(case.file.policy).or_default() += 1;
    }
    for (preset, count) in &counts {
        println!("{preset}: {count} cases");
    }
    let presets: Vec<_> = counts.keys().map(String::as_str).collect();
    assert_eq!(presets, CASES_MIN.map(|(preset, _)| preset));
    for (preset, min) in CASES_MIN {
        assert!(counts[preset] >= min, "{preset} has {}", counts[preset]);
    }
}

#[test]
fn every_source_preset_settles_every_short_conversation() {
    for (preset, _) in CASES_MIN {
        for dialect in Dialect::ALL {
            let options = Options { policy: Policy::preset(preset).unwrap(), ..laws::options(dialect) };
            for kinds in scope::transcripts(LENGTH_MAX) {
                let body = scope::render(dialect, &kinds);
                settles(dialect, &options, &body).unwrap_or_else(|failure| panic!("{preset} {body}: {failure}"));
            }
        }
    }
}

/// The longest conversations that every preset is tried on.
const LENGTH_MAX: u32 = 4;

/// L2 and L3. A body that is still rejected has no messages left or ends with an open call,
/// and the report says so.
fn settles(dialect: Dialect, options: &Options, body: &str) -> Result<(), String> {
    let repaired = repair(body.as_bytes(), options).map_err(|error| error.to_string())?;
    let again = repair(&repaired.body, options).map_err(|error| error.to_string())?;
    same("a second repair", &again.body, &repaired.body)?;
    let output: Value = serde_json::from_slice(&repaired.body).map_err(|e| e.to_string())?;
    let remains = |name: &str| repaired.remaining.iter().any(|finding| finding.name == name);
    let pending = options.policy.repair.trailing_call == TrailingCall::AllowPending && remains("unanswered-call");
    if pending || remains("no-messages") {
        return Ok(());
    }
    same("rejected", &strict::check(dialect, &output), &Vec::new())
}

impl Case {
    fn read(folder: PathBuf) -> Result<Self, String> {
        let shown = |error: String| format!("{}: {error}", folder.display());
        let file = table(&read(&folder.join("case.toml"))?).map_err(shown)?;
        let file: CaseFile = serde_json::from_value(file).map_err(|error| shown(error.to_string()))?;
        let said = !file.source.is_empty() && !file.why.is_empty();
        let placed = folder.parent().is_some_and(|preset| preset.ends_with(&file.policy));
        if said && placed {
            Ok(Self { folder, file })
        } else {
            Err(shown("has no source, or another preset".to_owned()))
        }
    }

    fn options(&self) -> Result<Options, String> {
        let policy = Policy::preset(&self.file.policy).ok_or("no such preset")?;
        Ok(Options {
            dialect: Some(self.file.dialect.clone()),
            provider: Some(self.file.provider.clone()),
            policy,
            ..Options::default()
        })
    }

    fn dialect(&self) -> Result<Dialect, String> {
        let named = |dialect: &Dialect| dialect.name() == self.file.dialect;
        Dialect::ALL.into_iter().find(named).ok_or("no such dialect".to_owned())
    }

    fn run(&self, bless: bool) -> Result<(), String> {
        let input = read(&self.folder.join("input.json"))?;
        let options = self.options()?;
        let checked = check(input.as_bytes(), &options).map_err(|error| error.to_string())?;
        let repaired = repair(input.as_bytes(), &options).map_err(|error| error.to_string())?;
        let output = String::from_utf8(repaired.body.to_vec()).map_err(|e| e.to_string())?;
        let again = repair(output.as_bytes(), &options).map_err(|error| error.to_string())?;
        same("a second repair", &&*again.body, &output.as_bytes())?;
        let expect = &self.file.expect;
        let valid = checked.is_accepted();
        same("valid", &valid, &expect.valid)?;
        same("names", &names(&checked.findings), &expect.names)?;
        same("unchanged", &!repaired.is_changed(), &expect.unchanged)?;
        same("remaining", &names(&repaired.remaining), &expect.remaining)?;
        self.judge(&output)?;
        let changed = repaired.is_changed().then_some(output.as_str());
        self.snapshot("findings.snap", Some(&described(&checked.findings)), bless)?;
        self.snapshot("repaired.json", changed, bless)
    }

    /// Compares the repaired body with the expectations of the source document.
    fn judge(&self, output: &str) -> Result<(), String> {
        let expect = &self.file.expect;
        let body: Value = serde_json::from_str(output).map_err(|error| error.to_string())?;
        let rejected: Vec<String> =
            strict::check(self.dialect()?, &body).iter().map(|violation| format!("{:?}", violation.kind)).collect();
        same("rejected", &rejected, &expect.rejected).map_err(|failure| format!("{failure}\n{output}"))?;
        let told = Told::of(self.dialect()?, &body);
        same("roles", &told.roles, &expect.roles)?;
        same("calls", &told.calls, &expect.calls)?;
        same("results", &told.results, &expect.results)?;
        same("error_results", &told.error_results, &expect.error_results)?;
        let mut strings = Vec::new();
        collect_strings(&body, &mut strings);
        let times = |text: &String| strings.iter().filter(|held| held.contains(text)).count();
        for text in &expect.texts_kept {
            same(&format!("times `{text}` is said"), &times(text), &1)?;
        }
        for text in &expect.texts_gone {
            same(&format!("times `{text}` is said"), &times(text), &0)?;
        }
        match &expect.starts_with {
            Some(other) => self.starts_with(other, &body),
            None => Ok(()),
        }
    }

    fn starts_with(&self, other: &str, body: &Value) -> Result<(), String> {
        let input = read(&self.folder.with_file_name(other).join("input.json"))?;
        let other = repair(input.as_bytes(), &self.options()?).map_err(|error| error.to_string())?;
        let other: Value = serde_json::from_slice(&other.body).map_err(|error| error.to_string())?;
        let (head, whole) = (messages(&other), messages(body));
        same("its head", &whole.get(..head.len()), &Some(head))
    }

    /// Compares with the file of this name; `None` means that there is no such file.
    fn snapshot(&self, name: &str, actual: Option<&str>, bless: bool) -> Result<(), String> {
        let path = self.folder.join(name);
        let blessed = match actual {
            Some(actual) if bless => std::fs::write(&path, actual),
            None if bless && path.exists() => std::fs::remove_file(&path),
            _ => Ok(()),
        };
        blessed.map_err(|error| error.to_string())?;
        let expected = path.exists().then(|| read(&path)).transpose()?;
        same(name, &actual, &expected.as_deref())
    }
}

/// The content of a body, independent of its dialect.
#[derive(Default)]
struct Told {
    roles: Vec<String>,
    calls: Vec<String>,
    results: Vec<String>,
    error_results: Vec<String>,
}

impl Told {
    fn of(dialect: Dialect, body: &Value) -> Self {
        let mut told = Self::default();
        for message in body[dialect.list_key()].as_array().into_iter().flatten() {
            told.roles.push(word(message, "role"));
            // Each reads its own forms only. The source documents have no cases in other dialects.
            told.anthropic(message);
            told.openai(message);
            told.responses(message);
        }
        told
    }

    fn anthropic(&mut self, message: &Value) {
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                let (id, name) = (word(block, "id"), word(block, "name"));
                self.calls.push(format!("{id}: {name}({})", block["input"]));
            } else if block["type"] == "tool_result" {
                let id = word(block, "tool_use_id");
                self.results.push(format!("{id}: {}", said(&block["content"])));
                if block["is_error"] == true {
                    self.error_results.push(id);
                }
            }
        }
    }

    fn openai(&mut self, message: &Value) {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let (name, input) = (word(function, "name"), word(function, "arguments"));
            self.calls.push(format!("{}: {name}({input})", word(call, "id")));
        }
        if message["role"] == "tool" {
            let id = word(message, "tool_call_id");
            self.results.push(format!("{id}: {}", said(&message["content"])));
        }
    }

    fn responses(&mut self, item: &Value) {
        let id = word(item, "call_id");
        if item["type"] == "function_call" {
            self.calls.push(format!("{id}: {}({})", word(item, "name"), word(item, "arguments")));
        } else if item["type"] == "function_call_output" {
            self.results.push(format!("{id}: {}", said(&item["output"])));
        }
    }
}

fn messages(body: &Value) -> &[Value] {
    body["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn word(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or("?").to_owned()
}

/// The text of a result.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn collect_strings<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, found)),
        Value::Object(members) => members.values().for_each(|member| collect_strings(member, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn names(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| finding.name.to_owned()).collect()
}

fn same<T: PartialEq<U> + std::fmt::Debug, U: std::fmt::Debug>(
    what: &str,
    actual: &T,
    expected: &U,
) -> Result<(), String> {
    if actual == expected { Ok(()) } else { Err(format!("{what}\n  is {actual:?}\n  not {expected:?}")) }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/presets");
    let mut cases = Vec::new();
    for preset in folders(&root)? {
        for folder in folders(&preset)? {
            cases.push(Case::read(folder)?);
        }
    }
    Ok(cases)
}

/// The entries of a folder, in order.
fn folders(path: &Path) -> Result<Vec<PathBuf>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", path.display());
    let entries = std::fs::read_dir(path).map_err(error)?;
    let mut paths = entries.map(|entry| Ok(entry.map_err(error)?.path())).collect::<Result<Vec<_>, String>>()?;
    paths.sort();
    Ok(paths)
}

/// Reads the part of TOML that case files are written in: one level of tables, and values
/// that are JSON as well.
fn table(text: &str) -> Result<Value, String> {
    let mut tables = BTreeMap::from([("", Map::new())]);
    let mut name = "";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(header) = line.strip_prefix('[') {
            name = header.trim_end_matches(']');
            continue;
        }
        let (key, value) = line.split_once('=').ok_or(format!("{line}: not `key = value`"))?;
        let value = serde_json::from_str(value).map_err(|error| format!("{line}: {error}"))?;
        tables.entry(name).or_default().insert(key.trim().to_owned(), value);
    }
    let mut root = tables.remove("").unwrap_or_default();
    root.extend(tables.into_iter().map(|(name, members)| (name.to_owned(), members.into())));
    Ok(root.into())
}

#[test]
fn a_policy_file_names_a_preset_and_the_knobs_that_differ() {
    let policy =
        Policy::from_toml("preset = \"opal\"\norphan_result = \"to_text\"\ntrailing_call = \"allow_pending\"\n");
    let mut expected = Policy::preset("opal").unwrap();
    expected.repair.orphan_result = OrphanResult::ToText;
    expected.repair.trailing_call = TrailingCall::AllowPending;
    assert_eq!(policy, Ok(expected));
    assert_eq!(Policy::from_toml(""), Ok(Policy::default()));
}

#[test]
fn a_policy_file_may_call_an_unanswered_call_an_orphan() {
    for knob in ["unanswered_call", "orphan_call"] {
        let policy = Policy::from_toml(&format!("{knob} = \"remove_call\"")).unwrap();
        assert_eq!(policy.repair.unanswered_call, UnansweredCall::RemoveCall);
    }
}

#[test]
fn a_policy_file_with_an_unknown_word_is_rejected_with_that_word() {
    let refused = [
        ("preset = \"opel\"", "opel"),
        ("orphan_results = \"remove\"", "orphan_results"),
        ("orphan_result = \"vanish\"", "vanish"),
        ("[synthetic_text]\nlost = \"gone\"", "lost"),
        ("preset = ", "preset"),
    ];
    for (text, word) in refused {
        let error = Policy::from_toml(text).unwrap_err();
        assert!(error.to_string().contains(word), "{text}: {error}");
    }
    let error = Policy::from_toml("preset = \"opel\"").unwrap_err();
    assert_eq!(error.kind, policy::PolicyErrorKind::UnknownPreset { name: "opel".to_owned() });
    for (preset, _) in CASES_MIN {
        assert!(error.to_string().contains(&format!("`{preset}`")));
    }
}

#[test]
fn a_policy_file_sets_the_text_of_synthetic_results() {
    let text = "preset = \"opal\"\n[synthetic_text]\nmissing = \"[Lost at sea]\"\n";
    let options = Options { policy: Policy::from_toml(text).unwrap(), ..Options::default() };
    assert_eq!(options.policy.repair.synthetic_text.aborted.as_str(), "[Aborted by user]");
    let body = br#"{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"t","arguments":"{}"}}]},{"role":"user","content":"go on"}]}"#;
    let repaired = repair(body, &options).unwrap();
    let body: Value = serde_json::from_slice(&repaired.body).unwrap();
    let told = Told::of(Dialect::OpenAiChat, &body);
    assert_eq!(told.results, ["c1: [synthetic] [Lost at sea]"]);
    let again = repair(&repaired.body, &options).unwrap();
    assert!(!again.is_changed());
}
