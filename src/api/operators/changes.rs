//! The changes of an operator's decision, for the audit: the same members that the API shows,
//! before and after.

use super::difference::difference;
use crate::tenants::{self, approvals, settings, show_key};
use crate::writer::Object;
use crate::{balance, chargebacks, entity, operators, reference};
use domain::decision::Decided;
use domain::entities::Entity;
use domain::platform::audit::Changes;
use domain::platform::{ApiKey, PlatformBook, PlatformChange, Tenant};
use domain::resources::banks::{Catalogue, Edit};
use domain::values::ids::Id;

pub fn changes(decided: &Decided<'_>) -> Changes {
    let record = decided.record;
    if let (Some(book), Some(change)) = (decided.platform, record.platform.as_deref()) {
        return of_platform(book, change);
    }
    if let Some(chargeback) = record.entities.iter().find_map(|written| match &*written.state {
        Entity::Chargeback(chargeback) => Some(chargeback.id),
        _ => None,
    }) {
        let now = record.entities.first().map(|written| &*written.state);
        return between(
            decided.entity.and_then(|payment| one_of(payment, chargeback)),
            now.and_then(|payment| one_of(payment, chargeback)),
        );
    }
    if let Some(approval) = record.decided_approval() {
        return between(None, Some(approvals::show_decided(approval)));
    }
    if let Some(written) = record.entities.first() {
        return between(decided.entity.and_then(entity::show), entity::show(&written.state));
    }
    let movement = record.postings.iter().position(|posting| posting.row.is_some());
    let shown = movement.and_then(|n| {
        balance::movements::show_movement(decided.livemode, record, decided.time, n, decided.time)
    });
    Changes { made: movement.map(|n| record.movement_id(decided.time, n)), ..between(None, shown) }
}

fn between(before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> Changes {
    let (before, after) = difference(before.as_deref(), after.as_deref());
    Changes { made: None, before, after }
}

fn of_platform(book: &PlatformBook, change: &PlatformChange) -> Changes {
    match change {
        PlatformChange::Tenant(tenant) if tenant.moving.is_some() => {
            let partition = |number: u8| Object::new().number("partition", u64::from(number)).end();
            between(Some(partition(tenant.partition)), tenant.moving.map(partition))
        }
        PlatformChange::Tenant(tenant) => {
            let before = book.tenants.get(&tenant.number);
            between(before.map(|tenant| settings_of(tenant)), Some(settings_of(tenant)))
        }
        PlatformChange::Key(key) => of_key(book, key),
        // The successor comes first, where a key was rotated.
        PlatformChange::Opened { tenant, keys } if book.tenants.get(&tenant.number).is_some() => {
            keys.first().map(|key| of_key(book, key)).unwrap_or_default()
        }
        PlatformChange::Opened { tenant, .. } | PlatformChange::TestAccountOpened { tenant, .. } => {
            between(None, Some(tenants::show(tenant)))
        }
        PlatformChange::Operator(operator) => {
            let before = book.operators.get(&operator.id);
            if before.is_some_and(|known| known.token_hash != operator.token_hash) {
                // The tokens differ, and no token is shown.
                return between(None, Some(Object::new().boolean("tokenRotated", true).end()));
            }
            between(before.map(|known| operators::show(known)), Some(operators::show(operator)))
        }
        PlatformChange::Bank(code, edit) => {
            let listed = book.banks.listed();
            let shown =
                |edit: &Edit| listed.get(*code).map(|bank| reference::show_whole_bank(&edit.on(bank)));
            let before = book.banks.edits.get(code).cloned().unwrap_or_default();
            between(shown(&before), shown(edit))
        }
        PlatformChange::Banks(listed) => {
            let count = |banks: &Catalogue| Object::new().number("banks", banks.all().len()).end();
            between(Some(count(&book.banks.listed())), Some(count(listed)))
        }
        PlatformChange::Acted(_)
        | PlatformChange::Searched(_)
        | PlatformChange::SearchEnded { .. }
        | PlatformChange::Beside(_)
        | PlatformChange::LiveAsked(_)
        | PlatformChange::TestAccountsUsed(_)
        | PlatformChange::TestAccountDeleted(_)
        | PlatformChange::Followed(_)
        | PlatformChange::Moved { .. } => Changes::default(),
    }
}

/// The settings that an operator makes for a tenant, in one object.
fn settings_of(tenant: &Tenant) -> Vec<u8> {
    let shown = Object::reopened(settings::show(&tenant.tenant_settings.settings));
    shown
        .plain("liveStatus", tenant.tenant_settings.live_status.name())
        .maybe_text("liveStatusReason", tenant.tenant_settings.reason.as_deref())
        .maybe_plain("movedTo", tenant.tenant_settings.moved_to.as_deref())
        .end()
}

fn of_key(book: &PlatformBook, key: &ApiKey) -> Changes {
    let before = book.keys.get(&key.id).map(|known| show_key(known, None));
    between(before, Some(show_key(key, None)))
}

fn one_of(payment: &Entity, chargeback: Id) -> Option<Vec<u8>> {
    match payment {
        Entity::Payment(payment) => payment.chargeback(chargeback).map(chargebacks::show),
        _ => None,
    }
}
