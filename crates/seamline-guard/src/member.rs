//! The members of a request that an error text names.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use crate::kinds::{Class, Kind, reasoning, shape};
use crate::known::{Known, broad};
use crate::patterns::compile;
use crate::views::Views;

/// The most members that are read from one text.
pub const MEMBERS_MAX: usize = 16;

/// A member of the request that an error text names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedMember {
    /// The name of the member. If the text names its parents but not its place, they come first, separated by dots, as in
    /// `reasoningContent.reasoningText.signature`.
    pub name: String,
    /// The place of the member, as a JSON pointer into the body, if the text names the place. Some providers spell names
    /// in `snake_case` where the body has `camelCase`.
    pub pointer: Option<String>,
    /// The fault of the member.
    pub fault: MemberFault,
}

/// The fault of a member of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemberFault {
    /// The provider does not know the member, or does not accept it here. Without it the request may pass.
    Unknown,
    /// The request lacks the member.
    Missing,
    /// The value of the member has the wrong type or form.
    Wrong,
}

impl MemberFault {
    /// Returns its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Missing => "missing",
            Self::Wrong => "wrong",
        }
    }
}

/// A notation of a member. The groups of its pattern: `path` is the path of the member, `place` and `name` are the path of
/// its parent and its name, `names` are members of the body, and `part` is a path from an unknown place.
struct Notation {
    fault: MemberFault,
    regex: Option<Regex>,
}

impl Notation {
    fn new(fault: MemberFault, pattern: &str) -> Self {
        Self { fault, regex: compile(pattern) }
    }

    /// Reads all members that a text names in this notation.
    fn read(&self, said: &str) -> Vec<NamedMember> {
        let found = self.regex.iter().flat_map(|regex| regex.captures_iter(said.as_bytes()));
        found.flat_map(|captures| self.members(said, &captures)).take(MEMBERS_MAX).collect()
    }

    fn members(&self, said: &str, captures: &Captures<'_>) -> Vec<NamedMember> {
        let group = |name: &str| captures.name(name).map(|found| &said[found.range()]);
        let member = |name: &str, pointer| NamedMember { name: name.to_owned(), pointer, fault: self.fault };
        if let Some(path) = group("path") {
            return at(&segments(path)).map(|(name, pointer)| member(&name, pointer)).into_iter().collect();
        }
        if let Some(part) = group("part") {
            return vec![member(part, None)];
        }
        if let Some(names) = group("names") {
            return names.split(", ").map(|name| member(name, Some(format!("/{name}")))).collect();
        }
        let (Some(place), Some(name)) = (group("place"), group("name")) else { return Vec::new() };
        let mut path = segments(place);
        if path.last().is_none_or(|last| last != name) {
            path.push(name.to_owned());
        }
        at(&path).map(|(name, pointer)| member(&name, pointer)).into_iter().collect()
    }
}

/// Matches a path into a request; names of exceptions start with a capital letter.
const PATH: &str = r"(?:^|[\s'\x22`(\[{])(?P<path>[a-z_][\w.\[\]]*)['\x22`]?:? ";

