//! The places of a schema and the links between them.

use std::collections::{BTreeMap, HashMap, HashSet};

use jsonschema::{Draft, Registry};
use serde_json::{Map, Value, json};

/// The base URI of a schema without an id.
const NAMELESS: &str = "json-schema:///";

/// The places of a schema that a check can reach, each once. The first one is the schema itself.
#[derive(Debug, Default)]
pub(super) struct SchemaPlaces {
    list: Vec<SchemaPlace>,
}

/// A place of a schema, with the numbers of the places that a check visits from it.
#[derive(Debug, Default)]
pub(super) struct SchemaPlace {
    /// Places that the same value must always fit: references and `allOf`.
    pub(super) always: Vec<usize>,
    /// Other places that check the same value.
    pub(super) beside: Vec<usize>,
    /// Places that check a member of an object, by its name.
    pub(super) properties: BTreeMap<String, usize>,
    /// Places that check every member.
    pub(super) members: Vec<usize>,
    /// Places that check the members without an own place.
    pub(super) other_members: Vec<usize>,
    /// Places that check the names of the members.
    pub(super) names: Vec<usize>,
    /// Places that check the first elements of a list, one each.
    pub(super) first_elements: Vec<usize>,
    /// Places that check the elements after those.
    pub(super) other_elements: Vec<usize>,
    /// Places that check every element.
    pub(super) elements: Vec<usize>,
    /// Whether a reference here could not be resolved.
    pub(super) is_open: bool,
}

/// How a place links to another.
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

impl SchemaPlaces {
    /// Finds all places of a schema, and makes a schema of its outermost level alone. It resolves references like the
    /// validation library.
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
            let mut place = SchemaPlace::default();
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
                // `unevaluated…` makes the validator check the rest a second time.
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

    pub(super) fn get(&self, number: usize) -> Option<&SchemaPlace> {
        self.list.get(number)
    }

    /// Returns the places that every value as a whole must fit.
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

impl SchemaPlace {
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

/// Identifies a value of a document by its address.
fn address(value: &Value) -> usize {
    std::ptr::from_ref(value).addr()
}

/// Returns the reference keywords of a place and their targets.
fn references(schema: &Value) -> impl Iterator<Item = (&'static str, &str)> {
    let words = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter();
    words.filter_map(|word| Some((word, schema.get(word)?.as_str()?)))
}

/// Returns the places that are nested in this one.
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
            // `additionalItems` counts only beside a list of items.
            ("additionalItems", _) if schema["items"].is_array() => leads.push((How::OtherElement, under)),
            ("contains" | "unevaluatedItems", _) => leads.push((How::Element, under)),
            _ => {}
        }
    }
    leads
}

/// Keywords that check a value without visiting other places.
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

/// Makes a schema of what a place demands of a value and, one level deep, of its members.
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

/// Makes a schema of what a place demands of a value itself.
fn flat(schema: &Value, draft: Draft) -> Value {
    let Some(written) = demands(schema, draft) else { return Value::Bool(schema != &Value::Bool(false)) };
    let flat = written.iter().filter(|(word, _)| FLAT.contains(&word.as_str()));
    flat.map(|(word, demand)| (word.clone(), demand.clone())).collect::<Map<_, _>>().into()
}

/// Returns the keywords of a place. Older drafts ignore keywords beside a reference.
fn demands(schema: &Value, draft: Draft) -> Option<&Map<String, Value>> {
    let written = schema.as_object()?;
    let refers_only = draft < Draft::Draft201909 && written.get("$ref").is_some_and(Value::is_string);
    (!refers_only).then_some(written)
}
