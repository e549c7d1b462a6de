//! `MessagePack` as JSON, with the extension types of `LangGraph`.
//!
//! The bytes are read once, without a tree of values: the memory is that of the JSON text, at most a few times the bytes.

use rmp::Marker;
use rmp::decode::{RmpRead as _, read_marker};

use crate::json::quoted;

/// The deepest nesting that is read. Readers of JSON have a limit of 128.
const DEPTH_MAX: usize = 100;
/// The most bytes of a value that is read.
const BYTES_MAX: usize = 256 * 1024 * 1024;

/// Writes a value as JSON. Returns nothing if the bytes are not exactly one value within the limits.
pub(super) fn to_json(bytes: &[u8]) -> Option<String> {
    if bytes.len() > BYTES_MAX {
        return None;
    }
    let mut writer = Writer { out: String::with_capacity(bytes.len()) };
    let mut rest = bytes;
    writer.value(&mut rest, 0)?;
    rest.is_empty().then_some(writer.out)
}

struct Writer {
    out: String,
}

impl Writer {
    fn value(&mut self, rest: &mut &[u8], depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match read_marker(rest).ok()? {
            Marker::Null => self.out.push_str("null"),
            Marker::True => self.out.push_str("true"),
            Marker::False => self.out.push_str("false"),
            Marker::FixPos(number) => self.push(number),
            Marker::FixNeg(number) => self.push(number),
            Marker::U8 => self.push(rest.read_data_u8().ok()?),
            Marker::U16 => self.push(rest.read_data_u16().ok()?),
            Marker::U32 => self.push(rest.read_data_u32().ok()?),
            Marker::U64 => self.push(rest.read_data_u64().ok()?),
            Marker::I8 => self.push(rest.read_data_i8().ok()?),
            Marker::I16 => self.push(rest.read_data_i16().ok()?),
            Marker::I32 => self.push(rest.read_data_i32().ok()?),
            Marker::I64 => self.push(rest.read_data_i64().ok()?),
            Marker::F32 => self.push(f64::from(rest.read_data_f32().ok()?)),
            Marker::F64 => self.push(rest.read_data_f64().ok()?),
            Marker::Reserved => return None,
            marker => return self.compound(marker, rest, depth),
        }
        Some(())
    }

    /// A number, or `null` for one that JSON does not have.
    fn push(&mut self, number: impl Into<serde_json::Value>) {
        self.out.push_str(&number.into().to_string());
    }

