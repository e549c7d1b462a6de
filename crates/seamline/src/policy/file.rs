//! Reads and writes policy files.

use std::collections::BTreeMap;

use seamline_model::knob::{Knob, KnobKind, Setting};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

use super::error::nearest;
use super::listing::allowed;
use super::{Error, Overrides, Policy, SectionName};
use crate::providers;

/// The key of the tables that hold for one provider.
const PROVIDER: &str = "provider";
/// The key of the texts of synthetic results.
const TEXTS: &str = "synthetic_text";
/// The name that source documents give to `on_invalid`: `true` repairs, `false` offers the repair.
const AUTO_REPAIR: &str = "auto_repair";

/// Reads a policy.
pub(super) fn read(table: &Table) -> Result<Policy, Error> {
    let name = match table.get("preset") {
        None => "lossless",
        Some(Value::String(name)) => name,
        Some(other) => return Err(Error::UnknownPreset { name: shown(other) }),
    };
    let mut policy = Policy::preset(name).ok_or_else(|| Error::UnknownPreset { name: name.to_owned() })?;
    Changes::of(table, "the policy")?.apply(&mut policy)?;
    if let Some(tables) = table.get(PROVIDER) {
        for (provider, table) in as_table(PROVIDER, tables)? {
            let overrides = read_overrides(&policy, provider, table)?;
            policy.providers.insert(provider.clone(), overrides);
        }
    }
    Ok(policy)
}

fn read_overrides(policy: &Policy, provider: &str, value: &Value) -> Result<Overrides, Error> {
    if providers::by_name(provider).is_none() && !seamline_guard::is_provider(provider) {
        let known = providers::ALL.iter().map(|provider| provider.name).collect();
        return Err(Error::UnknownProvider { name: provider.to_owned(), known });
    }
    let place = format!("{PROVIDER}.{provider}");
    let changes = Changes::of(as_table(&place, value)?, &format!("`[{place}]`"))?;
    let mut changed = policy.clone();
    changes.apply(&mut changed)?;
    let settings = changes.settings.keys().filter_map(|&(section, index)| {
        let knob = section.knobs().get(index)?;
        Some((section, knob.name, changed.get(section, knob.name)?))
    });
    let settings = settings.collect();
    let texts = changes.texts.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    Ok(Overrides { settings, texts })
}

/// The changes of a table: settings in the order of the knobs, each with its line, and texts.
struct Changes<'t> {
    settings: BTreeMap<(SectionName, usize), (Setting<'t>, String)>,
    texts: BTreeMap<&'t str, &'t str>,
}

impl<'t> Changes<'t> {
    fn of(table: &'t Table, place: &str) -> Result<Self, Error> {
        let mut changes = Self { settings: BTreeMap::new(), texts: BTreeMap::new() };
        for (key, value) in table {
            if let Some(section) = SectionName::ALL.into_iter().find(|section| section.as_str() == key) {
                let place = format!("`[{key}]`");
                for (key, value) in as_table(key, value)? {
                    match (section, key.as_str()) {
                        (SectionName::Repair, TEXTS) => changes.read_texts(value)?,
                        _ => changes.read(&[section], key, value, &place)?,
                    }
                }
            } else if key == TEXTS {
                changes.read_texts(value)?;
            } else if key != "preset" && key != PROVIDER {
                changes.read(&SectionName::ALL, key, value, place)?;
            }
        }
        Ok(changes)
    }

    /// Reads one line, where a knob of these sections is expected.
    fn read(&mut self, sections: &[SectionName], key: &str, value: &'t Value, place: &str) -> Result<(), Error> {
        let (name, setting) = match (snake_case(key).as_str(), setting(value)) {
            (AUTO_REPAIR, Some(Setting::Flag(repairs))) => {
                ("on_invalid".to_owned(), Some(Setting::Word(if repairs { "repair" } else { "offer" })))
            }
            (name, setting) => (name.to_owned(), setting),
        };
        let is_alias = name == "on_invalid" && name != key;
        let (section, index, knob) = match find(sections, &name) {
            Some(found) => found,
            // Source documents list it among the settings of sessions.
            None if is_alias => find(&SectionName::ALL, &name).ok_or_else(|| unknown(sections, key, place))?,
            None => return Err(unknown(sections, key, place)),
        };
        let setting = setting.ok_or_else(|| unknown_value(key, knob, value))?;
        let mut trial = Policy::default();
        trial.set(section, knob.name, setting).map_err(|_| unknown_value(key, knob, value))?;
        let line = format!("{key} = {value}");
        if let Some((_, one)) = self.settings.get(&(section, index)).filter(|(known, _)| !same(knob, *known, setting)) {
            return Err(Error::Contradiction { one: one.clone(), other: line });
        }
        self.settings.insert((section, index), (setting, line));
        Ok(())
    }

