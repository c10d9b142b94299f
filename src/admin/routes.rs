//! THE TABLE of the operators' API: one row per endpoint. Everything that holds for a row as a
//! whole is in it.

use super::call::{Call, Working};
use super::{
    adjustments, approvals, audit, banks, books, chargebacks, cluster, cop_payouts, crypto, finding, keys,
    notices, operations, operators, people, rates, reconciliations, state, statements, tenants,
};
use api::answer::Show;
use api::csv::Table;
use domain::platform::operators::Role;
use domain::resources::approvals::Approvable;
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
    /// The least role that may call it.
    pub role: Role,
    /// The name of what it changes or uncovers in the audit; none of what only reads.
    pub action: Option<&'static str>,
    /// The name under which it may need a second person; none if it never does.
    pub approval: Option<Approvable>,
    /// Whether it is the second person's word: the least role is then that of what waits.
    pub decides_approval: bool,
    /// Whether it takes parameters after the question mark; if not, any is unknown. Derived from the
    /// description.
    pub takes_query: bool,
    /// Whether its body is CSV, and no JSON.
    pub takes_csv: bool,
    /// Whether what it does is no record by itself, so that one is written which says who did what.
    pub noted: bool,
    /// Whether it is taken also while the disk is nearly full: it is small, and the way out of
    /// something worse.
    pub in_reserve: bool,
    /// The function that answers.
    pub handler: Handler,
    /// The function that shows what was decided; none where nothing is decided by a command, or the answer is
    /// kept as it was sent.
    pub show: Option<Show>,
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
        matches!(self.method, Method::POST | Method::PATCH) && !self.takes_csv
    }

    /// Gives the row its least role, and the name of its act.
    fn by(self, role: Role, action: &'static str) -> Route {
        Route { role, action: Some(action), ..self }
    }

    /// Shows what the row decides with this function.
    fn shows(self, show: Show) -> Route {
        Route { show: Some(show), ..self }
    }

    /// Says under which name the row may need a second person.
    fn approved_as(self, approval: Approvable) -> Route {
        Route { approval: Some(approval), ..self }
    }

    /// Marks the row as the second person's word.
    fn decides_approval(self) -> Route {
        Route { decides_approval: true, ..self }
    }

    /// Marks the row as one that takes CSV.
    fn with_csv(self) -> Route {
        Route { takes_csv: true, ..self }
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
        role: Role::Viewer,
        action: None,
        approval: None,
        decides_approval: false,
        takes_query: false,
        takes_csv: false,
        noted: false,
        in_reserve: false,
        handler,
        show: None,
        table: None,
    }
}

