//! Makes ids and names that a provider accepts. The same input always gives the same output.

use crate::{Alphabet, IdDemand, NameDemand};

/// The number of hash characters in a made id.
const HASH_CHARS: usize = 24;

/// The lowest number of hash characters in a made id; a prefix that leaves less room is omitted.
const HASH_CHARS_MIN: usize = 8;

/// The number of hash characters that keep two changed names apart.
const NAME_HASH_CHARS: usize = 8;

/// The number of ids tried before one that is taken is used anyway.
const PROBES_MAX: u32 = 64;

/// The digits for ids that may have only letters and digits.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl IdDemand {
    /// Whether the provider accepts an id.
    pub fn takes(&self, id: &str) -> bool {
        !id.is_empty() && self.alphabet.holds(id) && id.chars().count() <= self.length_max
    }

    /// Makes an id that the provider accepts and that is not taken, always the same for the same `seed`.
    pub fn made(&self, seed: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let id = |probe: u32| match probe {
            0 => self.hashed(seed),
            probe => self.hashed(&format!("{seed}#{probe}")),
        };
        (0..PROBES_MAX).map(id).find(|id| !is_taken(id)).unwrap_or_else(|| id(PROBES_MAX))
    }

    fn hashed(&self, seed: &str) -> String {
        if let Alphabet::Exactly(length) = self.alphabet {
            return digits(seed, usize::from(length));
        }
        let has_room = self.prefix.len() + HASH_CHARS_MIN <= self.length_max;
        let prefix = if has_room { self.prefix } else { "" };
        let mut id = format!("{prefix}{}", hex(seed, HASH_CHARS));
        id.truncate(self.length_max);
        id
    }
}

impl NameDemand {
    /// Whether the provider accepts a tool's name.
    pub fn takes(&self, name: &str) -> bool {
        (1..=self.length_max).contains(&name.len())
            && self.start.takes(name)
            && name.chars().all(|char| self.takes_char(char))
    }

    fn takes_char(&self, char: char) -> bool {
        char.is_ascii_alphanumeric() || char == '_' || char == '-' || self.also.contains(char)
    }

    /// Makes a name that the provider accepts. White space around a legal name is removed; any other change ends in a
    /// hash, so that two names never become one.
    pub fn made(&self, name: &str) -> String {
        let trimmed = name.trim();
        if self.takes(trimmed) {
            return trimmed.to_owned();
        }
        let room = self.length_max - NAME_HASH_CHARS - 1;
        let mut plain: String = trimmed.chars().map(|char| if self.takes_char(char) { char } else { '_' }).collect();
        plain.truncate(room);
        if plain.is_empty() {
            plain.push_str("tool");
        }
        if !self.start.takes(&plain) {
            plain.insert_str(0, "tool_");
            plain.truncate(room);
        }
        format!("{plain}_{}", hex(name, NAME_HASH_CHARS))
    }
}

/// The first characters of a text's hash, in hexadecimal.
fn hex(text: &str, chars: usize) -> String {
    let mut hex = blake3::hash(text.as_bytes()).to_hex().to_string();
    hex.truncate(chars);
    hex
}

/// A text's hash in letters and digits.
fn digits(text: &str, chars: usize) -> String {
    let mut bytes = vec![0; chars];
    let mut hasher = blake3::Hasher::new();
    hasher.update(text.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes.iter().map(|&byte| DIGITS[usize::from(byte) % DIGITS.len()] as char).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: NameDemand = NameDemand::WORD;

    #[test]
    fn a_made_name_is_legal_and_tells_two_names_apart() {
        let (dots, colons) = (NAME.made("a.b"), NAME.made("a:b"));
        assert!(NAME.takes(&dots) && NAME.takes(&colons));
        assert_ne!(dots, colons);
        assert_eq!(NAME.made(" read "), "read");
        assert!(NAME.takes(&NAME.made(&"é".repeat(200))));
        assert!(NAME.takes(&NAME.made("")));
        let lettered = NameDemand { start: crate::NameStart::Letter, ..NAME };
        assert!(!lettered.takes("1st") && !lettered.takes("_f"));
        assert!(lettered.takes(&lettered.made("1st")) && lettered.takes(&lettered.made(&"9".repeat(80))));
    }

    #[test]
    fn a_made_id_avoids_those_that_are_taken() {
        let demand = IdDemand { alphabet: Alphabet::Exactly(9), length_max: 9, ..IdDemand::ANY };
        let first = demand.made("seed", |_| false);
        let second = demand.made("seed", |id| id == first);
        assert!(demand.takes(&first) && demand.takes(&second));
        assert_ne!(first, second);
    }
}