static NOTATIONS: LazyLock<Vec<Notation>> = LazyLock::new(|| {
    use MemberFault::{Missing, Unknown, Wrong};
    vec![
        Notation::new(Unknown, &format!("{PATH}Extra inputs are not permitted")),
        Notation::new(Unknown, r"Extra inputs are not permitted, field: '(?P<path>[^']+)'"),
        Notation::new(Unknown, r"'(?P<place>[\w.]+)' ?: property '(?P<name>\w+)' is unsupported"),
        Notation::new(Unknown, r"property '(?P<path>(?:messages|body)\.[\w.]+)' is unsupported"),
        Notation::new(Unknown, r"property '(?P<part>\w+)' is unsupported"),
        Notation::new(Unknown, r"Unknown parameter: '?(?P<path>[A-Za-z_][\w.\[\]]*)"),
        Notation::new(Unknown, r"Unrecognized request arguments? supplied: (?P<names>\w+(?:, \w+)*)"),
        Notation::new(Unknown, r"Unknown name \x22(?P<name>[^\x22]+)\x22 at '(?P<place>[^']+)'"),
        Notation::new(Unknown, r"Unknown name \x22(?P<path>[^\x22]+)\x22:"),
        Notation::new(Unknown, r"#(?P<place>[/\w]*): extraneous key \[(?P<name>\w+)\]"),
        Notation::new(Unknown, r"extraneous key \[(?P<part>\w+)\]"),
        Notation::new(Unknown, r"doesn't support the (?P<part>[\w.]+) field"),
        Notation::new(Unknown, r"unknown field [`'\x22](?P<part>\w+)"),
        Notation::new(
            Unknown,
            r"Additional properties are not allowed \('(?P<name>\w+)' was unexpected\) - '(?P<place>[\w.]+)'",
        ),
        Notation::new(Unknown, r"Additional properties are not allowed \('(?P<part>\w+)'"),
        Notation::new(Unknown, r"Unrecognized key(?:s|\(s\))?(?: in object)?: ['\x22`](?P<part>\w+)"),
        Notation::new(Unknown, r"[Uu]nrecogni[sz]ed field \\*[`'\x22](?P<part>\w+)"),
        Notation::new(Missing, &format!("{PATH}[Ff]ield required")),
        Notation::new(Missing, r"'(?P<place>[\w.]+)' ?: (?:property )?[`'](?P<name>\w+)[`'] is missing"),
        Notation::new(Missing, r"Missing required parameter: '(?P<path>[\w.\[\]]+)'"),
        Notation::new(Missing, r"Missing parameter '(?P<part>\w+)'"),
        Notation::new(
            Missing,
            r"\b(?P<place>(?:messages|contents)\[\d+\][\w.\[\]]*): missing field [`'\x22](?P<name>\w+)",
        ),
        Notation::new(Missing, r": missing field [`'\x22](?P<part>\w+)"),
        Notation::new(Wrong, &format!("{PATH}Input should be")),
        Notation::new(Wrong, r"into Go struct field \w+\.(?P<part>[\w.]+) of type"),
        Notation::new(Wrong, r"Invalid type for '(?P<path>[\w.\[\]]+)'"),
    ]
});

/// Matches one error in a list of errors, as pydantic writes it: its place and its words.
static LISTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(r#"["']loc["'] ?: ?[\[(](?P<loc>[^\])]{1,400})[\])], ?["']msg["'] ?: ?["'](?P<msg>[^"']{1,200})"#)
});

/// Matches one issue in a list of issues, as zod writes it.
static ISSUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compile(
        r#"["']keys["'] ?: ?\[(?P<keys>[^\]]{1,400})\], ?["']path["'] ?: ?\[(?P<path>[^\]]{0,400})\]|["']path["'] ?: ?\[(?P<place>[^\]]{1,400})\], ?["']message["'] ?: ?["'](?P<msg>(?:Required|Expected|Invalid)[^"']{0,200})"#,
    )
});

/// The lists of messages in a body.
const LISTS: [&str; 3] = ["messages", "contents", "input"];

/// Returns the members that an error names. The provider's sentence counts; a list of errors has the places beside its
/// sentences. Other parts of the text may quote the conversation.
pub(crate) fn named(kind: &Kind, said: &str, views: &Views) -> Vec<NamedMember> {
    if !matches!(kind.class, Class::Corruption | Class::Fatal) {
        return Vec::new();
    }
    let mut members: Vec<NamedMember> = NOTATIONS.iter().flat_map(|notation| notation.read(said)).collect();
    if members.iter().all(|member| member.pointer.is_none())
        && let Some(issues) = views.iter().map(issues).find(|issues| !issues.is_empty())
    {
        members = issues;
    }
    if members.is_empty() {
        members = views.iter().map(listed).find(|listed| !listed.is_empty()).unwrap_or_default();
    }
    let mut kept: Vec<NamedMember> = Vec::new();
    for member in members {
        let is_known = kept
            .iter()
            .any(|other| other.name == member.name && (member.pointer.is_none() || other.pointer == member.pointer));
        if !is_known && kept.len() < MEMBERS_MAX && fits(kind, &member) {
            kept.push(member);
        }
    }
    kept
}

