//! The JSON schema of the settings file.

use serde_json::{Map, Value, json};

use super::ProxySettings;
use super::keys::{Field, KEYS, Key};
use super::layers::variable;

/// The JSON schema of the settings file.
pub fn schema() -> Value {
    let mut root = Map::new();
    for key in KEYS {
        match key.path.split_once('.') {
            None => drop(root.insert(key.path.to_owned(), of_key(key))),
            Some((table, name)) => {
                let entry = root
                    .entry(table)
                    .or_insert_with(|| json!({"type": "object", "additionalProperties": false, "properties": {}}));
                entry["properties"][name] = of_key(key);
            }
        }
    }
    root.insert("upstreams".to_owned(), of_upstreams());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Settings of seamline proxy",
        "type": "object",
        "additionalProperties": false,
        "properties": root,
    })
}

fn of_key(key: &Key) -> Value {
    let mut schema = match &key.field {
        Field::Text(_) => json!({"type": "string"}),
        Field::Size(_) | Field::Count(_) | Field::Time(_) | Field::Days(_) => json!({"type": "integer", "minimum": 1}),
        Field::Limit(_) | Field::Override(_) => json!({"type": "integer", "minimum": 0}),
        Field::Switch(_) => json!({"type": "boolean"}),
        Field::Choice(options) => {
            json!({"type": "string", "enum": options.iter().map(|option| option.word).collect::<Vec<_>>()})
        }
    };
    schema["description"] = json!(format!("{} In the environment: {}.", key.about, variable(key)));
    let default = key.get(&ProxySettings::default());
    if default != json!("") {
        schema["default"] = default;
    }
    schema
}

fn of_upstreams() -> Value {
    let table = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["url"],
        "properties": {
            "url": {"type": "string", "description": "The URL of the API, with a path where it has one."},
            "provider": {"type": "string", "description": "The provider whose demands apply. Without it: the one of \
                          the same name, else the model of each request selects it."},
        },
    });
    json!({
        "type": "object",
        "description": "Servers beside the built-in ones, by the first segment of their paths. In the environment: \
                        SEAMLINE_PROXY_UPSTREAM_NAME.",
        "additionalProperties": {"oneOf": [{"type": "string"}, table]},
    })
}
