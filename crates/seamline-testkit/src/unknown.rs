//! Puts content that no dialect knows into healthy bodies, at every place where a provider could add it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A name that no provider uses.
const NAME: &str = "x_from_the_future";

/// Kinds of parts that may be anything, so that they may be anywhere: a message whose role no provider knows, and an item
/// that has no role.
const ROLE: &str = "message of an unknown role";
const FULL_ROLE: &str = "message of an unknown role with an id, a type and a status";
const ITEM: &str = "item of an unknown type without a role";
const BARE_ITEM: &str = "item with an unknown member without a role";

/// A body with one unknown part.
pub struct Unknown {
    /// The JSON pointer of the object or list that got it.
    pub place: String,
    /// The kind of part that was added.
    pub added: &'static str,
    /// The whole body.
    pub body: Value,
}

/// Returns copies of a body, each with one unknown member, block, item or message, or with a message whose content is
/// under an unknown name. A long body has more places than
/// `most`; then every n-th one is taken.
pub fn variants(body: &Value, most: usize) -> Vec<Unknown> {
    let mut places = Vec::new();
    collect(body, "", &mut places);
    let step = places.len().div_ceil(most.max(1)).max(1);
    places.into_iter().step_by(step).filter_map(|place| place.apply(body)).collect()
}

/// Returns copies of a body with unknown pairs: of a call and its result, the call, the result or both have a type that
/// no dialect knows. A long body has more pairs; then every n-th copy is taken, at most `most`.
pub fn pairs(body: &Value, most: usize) -> Vec<Unknown> {
    let mut halves = Vec::new();
    find_halves(body, "", &mut halves);
    let mut copies = Vec::new();
    for (at, call) in halves.iter().enumerate().filter(|(_, half)| half.is_call) {
        let result = halves[at..].iter().find(|half| !half.is_call && half.id == call.id);
        let Some(result) = result else { continue };
        for (added, renamed) in [
            ("unknown call of a known result", &[call][..]),
            ("unknown result of a known call", &[result]),
            ("unknown call and result", &[call, result]),
        ] {
            let mut copy = body.clone();
            if renamed.iter().all(|half| half.rename(&mut copy).is_some()) {
                copies.push(Unknown { place: call.pointer.clone(), added, body: copy });
            }
        }
    }
    copies.extend(batches(body, &halves));
    copies.extend(roles(body, &halves));
    let step = copies.len().div_ceil(most.max(1)).max(1);
    copies.into_iter().step_by(step).collect()
}

/// Returns copies of a body, each with one message of an unknown role that has members of known messages: ids of calls, a
/// list of calls, reasoning, or no content. There are many; `most` of them are taken from everywhere.
pub fn messages(body: &Value, most: usize) -> Vec<Unknown> {
    let lists = ["messages", "contents", "input"];
    let Some((key, elements)) = lists.iter().find_map(|&key| Some((key, body.get(key)?.as_array()?))) else {
        return Vec::new();
    };
    let shapes = messages_of_unknown_role();
    let count = shapes.len() * (elements.len() + 1);
    let copy = |number: usize| {
        let (index, shape) = (number / shapes.len(), &shapes[number % shapes.len()]);
        let addition = Addition::Element { index, element: shape.clone(), added: ROLE };
        Place { pointer: format!("/{key}"), addition }.apply(body)
    };
    // A step that divides neither number comes to every shape and every place.
    (0..count.min(most)).filter_map(|taken| copy(taken * STEP % count)).collect()
}

/// A prime number above the number of places in a generated body.
const STEP: usize = 99_991;

/// Messages of a role that no provider knows, with each kind of content beside each kind of member.
fn messages_of_unknown_role() -> Vec<Value> {
    let contents = [
        json!({"content": "Noted."}),
        json!({"content": [{"type": "text", "text": "Noted."}]}),
        json!({"content": [{"text": "Noted."}]}),
        json!({"content": null}),
        json!({"content": ""}),
        json!({"content": []}),
        json!({"content": [{"type": "text", "text": ""}]}),
        json!({"parts": [{"text": "Noted."}]}),
        json!({"parts": []}),
        json!({}),
    ];
    let members = [
        json!({}),
        json!({"call_id": "x_1"}),
        json!({"tool_call_id": "x_1"}),
        json!({"tool_use_id": "x_1"}),
        json!({"name": "x_1"}),
        json!({"tool_calls": []}),
        json!({"tool_calls": null}),
        json!({"tool_call_ids": ["x_1"]}),
        json!({"function_call": null}),
        json!({"id": "x_1"}),
        json!({"id": "x_1", "status": "completed"}),
        json!({"id": ""}),
        json!({"reasoning": "Thought."}),
        json!({"reasoning_content": "Thought."}),
        json!({"thinking": "Thought.", "thinkingSignature": "x"}),
        json!({"refusal": "No."}),
        json!({"cache_control": {"type": "ephemeral"}}),
        json!({"prefix": true}),
    ];
    let join = |content: &Value, member: &Value| {
        let mut message = json!({"role": NAME});
        for more in [content, member].into_iter().filter_map(Value::as_object) {
            message.as_object_mut()?.extend(more.clone());
        }
        Some(message)
    };
    contents.iter().flat_map(|content| members.iter().filter_map(move |member| join(content, member))).collect()
}

