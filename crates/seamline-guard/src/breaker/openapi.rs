//! Translates schemas of Gemini and `OpenAPI` to JSON Schema.

use serde_json::{Map, Value, json};

/// Gemini's names of types.
const TYPES: [&str; 7] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"];
/// Limits that Gemini writes in quotes, like all 64-bit numbers.
const COUNTS: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Translates a schema and its nested schemas to JSON Schema.
pub(super) fn translate(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    for (key, under) in members.iter_mut() {
        match (key.as_str(), under) {
            ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(all)) => {
                all.values_mut().for_each(translate);
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(all)) => {
                all.iter_mut().for_each(translate);
            }
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains", under) => translate(under),
            ("type", Value::String(name)) if TYPES.contains(&name.as_str()) => name.make_ascii_lowercase(),
            (name, under) if COUNTS.contains(&name) => {
                if let Some(number) = under.as_str().and_then(|digits| digits.parse::<u64>().ok()) {
                    *under = number.into();
                }
            }
            _ => {}
        }
    }
    if members.get("type").and_then(Value::as_str) == Some("TYPE_UNSPECIFIED") {
        members.remove("type");
    }
    if members.get("nullable") == Some(&Value::Bool(true)) {
        if let Some(Value::String(name)) = members.get("type").cloned() {
            members.insert("type".to_owned(), vec![name, "null".to_owned()].into());
        }
        if let Some(Value::Array(values)) = members.get_mut("enum") {
            values.push(Value::Null);
        }
        admit_null(members);
    }
}

/// Keywords that check the same value as their schema.
const IN_PLACE: [&str; 4] = ["$ref", "allOf", "oneOf", "not"];

/// Makes a schema accept `null` in addition to its demands.
fn admit_null(members: &mut Map<String, Value>) {
    let nothing = json!({"type": "null"});
    let moved = IN_PLACE.iter().filter_map(|word| members.remove_entry(*word));
    let mut moved: Map<_, _> = moved.collect();
    if moved.is_empty() {
        if let Some(Value::Array(alternatives)) = members.get_mut("anyOf") {
            alternatives.push(nothing);
        }
        return;
    }
    moved.extend(members.remove_entry("anyOf"));
    members.insert("anyOf".to_owned(), json!([moved, nothing]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_null_and_numbers_are_translated() {
        let mut schema = json!({
            "type": "OBJECT",
            "properties": {
                "type": {"type": "STRING", "nullable": true, "enum": ["OBJECT"], "maxLength": "9"},
                "nullable": {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"},
                "any": {"type": "TYPE_UNSPECIFIED", "default": {"type": "STRING"}},
            },
        });
        translate(&mut schema);
        let expected = json!({
            "type": "object",
            "properties": {
                "type": {"type": ["string", "null"], "nullable": true, "enum": ["OBJECT", null], "maxLength": 9},
                "nullable": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
                "any": {"default": {"type": "STRING"}},
            },
        });
        assert_eq!(schema, expected);
        let mut schema = json!({
            "properties": {
                "a": {"nullable": true, "anyOf": [{"type": "STRING"}]},
                "b": {"nullable": true, "$ref": "#/$defs/b"},
                "c": {"nullable": true, "oneOf": [{"type": "STRING"}], "anyOf": [{}], "title": "C"},
            },
        });
        translate(&mut schema);
        let expected = json!({
            "properties": {
                "a": {"nullable": true, "anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"nullable": true, "anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]},
                "c": {
                    "nullable": true,
                    "anyOf": [{"oneOf": [{"type": "string"}], "anyOf": [{}]}, {"type": "null"}],
                    "title": "C",
                },
            },
        });
        assert_eq!(schema, expected);
        let plain = json!({"type": ["string", "null"], "nullable": false, "minItems": 2});
        let mut same = plain.clone();
        translate(&mut same);
        assert_eq!(same, plain);
    }
}
