//! The places of a schema, and which of them lead to which.

use std::collections::{BTreeMap, HashMap, HashSet};

use jsonschema::{Draft, Registry};
use serde_json::{Map, Value, json};

/// What a schema without a name of its own is called.
const NAMELESS: &str = "json-schema:///";

/// The places of a schema that a check can come to, each once. The first is the schema itself.
#[derive(Debug, Default)]
pub(super) struct Places {
    list: Vec<Place>,
}

/// Where a check goes from a place of a schema, by the numbers of other places.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// What every value must fit that fits here: what is referred to, and all of `allOf`.
    pub(super) always: Vec<usize>,
    /// What else looks at the same value.
    pub(super) beside: Vec<usize>,
    /// What looks at a member of an object, by its name.
    pub(super) properties: BTreeMap<String, usize>,
    /// What looks at every member.
    pub(super) members: Vec<usize>,
    /// What looks at the members that have no place of their own.
    pub(super) other_members: Vec<usize>,
    /// What looks at the names of the members.
    pub(super) names: Vec<usize>,
    /// What looks at the first elements of a list, one for each.
    pub(super) first_elements: Vec<usize>,
    /// What looks at those that come after them.
    pub(super) other_elements: Vec<usize>,
    /// What looks at every element.
    pub(super) elements: Vec<usize>,
    /// Whether something here refers to what was not found.
    pub(super) is_open: bool,
}

/// How a place leads to another.
enum How<'s> {
    Always,
    Beside,
    Property(&'s str),
    Member,
    OtherMember,
    Name,
    FirstElement,
    OtherElement,
    Element,
}

impl Places {
    /// All places of a schema, and what its outermost level demands, as a schema of its own.
    /// References are followed as the library follows them that does the checks.
    pub(super) fn of(schema: &Value) -> Result<(Self, Value), String> {
        let draft = Draft::default().detect(schema);
        let root = draft.create_resource_ref(schema);
        let base = jsonschema::uri::from_str(root.id().unwrap_or(NAMELESS).trim_end_matches('#'));
        let base = base.map_err(|error| error.to_string())?;
        let registry = Registry::new().add(base.as_str(), root).and_then(jsonschema::RegistryBuilder::prepare);
        let registry = registry.map_err(|error| error.to_string())?;

        let mut list = Vec::new();
        let mut numbers = HashMap::from([(address(schema), 0)]);
        let mut found = vec![(schema, registry.resolver(base))];
        while let Some((schema, outer)) = found.get(list.len()).cloned() {
            let mut place = Place::default();
            let resolver = outer.in_subresource(draft.detect(schema).create_resource_ref(schema)).unwrap_or(outer);
            let mut leads: Vec<_> = below(schema).into_iter().map(|(how, to)| (how, to, resolver.clone())).collect();
            for target in references(schema) {
                let resolved = if target.0 == "$recursiveRef" {
                    resolver.lookup_recursive_ref()
                } else {
                    resolver.lookup(target.1)
                };
                match resolved {
                    Ok(resolved) => {
                        let (contents, resolver, _) = resolved.into_inner();
                        leads.push((How::Always, contents, resolver));
                    }
                    Err(_) => place.is_open = true,
                }
            }
            for (how, to, resolver) in leads {
                let number = *numbers.entry(address(to)).or_insert_with(|| {
                    found.push((to, resolver));
                    found.len() - 1
                });
                place.lead(&how, number);
            }
            if schema.get("unevaluatedProperties").or(schema.get("unevaluatedItems")).is_some() {
                // What is left over is known only once the rest was looked at another time.
                place.beside.extend_from_within(..);
                place.beside.extend_from_slice(&place.always);
            }
            list.push(place);
        }
        let places = Self { list };
        let outermost = places.outermost().into_iter().filter_map(|number| Some(found.get(number)?.0));
        let mut outline = json!({ "allOf": outermost.map(|schema| outline(schema, draft)).collect::<Vec<_>>() });
        if let (Some(outline), Some(name)) = (outline.as_object_mut(), schema.get("$schema")) {
            outline.insert("$schema".to_owned(), name.clone());
        }
        Ok((places, outline))
    }

    pub(super) fn get(&self, number: usize) -> Option<&Place> {
        self.list.get(number)
    }

    /// The places that every value must fit as a whole.
    fn outermost(&self) -> Vec<usize> {
        let mut numbers = vec![0];
        let mut seen = HashSet::from([0]);
        let mut next = 0;
        while let Some(place) = numbers.get(next).and_then(|number| self.get(*number)) {
            numbers.extend(place.always.iter().copied().filter(|number| seen.insert(*number)));
            next += 1;
        }
        numbers
    }
}

