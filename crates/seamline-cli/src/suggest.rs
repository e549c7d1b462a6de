//! Suggestions for misspelled names.

/// The least similarity of a proposed name, from 0 to 1.
const LIKENESS_MIN: f64 = 0.7;
const PROPOSALS_MAX: usize = 3;

/// The names that are most similar to the requested one, the most similar first.
pub(crate) fn closest<T: Copy>(asked: &str, things: &[T], names: impl Fn(T) -> Vec<String>) -> Vec<T> {
    let asked = asked.to_lowercase();
    let mut scored: Vec<_> = things
        .iter()
        .map(|&thing| {
            (names(thing).iter().map(|name| likeness(&asked, &name.to_lowercase())).fold(0.0, f64::max), thing)
        })
        .filter(|(score, _)| *score >= LIKENESS_MIN)
        .collect();
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.into_iter().take(PROPOSALS_MAX).map(|(_, thing)| thing).collect()
}

/// A word of a name counts as much as the whole name.
fn likeness(asked: &str, name: &str) -> f64 {
    if name.split(['-', '_']).any(|word| word == asked) {
        return 1.0;
    }
    strsim::normalized_damerau_levenshtein(asked, name)
}

/// The hint for an unknown name: the most similar names, else the text that lists all.
pub(crate) fn hint(asked: &str, names: &[&str], all: &str) -> String {
    let proposals = closest(asked, names, |name| vec![name.to_owned()]);
    if proposals.is_empty() { all.to_owned() } else { did_you_mean(&proposals) }
}

pub(crate) fn did_you_mean(proposals: &[impl std::fmt::Display]) -> String {
    let proposals: Vec<_> = proposals.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", proposals.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_name_gets_a_suggestion() {
        let names = ["anthropic", "openai", "openai-responses", "mistral"];
        assert_eq!(hint("antropic", &names, "-"), "did you mean `anthropic`?");
        assert_eq!(hint("opneai", &names, "-"), "did you mean `openai`?");
        assert_eq!(hint("responses", &names, "-"), "did you mean `openai-responses`?");
        assert_eq!(hint("xyz", &names, "see all"), "see all");
    }
}
