//! Reads and writes policy files.

use std::collections::BTreeMap;

use seamline_model::knob::{Knob, KnobKind, Setting};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Table, Value};

use super::error::nearest;
use super::lines::{KeyPath, Wrong};
use super::listing::allowed;
use super::{Overrides, Policy, PolicyErrorKind, SectionName};
use crate::providers;

/// The key of the preset.
const PRESET: &str = "preset";
/// The key of the tables that hold for one provider.
const PROVIDER: &str = "provider";
/// The key of the texts of synthetic results.
const TEXTS: &str = "synthetic_text";
/// Texts of earlier versions that had no effect. The stored policies of sessions name them, so they are skipped there.
const RETIRED_TEXTS: [&str; 1] = ["reconstructed"];
/// The name that source documents give to `on_invalid`: `true` repairs, `false` offers the repair.
const AUTO_REPAIR: &str = "auto_repair";

/// Where a policy comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// A user writes it, in a file or an object.
    ByUser,
    /// A session stores it, maybe since an earlier version.
    BySession,
}

/// Reads a policy.
pub(super) fn read(table: &Table, written: Written) -> Result<Policy, Wrong> {
    let unknown = |name: String| Wrong::at(&[PRESET], PolicyErrorKind::UnknownPreset { name });
    let name = match table.get(PRESET) {
        None => "lossless",
        Some(Value::String(name)) => name,
        Some(other) => return Err(unknown(shown(other))),
    };
    let mut policy = Policy::preset(name).ok_or_else(|| unknown(name.to_owned()))?;
    Changes::of(table, &[], written)?.apply(&mut policy)?;
    if let Some(tables) = table.get(PROVIDER) {
        let mut spellings: BTreeMap<&'static str, &str> = BTreeMap::new();
        for (spelling, table) in as_table(&[PROVIDER], tables)? {
            let path = [PROVIDER, spelling];
            let name = provider_name(spelling).map_err(|kind| Wrong::at(&path, kind))?;
            if let Some(one) = spellings.insert(name, spelling) {
                let kind = repeated_provider(name, one, spelling);
                return Err(Wrong {
                    earlier: Some(vec![PROVIDER.to_owned(), one.to_owned()]),
                    ..Wrong::at(&path, kind)
                });
            }
            let overrides = read_overrides(&policy, &path, table, written)?;
            policy.providers.insert(name.to_owned(), overrides);
        }
    }
    Ok(policy)
}

/// Finds the name of a provider by any of its spellings: an alias, or other cases of letters.
pub(super) fn known_provider(spelling: &str) -> Option<&'static str> {
    let of_dialects = |name: &str| {
        let provider = providers::by_name(name)?;
        Some(if provider.company == name { provider.company } else { provider.name })
    };
    let of_errors = || seamline_guard::providers().into_iter().find(|known| known.eq_ignore_ascii_case(spelling));
    of_dialects(spelling).or_else(|| of_dialects(&spelling.to_ascii_lowercase())).or_else(of_errors)
}

fn provider_name(spelling: &str) -> Result<&'static str, PolicyErrorKind> {
    let known = || providers::ALL.iter().map(|provider| provider.name).collect();
    known_provider(spelling)
        .ok_or_else(|| PolicyErrorKind::UnknownProvider { name: spelling.to_owned(), known: known() })
}

fn repeated_provider(provider: &'static str, one: &str, other: &str) -> PolicyErrorKind {
    PolicyErrorKind::RepeatedProvider { provider, one: one.to_owned(), other: other.to_owned() }
}

/// Checks the names that the public fields of a policy hold: a reader refuses names that do not exist.
pub(super) fn check_names(policy: &Policy) -> Result<(), PolicyErrorKind> {
    if Policy::preset(&policy.preset).is_none() {
        return Err(PolicyErrorKind::UnknownPreset { name: policy.preset.clone() });
    }
    let mut spellings: BTreeMap<&'static str, &str> = BTreeMap::new();
    for spelling in policy.providers.keys() {
        let name = provider_name(spelling)?;
        if let Some(one) = spellings.insert(name, spelling) {
            return Err(repeated_provider(name, one, spelling));
        }
    }
    Ok(())
}

