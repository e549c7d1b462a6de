//! Making the pool of connections.

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use seamline_store::{Error, SessionId};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};

use crate::options::Options;
use crate::tls;

/// The connections to `url`; none is made yet.
pub(crate) fn pool(url: &str, options: &Options) -> Result<Pool, Error> {
    if options.tenant.parse::<SessionId>().is_err() {
        return Err(Error::Address(
            "a tenant is named like a session: letters, digits, `.`, `_`, `-` and `:`".to_owned(),
        ));
    }
    let mut config = config(url)?;
    config.connect_timeout(options.connect_timeout);
    if config.get_application_name().is_none() {
        config.application_name("seamline");
    }
    // A connection that broke is found out by using it, and what was asked is asked again.
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
    builder.build().map_err(|error| Error::Failed(error.to_string()))
}

fn config(url: &str) -> Result<Config, Error> {
    // Whoever demands encryption gets a checked certificate here, whichever of the three words is used.
    let url = url.replace("sslmode=verify-full", "sslmode=require").replace("sslmode=verify-ca", "sslmode=require");
    // The address may hold a password, so an error repeats nothing of it.
    let wrong = "that is not the address of a PostgreSQL database, or it has a setting that is not known";
    url.parse().map_err(|_| Error::Address(wrong.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_wants_the_server_checked_gets_it() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let config = config(&format!("postgres://u@h/d?sslmode={mode}")).unwrap();
            assert_eq!(config.get_ssl_mode(), SslMode::Require, "{mode}");
        }
        assert!(
            matches!(config("postgres://u:secret@h/d?sslmode=sometimes"), Err(Error::Address(why)) if !why.contains("secret"))
        );
    }
}
