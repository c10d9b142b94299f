//! The entry of the audit that a call is to leave, until it goes into the record of the change.

use super::call::Call;
use crate::gateway::operators::Operator;
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::operators::By;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use std::sync::{Mutex, PoisonError};

/// The entry of a call. It is taken once: one call leaves one entry, however many records it makes.
#[derive(Default)]
pub struct Signature(Mutex<Option<Box<AuditEntry>>>);

impl Signature {
    /// The signature of an operator under an action.
    pub fn of(entry: AuditEntry) -> Signature {
        Signature(Mutex::new(Some(Box::new(entry))))
    }

    /// Says about which tenant the entry is, where the path does not.
    pub fn about(&self, tenant: Option<Id>) {
        if let Some(entry) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            entry.tenant = tenant;
        }
    }

    /// Says what the entry is about, where the path does not.
    pub fn targets(&self, target: String) {
        if let Some(entry) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            entry.target = Some(target);
        }
    }

    /// A copy of the entry, for a record that is a part of what was asked.
    pub fn copy(&self) -> Option<AuditEntry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_deref().cloned()
    }

    /// Whether a second person approved the call, so that its entry also settles what waited.
    pub fn has_consent(&self) -> bool {
        let entry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entry.as_ref().is_some_and(|entry| entry.consent.is_some())
    }

    /// Says what was taken away, of what is in no record.
    pub fn removes(&self, shown: &[u8]) {
        if let Some(entry) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            entry.before = String::from_utf8(shown.to_vec()).ok();
            entry.after = Some("null".to_owned());
        }
    }

    /// Says what was in the place of what the call makes, of what is in no record.
    pub fn replaces(&self, shown: &[u8]) {
        if let Some(entry) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            entry.before = String::from_utf8(shown.to_vec()).ok();
        }
    }

    /// The person in whose name the call is made.
    fn who(&self) -> Option<Who> {
        let entry = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entry.as_ref().map(|entry| entry.operator.clone())
    }

    /// Takes the entry, if it was not taken before.
    pub fn take(&self) -> Option<Box<AuditEntry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An entry with what was done, of which nothing else is in its record.
pub fn said(entry: Option<Box<AuditEntry>>, done: &[u8]) -> Option<Box<AuditEntry>> {
    entry.map(|entry| {
        let after = entry.after.clone().or_else(|| String::from_utf8(done.to_vec()).ok());
        Box::new(AuditEntry { after, ..*entry })
    })
}

/// The entry of a call that begins now; the path says what it is about.
pub fn begin(operator: &Operator, action: &str, call: &Beginning<'_>) -> AuditEntry {
    let (path, parameters) = call.path;
    let first = parameters.first().map(|(_, text)| text.clone());
    let is_of_tenant = path.starts_with("/admin/tenants/");
    AuditEntry {
        at: call.at,
        operator: operator.who().clone(),
        peer: Some(call.peer.to_owned()),
        action: action.to_owned(),
        tenant: first.as_deref().filter(|_| is_of_tenant).and_then(Id::parse),
        target: first,
        before: None,
        after: None,
        approval: None,
        consent: None,
        request_id: Some(call.request_id.to_owned()),
    }
}

/// The circumstances of a call.
pub struct Beginning<'a> {
    /// The server's clock.
    pub at: Timestamp,
    /// The address that it came from.
    pub peer: &'a str,
    /// The request's id.
    pub request_id: &'a str,
    /// The path, and the values of its parameters.
    pub path: (&'a str, &'a [(&'static str, String)]),
}

impl Call {
    /// The entry of the audit, for the command that decides: about what the path names.
    pub fn sign(&self) -> Option<Box<AuditEntry>> {
        self.signature.take()
    }

    /// The entry of the audit, about this tenant and this thing.
    pub fn sign_about(&self, tenant: Option<Id>, target: Option<String>) -> Option<Box<AuditEntry>> {
        self.signature.take().map(|entry| Box::new(AuditEntry { tenant, target, ..*entry }))
    }

    /// The person in whose name the call is made: who asked, where somebody else approves.
    pub fn who(&self) -> Who {
        self.signature.who().unwrap_or_else(|| self.operator.who().clone())
    }

    /// The people of the call: in whose name it is made, and who makes it.
    pub fn people(&self) -> By {
        let (asker, second) = (self.who().id, self.operator.who().id);
        if asker == second { vec![asker] } else { vec![asker, second] }
    }

    /// An entry of the audit for what is in no row of the table: a look at something, under an action.
    pub fn entry(&self, action: &str, tenant: Option<Id>) -> Box<AuditEntry> {
        let (peer, path) = (self.peer.ip().to_string(), (self.path.as_str(), self.parameters.as_slice()));
        let beginning =
            Beginning { at: self.services.now(), peer: &peer, request_id: &self.request_id, path };
        Box::new(AuditEntry { tenant, ..begin(&self.operator, action, &beginning) })
    }

    pub fn tenant_of(&self, tenant_key: u64) -> Option<Id> {
        let number = u32::try_from(tenant_key / 2).ok()?;
        self.services.callers.directory.tenant_numbered(number).map(|tenant| tenant.id)
    }
}
