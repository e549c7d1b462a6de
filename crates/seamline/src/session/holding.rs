//! Sessions that are held while somebody has them, and let go where nobody has.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use seamline_store::{Acquire, Error, Holder, Lease, SessionId, Store};

/// How many holders that were given up are remembered: of earlier ones somebody has to take their sessions over.
const GIVEN_UP_MAX: usize = 1_000;

/// Holders of this process that nobody is any more, though a store may not know yet: whoever was opening the session
/// gave up while the store was asked.
static GIVEN_UP: Mutex<VecDeque<Holder>> = Mutex::new(VecDeque::new());

fn given_up() -> MutexGuard<'static, VecDeque<Holder>> {
    GIVEN_UP.lock().unwrap_or_else(PoisonError::into_inner)
}

fn give_up(holders: impl Iterator<Item = Holder>) {
    let mut given_up = given_up();
    given_up.extend(holders);
    let surplus = given_up.len().saturating_sub(GIVEN_UP_MAX);
    given_up.drain(..surplus);
}

/// Whether a holder was given up. Who asks first has its session, and nobody else.
fn claim(holder: &Holder) -> bool {
    let mut given_up = given_up();
    let found = given_up.iter().position(|other| other == holder);
    found.is_some_and(|place| given_up.remove(place).is_some())
}

/// A session that is being opened or closed: where that is given up on the way, it is let go.
#[derive(Debug)]
pub(super) struct Hold<'s> {
    store: &'s dyn Store,
    id: &'s SessionId,
    /// Those in whose name it may be held.
    holders: Vec<Holder>,
    /// In which epoch, where that is known.
    epoch: Option<u64>,
}

impl<'s> Hold<'s> {
    /// Nothing is held yet.
    pub(super) fn new(store: &'s dyn Store, id: &'s SessionId, holder: Holder) -> Self {
        Self { store, id, holders: vec![holder], epoch: None }
    }

    /// A session that is held.
    pub(super) fn held(store: &'s dyn Store, id: &'s SessionId, holder: Holder, epoch: u64) -> Self {
        Self { store, id, holders: vec![holder], epoch: Some(epoch) }
    }

    /// In whose name it is to be held.
    pub(super) fn holder(&self) -> Holder {
        self.holders[0].clone()
    }

    /// Takes a session, and says from whom where it had to be taken from somebody.
    pub(super) async fn acquire(&mut self, take_over: bool) -> Result<(Lease, Option<Holder>), Error> {
        let (holder, mut before) = (self.holder(), None);
        let lease = match self.store.acquire(self.id, &holder, Acquire::IfFree).await {
            Err(Error::Busy { holder: other, .. }) if claim(&other) => {
                self.holders.push(*other);
                self.store.acquire(self.id, &holder, Acquire::TakeOver).await
            }
            Err(Error::Busy { holder: other, .. }) if take_over => {
                before = Some(*other);
                self.store.acquire(self.id, &holder, Acquire::TakeOver).await
            }
            free => free,
        };
        if let Err(Error::Busy { .. } | Error::NotFound(_) | Error::Erased(_)) = &lease {
            // Certainly nothing is held.
            self.holders.clear();
        }
        let lease = lease?;
        self.epoch = Some(lease.epoch);
        Ok((lease, before))
    }

    /// Takes a name for a session to begin. One that a crash left before anything was written under it is as good as new.
    pub(super) async fn begin(&mut self) -> Result<Lease, Error> {
        let exists = match self.store.create(self.id, &self.holders[0]).await {
            Err(error @ Error::Exists(_)) => error,
            made => {
                let lease = made?;
                self.epoch = Some(lease.epoch);
                return Ok(lease);
            }
        };
        if self.store.head(self.id).await?.seq > 0 {
            self.holders.clear();
            return Err(exists);
        }
        self.acquire(false).await.ok().map(|(lease, _)| lease).filter(|lease| lease.head.seq == 0).ok_or(exists)
    }

    /// What was made of it, for whoever has it from now on. Where nothing was, it is let go.
    pub(super) async fn handed_over<T, E>(mut self, made: Result<T, E>) -> Result<T, E> {
        match made {
            Ok(_) => self.holders.clear(),
            // What went wrong before is what the caller should hear of.
            Err(_) => drop(self.let_go().await),
        }
        made
    }

    /// Lets it go.
    pub(super) async fn let_go(mut self) -> Result<(), Error> {
        if let Some(epoch) = self.epoch {
            self.store.release(self.id, epoch).await?;
            self.holders.clear();
        }
        Ok(())
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if self.holders.is_empty() {
            return;
        }
        give_up(self.holders.drain(..));
        // What a store is asked for it does, whether anybody waits or not.
        if let Some(epoch) = self.epoch {
            let _ = self.store.release(self.id, epoch).now_or_never();
        }
    }
}