fn read_overrides(policy: &Policy, path: &[&str], value: &Value, written: Written) -> Result<Overrides, Wrong> {
    let changes = Changes::of(as_table(path, value)?, path, written)?;
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
    settings: BTreeMap<(SectionName, usize), Line<'t>>,
    texts: BTreeMap<&'t str, &'t str>,
}

/// A line that sets a knob.
struct Line<'t> {
    setting: Setting<'t>,
    text: String,
    path: KeyPath,
}

impl<'t> Changes<'t> {
    /// Reads the table at this path.
    fn of(table: &'t Table, path: &[&str], written: Written) -> Result<Self, Wrong> {
        let mut changes = Self { settings: BTreeMap::new(), texts: BTreeMap::new() };
        for (key, value) in table {
            let inside = [path, &[key]].concat();
            if let Some(section) = SectionName::ALL.into_iter().find(|section| section.as_str() == key) {
                for (key, value) in as_table(&inside, value)? {
                    let path = [&inside[..], &[key]].concat();
                    match (section, key.as_str()) {
                        (SectionName::Repair, TEXTS) => changes.read_texts(&path, value, written)?,
                        _ => changes.read(&[section], &path, value)?,
                    }
                }
            } else if key == TEXTS {
                changes.read_texts(&inside, value, written)?;
            } else if !(path.is_empty() && [PRESET, PROVIDER].contains(&key.as_str())) {
                changes.read(&SectionName::ALL, &inside, value)?;
            }
        }
        Ok(changes)
    }

    /// Reads one line, where a knob of these sections is expected.
    fn read(&mut self, sections: &[SectionName], path: &[&str], value: &'t Value) -> Result<(), Wrong> {
        let key = path.last().copied().unwrap_or_default();
        let wrong = |kind| Wrong::at(path, kind);
        let (name, setting) = match (snake_case(key).as_str(), setting(value)) {
            (AUTO_REPAIR, Some(Setting::Flag(repairs))) => {
                ("on_invalid".to_owned(), Some(Setting::Word(if repairs { "repair" } else { "offer" })))
            }
            (AUTO_REPAIR, _) => return Err(wrong(not_a_flag(key, value))),
            (name, setting) => (name.to_owned(), setting),
        };
        let is_alias = name == "on_invalid" && name != key;
        let (section, index, knob) = match find(sections, &name) {
            Some(found) => found,
            // Source documents list it among the settings of sessions.
            None if is_alias => find(&SectionName::ALL, &name).ok_or_else(|| wrong(unknown(sections, path, value)))?,
            None => return Err(wrong(unknown(sections, path, value))),
        };
        let setting = setting.ok_or_else(|| wrong(unknown_value(key, knob, value)))?;
        let mut trial = Policy::default();
        trial.set(section, knob.name, setting).map_err(|_| wrong(unknown_value(key, knob, value)))?;
        let text = format!("{key} = {value}");
        if let Some(known) = self.settings.get(&(section, index))
            && !is_same(knob, known.setting, setting)
        {
            let (one, knob) = (known.text.clone(), knob.name);
            let kind = PolicyErrorKind::Contradiction { knob, one, one_line: None, other: text };
            return Err(Wrong { earlier: Some(known.path.clone()), ..wrong(kind) });
        }
        let path = path.iter().map(|&name| name.to_owned()).collect();
        self.settings.insert((section, index), Line { setting, text, path });
        Ok(())
    }

