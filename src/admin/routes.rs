//! THE TABLE of the operators' API: one row per endpoint. Everything that holds for a row as a
//! whole is in it.

use super::call::{Call, Working};
use super::{
    adjustments, banks, books, chargebacks, cop_payouts, crypto, finding, keys, notices, operations, rates,
    state, statements, tenants,
};
use api::csv::Table;
use hyper::Method;
use std::sync::Arc;

/// Reads a request, does what it asks, and says what came of it.
pub type Handler = fn(Call) -> Working;

/// A row of the operators' route table.
#[derive(Clone)]
pub struct Route {
    /// The row's method.
    pub method: Method,
    /// The row's path, with `:names`.
    pub path: &'static str,
    /// The operation's name in the documentation and in the log.
    pub operation: &'static str,
    /// Whether it takes parameters after the question mark; if not, any is unknown.
    pub takes_query: bool,
    /// Whether what it does is no record by itself, so that one is written which says who did what.
    pub noted: bool,
    /// Whether it is taken also while the disk is nearly full: it is small, and the way out of
    /// something worse.
    pub in_reserve: bool,
    /// The function that answers.
    pub handler: Handler,
    /// The columns of a list, which can be read as CSV; derived from the description.
    pub table: Option<Arc<Table>>,
}

impl Route {
    /// Whether it may change something, which is then recorded.
    pub fn is_write(&self) -> bool {
        self.method != Method::GET
    }

    /// Whether it takes a body of JSON. Its handler reads that before it does anything.
    pub fn takes_json(&self) -> bool {
        matches!(self.method, Method::POST | Method::PATCH)
    }

    /// Marks the row as one that takes parameters after the question mark.
    fn with_query(self) -> Route {
        Route { takes_query: true, ..self }
    }

    /// Marks the row as one that leaves a record of who did it.
    fn noted(self) -> Route {
        Route { noted: true, ..self }
    }

    /// Marks the row as one that is served from the disk's reserve too.
    fn in_reserve(self) -> Route {
        Route { in_reserve: true, ..self }
    }
}

const fn row(method: Method, path: &'static str, operation: &'static str, handler: Handler) -> Route {
    Route {
        method,
        path,
        operation,
        takes_query: false,
        noted: false,
        in_reserve: false,
        handler,
        table: None,
    }
}

const fn list(path: &'static str, operation: &'static str, handler: Handler) -> Route {
    Route {
        method: Method::GET,
        path,
        operation,
        takes_query: true,
        noted: false,
        in_reserve: false,
        handler,
        table: None,
    }
}

