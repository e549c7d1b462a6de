//! Encrypted connections.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use seamline_store::{Error, cause};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::options::PostgresOptions;

/// Builds the connector that encrypts connections and checks the server's certificate.
pub(crate) fn connector(options: &PostgresOptions) -> Result<MakeRustlsConnect, Error> {
    let roots = match &options.roots {
        Some(pem) => parse_roots(pem)?,
        None => machine_roots(),
    };
    let provider = rustls::crypto::ring::default_provider();
    let builder = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Failed(cause::Failed::Database(error.to_string())))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn parse_roots(pem: &[u8]) -> Result<RootCertStore, Error> {
    let wrong = |why: &str| Error::Address(cause::Address::Certificates(why.to_owned()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(&error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(&error.to_string()))?;
    }
    if roots.is_empty() { Err(wrong("the PEM text holds no certificate")) } else { Ok(roots) }
}

/// Loads the machine's root certificates and skips those that cannot be read. Without roots, servers without encryption
/// can still be reached.
fn machine_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
