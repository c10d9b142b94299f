//! THE TABLE of the operators' API: one row per endpoint, with everything that holds for it as a whole. Its
//! description and its commands are beside its handler.

use super::call::{Handler, Route};
use super::{
    adjustments, approvals, audit, banks, chargebacks, cluster, cop_payouts, crypto, finding, keys, notices,
    operations, operators, people, rates, reconciliations, state, statements, tenants,
};
use crate::backups;
use crate::gateway::services::Services;
use api::endpoint::Endpoint;
use api::fields::body;
use api::openapi::document::{Access, Chapter, Document};
use api::problem::Problem;
use api::writer::Object;
use domain::entities::approval::Approvable;
use domain::platform::operators::Role;
use domain::values::ids::Id;
use hyper::Method;
use std::sync::LazyLock;

impl Route {
    fn by(self, role: Role) -> Route {
        Route { role, ..self }
    }

    fn approved_as(self, approval: Approvable) -> Route {
        Route { approval: Some(approval), ..self }
    }

    fn decides_approval(self) -> Route {
        Route { decides_approval: true, ..self }
    }

    fn with_csv(self) -> Route {
        Route { takes_csv: true, ..self }
    }

    fn noted(self) -> Route {
        Route { noted: true, ..self }
    }

    fn in_reserve(self) -> Route {
        Route { in_reserve: true, ..self }
    }
}

fn row(method: Method, path: &'static str, operation: &'static str, endpoint: Endpoint<Handler>) -> Route {
    Route {
        method,
        path,
        operation,
        endpoint,
        role: Role::Viewer,
        approval: None,
        decides_approval: false,
        takes_query: false,
        takes_csv: false,
        noted: false,
        in_reserve: false,
        table: None,
        verbs: (endpoint.description)().commands,
    }
}

