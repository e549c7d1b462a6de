//! Ids and names that a provider takes.

use seamline_model::{IdDemand, NameDemand};

/// How many characters of a hash stand in a made id.
const HASH_CHARS: usize = 24;

/// How many characters of a hash tell two changed names apart.
const NAME_HASH_CHARS: usize = 8;

/// How many ids are tried before one that is taken is used all the same.
const PROBES_MAX: u32 = 64;

/// An id that the provider takes and nobody has, the same for the same `seed`.
pub(crate) fn made(demand: &IdDemand, seed: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let id = |probe: u32| {
        let salted = if probe == 0 { hash(seed, HASH_CHARS) } else { hash(&format!("{seed}#{probe}"), HASH_CHARS) };
        let mut id = format!("{}{salted}", demand.prefix);
        id.truncate(demand.length_max);
        id
    };
    (0..PROBES_MAX).map(id).find(|id| !is_taken(id)).unwrap_or_else(|| id(PROBES_MAX))
}

/// Whether a provider takes an id.
pub(crate) fn is_legal(demand: &IdDemand, id: &str) -> bool {
    !id.is_empty() && demand.alphabet.holds(id) && id.chars().count() <= demand.length_max
}

/// Whether a provider takes a tool's name.
pub(crate) fn is_legal_name(demand: &NameDemand, name: &str) -> bool {
    !name.is_empty() && name.len() <= demand.length_max && name.chars().all(|char| is_name_char(demand, char))
}

/// A name that the provider takes. White space around a good name goes; any other change
/// ends in a hash, so that two names never become one.
pub(crate) fn made_name(demand: &NameDemand, name: &str) -> String {
    let trimmed = name.trim();
    if is_legal_name(demand, trimmed) {
        return trimmed.to_owned();
    }
    let room = demand.length_max - NAME_HASH_CHARS - 1;
    let mut plain: String = trimmed.chars().map(|char| if is_name_char(demand, char) { char } else { '_' }).collect();
    plain.truncate(room);
    if plain.is_empty() {
        plain.push_str("tool");
    }
    format!("{plain}_{}", hash(name, NAME_HASH_CHARS))
}

fn is_name_char(demand: &NameDemand, char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '-' || demand.also.contains(char)
}

/// The start of a text's hash.
fn hash(text: &str, chars: usize) -> String {
    let mut hex = blake3::hash(text.as_bytes()).to_hex().to_string();
    hex.truncate(chars);
    hex
}

#[cfg(test)]
mod tests {
    use super::*;
    use seamline_model::ErrorText;

    const NAME: NameDemand = NameDemand { also: "", length_max: 64, error: ErrorText("") };

    #[test]
    fn a_made_name_is_legal_and_tells_two_names_apart() {
        let (dots, colons) = (made_name(&NAME, "a.b"), made_name(&NAME, "a:b"));
        assert!(is_legal_name(&NAME, &dots) && is_legal_name(&NAME, &colons));
        assert_ne!(dots, colons);
        assert_eq!(made_name(&NAME, " read "), "read");
        assert!(is_legal_name(&NAME, &made_name(&NAME, &"é".repeat(200))));
        assert!(is_legal_name(&NAME, &made_name(&NAME, "")));
    }
}
