//! Names for sessions without a given name.

use std::hash::{BuildHasher as _, RandomState};

use seamline::store::SessionId;

/// A name made from the time and randomness, in the form of a UUID of version 7: later names sort after earlier ones.
pub(super) fn made_up(now_ms: u64) -> Option<SessionId> {
    // The system seeds each hasher, so the hash of any value is random.
    let (high, low) = (RandomState::new().hash_one(now_ms), RandomState::new().hash_one(std::process::id()));
    let bits = (u128::from(now_ms) << 80)
        | (0x7 << 76)
        | (u128::from(high & 0xfff) << 64)
        | (0b10 << 62)
        | u128::from(low >> 2);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_form_of_a_uuid_and_the_order_of_time() {
        let one = made_up(1_700_000_000_000).unwrap();
        let other = made_up(1_700_000_000_001).unwrap();
        assert!(one < other && one != made_up(1_700_000_000_000).unwrap());
        assert_eq!((one.as_str().len(), &one.as_str()[14..15]), (36, "7"), "{one}");
        assert!(matches!(&one.as_str()[19..20], "8" | "9" | "a" | "b"), "{one}");
    }
}