    fn compound(&mut self, marker: Marker, rest: &mut &[u8], depth: usize) -> Option<()> {
        match marker {
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let length = length(marker, rest)?;
                self.out.push_str(&quoted(&String::from_utf8_lossy(take(rest, length)?)));
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = length(marker, rest)?;
                take(rest, length)?;
                self.out.push_str(&quoted(&format!("[{length} bytes]")));
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                let count = length(marker, rest)?;
                self.list(count, rest, depth)?;
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                let count = length(marker, rest)?;
                self.map(count, rest, depth)?;
            }
            marker => {
                let length = length(marker, rest)?;
                let code = rest.read_data_i8().ok()?;
                let data = take(rest, length)?;
                self.extension(code, data, depth)?;
            }
        }
        Some(())
    }

    fn list(&mut self, count: usize, rest: &mut &[u8], depth: usize) -> Option<()> {
        self.out.push('[');
        for index in 0..count {
            if index > 0 {
                self.out.push(',');
            }
            self.value(rest, depth + 1)?;
        }
        self.out.push(']');
        Some(())
    }

    fn map(&mut self, count: usize, rest: &mut &[u8], depth: usize) -> Option<()> {
        self.out.push('{');
        for index in 0..count {
            if index > 0 {
                self.out.push(',');
            }
            let start = self.out.len();
            self.value(rest, depth + 1)?;
            if !self.out[start..].starts_with('"') {
                let key = quoted(&self.out[start..]);
                self.out.truncate(start);
                self.out.push_str(&key);
            }
            self.out.push(':');
            self.value(rest, depth + 1)?;
        }
        self.out.push('}');
        Some(())
    }

    /// An object of Python: its module, its class, and the arguments that make it. It becomes the constructor that
    /// `LangChain` writes in JSON.
    fn extension(&mut self, code: i8, mut data: &[u8], depth: usize) -> Option<()> {
        const SNAPSHOT: i8 = 7;
        match code {
            0..=5 => {
                let marker = read_marker(&mut data).ok()?;
                let is_list = matches!(marker, Marker::FixArray(_) | Marker::Array16 | Marker::Array32);
                if !is_list || length(marker, &mut data)? < 3 {
                    return None;
                }
                self.out.push_str(r#"{"lc":2,"type":"constructor","id":["#);
                self.value(&mut data, depth + 1)?;
                self.out.push(',');
                self.value(&mut data, depth + 1)?;
                self.out.push_str(r#"],"kwargs":"#);
                self.value(&mut data, depth + 1)?;
                self.out.push('}');
                Some(())
            }
            SNAPSHOT => self.value(&mut data, depth + 1),
            _ => {
                self.out.push_str("null");
                Some(())
            }
        }
    }
}

/// The number of bytes, elements or pairs behind a marker.
fn length(marker: Marker, rest: &mut &[u8]) -> Option<usize> {
    let length = match marker {
        Marker::FixStr(length) | Marker::FixArray(length) | Marker::FixMap(length) => u32::from(length),
        Marker::FixExt1 => 1,
        Marker::FixExt2 => 2,
        Marker::FixExt4 => 4,
        Marker::FixExt8 => 8,
        Marker::FixExt16 => 16,
        Marker::Str8 | Marker::Bin8 | Marker::Ext8 => u32::from(rest.read_data_u8().ok()?),
        Marker::Str16 | Marker::Bin16 | Marker::Ext16 | Marker::Array16 | Marker::Map16 => {
            u32::from(rest.read_data_u16().ok()?)
        }
        Marker::Str32 | Marker::Bin32 | Marker::Ext32 | Marker::Array32 | Marker::Map32 => rest.read_data_u32().ok()?,
        _ => return None,
    };
    usize::try_from(length).ok()
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_json() {
        // {"a": [1, -1, 1.5, nil, true], 7: "é", "b": bytes}
        let bytes = b"\x83\xa1a\x95\x01\xff\xcb\x3f\xf8\0\0\0\0\0\0\xc0\xc3\x07\xa2\xc3\xa9\xa1b\xc4\x02\0\xff";
        assert_eq!(to_json(bytes).as_deref(), Some(r#"{"a":[1,-1,1.5,null,true],"7":"é","b":"[2 bytes]"}"#));
    }

    #[test]
    fn objects_of_python_become_constructors() {
        // Extension 5: ["m", "AIMessage", {"type": "ai"}, "model_validate_json"]
        let inner = b"\x94\xa1m\xa9AIMessage\x81\xa4type\xa2ai\xa1v";
        let bytes = [b"\xc7".as_slice(), &[inner.len() as u8, 5], inner].concat();
        let expected = r#"{"lc":2,"type":"constructor","id":["m","AIMessage"],"kwargs":{"type":"ai"}}"#;
        assert_eq!(to_json(&bytes).as_deref(), Some(expected));
    }

    #[test]
    fn damaged_and_hostile_bytes_are_refused() {
        assert_eq!(to_json(b""), None);
        assert_eq!(to_json(b"\xdd\xff\xff\xff\xff\xc0"), None);
        assert_eq!(to_json(b"\xdb\xff\xff\xff\xffx"), None);
        assert_eq!(to_json(&[0x91; 5000]), None);
        assert_eq!(to_json(b"\xc0\xc0"), None);
        assert_eq!(to_json(b"\xc1"), None);
    }
}