/// The kind of an error whose text is not known but names a member of a message: the member is at fault.
pub(crate) fn known(said: &str) -> Option<&'static Known> {
    static UNKNOWN: Known = broad("members of messages", &shape::UNKNOWN_FIELD, "");
    static MISSING: Known = broad("members of messages", &shape::MISSING_MEMBER, "");
    static WRONG: Known = broad("members of messages", &shape::WRONG_MEMBER, "");
    let mut members = NOTATIONS.iter().flat_map(|notation| notation.read(said));
    let named = members.find(|member| member.pointer.as_deref().is_some_and(is_in_message))?;
    Some(match named.fault {
        MemberFault::Unknown => &UNKNOWN,
        MemberFault::Missing => &MISSING,
        MemberFault::Wrong => &WRONG,
    })
}

/// Whether a pointer leads into an element of a list of messages.
fn is_in_message(pointer: &str) -> bool {
    let mut keys = pointer.split('/').skip(1);
    let is_list = keys.next().is_some_and(|key| LISTS.contains(&key));
    is_list && keys.next().is_some_and(is_index)
}

/// Whether a fault fits the kind of the error. Nova calls a tool result an unknown member where the request declares no
/// tools; the member is not at fault then.
fn fits(kind: &Kind, member: &NamedMember) -> bool {
    const FIELDS: [&Kind; 3] = [&shape::UNKNOWN_FIELD, &reasoning::UNWANTED_REASONING, &shape::CACHE_MARK];
    member.fault != MemberFault::Unknown || FIELDS.contains(&kind)
}

/// Reads the members in a list of errors.
fn listed(view: &str) -> Vec<NamedMember> {
    let found = LISTED.iter().flat_map(|regex| regex.captures_iter(view.as_bytes()));
    let members = found.filter_map(|captures| {
        let words = &view[captures.name("msg")?.range()];
        let fault = match words {
            _ if words.starts_with("Extra inputs") || words.starts_with("extra fields") => MemberFault::Unknown,
            _ if words.eq_ignore_ascii_case("field required") => MemberFault::Missing,
            _ => MemberFault::Wrong,
        };
        let keys = view[captures.name("loc")?.range()].split(',');
        let path: Vec<String> = keys.map(|key| key.trim().trim_matches(['"', '\'']).to_owned()).collect();
        let (name, pointer) = at(&tidy(path))?;
        Some(NamedMember { name, pointer, fault })
    });
    members.take(MEMBERS_MAX).collect()
}

/// Reads the members in a list of issues, as zod writes it: the path of an object and the keys that it may not have, or the
/// path of a value and the words about it.
fn issues(view: &str) -> Vec<NamedMember> {
    let found = ISSUES.iter().flat_map(|regex| regex.captures_iter(view.as_bytes()));
    let words = |text: &str| -> Vec<String> {
        let words = text.split(',').map(|key| key.trim().trim_matches(['"', '\'']).to_owned());
        words.filter(|word| !word.is_empty()).collect()
    };
    let members = found.flat_map(|captures| {
        let group = |name: &str| captures.name(name).map(|found| &view[found.range()]);
        let path = words(group("path").or(group("place")).unwrap_or_default());
        let member = |path: Vec<String>, fault| {
            let (name, pointer) = at(&tidy(path))?;
            Some(NamedMember { name, pointer, fault })
        };
        match (group("keys"), group("msg")) {
            (Some(keys), _) => words(keys)
                .into_iter()
                .filter_map(|key| member(path.iter().cloned().chain([key]).collect(), MemberFault::Unknown))
                .collect::<Vec<_>>(),
            (None, Some(msg)) => {
                let is_missing = msg.starts_with("Required") || msg.ends_with("received undefined");
                let fault = if is_missing { MemberFault::Missing } else { MemberFault::Wrong };
                member(path, fault).into_iter().collect()
            }
            (None, None) => Vec::new(),
        }
    });
    members.take(MEMBERS_MAX).collect()
}

/// Cuts a path in any notation into its keys and indices.
fn segments(path: &str) -> Vec<String> {
    let cut = path.split(['.', '/', '[', ']']).filter(|segment| !segment.is_empty());
    tidy(cut.map(str::to_owned).collect())
}

