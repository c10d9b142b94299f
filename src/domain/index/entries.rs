//! The entries of a record: those of its entities, as their resources say them, and those of its
//! movements, events and kept answer.

use super::{PersonMarks, Space, Trait, deliveries, found_by, micro_deposits, name, search, webhook};
use crate::bank_names::Owner;
use crate::values::identity::IdentityDocument;
use crate::values::ids::{EntityId, Id};
use crate::values::mode::PLATFORM;
use crate::values::phone::MobilePhone;
use wal::IndexOps;

/// The entries of one entity, in the making.
pub struct Entries<'a> {
    pub(crate) tenant: u64,
    pub(crate) id: EntityId,
    pub(crate) marks: &'a PersonMarks,
    pub(crate) ops: &'a mut IndexOps,
}

impl Entries<'_> {
    /// A name of the tenant's that leads to the entity.
    pub fn name(&mut self, space: Space, text: &str) {
        self.ops.put(&name(self.tenant, space, text), self.id.id.as_bytes());
    }

    /// A name of the tenant's that is free again.
    pub fn free(&mut self, space: Space, text: &str) {
        self.ops.delete(&name(self.tenant, space, text));
    }

    /// The entity's id among those of all tenants; it leads to the tenant.
    pub fn id_among_all(&mut self, space: Space) {
        let key = name(PLATFORM, space, &self.id.id.to_string());
        self.ops.put(&key, &self.tenant.to_be_bytes());
    }

    /// A name among those of all tenants; it leads to the entity.
    pub fn name_among_all(&mut self, space: Space, text: &str) {
        self.ops.put(&name(PLATFORM, space, text), self.id.id.as_bytes());
    }

    pub fn free_among_all(&mut self, space: Space, text: &str) {
        self.ops.delete(&name(PLATFORM, space, text));
    }

    /// A name where names of its space are: the tenant's own, or among those of all tenants.
    pub fn name_in(&mut self, space: Space, text: &str) {
        self.ops.put(&name(space.owner(self.tenant), space, text), self.id.id.as_bytes());
    }

    /// The slug of a payment link among those of all tenants; it leads to the tenant and the link.
    pub fn slug(&mut self, slug: &str, link: Id) {
        let value = [self.tenant.to_be_bytes().as_slice(), link.as_bytes()].concat();
        self.ops.put(&name(PLATFORM, Space::Slug, slug), &value);
    }

    /// The document of a payer among those of all tenants.
    pub fn payer(&mut self, document: IdentityDocument) {
        self.ops.put(&name(PLATFORM, Space::Payer, &document.number().to_string()), &[]);
    }

    /// Adds the payment, whose transfer has no notice yet, to those of all tenants that wait for
    /// one.
    pub fn await_notice(&mut self, prefix: &str) {
        let value = [self.tenant.to_be_bytes().as_slice(), self.id.id.as_bytes()].concat();
        self.ops.put(&self.awaited(prefix), &value);
    }

    /// Removes the payment from those that wait: its notice has come, or is no longer waited for.
    pub fn await_no_notice(&mut self, prefix: &str) {
        self.ops.delete(&self.awaited(prefix));
    }

    fn awaited(&self, prefix: &str) -> Vec<u8> {
        let text = format!("{prefix}{} {}", self.tenant, self.id.id);
        name(PLATFORM, Space::AwaitedNotice, &text)
    }

    /// A text by which the entity is searched for.
    pub fn found_by(&mut self, by: Trait, text: &str) {
        if let Some(prefix) = found_by(self.marks, by, text) {
            self.ops.put(&search::of_entity(&prefix, self.tenant, self.id), &[]);
        }
    }

    /// A text by which the entity is searched for, if it has it.
    pub fn maybe_found_by(&mut self, by: Trait, text: Option<&str>) {
        if let Some(text) = text {
            self.found_by(by, text);
        }
    }

    /// A person by whose document and phone the entity is searched for.
    pub fn found_by_person(&mut self, document: Option<IdentityDocument>, phone: Option<MobilePhone>) {
        self.maybe_found_by(
            Trait::Document,
            document.map(|document| document.clear().to_string()).as_deref(),
        );
        self.maybe_found_by(Trait::Phone, phone.map(|phone| phone.clear().to_string()).as_deref());
    }

    /// A webhook endpoint among those of all tenants.
    pub fn endpoint(&mut self) {
        self.ops.put(&webhook(self.tenant, self.id.id), &[]);
    }

    /// Micro-deposits that were ordered for the entity.
    pub fn deposit_order(&mut self, operation: Id) {
        let value = [&self.tenant.to_be_bytes()[..], &[self.id.kind as u8], self.id.id.as_bytes()].concat();
        self.ops.put(&name(PLATFORM, Space::DepositOrder, &operation.to_string()), &value);
    }

    /// The names that a bank has given the orders of the entity by now.
    pub fn bank_names(&mut self, named: Vec<(Id, String)>) {
        let (tenant, entity) = (self.tenant, self.id);
        for (operation, text) in named {
            let owner = Owner { tenant, entity, operation };
            self.ops.put(&name(PLATFORM, Space::BankName, &text), &owner.to_bytes());
        }
    }

    /// Micro-deposits that the bank made for the entity.
    pub fn micro_deposits(&mut self, operation: Id) {
        self.ops.put_seq(&micro_deposits(self.tenant, operation));
    }

    /// The outcome of a delivery of the endpoint.
    pub fn delivery(&mut self, delivery: Id) {
        let mut key = deliveries(self.tenant, self.id.id);
        key.extend_from_slice(delivery.as_bytes());
        self.ops.put_seq(&key);
    }
}