/// The operators' route table.
pub fn routes() -> Vec<Route> {
    let (get, post, patch, delete) = (|| Method::GET, || Method::POST, || Method::PATCH, || Method::DELETE);
    vec![
        row(post(), "/admin/tenants", "createTenant", |call| Box::pin(tenants::create(call)))
            .shows(api::tenants::show_opened)
            .by(Role::Admin, "tenant.create"),
        row(get(), "/admin/tenants", "listTenants", |call| Box::pin(tenants::list(call))),
        row(get(), "/admin/tenants/:id", "getTenant", |call| Box::pin(tenants::read(call))),
        row(patch(), "/admin/tenants/:id/settings", "updateSettings", |call| {
            Box::pin(tenants::set_settings(call))
        })
        .by(Role::Admin, "tenant.settings"),
        row(post(), "/admin/tenants/:id/live-status", "setLiveStatus", |call| {
            Box::pin(tenants::set_live_status(call))
        })
        .shows(api::tenants::show_changed)
        .by(Role::Admin, "tenant.live-status")
        .approved_as(Approvable::LiveStatus)
        .in_reserve(),
        row(post(), "/admin/tenants/:id/resume", "resumeTenant", |call| Box::pin(books::resume(call)))
            .by(Role::Admin, "tenant.resume")
            .noted()
            .in_reserve(),
        row(post(), "/admin/tenants/:id/keys", "createKey", |call| Box::pin(keys::create(call)))
            .shows(api::tenants::show_made)
            .by(Role::Admin, "key.create"),
        row(get(), "/admin/tenants/:id/keys", "listKeys", |call| Box::pin(keys::list(call))),
        row(delete(), "/admin/keys/:keyId", "revokeKey", |call| Box::pin(keys::revoke(call)))
            .by(Role::Admin, "key.revoke")
            .in_reserve(),
        row(post(), "/admin/keys/:keyId/rotate", "rotateKey", |call| Box::pin(keys::rotate(call)))
            .shows(api::tenants::show_made)
            .by(Role::Admin, "key.rotate"),
        row(post(), "/admin/tenants/:id/adjustments", "createAdjustment", |call| {
            Box::pin(adjustments::create(call))
        })
        .shows(api::balance::new_movement)
        .by(Role::Treasury, "adjustment.create")
        .approved_as(Approvable::Adjustments),
        row(get(), "/admin/tenants/:id/statements", "getTenantStatement", |call| {
            Box::pin(statements::of_tenant(call))
        }),
        row(get(), "/admin/statements", "getPlatformStatement", |call| {
            Box::pin(statements::of_platform(call))
        }),
        row(post(), "/admin/rates", "recordRate", |call| Box::pin(rates::record(call)))
            .by(Role::Treasury, "rate.add")
            .approved_as(Approvable::Rates)
            .noted(),
        row(get(), "/admin/rates", "listRates", |call| Box::pin(rates::list(call))),
        row(delete(), "/admin/rates/pin", "unpinRate", |call| Box::pin(rates::unpin(call)))
            .by(Role::Treasury, "rate.unpin")
            .approved_as(Approvable::Rates)
            .noted(),
        row(get(), "/admin/banks", "listAllBanks", |call| Box::pin(banks::list(call))),
        row(get(), "/admin/cluster", "getCluster", |call| Box::pin(cluster::read(call))),
        row(post(), "/admin/cluster/hand-over", "handOver", |call| Box::pin(cluster::hand_over(call)))
            .by(Role::Admin, "cluster.hand-over")
            .in_reserve(),
        row(get(), "/admin/status", "getStatus", |call| Box::pin(state::read(call))),
        row(post(), "/admin/snapshot", "takeSnapshot", |call| Box::pin(state::snapshot(call)))
            .by(Role::Admin, "snapshot")
            .noted(),
        row(post(), "/admin/clock/confirm", "confirmClock", |call| Box::pin(state::confirm_clock(call)))
            .by(Role::Admin, "clock.confirm")
            .noted()
            .in_reserve(),
        row(post(), "/admin/tenants/:id/chargebacks", "openChargeback", |call| {
            Box::pin(chargebacks::open(call))
        })
        .shows(api::chargebacks::opened)
        .by(Role::Treasury, "chargeback.create")
        .approved_as(Approvable::Adjustments),
        row(post(), "/admin/chargebacks/:id/close", "closeChargeback", |call| {
            Box::pin(chargebacks::close(call))
        })
        .shows(api::chargebacks::closed)
        .by(Role::Treasury, "chargeback.close"),
        row(post(), "/admin/backup", "makeBackup", |call| Box::pin(state::backup(call)))
            .by(Role::Admin, "backup"),
        row(get(), "/admin/crypto/payouts", "listAllCryptoPayouts", |call| Box::pin(crypto::list(call))),
        row(post(), "/admin/crypto/payouts/:id/approve", "approveCryptoPayout", |call| {
            Box::pin(crypto::approve(call))
        })
        .shows(api::crypto::reviewed)
        .by(Role::Treasury, "crypto-payout.approve")
        .approved_as(Approvable::CryptoPayouts),
        row(post(), "/admin/crypto/payouts/:id/reject", "rejectCryptoPayout", |call| {
            Box::pin(crypto::reject(call))
        })
        .shows(api::crypto::reviewed)
        .by(Role::Treasury, "crypto-payout.reject")
        .approved_as(Approvable::CryptoPayouts),
        row(post(), "/admin/tenants/:id/cop-payouts", "createCopPayout", |call| {
            Box::pin(cop_payouts::create(call))
        })
        .shows(api::cop_payments::payouts::created)
        .by(Role::Treasury, "cop-payout.create")
        .approved_as(Approvable::CopPayouts),
        row(post(), "/admin/cop-payouts/:id/complete", "completeCopPayout", |call| {
            Box::pin(cop_payouts::complete(call))
        })
        .shows(api::cop_payments::payouts::settled)
        .by(Role::Treasury, "cop-payout.complete")
        .approved_as(Approvable::CopPayouts),
        row(post(), "/admin/cop-payouts/:id/fail", "failCopPayout", |call| Box::pin(cop_payouts::fail(call)))
            .shows(api::cop_payments::payouts::settled)
            .by(Role::Treasury, "cop-payout.fail")
            .approved_as(Approvable::CopPayouts),
        row(post(), "/admin/banks/refresh", "refreshBanks", |call| Box::pin(banks::refresh_now(call)))
            .by(Role::Admin, "bank.refresh"),
        row(get(), "/admin/operations", "listOperations", |call| Box::pin(operations::list(call))),
        row(post(), "/admin/operations/:id/resolve", "resolveOperation", |call| {
            Box::pin(operations::resolve(call))
        })
        .by(Role::Treasury, "operation.resolve")
        .approved_as(Approvable::Operations),
        row(post(), "/admin/reconciliations", "createReconciliation", |call| {
            Box::pin(reconciliations::create(call))
        })
        .with_csv()
        .by(Role::Treasury, "reconciliation.create")
        .noted(),
        row(get(), "/admin/reconciliations", "listReconciliations", |call| {
            Box::pin(reconciliations::list(call))
        }),
        row(get(), "/admin/reconciliations/:id", "getReconciliation", |call| {
            Box::pin(reconciliations::read(call))
        }),
        row(get(), "/admin/reconciliations/:id/items", "listReconciliationItems", |call| {
            Box::pin(reconciliations::items(call))
        }),
        row(post(), "/admin/reconciliations/:id/accept", "acceptReconciliation", |call| {
            Box::pin(reconciliations::accept(call))
        })
        .by(Role::Treasury, "reconciliation.accept")
        .approved_as(Approvable::Operations)
        .noted(),
        row(get(), "/admin/me", "getMe", |call| Box::pin(operators::me(call))),
        row(post(), "/admin/operators", "createOperator", |call| Box::pin(operators::create(call)))
            .shows(api::operators::show_made)
            .by(Role::Admin, "operator.create")
            .approved_as(Approvable::Operators),
        row(get(), "/admin/operators", "listOperators", |call| Box::pin(operators::list(call))),
        row(get(), "/admin/operators/:id", "getOperator", |call| Box::pin(operators::read(call))),
        row(patch(), "/admin/operators/:id", "updateOperator", |call| Box::pin(operators::change(call)))
            .by(Role::Admin, "operator.update")
            .approved_as(Approvable::Operators)
            .in_reserve(),
        row(post(), "/admin/operators/:id/rotate", "rotateOperator", |call| {
            Box::pin(operators::rotate(call))
        })
        .shows(api::operators::show_made)
        .by(Role::Admin, "operator.rotate")
        .approved_as(Approvable::Operators)
        .in_reserve(),
        row(get(), "/admin/payments/:id", "getAnyPayment", |call| Box::pin(people::read_payment(call))),
        row(get(), "/admin/merchants/:id", "getAnyMerchant", |call| Box::pin(people::read_merchant(call))),
        row(post(), "/admin/payments/:id/cancel", "cancelAnyPayment", |call| {
            Box::pin(people::cancel_payment(call))
        })
        .shows(people::show_canceled)
        .by(Role::Support, "payment.cancel"),
        row(post(), "/admin/events/:id/resend", "resendAnyEvent", |call| {
            Box::pin(people::resend_event(call))
        })
        .by(Role::Support, "event.resend")
        .noted(),
        row(get(), "/admin/approvals", "listApprovals", |call| Box::pin(approvals::list(call))),
        row(get(), "/admin/approvals/:id", "getApproval", |call| Box::pin(approvals::read(call))),
        row(post(), "/admin/approvals/:id/approve", "approveCall", |call| Box::pin(approvals::approve(call)))
            .by(Role::Treasury, "approval.approve")
            .decides_approval(),
        row(post(), "/admin/approvals/:id/reject", "rejectCall", |call| Box::pin(approvals::reject(call)))
            .by(Role::Treasury, "approval.reject")
            .decides_approval(),
        row(get(), "/admin/audit", "listAudit", |call| Box::pin(audit::list(call))),
        row(get(), "/admin/search", "searchAll", |call| Box::pin(finding::search(call))),
        row(get(), "/admin/payments", "listAllPayments", |call| Box::pin(finding::payments(call))),
        row(get(), "/admin/payouts", "listAllPayouts", |call| Box::pin(finding::payouts(call))),
        row(get(), "/admin/conversions", "listAllConversions", |call| Box::pin(finding::conversions(call))),
        row(get(), "/admin/cop-payouts", "listAllCopPayouts", |call| Box::pin(finding::cop_payouts(call))),
        row(get(), "/admin/cop-payouts/:id", "getAnyCopPayout", |call| {
            Box::pin(people::read_cop_payout(call))
        }),
        row(get(), "/admin/chargebacks", "listAllChargebacks", |call| Box::pin(finding::chargebacks(call))),
        row(get(), "/admin/webhooks/deliveries", "listAllDeliveries", |call| {
            Box::pin(finding::deliveries(call))
        }),
        row(get(), "/admin/notices", "listNotices", |call| Box::pin(notices::list(call))),
        row(post(), "/admin/notices/:id/give", "giveNotice", |call| Box::pin(notices::give(call)))
            .by(Role::Treasury, "notice.give")
            .approved_as(Approvable::Operations),
        row(patch(), "/admin/banks/:code", "updateBank", |call| Box::pin(banks::update(call)))
            .by(Role::Admin, "bank.update"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::router::Router;
    use std::collections::BTreeSet;

    /// Calls whose rules write a record by themselves.
    const RECORDS: [&str; 26] = [
        "giveNotice",
        "handOver",
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
        "createOperator",
        "updateOperator",
        "rotateOperator",
        "approveCall",
        "rejectCall",
        "cancelAnyPayment",
    ];

    #[test]
    fn every_act_is_a_record() {
        for route in routes().into_iter().filter(Route::is_write) {
            let own = RECORDS.contains(&route.operation);
            assert!(
                own != route.noted,
                "{}: is it a record by itself (then name it above), or is it to be noted (then say .noted() \
                 in its row)?",
                route.operation
            );
        }
    }

    #[test]
    fn every_act_has_a_role_and_a_name_of_its_own() {
        let routes = routes();
        let mut names = BTreeSet::new();
        for route in routes.iter().filter(|route| route.is_write()) {
            let action = route.action.unwrap_or_default();
            assert!(route.role > Role::Viewer && names.insert(action), "{}: {action:?}", route.operation);
            let is_name = |byte: u8| byte.is_ascii_lowercase() || b"-.".contains(&byte);
            assert!(!action.is_empty() && action.bytes().all(is_name), "{action}");
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