#[rustfmt::skip] // A row is read across.
pub fn routes() -> Vec<Route> {
    use Role::{Admin, Support, Treasury};
    let (get, post, patch) = (|| Method::GET, || Method::POST, || Method::PATCH);
    vec![
        row(post(), "/admin/tenants", "createTenant", tenants::CREATE).by(Admin),
        row(get(), "/admin/tenants", "listTenants", tenants::LIST),
        row(get(), "/admin/tenants/:id", "getTenant", tenants::READ),
        row(patch(), "/admin/tenants/:id/settings", "updateSettings", tenants::SET_SETTINGS).by(Admin),
        row(post(), "/admin/tenants/:id/live-status", "setLiveStatus", tenants::SET_LIVE_STATUS).by(Admin).approved_as(Approvable::LiveStatus).in_reserve(),
        row(post(), "/admin/tenants/:id/resume", "resumeTenant", tenants::RESUME).by(Admin).noted().in_reserve(),
        row(post(), "/admin/tenants/:id/keys", "createKey", keys::CREATE).by(Admin),
        row(get(), "/admin/tenants/:id/keys", "listKeys", keys::LIST),
        row(Method::DELETE, "/admin/keys/:keyId", "revokeKey", keys::REVOKE).by(Admin).in_reserve(),
        row(post(), "/admin/keys/:keyId/rotate", "rotateKey", keys::ROTATE).by(Admin),
        row(post(), "/admin/tenants/:id/adjustments", "createAdjustment", adjustments::CREATE).by(Treasury).approved_as(Approvable::Adjustments),
        row(get(), "/admin/tenants/:id/statements", "getTenantStatement", statements::OF_TENANT),
        row(get(), "/admin/statements", "getPlatformStatement", statements::OF_PLATFORM),
        row(post(), "/admin/rates", "recordRate", rates::RECORD).by(Treasury).approved_as(Approvable::Rates).noted(),
        row(get(), "/admin/rates", "listRates", rates::LIST),
        row(Method::DELETE, "/admin/rates/pin", "unpinRate", rates::UNPIN).by(Treasury).approved_as(Approvable::Rates).noted(),
        row(get(), "/admin/banks", "listAllBanks", banks::LIST),
        row(get(), "/admin/cluster", "getCluster", cluster::READ),
        row(post(), "/admin/cluster/hand-over", "handOver", cluster::HAND_OVER).by(Admin).in_reserve(),
        row(get(), "/admin/status", "getStatus", state::READ),
        row(post(), "/admin/snapshot", "takeSnapshot", state::SNAPSHOT).by(Admin).noted(),
        row(post(), "/admin/clock/confirm", "confirmClock", state::CONFIRM_CLOCK).by(Admin).noted().in_reserve(),
        row(post(), "/admin/tenants/:id/chargebacks", "openChargeback", chargebacks::OPEN).by(Treasury).approved_as(Approvable::Adjustments),
        row(post(), "/admin/chargebacks/:id/close", "closeChargeback", chargebacks::CLOSE).by(Treasury),
        row(post(), "/admin/backup", "makeBackup", state::BACKUP).by(Admin),
        row(get(), "/admin/crypto/payouts", "listAllCryptoPayouts", crypto::LIST),
        row(post(), "/admin/crypto/payouts/:id/approve", "approveCryptoPayout", crypto::APPROVE).by(Treasury).approved_as(Approvable::CryptoPayouts),
        row(post(), "/admin/crypto/payouts/:id/reject", "rejectCryptoPayout", crypto::REJECT).by(Treasury).approved_as(Approvable::CryptoPayouts),
        row(post(), "/admin/tenants/:id/cop-payouts", "createCopPayout", cop_payouts::CREATE).by(Treasury).approved_as(Approvable::CopPayouts),
        row(post(), "/admin/cop-payouts/:id/complete", "completeCopPayout", cop_payouts::COMPLETE).by(Treasury).approved_as(Approvable::CopPayouts),
        row(post(), "/admin/cop-payouts/:id/fail", "failCopPayout", cop_payouts::FAIL).by(Treasury).approved_as(Approvable::CopPayouts),
        row(post(), "/admin/banks/refresh", "refreshBanks", banks::REFRESH_NOW).by(Admin),
        row(get(), "/admin/operations", "listOperations", operations::LIST),
        row(post(), "/admin/operations/:id/resolve", "resolveOperation", operations::RESOLVE).by(Treasury).approved_as(Approvable::Operations),
        row(post(), "/admin/reconciliations", "createReconciliation", reconciliations::CREATE).with_csv().by(Treasury).noted(),
        row(get(), "/admin/reconciliations", "listReconciliations", reconciliations::LIST),
        row(get(), "/admin/reconciliations/:id", "getReconciliation", reconciliations::READ),
        row(get(), "/admin/reconciliations/:id/items", "listReconciliationItems", reconciliations::ITEMS),
        row(post(), "/admin/reconciliations/:id/accept", "acceptReconciliation", reconciliations::ACCEPT).by(Treasury).approved_as(Approvable::Operations).noted(),
        row(get(), "/admin/me", "getMe", operators::ME),
        row(post(), "/admin/operators", "createOperator", operators::CREATE).by(Admin).approved_as(Approvable::Operators),
        row(get(), "/admin/operators", "listOperators", operators::LIST),
        row(get(), "/admin/operators/:id", "getOperator", operators::READ),
        row(patch(), "/admin/operators/:id", "updateOperator", operators::CHANGE).by(Admin).approved_as(Approvable::Operators).in_reserve(),
        row(post(), "/admin/operators/:id/rotate", "rotateOperator", operators::ROTATE).by(Admin).approved_as(Approvable::Operators).in_reserve(),
        row(get(), "/admin/payments/:id", "getAnyPayment", people::READ_PAYMENT),
        row(get(), "/admin/merchants/:id", "getAnyMerchant", people::READ_MERCHANT),
        row(post(), "/admin/payments/:id/cancel", "cancelAnyPayment", people::CANCEL_PAYMENT).by(Support),
        row(post(), "/admin/events/:id/resend", "resendAnyEvent", people::RESEND_EVENT).by(Support).noted(),
        row(get(), "/admin/approvals", "listApprovals", approvals::LIST),
        row(get(), "/admin/approvals/:id", "getApproval", approvals::READ),
        row(post(), "/admin/approvals/:id/approve", "approveCall", approvals::APPROVE).by(Treasury).decides_approval(),
        row(post(), "/admin/approvals/:id/reject", "rejectCall", approvals::REJECT).by(Treasury).decides_approval(),
        row(get(), "/admin/audit", "listAudit", audit::LIST),
        row(get(), "/admin/search", "searchAll", finding::SEARCH),
        row(get(), "/admin/payments", "listAllPayments", finding::PAYMENTS),
        row(get(), "/admin/payouts", "listAllPayouts", finding::PAYOUTS),
        row(get(), "/admin/conversions", "listAllConversions", finding::CONVERSIONS),
        row(get(), "/admin/cop-payouts", "listAllCopPayouts", finding::COP_PAYOUTS),
        row(get(), "/admin/cop-payouts/:id", "getAnyCopPayout", finding::READ_COP_PAYOUT),
        row(get(), "/admin/chargebacks", "listAllChargebacks", finding::CHARGEBACKS),
        row(get(), "/admin/webhooks/deliveries", "listAllDeliveries", finding::DELIVERIES),
        row(get(), "/admin/notices", "listNotices", notices::LIST),
        row(post(), "/admin/notices/:id/give", "giveNotice", notices::GIVE).by(Treasury).approved_as(Approvable::Operations),
        row(patch(), "/admin/banks/:code", "updateBank", banks::UPDATE).by(Admin),
    ]
}

