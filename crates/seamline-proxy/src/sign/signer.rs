//! Signs requests with the credentials of this machine.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_config::BehaviorVersion;
use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_sigv4::http_request::{PayloadChecksumKind, SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_http_client::tls;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HOST, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use tokio::sync::{Mutex, OnceCell};

use super::{SigningScope, Unsigned};

/// The header with the hash of the body, which some clients send.
const BODY_HASH: &str = "x-amz-content-sha256";

/// The headers that a signature brings.
const OWN: &[&str] = &["authorization", BODY_HASH, "x-amz-date", "x-amz-security-token"];

/// How long before their end credentials are renewed.
const RENEWAL: Duration = Duration::from_secs(300);

/// How long credentials without an end are used before they are looked up again.
const LASTING: Duration = Duration::from_secs(60);

/// Signs requests with the credentials of the standard chain of AWS. It looks them up when it first signs a request.
#[derive(Clone, Default)]
pub struct Signer {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    provider: OnceCell<Option<SharedCredentialsProvider>>,
    kept: Mutex<Option<(Credentials, SystemTime)>>,
}

impl Signer {
    /// A signer with the credentials of the environment: variables, profiles, processes, single sign-on, and the services
    /// of containers and virtual machines.
    pub fn from_environment() -> Self {
        Self::default()
    }

    /// A signer with a key. A temporary key has a token.
    pub fn of_key(id: &str, secret: &str, token: Option<&str>) -> Self {
        let credentials = Credentials::new(id, secret, token.map(str::to_owned), None, "seamline");
        Self::new(SharedCredentialsProvider::new(credentials))
    }

    /// A signer without credentials: it signs nothing.
    pub fn without_credentials() -> Self {
        Self { shared: Arc::new(Shared { provider: OnceCell::new_with(Some(None)), kept: Mutex::default() }) }
    }

    /// A signer with the credentials of a provider.
    pub fn new(provider: SharedCredentialsProvider) -> Self {
        let provider = OnceCell::new_with(Some(Some(provider)));
        Self { shared: Arc::new(Shared { provider, kept: Mutex::default() }) }
    }

    /// Signs a request anew, in the scope of the signature that it has. The URL of the request is that of the upstream.
    ///
    /// # Errors
    /// Where the request has no signature, or the machine no credentials; the request is unchanged then.
    pub async fn sign(&self, head: &mut Parts, body: &[u8]) -> Result<(), Unsigned> {
        let scope = SigningScope::of(&head.headers).ok_or(Unsigned::NoScope)?;
        let now = SystemTime::now();
        let credentials = self.credentials(now).await?;
        sign_with(credentials, &scope, now, head, body)
    }

    async fn credentials(&self, now: SystemTime) -> Result<Credentials, Unsigned> {
        let mut kept = self.shared.kept.lock().await;
        if let Some((credentials, until)) = kept.as_ref()
            && *until > now
        {
            return Ok(credentials.clone());
        }
        let provider = self.shared.provider.get_or_init(standard_chain);
        let provider = provider.await.as_ref().ok_or_else(|| Unsigned::NoCredentials("no provider".to_owned()))?;
        let found = provider.provide_credentials().await;
        let credentials = found.map_err(|error| Unsigned::NoCredentials(error.to_string()))?;
        let until = credentials.expiry().map_or(now + LASTING, |end| end.checked_sub(RENEWAL).unwrap_or(now));
        *kept = Some((credentials.clone(), until));
        Ok(credentials)
    }
}

/// The credentials that every tool of AWS finds on this machine.
async fn standard_chain() -> Option<SharedCredentialsProvider> {
    // The services of containers, virtual machines and single sign-on are asked over HTTP.
    let client = aws_smithy_http_client::Builder::new().tls_provider(tls::Provider::Rustls(CryptoMode::Ring));
    let config = aws_config::defaults(BehaviorVersion::latest()).http_client(client.build_https());
    config.load().await.credentials_provider()
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

fn sign_with(
    credentials: Credentials,
    scope: &SigningScope,
    time: SystemTime,
    head: &mut Parts,
    body: &[u8],
) -> Result<(), Unsigned> {
    let mut settings = SigningSettings::default();
    if head.headers.contains_key(BODY_HASH) {
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    let identity = credentials.into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(&scope.region)
        .name(&scope.service)
        .time(time)
        .settings(settings)
        .build()
        .map_err(|error| Unsigned::Request(error.to_string()))?;
    let url = head.uri.to_string();
    let covered = covered(&head.headers);
    let request = SignableRequest::new(head.method.as_str(), &url, covered.into_iter(), SignableBody::Bytes(body));
    let request = request.map_err(|error| Unsigned::Request(error.to_string()))?;
    let signed = sign(request, &params.into()).map_err(|error| Unsigned::Request(error.to_string()))?;
    let (new, _) = signed.into_parts().0.into_parts();
    let values: Vec<_> = new.iter().map(|header| (header.name(), HeaderValue::from_str(header.value()))).collect();
    if values.iter().any(|(_, value)| value.is_err()) {
        return Err(Unsigned::Request("a header has no valid value".to_owned()));
    }
    for name in OWN {
        head.headers.remove(*name);
    }
    for (name, value) in values {
        if let Ok(value) = value {
            head.headers.insert(HeaderName::from_static(name), value);
        }
    }
    Ok(())
}

/// The headers that a signature covers besides the host: the type of the body and those of AWS.
fn covered(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let is_covered = |name: &HeaderName| {
        let is_aws = name.as_str().starts_with("x-amz-") || name.as_str().starts_with("x-amzn-bedrock-");
        (is_aws || *name == CONTENT_TYPE || *name == HOST) && !OWN.contains(&name.as_str())
    };
    headers
        .iter()
        .filter(|(name, _)| is_covered(name))
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use hyper::header::AUTHORIZATION;

    use super::*;

    fn request(authorization: &str) -> Parts {
        let url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v2%3A1/converse";
        let request = hyper::Request::post(url)
            .header(AUTHORIZATION, authorization)
            .header("x-amz-date", "20200101T000000Z")
            .header("x-amz-security-token", "of the client")
            .header(CONTENT_TYPE, "application/json")
            .header("user-agent", "Boto3/1.44");
        request.body(()).unwrap().into_parts().0
    }

    const CLIENT: &str =
        "AWS4-HMAC-SHA256 Credential=OTHER/20200101/us-east-1/bedrock/aws4_request, SignedHeaders=host, Signature=00";
    const BODY: &[u8] = br#"{"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#;

    #[test]
    fn the_signature_equals_one_that_was_computed_by_hand() {
        let credentials = Credentials::new(
            "AKIDEXAMPLE",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            Some("token".to_owned()),
            None,
            "test",
        );
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_000_000);
        let mut head = request(CLIENT);
        let scope = SigningScope::of(&head.headers).unwrap();
        sign_with(credentials, &scope, time, &mut head, BODY).unwrap();
        let header = |name: &str| head.headers.get(name).unwrap().to_str().unwrap();
        assert_eq!((header("x-amz-date"), header("x-amz-security-token")), ("20261118T110640Z", "token"));
        assert_eq!(
            header("authorization"),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261118/us-east-1/bedrock/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, \
             Signature=eeead6509d7e314c60a157e0a8f7ccd4bb9294871b18ad71ae18f5739bc7edee"
        );
        assert_eq!(header("user-agent"), "Boto3/1.44");
    }

    #[tokio::test]
    async fn a_request_without_a_signature_or_credentials_is_left_alone() {
        #[derive(Debug)]
        struct Nothing;
        impl aws_credential_types::provider::ProvideCredentials for Nothing {
            fn provide_credentials<'a>(&'a self) -> aws_credential_types::provider::future::ProvideCredentials<'a>
            where
                Self: 'a,
            {
                let error = aws_credential_types::provider::error::CredentialsError::not_loaded("none");
                aws_credential_types::provider::future::ProvideCredentials::ready(Err(error))
            }
        }
        let signer = Signer::new(SharedCredentialsProvider::new(Nothing));
        let mut bearer = request("Bearer key");
        assert_eq!(signer.sign(&mut bearer, BODY).await, Err(Unsigned::NoScope));
        assert_eq!(bearer.headers.get(AUTHORIZATION).unwrap(), "Bearer key");
        let mut signed = request(CLIENT);
        assert!(matches!(signer.sign(&mut signed, BODY).await, Err(Unsigned::NoCredentials(_))));
        assert_eq!(signed.headers, request(CLIENT).headers);
    }
}
