//! Store URLs as people write them.

use std::sync::Arc;

use seamline::open_store;
use seamline::session::{Session, SessionOptions};
use seamline::store::{Error, Store, cause, open_store_to_read};

#[test]
fn a_path_with_a_tilde_creates_no_folder() {
    futures_executor::block_on(async {
        for address in ["sqlite:~/x.db", "sqlite:~", "sqlite:~me/x.db", "sqlite://~/x.db"] {
            for opened in [open_store(address).await, open_store_to_read(address).await] {
                let Err(error) = opened else { panic!("{address}") };
                assert_eq!(error, Error::Address(cause::Address::Tilde), "{address}");
            }
        }
    });
}

#[test]
fn each_tenant_of_a_url_has_its_own_sessions() {
    let Ok(address) = std::env::var("SEAMLINE_TEST_POSTGRES") else {
        println!("left out: SEAMLINE_TEST_POSTGRES is not set; `cargo xtask test` starts a PostgreSQL");
        return;
    };
    let next = if address.contains('?') { '&' } else { '?' };
    let of = |tenant: &str| format!("{address}{next}tenant={tenant}-{}", std::process::id());
    futures_executor::block_on(async {
        let (id, options) = ("tenant-1".parse().unwrap(), SessionOptions::default());
        let one: Arc<dyn Store> = open_store(&of("one")).await.unwrap();
        let mut session = Session::create(one.clone(), id, options).await.unwrap();
        session.append(r#"{"role":"user","content":"hello"}"#).await.unwrap();
        let (id, head) = (session.id().clone(), one.read_head(session.id()).await.unwrap());
        session.close().await.unwrap();

        let other = open_store(&of("other")).await.unwrap();
        assert_eq!(other.read_head(&id).await, Err(Error::NotFound(id.clone())));
        assert_eq!(other.list_sessions(None, 10).await, Ok(Vec::new()));
        let unnamed_tenant = open_store(&address).await.unwrap();
        assert_eq!(unnamed_tenant.read_head(&id).await, Err(Error::NotFound(id.clone())), "nor has `default`");

        let again = open_store_to_read(&of("one")).await.unwrap();
        assert_eq!(again.read_head(&id).await, Ok(head));
        let named: Vec<_> = again.list_sessions(None, 10).await.unwrap().into_iter().map(|info| info.session).collect();
        assert_eq!(named, [id]);
        let unnamed = open_store(&format!("{address}{next}tenant=")).await;
        assert!(unnamed.is_err(), "an empty name is not a tenant");
    });
}
