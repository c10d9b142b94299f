//! The durable records of one tenant key, as the API's reads ask for them ([`api::records`]).

use crate::store::history::{self, Unreadable};
use crate::store::merge_cursor::MergeCursor;
use crate::store::read_budget::{ReadBudget, Stopped};
use api::records::{self, Each, EachEntry, Entry, Records, Unread};
use domain::entities::Entity;
use domain::index::Space;
use domain::record::Record;
use domain::resources::checkout::Attempts;
use domain::values::ids::{EntityId, Id};
use domain::values::time::Timestamp;
use std::sync::Arc;
use wal::{ReadError, Reader};

pub struct Stored<'a> {
    reader: &'a Reader,
    tenant: u64,
    /// `None` for a few look-ups.
    budget: Option<&'a ReadBudget>,
}

impl<'a> Stored<'a> {
    pub fn of(reader: &'a Reader, tenant: u64) -> Stored<'a> {
        Stored { reader, tenant, budget: None }
    }

    pub fn within(self, budget: &'a ReadBudget) -> Stored<'a> {
        Stored { budget: Some(budget), ..self }
    }

    pub fn session_attempts(&self, session: Id) -> Result<Attempts, Stopped> {
        Ok(api::checkout::sessions::attempts(self, session)?)
    }
}

impl From<Unreadable> for records::Stopped {
    fn from(unreadable: Unreadable) -> records::Stopped {
        records::Stopped::Unreadable(unreadable.0)
    }
}

impl From<records::Stopped> for Stopped {
    fn from(stopped: records::Stopped) -> Stopped {
        match stopped {
            records::Stopped::Unreadable(why) => Stopped::Unreadable(Unreadable(why)),
            records::Stopped::OverBudget => Stopped::OverBudget,
            records::Stopped::Canceled => Stopped::Canceled,
        }
    }
}

impl From<Stopped> for records::Stopped {
    fn from(stopped: Stopped) -> records::Stopped {
        match stopped {
            Stopped::Unreadable(unreadable) => unreadable.into(),
            Stopped::OverBudget => records::Stopped::OverBudget,
            Stopped::Canceled => records::Stopped::Canceled,
        }
    }
}

fn unreadable(error: ReadError) -> records::Stopped {
    Unreadable::from(error).into()
}

impl Records for Stored<'_> {
    fn tenant_key(&self) -> u64 {
        self.tenant
    }

    fn spend(&self) -> Result<(), records::Stopped> {
        self.budget.map_or(Ok(()), |budget| Ok(budget.spend()?))
    }

    fn entity(&self, id: EntityId) -> Result<Option<Arc<Entity>>, records::Stopped> {
        Ok(history::entity(self.reader, self.tenant, id)?)
    }

    fn named(&self, space: Space, name: &str) -> Result<Option<Id>, records::Stopped> {
        Ok(history::named(self.reader, self.tenant, space, name)?)
    }

    fn record(&self, seq: u64) -> Result<(Record, Timestamp), records::Stopped> {
        let read = history::record(self.reader, seq)?;
        Ok((read.record, read.time))
    }

    fn begun_at(&self) -> Result<u64, records::Stopped> {
        Ok(history::begun_at(self.reader, self.tenant)?.unwrap_or(0))
    }

    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, records::Stopped> {
        self.reader.index_get(key).map_err(unreadable)
    }

    fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<Entry>, records::Stopped> {
        self.reader.index_scan(from, to, true).next().transpose().map_err(unreadable)
    }

    fn scan(&self, from: &[u8], to: &[u8], each: EachEntry<'_>) -> Result<(), Unread> {
        for entry in self.reader.index_scan(from, to, false) {
            let (key, value) = entry.map_err(unreadable)?;
            if each(&key, &value)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn newest_entries(
        &self,
        parts: Vec<Vec<u8>>,
        before: Option<&[u8]>,
        from: Option<Vec<u8>>,
        each: Each<'_>,
    ) -> Result<(), Unread> {
        let moment = self.reader.index_moment();
        let mut newest =
            MergeCursor::new(&moment, parts, before, from, self.budget).map_err(records::Stopped::from)?;
        while let Some((suffix, part)) = newest.take_with_part().map_err(records::Stopped::from)? {
            self.budget.iter().for_each(|budget| budget.rest());
            if each(&suffix, part)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