    fn read_texts(&mut self, value: &'t Value) -> Result<(), Error> {
        for (name, value) in as_table(TEXTS, value)? {
            let texts = super::Texts::default();
            if !texts.list().iter().any(|(known, ..)| known == name) {
                let known = texts.list().into_iter().map(|(known, ..)| known).collect();
                return Err(Error::UnknownKnob { place: format!("`[{TEXTS}]`"), name: name.clone(), known });
            }
            let Value::String(text) = value else {
                let (knob, allowed) = (format!("{TEXTS}.{name}"), "a text".to_owned());
                return Err(Error::UnknownValue { knob, value: shown(value), nearest: None, allowed });
            };
            self.texts.insert(name, text);
        }
        Ok(())
    }

    fn apply(&self, policy: &mut Policy) -> Result<(), Error> {
        for (&(section, index), (setting, line)) in &self.settings {
            let Some(knob) = section.knobs().get(index) else { continue };
            policy.set(section, knob.name, *setting).map_err(|_| Error::NotToml(line.clone()))?;
        }
        for (name, text) in &self.texts {
            policy.repair.synthetic_text.set(name, text);
        }
        Ok(())
    }
}

/// Finds a knob by its name or one of its other names.
fn find(sections: &[SectionName], name: &str) -> Option<(SectionName, usize, &'static Knob)> {
    let has_name = |knob: &Knob| knob.name == name || knob.aliases.iter().any(|alias| snake_case(alias) == name);
    sections.iter().find_map(|&section| {
        let index = section.knobs().iter().position(has_name)?;
        Some((section, index, &section.knobs()[index]))
    })
}

fn unknown(sections: &[SectionName], key: &str, place: &str) -> Error {
    let (place, name) = (place.to_owned(), key.to_owned());
    if let Some((section, ..)) = find(&SectionName::ALL, &snake_case(key)) {
        return Error::OtherSection { place, name, section: section.as_str() };
    }
    let known = sections.iter().flat_map(|section| section.knobs()).map(|knob| knob.name).collect();
    Error::UnknownKnob { place, name, known }
}

fn unknown_value(key: &str, knob: &Knob, value: &Value) -> Error {
    let words = match knob.kind {
        KnobKind::Word(words) => words,
        KnobKind::Flag | KnobKind::Count(_) | KnobKind::Milliseconds | KnobKind::MillisecondsOrNever => &[],
    };
    let value = shown(value);
    let nearest = nearest(&value, words.iter().map(|word| word.name)).map(str::to_owned);
    Error::UnknownValue { knob: key.to_owned(), nearest, allowed: allowed(knob.kind), value }
}

fn as_table<'t>(key: &str, value: &'t Value) -> Result<&'t Table, Error> {
    value.as_table().ok_or_else(|| Error::NotATable(key.to_owned()))
}

fn setting(value: &Value) -> Option<Setting<'_>> {
    match value {
        Value::String(word) => Some(Setting::Word(word)),
        Value::Boolean(flag) => Some(Setting::Flag(*flag)),
        Value::Integer(number) => u64::try_from(*number).ok().map(Setting::Number),
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

/// Whether two settings mean the same value; words may be written in several ways.
fn same(knob: &Knob, one: Setting<'_>, other: Setting<'_>) -> bool {
    let plain = |setting| match (setting, knob.kind) {
        (Setting::Word(written), KnobKind::Word(words)) => {
            let is_meant = |word: &&super::Word| word.name == written || word.aliases.contains(&written);
            words.iter().find(is_meant).map(|word| word.name)
        }
        _ => None,
    };
    one == other || plain(one).is_some() && plain(one) == plain(other)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A name as this project writes it, whether it came as `autoRepair` or as `auto_repair`.
fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Writes every knob, so that a policy reads the same in a version whose presets differ.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(&Table::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

fn written(policy: &Policy) -> Table {
    let mut table = Table::new();
    table.insert("preset".to_owned(), Value::String(policy.preset.clone()));
    for section in SectionName::ALL {
        let knobs = section.knobs().iter().map(|knob| knob.name);
        let values = knobs.filter_map(|name| Some((name.to_owned(), value(policy.get(section, name)?))));
        let mut values: Table = values.collect();
        if section == SectionName::Repair {
            let texts = policy.repair.synthetic_text.list().into_iter();
            let texts: Table = texts.map(|(name, text, _)| (name.to_owned(), Value::String(text.to_owned()))).collect();
            values.insert(TEXTS.to_owned(), Value::Table(texts));
        }
        table.insert(section.as_str().to_owned(), Value::Table(values));
    }
    if !policy.providers.is_empty() {
        let overrides = policy.providers.iter().map(|(name, of)| (name.clone(), Value::Table(written_overrides(of))));
        table.insert(PROVIDER.to_owned(), Value::Table(overrides.collect()));
    }
    table
}

fn written_overrides(overrides: &Overrides) -> Table {
    let mut table: Table =
        overrides.settings.iter().map(|(_, knob, setting)| ((*knob).to_owned(), value(*setting))).collect();
    if !overrides.texts.is_empty() {
        let texts = overrides.texts.iter().map(|(name, text)| (name.clone(), Value::String(text.clone())));
        table.insert(TEXTS.to_owned(), Value::Table(texts.collect()));
    }
    table
}

fn value(setting: Setting<'_>) -> Value {
    match setting {
        Setting::Word(word) => Value::String(word.to_owned()),
        Setting::Flag(flag) => Value::Boolean(flag),
        Setting::Number(number) => Value::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
    }
}
