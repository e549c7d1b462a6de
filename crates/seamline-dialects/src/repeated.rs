//! What every frame of a stream repeats, so that it is given out once.

/// How many members are remembered.
const MEMBERS_MAX: usize = 32;

/// Members of an object as they were last said.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    members: Vec<(String, String)>,
    /// The member that is likely to be said next: frames repeat them in order.
    next: usize,
}

impl Repeated {
    /// Whether a member says something else than it last did.
    pub(crate) fn is_new(&mut self, name: &str, json: &str) -> bool {
        let place = match self.members.get(self.next) {
            Some((likely, _)) if likely == name => Some(self.next),
            _ => self.members.iter().position(|(known, _)| known == name),
        };
        let Some(place) = place else {
            if self.members.len() < MEMBERS_MAX {
                self.members.push((name.to_owned(), json.to_owned()));
            }
            self.next = 0;
            return true;
        };
        self.next = if place + 1 < self.members.len() { place + 1 } else { 0 };
        let before = &mut self.members[place].1;
        let is_new = before != json;
        if is_new {
            json.clone_into(before);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_new() {
        let mut repeated = Repeated::default();
        let said = [("a", "1"), ("b", "2"), ("a", "1"), ("b", "2"), ("b", "2"), ("a", "3"), ("c", "4"), ("a", "1")];
        let new = said.map(|(name, json)| repeated.is_new(name, json));
        assert_eq!(new, [true, true, false, false, false, true, true, true]);
    }

    #[test]
    fn what_is_not_remembered_is_new() {
        let mut repeated = Repeated::default();
        for is_first in [true, false] {
            for at in 0..2 * MEMBERS_MAX {
                assert_eq!(repeated.is_new(&at.to_string(), "0"), is_first || at >= MEMBERS_MAX);
            }
        }
    }
}
