//! The end of a string, sixteen bytes at a time.

use wide::u8x16;

/// How many bytes at the start of `bytes` can stand in a string as they are, until a
/// quote, a backslash or a control character.
#[inline]
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    let (lanes, rest) = bytes.as_chunks::<LANE>();
    let mut at = 0;
    for lane in lanes {
        let special = special_bytes(*lane);
        if special != 0 {
            return at + special.trailing_zeros() as usize;
        }
        at += LANE;
    }
    at + rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\').unwrap_or(rest.len())
}

/// How many bytes are looked at together.
const LANE: usize = 16;

/// One bit for each byte that cannot stand in a string as it is.
#[inline]
fn special_bytes(lane: [u8; LANE]) -> u32 {
    let lane = u8x16::new(lane);
    let control = lane.min(u8x16::splat(0x1f)).simd_eq(lane);
    let special = control | lane.simd_eq(u8x16::splat(b'"')) | lane.simd_eq(u8x16::splat(b'\\'));
    special.to_bitmask()
}
