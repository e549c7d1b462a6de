//! Arguments that are checked against schemas.

use seamline_guard::{Breaker, CallInRound, CheckedCall, ToolSchemas};

/// Returns the verdict on a call with these arguments.
fn checked(tools: &ToolSchemas, name: &str, arguments: &str) -> &'static str {
    let call = CallInRound { name, arguments, free: false, truncated: false };
    match Breaker::default().handle_round(&[call], tools).0[..] {
        [CheckedCall::Run] => "run",
        [CheckedCall::PartlyChecked] => "partly checked",
        _ => "refused",
    }
}

/// Wraps a value in `count` levels of the same kind.
fn nested(count: usize, before: &str, value: &str, after: &str) -> String {
    [&before.repeat(count), value, &after.repeat(count)].concat()
}

#[test]
fn arguments_of_any_depth_are_checked_against_a_schema_for_any_json() {
    let json = r##"{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"null"},
        {"type":"array","items":{"$ref":"#/$defs/json"}},
        {"type":"object","additionalProperties":{"$ref":"#/$defs/json"}}]}"##;
    let schema = format!(
        r##"{{"type":"object","required":["path"],"$defs":{{"json":{json}}},
            "properties":{{"path":{{"type":"string"}},"doc":{{"$ref":"#/$defs/json"}}}}}}"##
    );
    let mut tools = ToolSchemas::new();
    tools.add("write", Some(&schema)).unwrap();
    for depth in [1, 12, 13, 40, 120] {
        for doc in [nested(depth, "{\"c\":", "1", "}"), nested(depth, "[", "1", "]")] {
            assert_eq!(checked(&tools, "write", &format!(r#"{{"path":"a","doc":{doc}}}"#)), "run", "{depth}");
            assert_eq!(checked(&tools, "write", &format!(r#"{{"doc":{doc}}}"#)), "refused", "{depth}");
        }
    }
}

#[test]
fn references_are_resolved_in_every_notation() {
    for (reference, defs) in [
        ("#/definitions/Record%3Cstring%2Cstring%3E", r#""definitions":{"Record<string,string>":RECORD}"#),
        ("#/$defs/a~1b~0c", r#""$defs":{"a/b~c":RECORD}"#),
        ("#record", r#""$defs":{"r":{"$anchor":"record","allOf":[RECORD]}}"#),
        ("https://example.com/record", r#""$defs":{"r":{"$id":"https://example.com/record","allOf":[RECORD]}}"#),
        ("record#/allOf/0", r#""$id":"https://example.com/tool","$defs":{"r":{"$id":"record","allOf":[RECORD]}}"#),
    ] {
        let defs = defs.replace("RECORD", r#"{"type":"object","additionalProperties":{"type":"string"}}"#);
        let schema = format!(r#"{{{defs},"required":["command"],"properties":{{"env":{{"$ref":"{reference}"}}}}}}"#);
        let mut tools = ToolSchemas::new();
        tools.add("shell", Some(&schema)).unwrap();
        tools.add("record", Some(&format!(r#"{{{defs},"$ref":"{reference}"}}"#))).unwrap();
        for (name, arguments, expected) in [
            ("shell", r#"{"command":"ls","env":{"A":"1"}}"#, "run"),
            ("shell", r#"{"command":"ls","env":{"A":1}}"#, "refused"),
            ("shell", r#"{"env":{"A":"1"}}"#, "refused"),
            ("shell", "{}", "refused"),
            ("record", r#"{"A":"1"}"#, "run"),
            ("record", r#"{"A":1}"#, "refused"),
        ] {
            assert_eq!(checked(&tools, name, arguments), expected, "{reference} {name} {arguments}");
        }
    }
}

#[test]
fn only_the_outermost_level_of_expensive_arguments_is_checked() {
    let term = |op: &str| format!(r##"{{"properties":{{"op":{{"const":"{op}"}},"of":{{"$ref":"#/$defs/term"}}}}}}"##);
    let schema = format!(
        r##"{{"$ref":"#/$defs/find","$defs":{{"term":{{"anyOf":[{},{},{}]}},
            "find":{{"type":"object","required":["path"],"additionalProperties":false,
                "properties":{{"path":{{"type":"string"}},"where":{{"$ref":"#/$defs/term"}}}}}}}}}}"##,
        term("and"),
        term("or"),
        term("not")
    );
    let mut tools = ToolSchemas::new();
    tools.add("find", Some(&schema)).unwrap();
    let deep = nested(16, r#"{"op":"not","of":"#, "{}", "}");
    for (arguments, expected) in [
        (r#"{"path":"a","where":{"op":"or","of":{}}}"#.to_owned(), "run"),
        (r#"{"path":"a","where":{"op":"xor"}}"#.to_owned(), "refused"),
        (format!(r#"{{"path":"a","where":{deep}}}"#), "partly checked"),
        (format!(r#"{{"path":1,"where":{deep}}}"#), "refused"),
        (format!(r#"{{"path":"a","other":1,"where":{deep}}}"#), "refused"),
        (format!(r#"{{"where":{deep}}}"#), "refused"),
    ] {
        assert_eq!(checked(&tools, "find", &arguments), expected, "{arguments}");
    }
}

#[test]
fn deep_arguments_are_checked_against_a_recursive_alternative() {
    let schema = r##"{"required":["path"],"properties":{"tree":{"$ref":"#/$defs/tree"}},
        "$defs":{"tree":{"allOf":[{"anyOf":[{"properties":{"left":{"$ref":"#/$defs/tree"},"name":{"type":"string"}}}]}]}}}"##;
    let mut tools = ToolSchemas::new();
    tools.add("plant", Some(schema)).unwrap();
    for (leaf, expected) in [(r#"{"name":"a"}"#, "run"), (r#"{"name":1}"#, "refused")] {
        let tree = nested(120, r#"{"left":"#, leaf, "}");
        assert_eq!(checked(&tools, "plant", &format!(r#"{{"path":"a","tree":{tree}}}"#)), expected);
        assert_eq!(checked(&tools, "plant", &format!(r#"{{"tree":{tree}}}"#)), "refused");
    }
}

#[test]
fn gemini_s_nullable_works_beside_alternatives_and_references() {
    let mut tools = ToolSchemas::new();
    let schema = r##"{"type":"OBJECT","$defs":{"line":{"type":"INTEGER"}},"properties":{
        "path":{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]},
        "line":{"nullable":true,"$ref":"#/$defs/line"},
        "one":{"nullable":true,"oneOf":[{"type":"STRING","nullable":true},{"type":"NULL"}]}}}"##;
    tools.add("read", Some(schema)).unwrap();
    for (arguments, expected) in [
        (r#"{"path":null,"line":null,"one":null}"#, "run"),
        (r#"{"path":"a","line":1,"one":"b"}"#, "run"),
        (r#"{"path":true}"#, "refused"),
        (r#"{"line":"1"}"#, "refused"),
        (r#"{"one":1}"#, "refused"),
    ] {
        assert_eq!(checked(&tools, "read", arguments), expected, "{arguments}");
    }
}