/// The operators' route table.
pub fn routes() -> Vec<Route> {
    let (get, post, patch, delete) = (|| Method::GET, || Method::POST, || Method::PATCH, || Method::DELETE);
    vec![
        row(post(), "/admin/tenants", "createTenant", |call| Box::pin(tenants::create(call))),
        list("/admin/tenants", "listTenants", |call| Box::pin(tenants::list(call))),
        row(get(), "/admin/tenants/:id", "getTenant", |call| Box::pin(tenants::read(call))),
        row(patch(), "/admin/tenants/:id/settings", "updateSettings", |call| {
            Box::pin(tenants::set_settings(call))
        }),
        row(post(), "/admin/tenants/:id/live-status", "setLiveStatus", |call| {
            Box::pin(tenants::set_live_status(call))
        })
        .in_reserve(),
        row(post(), "/admin/tenants/:id/resume", "resumeTenant", |call| Box::pin(books::resume(call)))
            .noted()
            .in_reserve(),
        row(post(), "/admin/tenants/:id/keys", "createKey", |call| Box::pin(keys::create(call))),
        row(get(), "/admin/tenants/:id/keys", "listKeys", |call| Box::pin(keys::list(call))),
        row(delete(), "/admin/keys/:keyId", "revokeKey", |call| Box::pin(keys::revoke(call))).in_reserve(),
        row(post(), "/admin/keys/:keyId/rotate", "rotateKey", |call| Box::pin(keys::rotate(call))),
        row(post(), "/admin/tenants/:id/adjustments", "createAdjustment", |call| {
            Box::pin(adjustments::create(call))
        }),
        list("/admin/tenants/:id/statements", "getTenantStatement", |call| {
            Box::pin(statements::of_tenant(call))
        }),
        list("/admin/statements", "getPlatformStatement", |call| Box::pin(statements::of_platform(call))),
        row(post(), "/admin/rates", "recordRate", |call| Box::pin(rates::record(call))).noted(),
        row(delete(), "/admin/rates/pin", "unpinRate", |call| Box::pin(rates::unpin(call)))
            .with_query()
            .noted(),
        row(get(), "/admin/banks", "listAllBanks", |call| Box::pin(banks::list(call))),
        row(get(), "/admin/status", "getStatus", |call| Box::pin(state::read(call))),
        row(post(), "/admin/snapshot", "takeSnapshot", |call| Box::pin(state::snapshot(call))).noted(),
        row(post(), "/admin/clock/confirm", "confirmClock", |call| Box::pin(state::confirm_clock(call)))
            .noted()
            .in_reserve(),
        row(post(), "/admin/tenants/:id/chargebacks", "openChargeback", |call| {
            Box::pin(chargebacks::open(call))
        }),
        row(post(), "/admin/chargebacks/:id/close", "closeChargeback", |call| {
            Box::pin(chargebacks::close(call))
        }),
        row(post(), "/admin/backup", "makeBackup", |call| Box::pin(state::backup(call))),
        list("/admin/crypto/payouts", "listAllCryptoPayouts", |call| Box::pin(crypto::list(call))),
        row(post(), "/admin/crypto/payouts/:id/approve", "approveCryptoPayout", |call| {
            Box::pin(crypto::approve(call))
        }),
        row(post(), "/admin/crypto/payouts/:id/reject", "rejectCryptoPayout", |call| {
            Box::pin(crypto::reject(call))
        }),
        row(post(), "/admin/tenants/:id/cop-payouts", "createCopPayout", |call| {
            Box::pin(cop_payouts::create(call))
        }),
        row(post(), "/admin/cop-payouts/:id/complete", "completeCopPayout", |call| {
            Box::pin(cop_payouts::complete(call))
        }),
        row(post(), "/admin/cop-payouts/:id/fail", "failCopPayout", |call| Box::pin(cop_payouts::fail(call))),
        row(post(), "/admin/banks/refresh", "refreshBanks", |call| Box::pin(banks::refresh_now(call))),
        list("/admin/operations", "listOperations", |call| Box::pin(operations::list(call))),
        row(post(), "/admin/operations/:id/resolve", "resolveOperation", |call| {
            Box::pin(operations::resolve(call))
        }),
        list("/admin/search", "searchAll", |call| Box::pin(finding::search(call))),
        list("/admin/payments", "listAllPayments", |call| Box::pin(finding::payments(call))),
        list("/admin/payouts", "listAllPayouts", |call| Box::pin(finding::payouts(call))),
        list("/admin/conversions", "listAllConversions", |call| Box::pin(finding::conversions(call))),
        list("/admin/cop-payouts", "listAllCopPayouts", |call| Box::pin(finding::cop_payouts(call))),
        list("/admin/chargebacks", "listAllChargebacks", |call| Box::pin(finding::chargebacks(call))),
        list("/admin/webhooks/deliveries", "listAllDeliveries", |call| Box::pin(finding::deliveries(call))),
        list("/admin/notices", "listNotices", |call| Box::pin(notices::list(call))),
        row(patch(), "/admin/banks/:code", "updateBank", |call| Box::pin(banks::update(call))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::router::Router;
    use std::collections::BTreeSet;

    /// Calls whose rules write a record by themselves.
    const RECORDS: [&str; 18] = [
        "createTenant",
        "updateSettings",
        "setLiveStatus",
        "createKey",
        "revokeKey",
        "rotateKey",
        "createAdjustment",
        "openChargeback",
        "closeChargeback",
        "makeBackup",
        "approveCryptoPayout",
        "rejectCryptoPayout",
        "createCopPayout",
        "completeCopPayout",
        "failCopPayout",
        "updateBank",
        "refreshBanks",
        "resolveOperation",
    ];

    #[test]
    fn every_act_is_a_record() {
        for route in routes().into_iter().filter(Route::is_write) {
            let own = RECORDS.contains(&route.operation);
            assert!(
                own != route.noted,
                "{}: is it a record by itself (then name it above), or is it to be noted (then say .noted() in its row)?",
                route.operation
            );
        }
    }

    #[test]
    fn the_table_is_a_router_and_its_names_are_distinct() {
        let routes = routes();
        let operations: BTreeSet<_> = routes.iter().map(|route| route.operation).collect();
        assert_eq!(operations.len(), routes.len());
        assert!(
            Router::new(routes.into_iter().map(|route| (route.method.clone(), route.path, route))).is_ok()
        );
    }
}
