//! Verifies signatures of AWS (version 4), written after the documentation of AWS alone.
//!
//! The canonical request has the method, the path with every segment encoded once more, the sorted query, the signed
//! headers and the hash of the body; its hash is signed with a key for one day, region and service.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::http::Head;
use super::reply::Reply;

/// How far the time of a signature may be from the clock of the provider, in seconds.
const SKEW_SECONDS: u64 = 300;

/// The headers that a signature must cover if the request has them.
const REQUIRED: [&str; 2] = ["host", "x-amz-date"];

/// A key of AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) id: String,
    pub(super) secret: String,
    /// The token of a temporary key.
    pub(super) token: Option<String>,
}

/// The reply to a request whose signature is wrong; nothing if it is right.
pub(super) fn refusal(key: &Key, head: &Head, body: &[u8]) -> Option<Reply> {
    let why = verify(key, head, body, now()).err()?;
    let reply = Reply::json(403, &json!({"message": why}));
    let kind = if why.contains("token") { "UnrecognizedClientException" } else { "InvalidSignatureException" };
    Some(reply.with_header("x-amzn-errortype", kind))
}

/// The parts of the header with the signature.
struct Signed<'h> {
    credential: Vec<&'h str>,
    headers: Vec<&'h str>,
    signature: &'h str,
}

impl<'h> Signed<'h> {
    fn of(authorization: &'h str) -> Option<Self> {
        let parts = authorization.strip_prefix("AWS4-HMAC-SHA256 ")?;
        let part = |name: &str| parts.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
        let credential: Vec<_> = part("Credential")?.split('/').collect();
        let headers: Vec<_> = part("SignedHeaders")?.split(';').collect();
        (credential.len() == 5).then_some(Self { credential, headers, signature: part("Signature")? })
    }
}

fn verify(key: &Key, head: &Head, body: &[u8], now: u64) -> Result<(), String> {
    let mismatch = "The request signature we calculated does not match the signature you provided. Check your AWS \
                    Secret Access Key and signing method. Consult the service documentation for details.";
    let authorization = head.header("authorization").ok_or("Missing Authentication Token")?;
    let signed =
        Signed::of(authorization).ok_or("Authorization header requires 'Credential', 'SignedHeaders', 'Signature'.")?;
    let date = head.header("x-amz-date").ok_or("Authorization header requires existence of 'X-Amz-Date'.")?;
    let [id, day, region, service, terminator] = signed.credential[..] else { return Err(mismatch.to_owned()) };
    if id != key.id || head.header("x-amz-security-token") != key.token.as_deref() {
        return Err("The security token included in the request is invalid.".to_owned());
    }
    if terminator != "aws4_request" || service != "bedrock" || !date.starts_with(day) {
        return Err(format!("Credential should be scoped to correct service: 'bedrock', got {service} on {day}."));
    }
    let time = seconds(date).ok_or("Date must be in ISO-8601 'basic format'.")?;
    if time.abs_diff(now) > SKEW_SECONDS {
        return Err(format!("Signature expired: {date} is not within 5 min of the time of the provider"));
    }
    let must_cover =
        |name: &str| REQUIRED.contains(&name) || name.starts_with("x-amz-") && name != "x-amz-content-sha256";
    for (name, _) in &head.headers {
        let name = name.to_ascii_lowercase();
        if must_cover(&name) && !signed.headers.contains(&name.as_str()) {
            return Err(format!("There were headers present in the request which were not signed: {name}"));
        }
    }
    let hash = hex(&Sha256::digest(body));
    if head.header("x-amz-content-sha256").is_some_and(|said| said != hash) {
        return Err("The provided 'x-amz-content-sha256' header does not match what was computed.".to_owned());
    }
    let canonical = canonical_request(head, &signed.headers, &hash);
    let scope = signed.credential[1..].join("/");
    let to_sign = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
    let start = format!("AWS4{}", key.secret).into_bytes();
    let key = [day, region, service, terminator].iter().fold(start, |key, part| hmac(&key, part.as_bytes()));
    if hex(&hmac(&key, to_sign.as_bytes())) == signed.signature { Ok(()) } else { Err(mismatch.to_owned()) }
}

