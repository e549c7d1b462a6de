//! Puts content that no dialect knows into healthy bodies, at every place where a provider could add it.

use serde_json::{Value, json};

/// A name that no provider uses.
const NAME: &str = "x_from_the_future";

/// A body with one unknown part.
pub struct Unknown {
    /// The JSON pointer of the object or list that got it.
    pub place: String,
    /// The kind of part that was added.
    pub added: &'static str,
    /// The whole body.
    pub body: Value,
}

/// Returns copies of a body, each with one unknown member, block, item or message. A long body has more places than
/// `most`; then every n-th one is taken.
pub fn variants(body: &Value, most: usize) -> Vec<Unknown> {
    let mut places = Vec::new();
    collect(body, "", &mut places);
    let step = places.len().div_ceil(most.max(1)).max(1);
    places.into_iter().step_by(step).filter_map(|place| place.apply(body)).collect()
}

/// A place for one unknown part.
struct Place {
    pointer: String,
    addition: Addition,
}

enum Addition {
    Member,
    Element { index: usize, element: Value, added: &'static str },
}

impl Place {
    fn apply(self, body: &Value) -> Option<Unknown> {
        let mut body = body.clone();
        let target = body.pointer_mut(&self.pointer)?;
        let added = match self.addition {
            Addition::Member => {
                target.as_object_mut()?.insert(NAME.to_owned(), json!({"value": 1}));
                "member"
            }
            Addition::Element { index, element, added } => {
                target.as_array_mut()?.insert(index, element);
                added
            }
        };
        Some(Unknown { place: self.pointer, added, body })
    }
}

fn collect(value: &Value, pointer: &str, places: &mut Vec<Place>) {
    match value {
        Value::Object(members) => {
            places.push(Place { pointer: pointer.to_owned(), addition: Addition::Member });
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(member, &format!("{pointer}/{key}"), places);
            }
        }
        Value::Array(elements) => {
            for (element, added) in unknown_elements(elements) {
                for index in (0..=elements.len()).filter(|&index| !answers_calls(elements.get(index))) {
                    let addition = Addition::Element { index, element: element.clone(), added };
                    places.push(Place { pointer: pointer.to_owned(), addition });
                }
            }
            for (index, element) in elements.iter().enumerate() {
                collect(element, &format!("{pointer}/{index}"), places);
            }
        }
        _ => {}
    }
}

/// Whether an element answers the calls before it. Providers document that nothing may come between the two.
fn answers_calls(element: Option<&Value>) -> bool {
    let Some(element) = element else { return false };
    let text = element.to_string();
    let is_tool = matches!(element["role"].as_str(), Some("tool" | "function"));
    is_tool || ["\"tool_result\"", "\"toolResult\"", "\"functionResponse\""].iter().any(|mark| text.contains(mark))
}

/// Elements of the shape that a list has, of a kind that no dialect knows. A list of plain values gets none.
fn unknown_elements(elements: &[Value]) -> Vec<(Value, &'static str)> {
    let has = |key: &str| elements.iter().any(|element| element.get(key).is_some());
    if elements.is_empty() || !elements.iter().all(Value::is_object) {
        return Vec::new();
    }
    let mut unknown = Vec::new();
    if has("type") {
        unknown.push((json!({"type": NAME, "value": "42"}), "element of an unknown type"));
    }
    if has("role") {
        let content = if has("parts") { "parts" } else { "content" };
        let text = if has("parts") || !has("content") { json!([{"text": "Noted."}]) } else { json!("Noted.") };
        unknown.push((json!({"role": NAME, content: text}), "message of an unknown role"));
    }
    if unknown.is_empty() {
        unknown.push((json!({NAME: {"value": "42"}}), "element with an unknown member"));
    }
    unknown
}
