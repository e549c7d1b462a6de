//! Finds the end of a string, sixteen bytes at a time.

use wide::u8x16;

/// The number of bytes at the start of `bytes` up to a quote, an escape of more than one letter or a control
/// character; and whether there were escapes of one letter.
#[inline]
pub(super) fn string_prefix(bytes: &[u8]) -> (usize, bool) {
    let (lanes, _) = bytes.as_chunks::<LANE>();
    let mut escaped = false;
    // Whether the last escape of one lane continues in the next.
    let mut taken = 0;
    for (index, lane) in lanes.iter().enumerate() {
        let mut special = special_bytes(*lane) & !taken;
        taken = 0;
        while special != 0 {
            let at = special.trailing_zeros();
            let place = index * LANE + at as usize;
            if !is_short_escape(&bytes[place..]) {
                return (place, escaped);
            }
            escaped = true;
            special &= !(0b11 << at);
            taken = u32::from(at as usize == LANE - 1);
        }
    }
    let mut place = lanes.len() * LANE + taken as usize;
    loop {
        match bytes.get(place) {
            Some(b'\\') if is_short_escape(&bytes[place..]) => {
                escaped = true;
                place += 2;
            }
            Some(&byte) if byte >= 0x20 && byte != b'"' && byte != b'\\' => place += 1,
            _ => return (place, escaped),
        }
    }
}

/// Whether bytes start with an escape of one letter.
#[inline]
fn is_short_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..])
}

/// The number of bytes in one lane.
const LANE: usize = 16;

/// One bit for each byte that ends a string or needs an escape.
#[inline]
fn special_bytes(lane: [u8; LANE]) -> u32 {
    let lane = u8x16::new(lane);
    let control = lane.min(u8x16::splat(0x1f)).simd_eq(lane);
    let special = control | lane.simd_eq(u8x16::splat(b'"')) | lane.simd_eq(u8x16::splat(b'\\'));
    special.to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, a byte at a time.
    fn by_bytes(bytes: &[u8]) -> (usize, bool) {
        let (mut at, mut escaped) = (0, false);
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if is_short_escape(&bytes[at..]) => {
                    escaped = true;
                    at += 2;
                }
                b'\\' | b'"' | ..0x20 => break,
                _ => at += 1,
            }
        }
        (at, escaped)
    }

    #[test]
    fn lanes_see_what_bytes_say() {
        // Every run of five pieces, at every place around the end of a lane.
        let pieces: [&[u8]; 7] = [b"a", b"\\n", b"\\\\", b"\\\"", b"\\u0041", b"\"", b"\x01"];
        for number in 0..7_usize.pow(5) {
            let text: Vec<u8> = (0..5).flat_map(|at| pieces[number / 7_usize.pow(at) % 7].iter().copied()).collect();
            for before in 8..18 {
                for after in [0, 20] {
                    let bytes = [vec![b'x'; before], text.clone(), vec![b'y'; after]].concat();
                    assert_eq!(string_prefix(&bytes), by_bytes(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
                }
            }
        }
    }
}
