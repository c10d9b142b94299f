//! Reads what was agreed on in each partition, as it comes, and knows what must not be in it.

use super::{Broken, universe};
use domain::codec;
use domain::platform::copies::{RecordHash, record_hash};
use domain::platform::{PlatformChange, Tenant};
use domain::record::Record;
use domain::values::ids::{Mode, PLATFORM, tenant_key};
use faulty::{MemoryQuorum, QuorumFaults};
use std::collections::BTreeMap;
use std::sync::Arc;
use wal::Tip;
use wal::cluster::{Following, Keys};

/// A book of an account as a partition has it.
#[derive(Default)]
struct Book {
    records: Vec<RecordHash>,
    /// The debits, with the version of the settings that each was decided by.
    debits: BTreeMap<String, u64>,
    settings: u64,
}

struct Log {
    following: Following,
    tip_key: Vec<u8>,
    seen: Option<Vec<u8>>,
    tip: Tip,
    books: BTreeMap<u64, Book>,
}

pub struct Auditor {
    faults: QuorumFaults,
    logs: Vec<Log>,
    /// The first partition's word on each account.
    pub tenants: BTreeMap<u32, Arc<Tenant>>,
    pub records: u64,
    pub moved: u64,
    pub undone: u64,
    pub fingerprint: u64,
}

impl Auditor {
    pub fn new(quorum: &MemoryQuorum, partitions: u8) -> Auditor {
        let of = |partition| {
            let name = universe::name(partition);
            let client = Arc::new(quorum.client(MemoryQuorum::WITNESS));
            Log {
                following: Following::new(client, Keys::new(&name), "auditor"),
                tip_key: format!("/pasarela/{name}/tip").into_bytes(),
                seen: None,
                tip: Tip::default(),
                books: BTreeMap::new(),
            }
        };
        Auditor {
            faults: quorum.faults(),
            logs: (0..partitions).map(of).collect(),
            tenants: BTreeMap::new(),
            records: 0,
            moved: 0,
            undone: 0,
            fingerprint: 0,
        }
    }

    pub fn tip(&self, partition: u8) -> Tip {
        self.logs[usize::from(partition)].tip
    }

    /// Takes what was agreed on since.
    pub fn look(&mut self) -> Result<(), Broken> {
        for partition in 0..self.logs.len() {
            let log = &mut self.logs[partition];
            let tip = self.faults.get(&log.tip_key);
            if tip == log.seen {
                continue;
            }
            log.seen = tip;
            loop {
                let log = &mut self.logs[partition];
                let seen = log.following.look(log.tip).map_err(|error| Broken(error.to_string()))?;
                let Some(last) = seen.batches.last() else { break };
                log.tip = last.tip;
                for record in seen.batches.iter().flat_map(|batch| &batch.records) {
                    self.take(partition, record)?;
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, partition: usize, stored: &wal::Record) -> Result<(), Broken> {
        self.records += 1;
        let hash = record_hash(stored.time_ms, &stored.payload);
        let own = u64::from_be_bytes(*hash.first_chunk().expect("sixteen bytes"));
        self.fingerprint = universe::mixed(self.fingerprint ^ own ^ partition as u64);
        let record: Record = codec::decode(&stored.payload).map_err(|error| Broken(error.to_string()))?;
        if stored.tenant == PLATFORM {
            if partition == 0
                && let Some(change) = record.platform.as_deref()
            {
                self.learn(change);
            }
            return Ok(());
        }
        let at = self.logs[partition].books.get(&stored.tenant).map_or(0, |copy| copy.records.len());
        for (other, log) in self.logs.iter().enumerate().filter(|(other, _)| *other != partition) {
            let there = log.books.get(&stored.tenant).and_then(|copy| copy.records.get(at));
            if there.is_some_and(|there| *there != hash) {
                return Err(Broken(format!(
                    "book {} is in two places: its record {at} is another one in partition {partition} than in {other}",
                    stored.tenant
                )));
            }
        }
        let copy = self.logs[partition].books.entry(stored.tenant).or_default();
        copy.records.push(hash);
        if let Some(settings) = &record.tenant_settings {
            copy.settings = settings.version;
        }
        let name = record.kept.as_ref().map(|kept| kept.of.key.clone());
        if let Some(name) = name
            && copy.debits.insert(name.clone(), copy.settings).is_some()
        {
            return Err(Broken(format!("the debit {name} is twice in partition {partition}")));
        }
        Ok(())
    }

    fn learn(&mut self, change: &PlatformChange) {
        let tenant = match change {
            PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. } => tenant,
            PlatformChange::Moved { tenant, .. } => {
                self.moved += 1;
                tenant
            }
            _ => return,
        };
        let before = self.tenants.insert(tenant.number, Arc::clone(tenant));
        let was_moving = before.is_some_and(|before| before.moving.is_some());
        self.undone +=
            u64::from(was_moving && matches!(change, PlatformChange::Tenant(_)) && tenant.moving.is_none());
    }

    /// The version of the settings by which a debit was decided, if it is agreed on in a partition.
    pub fn debit(&self, partition: u8, tenant: u64, name: &str) -> Option<u64> {
        self.logs[usize::from(partition)].books.get(&tenant)?.debits.get(name).copied()
    }

    /// The debits of an account where it is.
    pub fn debits(&self, number: u32) -> Option<&BTreeMap<String, u64>> {
        let tenant = self.tenants.get(&number)?;
        let copy = self.logs[usize::from(tenant.partition)].books.get(&tenant_key(number, Mode::Test))?;
        Some(&copy.debits)
    }

    /// Where an account is there is all of it.
    pub fn is_whole(&self, number: u32) -> bool {
        let of = self.tenants.get(&number).map_or(0, |tenant| usize::from(tenant.partition));
        Mode::ALL.into_iter().all(|mode| {
            let length =
                |log: &Log| log.books.get(&tenant_key(number, mode)).map_or(0, |copy| copy.records.len());
            self.logs.iter().all(|log| length(log) <= length(&self.logs[of]))
        })
    }
}