fn canonical_request(head: &Head, names: &[&str], hash: &str) -> String {
    let query = head.target.split_once('?').map_or("", |(_, query)| query);
    let mut members: Vec<String> = query
        .split('&')
        .filter(|member| !member.is_empty())
        .map(|member| if member.contains('=') { member.to_owned() } else { format!("{member}=") })
        .collect();
    members.sort();
    let path: Vec<String> = head.path().split('/').map(encode).collect();
    let mut canonical = format!("{}\n{}\n{}\n", head.method, path.join("/"), members.join("&"));
    for name in names {
        let words: Vec<&str> = head.header(name).unwrap_or_default().split_whitespace().collect();
        let _ = writeln!(canonical, "{name}:{}", words.join(" "));
    }
    let _ = write!(canonical, "\n{}\n{hash}", names.join(";"));
    canonical
}

/// Encodes a segment of a path, also its percent signs.
fn encode(segment: &str) -> String {
    segment.bytes().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    // A key of this code may have any length.
    let Ok(mut code) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    code.update(text);
    code.finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The seconds since 1970 of a time such as `20261118T110640Z`.
fn seconds(date: &str) -> Option<u64> {
    if date.len() != 16 || date.get(8..9) != Some("T") || !date.ends_with('Z') {
        return None;
    }
    date.parse::<Timestamp>().ok()?.as_second().try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#;
    const TIME: u64 = 1_795_000_000;

    fn key() -> Key {
        Key {
            id: "AKIDEXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            token: Some("token".to_owned()),
        }
    }

    /// A request whose signature was computed by hand.
    fn head(change: impl Fn(&str) -> String) -> Head {
        let text = "POST /model/anthropic.claude-v2%3A1/converse HTTP/1.1\r\n\
            host: bedrock-runtime.us-east-1.amazonaws.com\r\ncontent-type: application/json\r\n\
            x-amz-date: 20261118T110640Z\r\nx-amz-security-token: token\r\n\
            authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261118/us-east-1/bedrock/aws4_request, \
            SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, \
            Signature=eeead6509d7e314c60a157e0a8f7ccd4bb9294871b18ad71ae18f5739bc7edee\r\n\r\n";
        Head::read(&mut change(text).as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_right_signature_is_accepted() {
        assert_eq!(verify(&key(), &head(str::to_owned), BODY, TIME), Ok(()));
    }

    #[test]
    fn every_change_is_noticed() {
        assert!(verify(&key(), &head(str::to_owned), b"{}", TIME).is_err());
        assert!(verify(&key(), &head(str::to_owned), BODY, TIME + 301).is_err());
        assert!(verify(&Key { secret: "other".to_owned(), ..key() }, &head(str::to_owned), BODY, TIME).is_err());
        assert!(verify(&Key { token: None, ..key() }, &head(str::to_owned), BODY, TIME).is_err());
        for (from, to) in [
            ("us-east-1.amazonaws.com", "us-west-2.amazonaws.com"),
            ("/converse HTTP", "/converse-stream HTTP"),
            ("/converse HTTP", "/converse?a=1 HTTP"),
            ("application/json", "text/plain"),
            ("x-amz-date: 2026", "x-amz-target: x\r\nx-amz-date: 2026"),
            ("/bedrock/aws4", "/s3/aws4"),
            ("POST", "PUT"),
            ("eeead", "eeeae"),
            ("AWS4-HMAC-SHA256 Credential", "Bearer Credential"),
        ] {
            let changed = head(|text| text.replace(from, to));
            assert!(verify(&key(), &changed, BODY, TIME).is_err(), "{from} {to}");
        }
    }

    #[test]
    fn times_are_counted_over_leap_years() {
        assert_eq!(seconds("19700101T000000Z"), Some(0));
        assert_eq!(seconds("20000301T000000Z"), Some(951_868_800));
        assert_eq!(seconds("20261118T110640Z"), Some(TIME));
        for text in ["", "20261118", "2026-11-18T1:06Z", "20261118T110640+"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
