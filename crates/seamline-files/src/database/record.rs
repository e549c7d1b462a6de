//! The members of a record that are columns of its row.

/// Puts members before those of an object.
pub(super) fn with_members(members: &[(&str, String)], object: &str) -> String {
    let rest = object.trim_start().strip_prefix('{').map_or(object, str::trim_start);
    let prefix = prefix(members);
    if rest.starts_with('}') { format!("{}{rest}", prefix.trim_end_matches(',')) } else { prefix + rest }
}

/// Takes the members off that [`with_members`] put before an object. Returns nothing if they changed.
pub(super) fn without_members(members: &[(&str, String)], record: &str) -> Option<String> {
    let prefix = prefix(members);
    let rest = record.strip_prefix(&prefix).or_else(|| record.strip_prefix(prefix.trim_end_matches(',')))?;
    Some(format!("{{{rest}"))
}

fn prefix(members: &[(&str, String)]) -> String {
    let mut text = "{".to_owned();
    for (name, value) in members {
        text.push_str(&["\"", name, "\":", value, ","].concat());
    }
    text
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::*;

    #[test]
    fn members_go_before_an_object_and_off_again() {
        let members = [("id", "\"a\"".to_owned()), ("n", "1".to_owned())];
        for object in [r#"{"x":1}"#, "{}"] {
            let record = with_members(&members, object);
            assert!(serde_json::from_str::<IgnoredAny>(&record).is_ok(), "{record}");
            assert_eq!(without_members(&members, &record).as_deref(), Some(object));
        }
        assert_eq!(without_members(&members, r#"{"id":"b","n":1,"x":1}"#), None);
    }
}
