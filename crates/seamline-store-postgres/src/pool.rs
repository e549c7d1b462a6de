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
    // The address may hold a password, so an error repeats nothing of it.
    let mut config: Config =
        url.parse().map_err(|_| Error::Address("that is not the address of a PostgreSQL database".to_owned()))?;
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
