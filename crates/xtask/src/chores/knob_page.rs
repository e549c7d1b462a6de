//! `docs/knobs.md`: every knob of a policy, with its default and its value in each preset.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use super::codegen::{NOTICE, cell};

pub(super) const PATH: &str = "docs/knobs.md";

/// The output of `seamline policies --format json`.
#[derive(Deserialize)]
struct Listing {
    policies: Vec<Policy>,
}

#[derive(Deserialize)]
struct Policy {
    name: String,
    about: String,
    knobs: Vec<Knob>,
    synthetic_text: Vec<Said>,
}

#[derive(Deserialize)]
struct Knob {
    name: String,
    aliases: Vec<String>,
    section: String,
    value: Value,
    default: Value,
    about: String,
    mark: String,
    allowed: String,
    values: Vec<Word>,
}

#[derive(Deserialize)]
struct Word {
    name: String,
    aliases: Vec<String>,
    about: String,
}

#[derive(Deserialize)]
struct Said {
    name: String,
    text: String,
    about: String,
}

pub(super) fn page(printed: &str) -> Result<String> {
    let listing: Listing =
        serde_json::from_str(printed).context("`seamline policies --format json` prints another shape")?;
    let [default, ..] = listing.policies.as_slice() else { bail!("`seamline policies` lists no preset") };
    let mut page = format!(
        "{NOTICE}\n\n# Knobs\n\nEvery knob of a [policy](policies.md), by section. \"Also\" has other names for the same \
         knob. A mark such as X1 names a question on which the source documents disagree.\n"
    );
    let mut section = "";
    for knob in &default.knobs {
        if knob.section != section {
            section = &knob.section;
            let _ = write!(
                page,
                "\n## {section}\n\n| Knob | Also | Default | Takes | What it decides | Mark |\n|---|---|---|---|---|---|\n"
            );
        }
        let also: Vec<_> = also(knob).iter().map(|alias| format!("`{alias}`")).collect();
        let _ = writeln!(
            page,
            "| `{}` | {} | `{}` | {} | {} | {} |",
            knob.name,
            also.join(", "),
            plain(&knob.default),
            takes(knob),
            cell(&knob.about),
            knob.mark
        );
    }
    page += &texts(default);
    page += &presets(&listing.policies);
    Ok(page)
}

/// Other names of a knob; `auto_repair` is read as a value of another type, so no table of knobs has it.
fn also(knob: &Knob) -> Vec<&str> {
    let translated: &[&str] = if knob.name == "on_invalid" { &["auto_repair", "autoRepair"] } else { &[] };
    knob.aliases.iter().map(String::as_str).chain(translated.iter().copied()).collect()
}

fn takes(knob: &Knob) -> String {
    if knob.values.is_empty() {
        return cell(&knob.allowed);
    }
    let word = |word: &Word| {
        let names: Vec<_> = std::iter::once(&word.name).chain(&word.aliases).map(|name| format!("`{name}`")).collect();
        format!("{}: {}", names.join(" or "), cell(&word.about))
    };
    knob.values.iter().map(word).collect::<Vec<_>>().join("<br>")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn texts(default: &Policy) -> String {
    let mut page =
        "\n## synthetic_text\n\nThe texts of synthetic results, by what is known about the call. A text that does \
        not begin with `[synthetic]` gets that mark.\n\n| Text | When | Default | Mark |\n|---|---|---|---|\n"
            .to_owned();
    for text in &default.synthetic_text {
        let _ = writeln!(page, "| `{}` | {} | {} | X11 |", text.name, cell(&text.about), cell(&text.text));
    }
    page
}

/// Where presets differ from the default, one column for each.
fn presets(policies: &[Policy]) -> String {
    let mut page = "\n## Presets\n\n".to_owned();
    for policy in policies {
        let _ = writeln!(page, "- `{}`: {}", policy.name, policy.about);
    }
    let names: Vec<_> = policies.iter().map(|policy| format!("`{}`", policy.name)).collect();
    let _ = write!(page, "\n| Knob | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    let knobs = policies.first().map(|policy| policy.knobs.as_slice()).unwrap_or_default();
    for (index, knob) in knobs.iter().enumerate() {
        let of_each: Vec<_> = policies.iter().filter_map(|policy| policy.knobs.get(index)).collect();
        if of_each.iter().all(|other| other.value == knob.default) {
            continue;
        }
        let cells: Vec<_> = of_each
            .iter()
            .map(
                |other| {
                    if other.value == knob.default { "·".to_owned() } else { format!("`{}`", plain(&other.value)) }
                },
            )
            .collect();
        let default = format!("`{}`", plain(&knob.default));
        let cells = cells.iter().enumerate().map(|(at, cell)| if at == 0 { &default } else { cell });
        let _ = writeln!(page, "| `{}` | {} |", knob.name, cells.cloned().collect::<Vec<_>>().join(" | "));
    }
    let texts = policies.first().map(|policy| policy.synthetic_text.as_slice()).unwrap_or_default();
    for (index, text) in texts.iter().enumerate() {
        let of_each: Vec<_> = policies.iter().filter_map(|policy| policy.synthetic_text.get(index)).collect();
        if of_each.iter().all(|other| other.text == text.text) {
            continue;
        }
        let cells: Vec<_> = of_each
            .iter()
            .map(|other| if other.text == text.text { "·".to_owned() } else { cell(&other.text) })
            .collect();
        let _ = writeln!(page, "| `synthetic_text.{}` | {} |", text.name, cells.join(" | "));
    }
    page += "\nA dot means the default.\n";
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knob_gets_a_row_and_a_preset_that_differs_a_cell() {
        let policy = |name: &str, value: &str| {
            format!(
                r#"{{"name":"{name}","about":"a","knobs":[{{"name":"k","aliases":["kay"],"section":"guard","value":{value},
                "default":1,"about":"How many.","mark":"X1","allowed":"a whole number","values":[]}}],
                "synthetic_text":[{{"name":"missing","text":"t","about":"Nothing is known."}}]}}"#
            )
        };
        let page = page(&format!(r#"{{"policies":[{},{}]}}"#, policy("one", "1"), policy("two", "2"))).unwrap();
        assert!(page.contains("\n## guard\n"), "{page}");
        assert!(page.contains("| `k` | `kay` | `1` | a whole number | How many. | X1 |\n"), "{page}");
        assert!(page.contains("| `k` | `1` | `2` |\n"), "{page}");
        assert!(page.contains("| `missing` | Nothing is known. | t | X11 |\n"), "{page}");
        assert!(self::page(r#"{"policies":[]}"#).is_err());
    }
}