/// Removes segments from a path that are not in the body: the word `body` at its start, Bedrock's `member`, and the tags by which
/// a validator chose the type of a message or block.
fn tidy(path: Vec<String>) -> Vec<String> {
    let path: Vec<String> = path.into_iter().filter(|segment| segment != "member").collect();
    let start = usize::from(path.first().is_some_and(|first| first == "body"));
    let mut tidied: Vec<String> = Vec::new();
    for (index, segment) in path.iter().enumerate().skip(start) {
        let has_more = index + 1 < path.len();
        if !(has_more && is_tag(&tidied, segment)) {
            tidied.push(segment.clone());
        }
    }
    tidied
}

/// Whether a segment after these ones is a tag.
fn is_tag(before: &[String], segment: &str) -> bool {
    const ROLES: [&str; 6] = ["assistant", "user", "system", "developer", "tool", "function"];
    const BLOCKS: [&str; 6] = ["text", "image", "document", "thinking", "redacted_thinking", "search_result"];
    let [.., list, index] = before else { return is_tag_of_setting(before, segment) };
    if !is_index(index) {
        return is_tag_of_setting(before, segment);
    }
    let is_class = segment.starts_with(|first: char| first.is_ascii_uppercase());
    let is_block = BLOCKS.contains(&segment) || segment.ends_with("tool_use") || segment.ends_with("tool_result");
    match list.as_str() {
        "messages" => is_class || ROLES.contains(&segment),
        "content" => is_class || is_block,
        "tools" => is_class || segment == "custom",
        _ => is_class,
    }
}

fn is_tag_of_setting(before: &[String], segment: &str) -> bool {
    match before.last().map(String::as_str) {
        Some("thinking") => ["enabled", "disabled", "adaptive"].contains(&segment),
        Some("tool_choice") => ["auto", "any", "tool", "none"].contains(&segment),
        _ => false,
    }
}

/// Returns the name of the member at a path and its JSON pointer. A path into a list of
/// messages without an index has no pointer.
fn at(path: &[String]) -> Option<(String, Option<String>)> {
    let last = path.last().filter(|last| !is_index(last))?;
    let is_word = |segment: &String| segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte));
    if !path.iter().all(is_word) {
        return Some((last.clone(), None));
    }
    let is_list = |segment: &str| LISTS.contains(&segment);
    let is_place = path.len() == 1 || !is_list(&path[0]) || is_index(&path[1]);
    if is_place { Some((last.clone(), Some(format!("/{}", path.join("/"))))) } else { Some((path.join("."), None)) }
}

