//! Builds the connection pool.

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use seamline_store::{Error, SessionId, cause};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use crate::options::PostgresOptions;
use crate::tls;

/// Builds a pool for `url`. It opens no connection yet.
pub(crate) fn pool(url: &str, options: &PostgresOptions) -> Result<Pool, Error> {
    if options.tenant.parse::<SessionId>().is_err() {
        return Err(Error::Address(cause::Address::TenantName));
    }
    let mut config = config(url)?;
    config.connect_timeout(options.connect_timeout);
    if config.get_application_name().is_none() {
        config.application_name("seamline");
    }
    // A broken connection shows when it is used, and the operation is tried again.
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match config.get_ssl_mode() {
        SslMode::Disable => Manager::from_config(config, NoTls, recycling),
        _ => Manager::from_config(config, tls::connector(options)?, recycling),
    };
    let builder = Pool::builder(manager)
        .max_size(options.connections.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(options.connect_timeout))
        .create_timeout(Some(options.connect_timeout))
        .recycle_timeout(Some(options.connect_timeout));
    builder.build().map_err(|error| Error::Failed(cause::Failed::Database(error.to_string())))
}

fn config(url: &str) -> Result<Config, Error> {
    // Required encryption always checks the certificate, so the three modes mean the same.
    let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
    // The driver's error can hold the password of the URL, so it is dropped.
    url.parse().map_err(|_| Error::Address(cause::Address::Url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_encryption_always_checks_the_certificate() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let config = config(&format!("postgres://u@h/d?sslmode={mode}")).unwrap();
            assert_eq!(config.get_ssl_mode(), SslMode::Require, "{mode}");
        }
        let refused = config("postgres://u:secret@h/d?sslmode=sometimes").unwrap_err();
        assert_eq!(refused, Error::Address(cause::Address::Url));
    }
}