static ROWS: LazyLock<Vec<Route>> = LazyLock::new(routes);

pub fn rows() -> &'static [Route] {
    &ROWS
}

pub fn least_role(services: &Services, approval: Option<Id>) -> Role {
    approvals::least_role(services, rows(), approval)
}

pub async fn settle_approvals(services: &Services) -> Result<(), Problem> {
    approvals::settle_all(services, rows()).await
}

const ABOUT: &str = "What the operator of a Pasarela server does: tenants, their keys and settings, \
    corrections, chargebacks, banks, rates, and the state of the server.\n\n\
    Send `Authorization: Bearer <token>`: an operator's, or that of the configuration, which is the operator \
    `root`; a server for local work may need none. What a call takes, its least role says; less is refused \
    with 403 `role_missing`. Every call has a twin in the command line, `pasarela admin …`. Every POST takes \
    an `Idempotency-Key`, which belongs to operators and not to a tenant. Errors and conventions are those \
    of the tenants' API.";

pub fn document() -> Document {
    let rows = rows().iter().map(|route| {
        let access = Access::Operator { role: route.role.name() };
        route.endpoint.described(route.method.clone(), route.path, route.operation, access)
    });
    let operator = Object::new()
        .plain("type", "http")
        .plain("scheme", "bearer")
        .text("description", "An operator's token, or that of `[admin] token`.")
        .end();
    Document {
        title: "Pasarela for operators",
        about: ABOUT,
        rows: rows.collect(),
        chapters: vec![
            operators::chapter(),
            approvals::chapter(),
            audit::chapter(),
            people::chapter(),
            tenants::chapter(),
            finding::chapter(),
            keys::chapter(),
            adjustments::chapter(),
            chargebacks::chapter(),
            statements::chapter(),
            crypto::chapter(),
            cop_payouts::chapter(),
            operations::chapter(),
            reconciliations::chapter(),
            notices::chapter(),
            rates::chapter(),
            banks::chapter(),
            state::chapter(),
            cluster::chapter(),
            Chapter {
                tag: state::CHAPTER,
                schemas: vec![("NewBackup", body(backups::wanted))],
                ..Chapter::default()
            },
        ],
        security: vec![("operator", operator)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::router::tests::faults;
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
            let action = route.action().unwrap_or_default();
            assert!(
                route.role > Role::Viewer && names.insert(action.clone()),
                "{}: {action:?}",
                route.operation
            );
            let is_name = |byte: u8| byte.is_ascii_lowercase() || b"-.".contains(&byte);
            assert!(!action.is_empty() && action.bytes().all(is_name), "{action}");
        }
    }

    #[test]
    fn every_route_is_described_and_has_a_command() {
        assert_eq!(document().gaps(), Vec::<&str>::new());
        for route in routes() {
            assert!(!route.verbs.is_empty(), "{} has no twin in the command line", route.operation);
        }
    }

    #[test]
    fn the_table_is_a_router_and_its_names_are_distinct() {
        let routes = routes();
        let operations: BTreeSet<_> = routes.iter().map(|route| route.operation).collect();
        assert_eq!(operations.len(), routes.len());
        let rows: Vec<_> = routes.into_iter().map(|route| (route.method, route.path)).collect();
        assert_eq!(faults(&rows), Vec::<String>::new());
    }
}