impl Place {
    fn lead(&mut self, how: &How<'_>, number: usize) {
        let list = match how {
            How::Property(name) => {
                self.properties.insert((*name).to_owned(), number);
                return;
            }
            How::Always => &mut self.always,
            How::Beside => &mut self.beside,
            How::Member => &mut self.members,
            How::OtherMember => &mut self.other_members,
            How::Name => &mut self.names,
            How::FirstElement => &mut self.first_elements,
            How::OtherElement => &mut self.other_elements,
            How::Element => &mut self.elements,
        };
        list.push(number);
    }
}

/// Every value of a document stands somewhere else.
fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// The words that refer to other places, and to which.
fn references(schema: &Value) -> impl Iterator<Item = (&'static str, &str)> {
    let words = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter();
    words.filter_map(|word| Some((word, schema.get(word)?.as_str()?)))
}

/// The places that stand in this one.
fn below(schema: &Value) -> Vec<(How<'_>, &Value)> {
    let mut leads = Vec::new();
    for (key, under) in schema.as_object().into_iter().flatten() {
        match (key.as_str(), under) {
            ("allOf", Value::Array(all)) => leads.extend(all.iter().map(|each| (How::Always, each))),
            ("anyOf" | "oneOf", Value::Array(all)) => leads.extend(all.iter().map(|each| (How::Beside, each))),
            ("not" | "if" | "then" | "else", _) => leads.push((How::Beside, under)),
            ("dependentSchemas" | "dependencies", Value::Object(all)) => {
                leads.extend(all.values().map(|each| (How::Beside, each)));
            }
            ("properties", Value::Object(all)) => {
                leads.extend(all.iter().map(|(name, each)| (How::Property(name), each)));
            }
            ("patternProperties", Value::Object(all)) => leads.extend(all.values().map(|each| (How::Member, each))),
            ("unevaluatedProperties", _) => leads.push((How::Member, under)),
            ("additionalProperties", _) => leads.push((How::OtherMember, under)),
            ("propertyNames", _) => leads.push((How::Name, under)),
            ("prefixItems" | "items", Value::Array(all)) => {
                leads.extend(all.iter().map(|each| (How::FirstElement, each)));
            }
            ("items", _) => leads.push((How::OtherElement, under)),
            // Without a list of the first there are no further ones.
            ("additionalItems", _) if schema["items"].is_array() => leads.push((How::OtherElement, under)),
            ("contains" | "unevaluatedItems", _) => leads.push((How::Element, under)),
            _ => {}
        }
    }
    leads
}

/// Words that demand something without looking into other places.
const FLAT: [&str; 20] = [
    "type",
    "enum",
    "const",
    "required",
    "dependentRequired",
    "minProperties",
    "maxProperties",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "nullable",
];

/// What a place demands of a value and, flatly, of its members.
fn outline(schema: &Value, draft: Draft) -> Value {
    let Some(written) = demands(schema, draft) else { return flat(schema, draft) };
    let mut outline = flat(schema, draft);
    if let Some(Value::Object(properties)) = written.get("properties") {
        let flat = properties.iter().map(|(name, each)| (name.clone(), flat(each, draft)));
        outline["properties"] = flat.collect::<Map<_, _>>().into();
    }
    if let Some(Value::Object(patterns)) = written.get("patternProperties") {
        let free = patterns.keys().map(|pattern| (pattern.clone(), Value::Bool(true)));
        outline["patternProperties"] = free.collect::<Map<_, _>>().into();
    }
    if let Some(Value::Bool(others)) = written.get("additionalProperties") {
        outline["additionalProperties"] = (*others).into();
    }
    outline
}

/// What a place demands of a value itself.
fn flat(schema: &Value, draft: Draft) -> Value {
    let Some(written) = demands(schema, draft) else { return Value::Bool(schema != &Value::Bool(false)) };
    let flat = written.iter().filter(|(word, _)| FLAT.contains(&word.as_str()));
    flat.map(|(word, demand)| (word.clone(), demand.clone())).collect::<Map<_, _>>().into()
}

/// What is demanded at a place itself. Older drafts do not look at what stands beside a reference.
fn demands(schema: &Value, draft: Draft) -> Option<&Map<String, Value>> {
    let written = schema.as_object()?;
    let refers_only = draft < Draft::Draft201909 && written.get("$ref").is_some_and(Value::is_string);
    (!refers_only).then_some(written)
}
