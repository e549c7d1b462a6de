//! The cost of checking arguments against a schema.
//!
//! A few alternatives that refer to each other can make a check take exponential time, and schemas come from third
//! parties. So the visits of a check are counted first, up to a limit.

use serde_json::{Map, Value};

use super::places::{SchemaPlace, SchemaPlaces};

/// The most visits of schema places, plus some for each value of the arguments.
const VISITS_MAX: usize = 100_000;
const VISITS_PER_VALUE: usize = 64;
/// The greatest depth of nested schema places: a few for each level of JSON that is parsed.
const DEPTH_MAX: usize = 768;

/// Whether a check of these arguments stays within the limit.
pub(super) fn is_affordable(places: &SchemaPlaces, arguments: &Value) -> bool {
    let left = VISITS_MAX.saturating_add(values(arguments).saturating_mul(VISITS_PER_VALUE));
    Walk { places, left }.visit(0, arguments, 0)
}

/// Counts the values.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(elements) => elements.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Visits what a check without early exit would visit. Each method returns whether it stayed within the limit.
struct Walk<'s> {
    places: &'s SchemaPlaces,
    left: usize,
}

impl<'s> Walk<'s> {
    fn visit(&mut self, number: usize, value: &Value, depth: usize) -> bool {
        if self.left == 0 || depth == DEPTH_MAX {
            return false;
        }
        self.left -= 1;
        let Some(place) = self.places.get(number).filter(|place| !place.is_open) else { return false };
        self.visit_each(&place.always, value, depth)
            && self.visit_each(&place.beside, value, depth)
            && match value {
                Value::Object(members) => self.visit_members(place, members, depth),
                Value::Array(elements) => self.visit_elements(place, elements, depth),
                _ => true,
            }
    }

    fn visit_each(&mut self, numbers: &[usize], value: &Value, depth: usize) -> bool {
        numbers.iter().all(|number| self.visit(*number, value, depth + 1))
    }

    fn visit_members(&mut self, place: &'s SchemaPlace, members: &Map<String, Value>, depth: usize) -> bool {
        // The shorter list is iterated.
        let has_room = if place.properties.len() < members.len() {
            let mut own = place.properties.iter().filter_map(|(name, to)| Some((*to, members.get(name)?)));
            own.all(|(to, member)| self.visit(to, member, depth + 1))
        } else {
            let mut own = members.iter().filter_map(|(name, member)| Some((*place.properties.get(name)?, member)));
            own.all(|(to, member)| self.visit(to, member, depth + 1))
        };
        let is_other = |name: &String| !place.properties.contains_key(name);
        has_room
            && (place.members.is_empty()
                || members.values().all(|member| self.visit_each(&place.members, member, depth)))
            && (place.names.is_empty() || members.keys().all(|_| self.visit_each(&place.names, &Value::Null, depth)))
            && (place.other_members.is_empty()
                || members
                    .iter()
                    .filter(|(name, _)| is_other(name))
                    .all(|(_, member)| self.visit_each(&place.other_members, member, depth)))
    }

    fn visit_elements(&mut self, place: &'s SchemaPlace, elements: &[Value], depth: usize) -> bool {
        let first = &place.first_elements;
        let mut firsts = first.iter().zip(elements);
        firsts.all(|(to, element)| self.visit(*to, element, depth + 1))
            && (place.other_elements.is_empty()
                || elements.iter().skip(first.len()).all(|each| self.visit_each(&place.other_elements, each, depth)))
            && (place.elements.is_empty()
                || elements.iter().all(|element| self.visit_each(&place.elements, element, depth)))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    fn is_affordable(schema: &Value, arguments: &Value) -> bool {
        super::is_affordable(&SchemaPlaces::of(schema).unwrap().0, arguments)
    }

    /// Makes definitions that each lead to the next one in two ways.
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
    fn exponential_schemas_are_not_affordable() {
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
        assert!(!is_affordable(&json!({"$ref": "#"}), &json!({})), "a circular reference");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "only a thread has a stack of known size")]
    fn the_deepest_check_needs_a_small_stack() {
        let alone = |next: &str| format!("{{\"anyOf\":[{next}]}}");
        let schema = doubling((DEPTH_MAX - 2) / 2, alone);
        assert!(is_affordable(&schema, &json!({})));
        assert!(!is_affordable(&doubling(DEPTH_MAX / 2, alone), &json!({})));
        let text = schema.to_string().replace(":{}", ":{\"type\":\"string\"}");
        let check = move || {
            let schema = serde_json::from_str(&text).unwrap();
            let validator = jsonschema::validator_for(&schema).unwrap();
            validator.iter_errors(&json!({})).count()
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(check).unwrap();
        assert_eq!(thread.join().unwrap(), 1);
    }

    /// An eighth of the default stack of a thread.
    const STACK: usize = 256 * 1024;

    #[test]
    fn long_plain_arguments_are_affordable() {
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