/// Returns copies of a body in which the role of a message with calls or results is unknown, or that of the messages of
/// both halves of a pair.
fn roles(body: &Value, halves: &[Half]) -> Vec<Unknown> {
    let mut copies = Vec::new();
    for (at, half) in halves.iter().enumerate() {
        let others = halves[at..].iter().filter(|other| half.is_call && !other.is_call && other.id == half.id);
        let both = others.take(1).map(|other| ("unknown roles around a call and its result", vec![half, other]));
        for (added, renamed) in both.chain([("unknown role around a call or result", vec![half])]) {
            let mut copy = body.clone();
            let messages: BTreeSet<String> = renamed.iter().filter_map(|half| half.message()).collect();
            let rename = |message: &String| {
                let role = copy.pointer_mut(message)?.get_mut("role").filter(|role| role.is_string())?;
                *role = json!(NAME);
                Some(())
            };
            if !messages.is_empty() && messages.iter().map(rename).all(|renamed| renamed.is_some()) {
                copies.push(Unknown { place: half.pointer.clone(), added, body: copy });
            }
        }
    }
    copies
}

/// Returns copies of a body in which the results of one list are one unknown element: it holds the results, or a list of
/// the ids of their calls.
fn batches(body: &Value, halves: &[Half]) -> Vec<Unknown> {
    let mut copies = Vec::new();
    let results: Vec<(&str, usize, &Half)> =
        halves.iter().filter(|half| !half.is_call).filter_map(Half::placed).collect();
    for run in results.chunk_by(|(list, at, _), (next, next_at, _)| list == next && at + 1 == *next_at) {
        let [(list, first, _), ..] = run else { continue };
        // A call with the id of an open one would be wrong for its own sake.
        let is_shared = |id: &str| halves.iter().filter(|half| half.is_call && half.id == id).nth(1).is_some();
        if run.iter().any(|(_, _, half)| is_shared(&half.id)) {
            continue;
        }
        let held = |(_, _, half): &(&str, usize, &Half)| body.pointer(&half.pointer).cloned().unwrap_or_default();
        let held: Vec<Value> = run.iter().map(held).collect();
        let ids: Vec<&str> = run.iter().map(|(_, _, half)| half.id.as_str()).collect();
        let named = held.iter().all(|result| result.get("type").is_none() && result.get("role").is_none());
        for (added, key, value) in [
            ("unknown batch of results", "results", Value::from(held.clone())),
            ("unknown batch with a list of ids", "call_ids", json!(ids)),
        ] {
            let mut batch = match held.first().and_then(|result| result.get("role")) {
                Some(_) => json!({"role": NAME}),
                None if named => json!({}),
                None => json!({"type": NAME}),
            };
            match batch.as_object_mut() {
                Some(members) if named => members.insert(NAME.to_owned(), json!({key: value})),
                Some(members) => members.insert(key.to_owned(), value),
                None => None,
            };
            let mut copy = body.clone();
            if let Some(elements) = copy.pointer_mut(list).and_then(Value::as_array_mut) {
                elements.splice(*first..*first + run.len(), [batch]);
                copies.push(Unknown { place: (*list).to_owned(), added, body: copy });
            }
        }
    }
    copies
}

/// A call or a result in a body.
struct Half {
    pointer: String,
    is_call: bool,
    id: String,
}

/// The types, members and roles of calls and results, and a name of the same form that no provider uses.
const CALLS: [(&str, &str); 5] = [
    ("tool_use", "memo_tool_use"),
    ("function_call", "browser_call"),
    ("function", "mcp"),
    ("functionCall", "richCall"),
    ("toolUse", "richUse"),
];
const RESULTS: [(&str, &str); 6] = [
    ("tool_result", "rich_tool_result"),
    ("function_call_output", "rich_call_output"),
    ("function_result", "rich_result"),
    ("tool", "rich_tool"),
    ("functionResponse", "richResponse"),
    ("toolResult", "richResult"),
];

impl Half {
    /// The pointer of the message that holds it: the element of the outermost list.
    fn message(&self) -> Option<String> {
        let mut keys = self.pointer.split('/').skip(1);
        Some(format!("/{}/{}", keys.next()?, keys.next()?))
    }

    /// The pointer of the list that it is in, and its place there.
    fn placed(&self) -> Option<(&str, usize, &Self)> {
        let (list, at) = self.pointer.rsplit_once('/')?;
        Some((list, at.parse().ok()?, self))
    }

    /// Reads an object as a call or a result.
    fn of(value: &Value, pointer: &str) -> Option<Self> {
        let is_call = names(value, &CALLS).is_some();
        let kind = names(value, if is_call { &CALLS } else { &RESULTS })?.0;
        let holder = value.get(kind).filter(|held| held.get("arguments").is_none()).unwrap_or(value);
        let keys: &[&str] = if is_call {
            &["call_id", "id", "toolUseId", "name"]
        } else {
            &["tool_use_id", "tool_call_id", "call_id", "id", "toolUseId", "name"]
        };
        let id = keys.iter().find_map(|key| holder.get(key)?.as_str())?.to_owned();
        Some(Self { pointer: pointer.to_owned(), is_call, id })
    }