    fn read_texts(&mut self, path: &[&str], value: &'t Value, written: Written) -> Result<(), Wrong> {
        let is_skipped = |name: &str| written == Written::BySession && RETIRED_TEXTS.contains(&name);
        for (name, value) in as_table(path, value)?.iter().filter(|(name, _)| !is_skipped(name)) {
            let path = [path, &[name]].concat();
            let texts = super::Texts::default();
            if !texts.list().iter().any(|(known, ..)| known == name) {
                let known = texts.list().into_iter().map(|(known, ..)| known).collect();
                let kind = PolicyErrorKind::UnknownKnob { place: format!("`[{TEXTS}]`"), name: name.clone(), known };
                return Err(Wrong::at(&path, kind));
            }
            let Value::String(text) = value else {
                let (knob, allowed) = (format!("{TEXTS}.{name}"), "a text".to_owned());
                let kind = PolicyErrorKind::UnknownValue { knob, value: shown(value), nearest: None, allowed };
                return Err(Wrong::at(&path, kind));
            };
            self.texts.insert(name, text);
        }
        Ok(())
    }

    fn apply(&self, policy: &mut Policy) -> Result<(), Wrong> {
        for (&(section, index), line) in &self.settings {
            let Some(knob) = section.knobs().get(index) else { continue };
            let refused = |_| {
                let path: Vec<&str> = line.path.iter().map(String::as_str).collect();
                Wrong::at(&path, PolicyErrorKind::NotToml(line.text.clone()))
            };
            policy.set(section, knob.name, line.setting).map_err(refused)?;
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

/// The error of a name that these sections do not have.
fn unknown(sections: &[SectionName], path: &[&str], value: &Value) -> PolicyErrorKind {
    let (key, table) = path.split_last().map_or(("", path), |(key, table)| (*key, table));
    let (place, name) = (place(table), key.to_owned());
    if let Some((section, ..)) = find(&SectionName::ALL, &snake_case(key)) {
        return PolicyErrorKind::OtherSection { place, name, section: section.as_str() };
    }
    if value.is_table() && sections.len() > 1 {
        let sections = SectionName::ALL.into_iter().map(SectionName::as_str);
        let top = table.is_empty().then_some(PROVIDER);
        return PolicyErrorKind::UnknownSection { place, name, known: sections.chain([TEXTS]).chain(top).collect() };
    }
    let known = sections.iter().flat_map(|section| section.knobs()).map(|knob| knob.name).collect();
    PolicyErrorKind::UnknownKnob { place, name, known }
}

/// The table at a path, in words.
fn place(path: &[&str]) -> String {
    if path.is_empty() { "the policy".to_owned() } else { format!("`[{}]`", path.join(".")) }
}

fn unknown_value(key: &str, knob: &Knob, value: &Value) -> PolicyErrorKind {
    let words = match knob.kind {
        KnobKind::Word(words) => words,
        KnobKind::Flag | KnobKind::Count(_) | KnobKind::Milliseconds | KnobKind::MillisecondsOrNever => &[],
    };
    let value = shown(value);
    let nearest = nearest(&value, words.iter().map(|word| word.name)).map(str::to_owned);
    PolicyErrorKind::UnknownValue { knob: key.to_owned(), nearest, allowed: allowed(knob.kind), value }
}

fn not_a_flag(key: &str, value: &Value) -> PolicyErrorKind {
    let (knob, allowed) = (key.to_owned(), allowed(KnobKind::Flag));
    PolicyErrorKind::UnknownValue { knob, value: shown(value), nearest: None, allowed }
}

fn as_table<'t>(path: &[&str], value: &'t Value) -> Result<&'t Table, Wrong> {
    value.as_table().ok_or_else(|| Wrong::at(path, PolicyErrorKind::NotATable(path.join("."))))
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
fn is_same(knob: &Knob, one: Setting<'_>, other: Setting<'_>) -> bool {
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

impl Policy {
    /// Reads the members of a policy file that a user writes as an object.
    pub(crate) fn from_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(&Table::deserialize(deserializer)?, Written::ByUser)
            .map_err(|wrong| serde::de::Error::custom(wrong.into_error()))
    }
}

/// Writes every knob, so that a policy reads the same in a version whose presets differ.
impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(&Table::deserialize(deserializer)?, Written::BySession)
            .map_err(|wrong| serde::de::Error::custom(wrong.into_error()))
    }
}

fn written(policy: &Policy) -> Table {
    let mut table = Table::new();
    table.insert(PRESET.to_owned(), Value::String(policy.preset.clone()));
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
