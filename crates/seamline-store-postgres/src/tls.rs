//! Encryption.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use seamline_store::Error;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::options::Options;

/// What makes encrypted connections, and checks whom they lead to.
pub(crate) fn connector(options: &Options) -> Result<MakeRustlsConnect, Error> {
    let roots = match &options.roots {
        Some(pem) => given(pem)?,
        None => of_the_machine(),
    };
    let provider = rustls::crypto::ring::default_provider();
    let builder = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| Error::Failed(error.to_string()))?;
    Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

fn given(pem: &[u8]) -> Result<RootCertStore, Error> {
    let wrong = |why: &str| Error::Address(format!("the given root certificates cannot be used: {why}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(&error.to_string()))?;
        roots.add(certificate).map_err(|error| wrong(&error.to_string()))?;
    }
    if roots.is_empty() { Err(wrong("there is none among them")) } else { Ok(roots) }
}

/// A machine without roots, or with some that cannot be read, still reaches servers that offer no encryption.
fn of_the_machine() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
