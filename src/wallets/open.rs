//! The payouts of one network that are on their way, in the order in which they were accepted: the
//! list that operators see too. The state of a payout is kept while it stays in the list: its end
//! takes it out, and every change before that is this worker's own.

use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use domain::entities::Entity;
use domain::entities::crypto_payout::{CryptoPayout, Status};
use domain::index::{self, Space};
use domain::values::address::Network;
use domain::values::ids::{EntityId, Id, Kind, PLATFORM, is_live};
use std::collections::{BTreeMap, BTreeSet};
use wal::Reader;

#[derive(Clone)]
pub struct OpenPayout {
    pub tenant_key: u64,
    pub payout: CryptoPayout,
}

pub struct OpenPayouts {
    network: Network,
    /// `None` for a payout of test mode or another network.
    known: BTreeMap<Id, Option<OpenPayout>>,
}

impl OpenPayouts {
    pub const fn of(network: Network) -> OpenPayouts {
        OpenPayouts { network, known: BTreeMap::new() }
    }

    pub fn refresh(&mut self, services: &Services) -> Result<(), Unreadable> {
        let reader = services.engine.reader();
        let listed = listed(reader)?;
        self.known.retain(|id, _| listed.contains(id));
        for id in listed {
            if !self.known.contains_key(&id) {
                let is_meant = |open: &OpenPayout| {
                    let payout = &open.payout;
                    is_live(open.tenant_key)
                        && payout.network == self.network
                        && payout.status == Status::Processing
                };
                self.known.insert(id, find(reader, id)?.filter(is_meant));
            }
        }
        Ok(())
    }

    pub fn all(&self) -> impl Iterator<Item = &OpenPayout> {
        self.known.values().flatten()
    }

    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    pub fn update(&mut self, payout: CryptoPayout) {
        if let Some(Some(open)) = self.known.get_mut(&payout.id) {
            open.payout = payout;
        }
    }

    pub fn forget(&mut self, id: Id) {
        self.known.remove(&id);
    }
}

fn listed(reader: &Reader) -> Result<BTreeSet<Id>, Unreadable> {
    let list = index::list(PLATFORM, Kind::CryptoPayout, Status::Processing as u8);
    let end = [list.as_slice(), &[0xFF; 17]].concat();
    let mut listed = BTreeSet::new();
    for entry in reader.index_scan(&list, &end, false) {
        let (key, _) = entry?;
        let id = key.strip_prefix(list.as_slice()).and_then(|id| <[u8; 16]>::try_from(id).ok());
        let id = id.ok_or_else(|| Unreadable("a list entry of the operators that is no id".to_owned()))?;
        listed.insert(Id::from_bytes(id));
    }
    Ok(listed)
}

fn find(reader: &Reader, id: Id) -> Result<Option<OpenPayout>, Unreadable> {
    let key = index::name(PLATFORM, Space::CryptoPayout, &id.to_string());
    let Some(value) = reader.index_get(&key)? else { return Ok(None) };
    let tenant_key = <[u8; 8]>::try_from(value.as_slice())
        .map_err(|_| Unreadable("a USDT payout of no tenant".to_owned()))?;
    read(reader, u64::from_be_bytes(tenant_key), id)
}

pub fn read(reader: &Reader, tenant_key: u64, id: Id) -> Result<Option<OpenPayout>, Unreadable> {
    let entity = history::entity(reader, tenant_key, EntityId::crypto_payout(id))?;
    Ok(match entity.as_deref() {
        Some(Entity::CryptoPayout(payout)) => Some(OpenPayout { tenant_key, payout: payout.clone() }),
        _ => None,
    })
}
