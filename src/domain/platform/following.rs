//! What the book of another partition takes over from the first partition's, where tenants, keys, operators, banks and
//! rates are decided: its own tenants with their keys, and what is everybody's.

use crate::codec::stored;
use crate::platform::beside::Beside;
use crate::platform::operators::OperatorAccount;
use crate::platform::{ApiKey, PlatformBook, PlatformChange, Tenant};
use crate::resources::banks::BankBook;
use crate::values::time::Timestamp;
use std::sync::Arc;

stored! {
    /// States as they are after a record of the first partition, of what changed since the one that was followed before.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Followed {
        /// The sequence of that record there.
        0 pub seq: u64,
        1 pub tenants: Vec<Arc<Tenant>>,
        2 pub keys: Vec<Arc<ApiKey>>,
        3 pub operators: Vec<Arc<OperatorAccount>>,
        4 pub banks: Option<BankBook>,
        /// The tenants that asked for live mode, and when.
        5 pub live_asked: Vec<(u32, Timestamp)>,
        /// Samples of rates, and pins.
        6 pub besides: Vec<Beside>,
    }
}

impl Followed {
    /// All that a partition which has followed nothing yet needs of the first one's `book`, which has no rates.
    pub fn all(book: &PlatformBook, partition: u8, seq: u64) -> Followed {
        let own = |tenant: &&Arc<Tenant>| tenant.partition == partition;
        let tenants: Vec<_> = book.tenants.values().filter(own).cloned().collect();
        Followed {
            seq,
            keys: tenants.iter().flat_map(|tenant| book.keys.of(tenant.number)).cloned().collect(),
            operators: book.operators.values().cloned().collect(),
            banks: Some(book.banks.clone()),
            live_asked: Vec::new(),
            besides: Vec::new(),
            tenants,
        }
    }

    /// Adds what a partition follows of the record `seq`. `book` is the first partition's, after that record or a later
    /// one: a state that is later than its record is followed once more with its own.
    pub fn add(
        &mut self,
        seq: u64,
        (change, at): (&PlatformChange, Timestamp),
        book: &PlatformBook,
        own: u8,
    ) {
        let is_own = |number: u32| book.tenants.get(&number).is_some_and(|tenant| tenant.partition == own);
        match change {
            PlatformChange::Tenant(tenant) if tenant.partition == own => {
                self.tenants.push(Arc::clone(tenant))
            }
            PlatformChange::Key(key) if is_own(key.tenant) => self.keys.push(Arc::clone(key)),
            PlatformChange::Opened { tenant, keys } if tenant.partition == own => {
                self.tenants.push(Arc::clone(tenant));
                self.keys.extend(keys.iter().cloned());
            }
            PlatformChange::Operator(operator) => self.operators.push(Arc::clone(operator)),
            PlatformChange::Bank(..) | PlatformChange::Banks(_) => self.banks = Some(book.banks.clone()),
            PlatformChange::LiveAsked(number) if is_own(*number) => self.live_asked.push((*number, at)),
            // The decisions of the simulated bank are about orders, which are in their own partition.
            PlatformChange::Beside(entries) => {
                let rates = entries.iter().filter(|entry| !matches!(entry, Beside::Fate { .. }));
                self.besides.extend(rates.cloned());
            }
            _ => return,
        }
        self.seq = seq;
    }

    pub fn is_empty(&self) -> bool {
        *self == Followed { seq: self.seq, ..Followed::default() }
    }
}

impl PlatformBook {
    /// What is to be written of `followed`, which goes on from `after`; `None` if that is not where this book is: it was
    /// followed already, or something between is missing. Which settings both books of a tenant have is this
    /// partition's to know.
    pub fn following(&self, after: u64, mut followed: Followed) -> Option<Followed> {
        if after != self.followed || followed.seq <= after {
            return None;
        }
        for tenant in &mut followed.tenants {
            let pushed = self.tenants.get(&tenant.number).map_or(0, |known| known.pushed);
            if tenant.pushed != pushed {
                *tenant = Arc::new(Tenant { pushed, ..(**tenant).clone() });
            }
        }
        Some(followed)
    }

    pub(super) fn follow(&mut self, followed: &Followed) {
        followed.tenants.iter().for_each(|tenant| self.learn_tenant(tenant));
        followed.keys.iter().for_each(|key| self.learn_key(key));
        for operator in &followed.operators {
            self.operators.insert(operator.id, Arc::clone(operator));
        }
        for (number, at) in &followed.live_asked {
            self.live_asked.insert(*number, *at);
        }
        if let Some(banks) = &followed.banks {
            self.banks = banks.clone();
        }
        self.followed = followed.seq;
    }
}
