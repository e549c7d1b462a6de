//! Signs requests to AWS again whose body, host or path the proxy changed.
//!
//! A signature of AWS (version 4) covers the host, the path and the body. A request that the proxy leaves as the client
//! signed it keeps the signature of the client. Requests with an API key in `authorization: Bearer …` need no signature.
//! Credentials come from the standard chain of AWS (environment, profiles, …); the build needs the feature `aws`.

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

#[cfg(feature = "aws")]
mod signer;
#[cfg(feature = "aws")]
pub use signer::Signer;

/// The start of the header with a signature.
const ALGORITHM: &str = "AWS4-HMAC-SHA256 ";

/// The scope of a signature: for which region and service it is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningScope {
    /// The region, such as `us-east-1`.
    pub region: String,
    /// The service, such as `bedrock`.
    pub service: String,
}

impl SigningScope {
    /// The scope of the signature of a request; `None` where the request has none.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let authorization = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix(ALGORITHM)?;
        let credential = authorization.split(',').find_map(|part| part.trim().strip_prefix("Credential="))?;
        // KEY/DATE/REGION/SERVICE/aws4_request
        let mut parts = credential.rsplit('/');
        let (terminator, service, region) = (parts.next()?, parts.next()?, parts.next()?);
        let has_rest = parts.count() >= 2;
        let is_scope = terminator == "aws4_request" && has_rest && !service.is_empty() && !region.is_empty();
        is_scope.then(|| Self { region: region.to_owned(), service: service.to_owned() })
    }
}

/// The part of a request that a signature covers and a proxy may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered<'r> {
    /// The host with its port, as the header has it.
    pub host: &'r str,
    /// The path and the query.
    pub path: &'r str,
}

/// Whether the signature of the client does not fit the request that goes to the upstream.
pub fn is_outdated(received: Covered<'_>, sent: Covered<'_>, has_new_body: bool) -> bool {
    has_new_body || received != sent
}

/// The reason why a request could not be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsigned {
    /// This build has no signer.
    #[error(
        "this build cannot sign requests to AWS; hint: install it with `--features full`, or use an API key of Bedrock"
    )]
    NoSigner,
    /// The machine has no credentials.
    #[error("no AWS credentials were found: {0}")]
    NoCredentials(String),
    /// The request has no signature whose scope could be used.
    #[error("the client did not sign the request")]
    NoScope,
    /// The request cannot be signed.
    #[error("the request cannot be signed: {0}")]
    Request(String),
}

#[cfg(not(feature = "aws"))]
mod absent {
    use hyper::http::request::Parts;

    use super::Unsigned;

    /// Signs requests; in this build it never does.
    #[derive(Debug, Clone, Default)]
    pub struct NoSigner;

    impl NoSigner {
        /// A signer without credentials.
        pub fn from_environment() -> Self {
            Self
        }

        /// A signer without credentials.
        pub fn without_credentials() -> Self {
            Self
        }

        /// Does not sign a request.
        ///
        /// # Errors
        /// [`Unsigned::NoSigner`] always.
        #[expect(clippy::unused_async, reason = "the signer of the feature `aws` waits for credentials")]
        pub async fn sign(&self, _head: &mut Parts, _body: &[u8]) -> Result<(), Unsigned> {
            Err(Unsigned::NoSigner)
        }
    }
}
#[cfg(not(feature = "aws"))]
pub use absent::NoSigner as Signer;

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(authorization: &str) -> HeaderMap {
        std::iter::once((AUTHORIZATION, authorization.parse().unwrap())).collect()
    }

    #[test]
    fn the_scope_is_read_from_the_signature_of_the_client() {
        let signed = "AWS4-HMAC-SHA256 Credential=AKID/20261118/eu-west-1/bedrock/aws4_request, \
                      SignedHeaders=host;x-amz-date, Signature=00";
        let scope = SigningScope { region: "eu-west-1".to_owned(), service: "bedrock".to_owned() };
        assert_eq!(SigningScope::of(&headers(signed)), Some(scope));
        for other in ["Bearer key", "AWS4-HMAC-SHA256 ", "AWS4-HMAC-SHA256 Credential=a/b/aws4_request", "Basic x"] {
            assert_eq!(SigningScope::of(&headers(other)), None, "{other}");
        }
        assert_eq!(SigningScope::of(&HeaderMap::new()), None);
    }

    #[test]
    fn a_signature_is_outdated_by_a_new_body_host_or_path() {
        let received = Covered { host: "127.0.0.1:4180", path: "/model/m/converse" };
        assert!(!is_outdated(received, received, false));
        assert!(is_outdated(received, received, true));
        assert!(is_outdated(received, Covered { host: "bedrock-runtime.us-east-1.amazonaws.com", ..received }, false));
        assert!(is_outdated(Covered { path: "/bedrock/model/m/converse", ..received }, received, false));
    }
}
