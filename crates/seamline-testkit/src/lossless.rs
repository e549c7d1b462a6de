//! Finds the payloads that a body has lost.

use serde_json::Value;

/// The number of layers of JSON inside strings that are parsed.
const NESTED_JSON_MAX: usize = 3;

/// The payloads that occur in no string or number anywhere in `body`.
///
/// Strings are compared decoded, numbers as they are written. A string that is itself a JSON object or array, as call arguments are, is parsed too.
pub fn missing_payloads(body: &Value, payloads: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    collect(body, NESTED_JSON_MAX, &mut said);
    let is_missing = |payload: &&String| !said.iter().any(|text| text.contains(payload.as_str()));
    payloads.iter().filter(is_missing).cloned().collect()
}

fn collect(value: &Value, layers: usize, said: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            said.push(text.clone());
            if let Some(inner) = nested(text, layers) {
                collect(&inner, layers - 1, said);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, layers, said)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, layers, said)),
        Value::Number(number) => said.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

fn nested(text: &str, layers: usize) -> Option<Value> {
    let looks_nested = text.trim_start().starts_with(['{', '[']);
    if layers == 0 || !looks_nested {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::missing_payloads;

    fn missing(body: &serde_json::Value, payload: &str) -> bool {
        !missing_payloads(body, &[payload.to_owned()]).is_empty()
    }

    #[test]
    fn a_payload_inside_a_longer_string_is_found() {
        let body = json!({"messages": [{"content": [{"text": "the result-4 was here"}]}]});
        assert!(!missing(&body, "result-4"));
        assert!(missing(&body, "result-5"));
    }

    #[test]
    fn a_payload_inside_arguments_is_found_decoded() {
        let body = json!({"arguments": "{\"path\": \"a\\nb\"}"});
        assert!(!missing(&body, "a\nb"));
    }

    #[test]
    fn a_number_is_found_bare_and_in_text() {
        assert!(!missing(&json!({"content": 90210}), "90210"));
        assert!(!missing(&json!({"content": "90210"}), "90210"));
    }

    #[test]
    fn a_key_is_not_a_payload() {
        assert!(missing(&json!({"user-1": 1}), "user-1"));
    }

    #[test]
    fn missing_payloads_are_listed_in_the_given_order() {
        let payloads = ["c", "a", "b"].map(str::to_owned);
        assert_eq!(missing_payloads(&json!(["a"]), &payloads), ["c", "b"]);
    }
}
