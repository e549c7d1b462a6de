//! How much work it is to hold arguments against a schema.
//!
//! A few lines of alternatives that refer to each other are enough for a check that does not end in
//! a lifetime, and schemas come from whoever offers a tool. So what a check would look at is
//! counted first, and only so far.

use serde_json::Value;

/// How many places of a schema are looked at, beside some for each value of the arguments.
const VISITS_MAX: usize = 100_000;
const VISITS_PER_VALUE: usize = 64;
/// How deep places of a schema lead into each other.
const DEPTH_MAX: usize = 400;

/// Whether a check of these arguments comes to its end soon.
pub(super) fn is_affordable(schema: &Value, arguments: &Value) -> bool {
    let left = VISITS_MAX.saturating_add(values(arguments).saturating_mul(VISITS_PER_VALUE));
    Walk { root: schema, left }.visit(schema, arguments, 0)
}

/// How many values there are.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Goes where a check would go that never stops early. Whether it came to its end.
struct Walk<'s> {
    root: &'s Value,
    left: usize,
}

impl<'s> Walk<'s> {
    fn visit(&mut self, schema: &'s Value, value: &Value, depth: usize) -> bool {
        if self.left == 0 || depth == DEPTH_MAX {
            return false;
        }
        self.left -= 1;
        let Value::Object(members) = schema else { return true };
        members.iter().all(|(key, under)| self.follow(key, under, value, depth + 1))
    }

    fn follow(&mut self, key: &str, under: &'s Value, value: &Value, depth: usize) -> bool {
        match (key, under) {
            // What looks at the same value.
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                let target = to.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
                target.is_some_and(|target| self.visit(target, value, depth))
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => all.iter().all(|each| self.visit(each, value, depth)),
            ("not" | "if" | "then" | "else", _) => self.visit(under, value, depth),
            ("dependentSchemas" | "dependencies", Value::Object(all)) => {
                all.values().all(|each| self.visit(each, value, depth))
            }
            // What looks at what is in it.
            ("properties", Value::Object(all)) => {
                let mut there = all.iter().filter_map(|(name, each)| Some((each, value.get(name)?)));
                there.all(|(each, member)| self.visit(each, member, depth))
            }
            ("patternProperties", Value::Object(all)) => all.values().all(|each| self.visit_all(each, value, depth)),
            ("prefixItems" | "items", Value::Array(all)) => {
                let mut pairs = all.iter().zip(value.as_array().into_iter().flatten());
                pairs.all(|(each, element)| self.visit(each, element, depth))
            }
            (
                "items"
                | "additionalItems"
                | "contains"
                | "unevaluatedItems"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames",
                _,
            ) => self.visit_all(under, value, depth),
            _ => true,
        }
    }

    fn visit_all(&mut self, schema: &'s Value, value: &Value, depth: usize) -> bool {
        match value {
            Value::Array(elements) => elements.iter().all(|element| self.visit(schema, element, depth)),
            Value::Object(members) => members.values().all(|member| self.visit(schema, member, depth)),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    /// Each of so many definitions leads to the next in two ways.
    fn doubling(count: usize, alternative: impl Fn(&str) -> String) -> Value {
        let mut defs = String::new();
        for index in 0..count {
            let next = format!("{{\"$ref\":\"#/$defs/a{}\"}}", index + 1);
            let _ = write!(defs, "\"a{index}\":{},", alternative(&next));
        }
        let schema = format!("{{\"$defs\":{{{defs}\"a{count}\":{{}}}},\"$ref\":\"#/$defs/a0\"}}");
        serde_json::from_str(&schema).unwrap()
    }

    #[test]
    fn what_doubles_again_and_again_is_not_affordable() {
        let in_place = |next: &str| format!("{{\"anyOf\":[{next},{next}]}}");
        assert!(is_affordable(&doubling(8, in_place), &json!({})));
        assert!(!is_affordable(&doubling(24, in_place), &json!({})));
        let below = |next: &str| format!("{{\"properties\":{{\"x\":{{\"oneOf\":[{next},{next}]}}}}}}");
        let mut deep = json!(1);
        for _ in 0..40 {
            deep = json!({ "x": deep });
        }
        assert!(is_affordable(&doubling(40, below), &json!({"x": {"x": {}}})));
        assert!(!is_affordable(&doubling(40, below), &deep));
        let recursive = json!({"anyOf": [{"properties": {"x": {"$ref": "#"}}}, {"properties": {"x": {"$ref": "#"}}}]});
        assert!(!is_affordable(&recursive, &deep));
        assert!(!is_affordable(&json!({"$ref": "#"}), &json!({})), "round and round");
    }

    #[test]
    fn what_is_long_and_plain_is_affordable() {
        let tree = json!({
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "all": {"items": {"type": "integer"}}},
        });
        let long: Vec<u32> = (0..300_000).collect();
        let mut value = json!({ "all": long });
        for _ in 0..60 {
            value = json!({"left": value, "right": {}});
        }
        assert!(is_affordable(&tree, &value));
    }
}