    /// Gives it a type that no dialect knows.
    fn rename(&self, body: &mut Value) -> Option<()> {
        let value = body.pointer_mut(&self.pointer)?;
        let (old, new) = names(value, if self.is_call { &CALLS } else { &RESULTS })?;
        let members = value.as_object_mut()?;
        if let Some(held) = members.remove(old) {
            members.insert(new.to_owned(), held);
        }
        for key in ["type", "role"] {
            if let Some(name) = members.get_mut(key).filter(|name| **name == old) {
                *name = json!(new);
            }
        }
        Some(())
    }
}

/// The name of a call or result, and the unknown one: of its type, of its role, or of the member that holds it.
fn names(value: &Value, known: &[(&'static str, &'static str)]) -> Option<(&'static str, &'static str)> {
    let is_named = |name: &str| {
        let is_typed = value["type"] == name && (name != "function" || value["function"]["name"].is_string());
        is_typed || name == "tool" && value["role"] == name || value[name].is_object() && value.get("type").is_none()
    };
    known.iter().copied().find(|(name, _)| is_named(name))
}

fn find_halves(value: &Value, pointer: &str, halves: &mut Vec<Half>) {
    if let Some(half) = Half::of(value, pointer) {
        halves.push(half);
        return;
    }
    match value {
        Value::Object(members) => {
            // Definitions of tools look like calls.
            for (key, member) in members.iter().filter(|(key, _)| !matches!(key.as_str(), "tools" | "toolConfig")) {
                find_halves(member, &format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), halves);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                find_halves(element, &format!("{pointer}/{index}"), halves);
            }
        }
        _ => {}
    }
}

/// A place for one unknown part.
struct Place {
    pointer: String,
    addition: Addition,
}

enum Addition {
    /// A member with this value.
    Member(Value),
    /// A member in place of the content.
    Content,
    Element {
        index: usize,
        element: Value,
        added: &'static str,
    },
}

impl Place {
    fn apply(self, body: &Value) -> Option<Unknown> {
        let mut body = body.clone();
        let target = body.pointer_mut(&self.pointer)?;
        let added = match self.addition {
            Addition::Member(value) => {
                target.as_object_mut()?.insert(NAME.to_owned(), value);
                "member"
            }
            Addition::Content => {
                let members = target.as_object_mut()?;
                members.retain(|key, _| key == "role");
                members.insert(NAME.to_owned(), json!({"value": "42"}));
                "message with unknown content"
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
            let mut place = |addition| places.push(Place { pointer: pointer.to_owned(), addition });
            for value in [json!({"value": 1}), json!("text"), json!(null), json!([{"id": "x_1"}])] {
                place(Addition::Member(value));
            }
            if is_spoken(value) {
                place(Addition::Content);
            }
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                collect(member, &format!("{pointer}/{key}"), places);
            }
        }
        Value::Array(elements) => {
            for (element, added) in unknown_elements(elements) {
                // A message of an unknown role may be anything, so it may be anywhere.
                let is_anything = [ROLE, FULL_ROLE, ITEM, BARE_ITEM].contains(&added);
                let may_be_at = |index: &usize| is_anything || !answers_calls(elements.get(*index));
                for index in (0..=elements.len()).filter(may_be_at) {
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

/// Whether a message holds only text, so that nothing else refers to it.
fn is_spoken(message: &Value) -> bool {
    let Some(members) = message.as_object() else { return false };
    let is_text = |part: &Value| part.get("text").is_some_and(Value::is_string);
    let is_spoken =
        |content: &Value| content.is_string() || content.as_array().is_some_and(|all| all.iter().all(is_text));
    let keys: Vec<&str> = members.keys().map(String::as_str).collect();
    let is_message = matches!(keys[..], ["content" | "parts", "role"] | ["role", "content" | "parts"]);
    is_message && message["role"] != "tool" && members.iter().any(|(key, content)| key != "role" && is_spoken(content))
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
        let full = json!({"type": NAME, "id": "x_1", "status": "completed", "results": [{"id": "x_2"}]});
        unknown.push((full, "element of an unknown type with ids and a status"));
    }
    if has("role") {
        let content = if has("parts") { "parts" } else { "content" };
        let text = if has("parts") || !has("content") { json!([{"text": "Noted."}]) } else { json!("Noted.") };
        let full = json!({"role": NAME, "type": NAME, "id": "x_1", "status": "completed", content: text.clone()});
        unknown.push((json!({"role": NAME, content: text}), ROLE));
        unknown.push((full, FULL_ROLE));
        if !has("type") {
            unknown.push((json!({"type": NAME, "id": "x_1", "status": "completed", "value": "42"}), ITEM));
            unknown.push((json!({NAME: {"value": "42"}}), BARE_ITEM));
        }
    }
    if unknown.is_empty() {
        unknown.push((json!({NAME: {"value": "42"}}), "element with an unknown member"));
    }
    unknown
}