fn is_index(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Failure, classify};

    #[track_caller]
    fn names(text: &str, fault: MemberFault, expected: &[(&str, Option<&str>)]) {
        let members = classify(&Failure { status: Some(400), text, ..Failure::default() }).members;
        let expected: Vec<_> = expected
            .iter()
            .map(|&(name, pointer)| NamedMember { name: name.to_owned(), pointer: pointer.map(str::to_owned), fault })
            .collect();
        assert_eq!(members, expected, "{text}");
    }

    #[test]
    fn a_rejected_member_is_read_in_every_provider_s_notation() {
        let unknown = |text, name, pointer| names(text, MemberFault::Unknown, &[(name, pointer)]);
        unknown("messages.3.content.0.foo: Extra inputs are not permitted", "foo", Some("/messages/3/content/0/foo"));
        unknown("foo: Extra inputs are not permitted", "foo", Some("/foo"));
        unknown(
            "Extra inputs are not permitted, field: 'messages[8].reasoning'",
            "reasoning",
            Some("/messages/8/reasoning"),
        );
        unknown("property 'reasoning' is unsupported", "reasoning", None);
        unknown(
            "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]",
            "reasoning",
            Some("/messages/2/reasoning"),
        );
        unknown("Unknown parameter: 'input[2].foo'.", "foo", Some("/input/2/foo"));
        unknown("Unknown parameter: 'foo'.", "foo", Some("/foo"));
        unknown("Unrecognized request argument supplied: foo", "foo", Some("/foo"));
        unknown(
            "Invalid JSON payload received. Unknown name \"foo\" at 'contents[0].parts[1]': Cannot find field.",
            "foo",
            Some("/contents/0/parts/1/foo"),
        );
        unknown("Invalid JSON payload received. Unknown name \"foo\": Cannot find field.", "foo", Some("/foo"));
        unknown(
            "Malformed input request: #/messages/2/content/0: extraneous key [x] is not permitted",
            "x",
            Some("/messages/2/content/0/x"),
        );
        unknown("Malformed input request: #: extraneous key [x] is not permitted", "x", Some("/x"));
        unknown(
            "This model doesn't support the reasoningContent.reasoningText.signature field. Remove it.",
            "reasoningContent.reasoningText.signature",
            None,
        );
        unknown("unknown field `foo`, expected one of `role`, `content`", "foo", None);
        unknown("Unrecognized field \"foo\" (class com.acme.Message), not marked as ignorable", "foo", None);
        unknown(
            r#"[{"code":"unrecognized_keys","keys":["foo"],"path":["messages",2],"message":"Unrecognized key(s) in object: 'foo'"}]"#,
            "foo",
            Some("/messages/2/foo"),
        );
        unknown(
            "Additional properties are not allowed ('foo' was unexpected) - 'messages.1'",
            "foo",
            Some("/messages/1/foo"),
        );
    }

    #[test]
    fn several_members_are_read_each_once() {
        let two = [("foo", Some("/foo")), ("bar", Some("/bar"))];
        names("Unrecognized request arguments supplied: foo, bar", MemberFault::Unknown, &two);
        names(
            "messages.1.x: Extra inputs are not permitted; messages.2.x: Extra inputs are not permitted; messages.2.x: Extra inputs are not permitted",
            MemberFault::Unknown,
            &[("x", Some("/messages/1/x")), ("x", Some("/messages/2/x"))],
        );
        let many: String = (0..100)
            .map(|index| format!("messages.{index}.x: Extra inputs are not permitted; "))
            .collect::<Vec<_>>()
            .concat();
        let members = classify(&Failure { status: Some(400), text: &many, ..Failure::default() }).members;
        assert_eq!(members.len(), MEMBERS_MAX);
    }

    #[test]
    fn tags_of_a_validator_are_not_in_the_pointer() {
        let unknown = |text, name, pointer| names(text, MemberFault::Unknown, &[(name, Some(pointer))]);
        unknown(
            "messages.65.content.1.tool_use.text: Extra inputs are not permitted",
            "text",
            "/messages/65/content/1/text",
        );
        unknown(
            "messages.0.content.0.tool_result.content.1.image.foo: Extra inputs are not permitted",
            "foo",
            "/messages/0/content/0/content/1/foo",
        );
        unknown(
            "thinking.adaptive.block_binding: Extra inputs are not permitted",
            "block_binding",
            "/thinking/block_binding",
        );
        unknown("tools.0.custom.foo: Extra inputs are not permitted", "foo", "/tools/0/foo");
        unknown(
            "property 'messages.3.assistant.reasoning_content' is unsupported",
            "reasoning_content",
            "/messages/3/reasoning_content",
        );
        unknown(
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","foo"],"msg":"Extra inputs are not permitted"}]}"#,
            "foo",
            "/messages/2/foo",
        );
    }

    #[test]
    fn a_missing_or_wrong_member_is_told_from_an_unknown_one() {
        names(
            "'messages.3' : for 'role:tool' the following must be satisfied[('messages.3.tool_call_id' : property 'tool_call_id' is missing)]",
            MemberFault::Missing,
            &[("tool_call_id", Some("/messages/3/tool_call_id"))],
        );
        names(
            r#"{"detail":[{"type":"missing","loc":["body","messages",1,"content"],"msg":"Field required","input":{}}]}"#,
            MemberFault::Missing,
            &[("content", Some("/messages/1/content"))],
        );
        names(
            "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.X",
            MemberFault::Wrong,
            &[("messages.tool_calls.function.arguments", None)],
        );
    }

    #[test]
    fn a_member_that_is_not_at_fault_is_not_named() {
        let members =
            |text: &str, status| classify(&Failure { status: Some(status), text, ..Failure::default() }).members;
        let undeclared =
            "Malformed input request: #/messages/2/content/0: extraneous key [toolResult] is not permitted";
        assert_eq!(members(undeclared, 400), []);
        assert_eq!(members("Unknown parameter: 'foo'.", 503), []);
        assert_eq!(members("ValueError: Extra inputs are not permitted", 400), []);
    }
}
