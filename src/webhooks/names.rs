//! Looks names up and gives out only addresses that a webhook may go to: what is connected to is
//! what was checked. The system's resolver blocks a thread until it answers or gives up, which may
//! be long after everybody who asked has. So a name is looked up once at a time, whoever asks for
//! it meanwhile, and the threads that wait are bounded: in all, and for those who register
//! endpoints, per tenant.

use api::webhooks::targets::is_public;
use hyper_util::client::legacy::connect::dns::Name;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::vec;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tower_service::Service;

/// Each by a thread; below the most that the runtime has.
const LOOKUPS_MAX: usize = 384;
const LOOKUPS_PER_TENANT_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAddress {
    #[error("the name was not found")]
    Unknown,
    /// Among others.
    #[error("the name leads to a loopback, private or otherwise special address")]
    Special,
    #[error("the name was not looked up: too many others do not answer")]
    Busy,
}

type Found = Result<Arc<[IpAddr]>, NoAddress>;
type Waiting = watch::Receiver<Option<Found>>;
/// May block.
type Resolver = fn(&str) -> Found;

pub struct Lookups {
    threads: Handle,
    resolver: Resolver,
    under_way: Mutex<UnderWay>,
}

/// With the tenant that each was begun for.
type UnderWay = HashMap<String, (Waiting, Option<u64>)>;

impl Lookups {
    pub fn new(threads: Handle) -> Arc<Lookups> {
        Lookups::with(threads, system)
    }

    fn with(threads: Handle, resolver: Resolver) -> Arc<Lookups> {
        Arc::new(Lookups { threads, resolver, under_way: Mutex::default() })
    }

    /// A lookup that was begun for a tenant counts as that tenant's until the resolver gives up.
    pub async fn find(self: &Arc<Self>, name: &str, tenant: Option<u64>) -> Found {
        let mut waiting = self.begin(name, tenant)?;
        let found = waiting.wait_for(Option::is_some).await.map_err(|_| NoAddress::Unknown)?;
        found.clone().unwrap_or(Err(NoAddress::Unknown))
    }

    fn begin(self: &Arc<Self>, name: &str, tenant: Option<u64>) -> Result<Waiting, NoAddress> {
        let mut under_way = self.under_way();
        if let Some((waiting, _)) = under_way.get(name) {
            return Ok(waiting.clone());
        }
        let is_own = |(_, of): &&(Waiting, Option<u64>)| tenant.is_some() && *of == tenant;
        if under_way.len() >= LOOKUPS_MAX
            || under_way.values().filter(is_own).count() >= LOOKUPS_PER_TENANT_MAX
        {
            return Err(NoAddress::Busy);
        }
        let (tell, waiting) = watch::channel(None);
        under_way.insert(name.to_owned(), (waiting.clone(), tenant));
        let (this, name) = (Arc::clone(self), name.to_owned());
        self.threads.spawn_blocking(move || {
            let found = (this.resolver)(&name);
            this.under_way().remove(&name);
            tell.send_replace(Some(found));
        });
        Ok(waiting)
    }

    fn under_way(&self) -> std::sync::MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn system(name: &str) -> Found {
    let found = (name, 0).to_socket_addrs().map_err(|_| NoAddress::Unknown)?;
    Ok(found.map(|address| address.ip()).collect())
}

#[derive(Clone)]
pub struct CheckedNames {
    pub allow_private: bool,
    pub lookups: Arc<Lookups>,
}

impl Service<Name> for CheckedNames {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = NoAddress;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, NoAddress>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoAddress>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (allow_private, lookups) = (self.allow_private, Arc::clone(&self.lookups));
        Box::pin(async move {
            let found = lookups.find(name.as_str(), None).await?;
            if found.is_empty() {
                return Err(NoAddress::Unknown);
            }
            // A name that leads to public and to other addresses is refused.
            if !allow_private && found.iter().any(|address| !is_public(*address)) {
                return Err(NoAddress::Special);
            }
            let addresses: Vec<SocketAddr> =
                found.iter().map(|address| SocketAddr::new(*address, 0)).collect();
            Ok(addresses.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{LazyLock, MutexGuard};

    /// A channel, as the resolver has only a function.
    type Answer = (Mutex<Sender<()>>, Mutex<Receiver<()>>);

    static ASKED: AtomicUsize = AtomicUsize::new(0);
    static ANSWER: LazyLock<Answer> = LazyLock::new(|| {
        let (send, receive) = channel();
        (Mutex::new(send), Mutex::new(receive))
    });

    fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slow(_: &str) -> Found {
        ASKED.fetch_add(1, Ordering::SeqCst);
        locked(&ANSWER.1).recv().expect("the test says when");
        Ok(Arc::from([IpAddr::from([192, 0, 2, 1])]))
    }

    #[test]
    fn a_slow_name_holds_one_thread_and_a_tenant_a_few() {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
        let lookups = Lookups::with(runtime.handle().clone(), slow);
        let mut first: Vec<Waiting> =
            (0..50).map(|_| lookups.begin("a.example", Some(1)).expect("begun")).collect();
        let more: Vec<Waiting> =
            ["b", "c", "d"].map(|name| lookups.begin(name, Some(1)).expect("begun")).into();
        assert_eq!(
            lookups.begin("e", Some(1)).err(),
            Some(NoAddress::Busy),
            "one tenant has no more of them"
        );
        let others: Vec<Waiting> = [Some(2), None]
            .map(|tenant| lookups.begin(&format!("{tenant:?}"), tenant).expect("begun"))
            .into();
        assert!(lookups.begin("d", Some(1)).is_ok(), "who waits with others holds nothing");
        for _ in 0..6 {
            locked(&ANSWER.0).send(()).expect("somebody waits");
        }
        runtime.block_on(async {
            for waiting in first.iter_mut().chain(&mut more.clone()).chain(&mut others.clone()) {
                let found = waiting.wait_for(Option::is_some).await.expect("an answer").clone();
                assert_eq!(found, Some(Ok(Arc::from([IpAddr::from([192, 0, 2, 1])]))));
            }
        });
        assert_eq!(ASKED.load(Ordering::SeqCst), 6);
        let under_way = lookups.under_way();
        assert!(under_way.is_empty());
    }
}
