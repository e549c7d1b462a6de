//! The models that a demand applies to.

/// The models that a demand applies to: those whose name contains one of these parts as a whole, so that `gemini-3`
/// matches `models/gemini-3.1-pro`, but not `gemini-30`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Models(pub &'static [&'static str]);

impl Models {
    /// No model at all.
    pub const NONE: Self = Self(&[]);

    /// Every model, and a request that names none.
    pub const ALL: Self = Self(&[""]);

    /// Whether a model is one of them.
    pub fn claims(self, model: &str) -> bool {
        self.0.iter().any(|part| contains_part(model, part))
    }
}

/// Whether `name` contains `part` as a whole: the characters before and after it do not extend the word or number.
fn contains_part(name: &str, part: &str) -> bool {
    let ends_in_digit = part.ends_with(|last: char| last.is_ascii_digit());
    name.match_indices(part).any(|(at, _)| {
        let begins = !name[..at].ends_with(|before: char| before.is_ascii_alphanumeric());
        let ends = !name[at + part.len()..].starts_with(|after: char| after.is_ascii_digit());
        begins && (ends || !ends_in_digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_matches_only_as_a_whole() {
        let models = Models(&["gemini-3", "opus-5", "o1-mini", "kimi-k"]);
        for name in ["gemini-3", "models/gemini-3.1-pro", "us.anthropic.claude-opus-5-v1:0", "o1-mini-2024", "kimi-k2"]
        {
            assert!(models.claims(name), "{name}");
        }
        for name in ["gemini-30", "gemini-2.5", "opus-55", "foo1-mini", ""] {
            assert!(!models.claims(name), "{name}");
        }
        assert!(!Models::NONE.claims("gemini-3"));
    }
}
