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
use domain::platform::operators::{OperatorAccount, Role};
use domain::values::ids::Id;
use hyper::Method;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

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

macro_rules! rows {
    ($($method:ident $path:literal $operation:literal = $endpoint:path $({ $($policy:ident = $is:expr),* })?;)*) => {
        vec![$(Route { $($($policy: $is,)*)? ..row(Method::$method, $path, $operation, $endpoint) }),*]
    };
}

pub fn routes() -> Vec<Route> {
    rows! {
        POST "/admin/tenants" "createTenant" = tenants::CREATE { role = Role::Admin };
        GET "/admin/tenants" "listTenants" = tenants::LIST;
        GET "/admin/tenants/:id" "getTenant" = tenants::READ;
        PATCH "/admin/tenants/:id/settings" "updateSettings" = tenants::SET_SETTINGS { role = Role::Admin };
        POST "/admin/tenants/:id/live-status" "setLiveStatus" = tenants::SET_LIVE_STATUS { role = Role::Admin, approval = Some(Approvable::LiveStatus), in_reserve = true };
        POST "/admin/tenants/:id/move" "moveTenant" = tenants::MOVE { role = Role::Admin, noted = true };
        POST "/admin/tenants/:id/resume" "resumeTenant" = tenants::RESUME { role = Role::Admin, noted = true, in_reserve = true };
        POST "/admin/tenants/:id/keys" "createKey" = keys::CREATE { role = Role::Admin };
        GET "/admin/tenants/:id/keys" "listKeys" = keys::LIST;
        PATCH "/admin/keys/:keyId" "updateKey" = keys::UPDATE { role = Role::Admin };
        DELETE "/admin/keys/:keyId" "revokeKey" = keys::REVOKE { role = Role::Admin, in_reserve = true };
        POST "/admin/keys/:keyId/rotate" "rotateKey" = keys::ROTATE { role = Role::Admin };
        POST "/admin/tenants/:id/adjustments" "createAdjustment" = adjustments::CREATE { role = Role::Treasury, approval = Some(Approvable::Adjustments) };
        GET "/admin/tenants/:id/statements" "getTenantStatement" = statements::OF_TENANT;
        GET "/admin/statements" "getPlatformStatement" = statements::OF_PLATFORM;
        POST "/admin/rates" "recordRate" = rates::RECORD { role = Role::Treasury, approval = Some(Approvable::Rates), noted = true };
        GET "/admin/rates" "listRates" = rates::LIST;
        DELETE "/admin/rates/pin" "unpinRate" = rates::UNPIN { role = Role::Treasury, approval = Some(Approvable::Rates), noted = true };
        GET "/admin/banks" "listAllBanks" = banks::LIST;
        GET "/admin/cluster" "getCluster" = cluster::READ;
        POST "/admin/cluster/hand-over" "handOver" = cluster::HAND_OVER { role = Role::Admin, in_reserve = true };
        GET "/admin/status" "getStatus" = state::READ;
        POST "/admin/snapshot" "takeSnapshot" = state::SNAPSHOT { role = Role::Admin, noted = true };
        POST "/admin/clock/confirm" "confirmClock" = state::CONFIRM_CLOCK { role = Role::Admin, noted = true, in_reserve = true };
        POST "/admin/tenants/:id/chargebacks" "openChargeback" = chargebacks::OPEN { role = Role::Treasury, approval = Some(Approvable::Adjustments) };
        POST "/admin/chargebacks/:id/close" "closeChargeback" = chargebacks::CLOSE { role = Role::Treasury };
        POST "/admin/backup" "makeBackup" = state::BACKUP { role = Role::Admin };
        GET "/admin/crypto/payouts" "listAllCryptoPayouts" = crypto::LIST;
        POST "/admin/crypto/payouts/:id/approve" "approveCryptoPayout" = crypto::APPROVE { role = Role::Treasury, approval = Some(Approvable::CryptoPayouts) };
        POST "/admin/crypto/payouts/:id/reject" "rejectCryptoPayout" = crypto::REJECT { role = Role::Treasury, approval = Some(Approvable::CryptoPayouts) };
        POST "/admin/tenants/:id/cop-payouts" "createCopPayout" = cop_payouts::CREATE { role = Role::Treasury, approval = Some(Approvable::CopPayouts) };
        POST "/admin/cop-payouts/:id/complete" "completeCopPayout" = cop_payouts::COMPLETE { role = Role::Treasury, approval = Some(Approvable::CopPayouts) };
        POST "/admin/cop-payouts/:id/fail" "failCopPayout" = cop_payouts::FAIL { role = Role::Treasury, approval = Some(Approvable::CopPayouts) };
        POST "/admin/banks/refresh" "refreshBanks" = banks::REFRESH_NOW { role = Role::Admin };
        GET "/admin/operations" "listOperations" = operations::LIST;
        POST "/admin/operations/:id/resolve" "resolveOperation" = operations::RESOLVE { role = Role::Treasury, approval = Some(Approvable::Operations) };
        POST "/admin/reconciliations" "createReconciliation" = reconciliations::CREATE { takes_csv = true, role = Role::Treasury, noted = true };
        GET "/admin/reconciliations" "listReconciliations" = reconciliations::LIST;
        GET "/admin/reconciliations/:id" "getReconciliation" = reconciliations::READ;
        GET "/admin/reconciliations/:id/items" "listReconciliationItems" = reconciliations::ITEMS;
        POST "/admin/reconciliations/:id/accept" "acceptReconciliation" = reconciliations::ACCEPT { role = Role::Treasury, approval = Some(Approvable::Operations), noted = true };
        GET "/admin/me" "getMe" = operators::ME;
        POST "/admin/operators" "createOperator" = operators::CREATE { role = Role::Admin, approval = Some(Approvable::Operators) };
        GET "/admin/operators" "listOperators" = operators::LIST;
        GET "/admin/operators/:id" "getOperator" = operators::READ;
        PATCH "/admin/operators/:id" "updateOperator" = operators::CHANGE { role = Role::Admin, approval = Some(Approvable::Operators), in_reserve = true };
        POST "/admin/operators/:id/rotate" "rotateOperator" = operators::ROTATE { role = Role::Admin, approval = Some(Approvable::Operators), in_reserve = true };
        GET "/admin/payments/:id" "getAnyPayment" = people::READ_PAYMENT;
        GET "/admin/merchants/:id" "getAnyMerchant" = people::READ_MERCHANT;
        POST "/admin/payments/:id/cancel" "cancelAnyPayment" = people::CANCEL_PAYMENT { role = Role::Support };
        POST "/admin/events/:id/resend" "resendAnyEvent" = people::RESEND_EVENT { role = Role::Support, noted = true };
        GET "/admin/approvals" "listApprovals" = approvals::LIST;
        GET "/admin/approvals/:id" "getApproval" = approvals::READ;
        POST "/admin/approvals/:id/approve" "approveCall" = approvals::APPROVE { role = Role::Treasury, decides_approval = true };
        POST "/admin/approvals/:id/reject" "rejectCall" = approvals::REJECT { role = Role::Treasury, decides_approval = true };
        GET "/admin/audit" "listAudit" = audit::LIST;
        GET "/admin/search" "searchAll" = finding::SEARCH;
        GET "/admin/payments" "listAllPayments" = finding::PAYMENTS;
        GET "/admin/payouts" "listAllPayouts" = finding::PAYOUTS;
        GET "/admin/conversions" "listAllConversions" = finding::CONVERSIONS;
        GET "/admin/cop-payouts" "listAllCopPayouts" = finding::COP_PAYOUTS;
        GET "/admin/cop-payouts/:id" "getAnyCopPayout" = finding::READ_COP_PAYOUT;
        GET "/admin/chargebacks" "listAllChargebacks" = finding::CHARGEBACKS;
        GET "/admin/webhooks/deliveries" "listAllDeliveries" = finding::DELIVERIES;
        GET "/admin/notices" "listNotices" = notices::LIST;
        POST "/admin/notices/:id/give" "giveNotice" = notices::GIVE { role = Role::Treasury, approval = Some(Approvable::Operations) };
        PATCH "/admin/banks/:code" "updateBank" = banks::UPDATE { role = Role::Admin };
    }
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

/// Ends the calls that wait of operators who lost the right to ask for them: of all by now, and of those who had one of
/// these states.
pub fn end_approvals(
    services: Arc<Services>,
    states: Vec<Arc<OperatorAccount>>,
) -> Pin<Box<dyn Future<Output = Result<(), Problem>> + Send>> {
    Box::pin(async move {
        approvals::end_all(&services, rows()).await?;
        approvals::end_of(&services, rows(), &states).await
    })
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
                tag: "Server",
                schemas: vec![("NewBackup", body(backups::wanted)), ("DryRun", api::dry_run::schema())],
                ..Chapter::default()
            },
        ],
        security: vec![("operator", operator)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ways::{Way, way};
    use crate::http::router::tests::faults;
    use std::collections::{BTreeMap, BTreeSet};

    const RECORDS: [&str; 27] = [
        "giveNotice",
        "handOver",
        "createTenant",
        "updateSettings",
        "setLiveStatus",
        "createKey",
        "updateKey",
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

    /// Which partition answers what: a new route is to be written down here.
    #[test]
    fn every_call_has_its_way_among_several_partitions() {
        let id = Id::derived(1, 2, 3).to_string();
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for route in routes() {
            let path: Vec<&str> = route
                .path
                .split('/')
                .map(|part| if part.starts_with(':') { id.as_str() } else { part })
                .collect();
            let to = match way(&route.method, &path.join("/")) {
                Way::Node => "the node",
                Way::All => "all, put together",
                Way::Each => "each",
                Way::Named => "the one that is named",
                Way::Tenant(_) => "the tenant's",
                Way::Holder(_) => "who has it",
                Way::First => "the first",
            };
            found.entry(to).or_default().push(route.operation);
        }
        let expected = [
            (
                "all, put together",
                "getPlatformStatement getStatus listAllCryptoPayouts listOperations listApprovals listAudit \
                 searchAll listAllPayments listAllPayouts listAllConversions listAllCopPayouts \
                 listAllChargebacks listAllDeliveries",
            ),
            ("each", "confirmClock"),
            (
                "the first",
                "createTenant listTenants getTenant updateSettings setLiveStatus moveTenant createKey listKeys \
                 updateKey revokeKey rotateKey recordRate listRates unpinRate listAllBanks refreshBanks \
                 createReconciliation listReconciliations getReconciliation listReconciliationItems \
                 acceptReconciliation getMe createOperator listOperators getOperator updateOperator \
                 rotateOperator listNotices giveNotice updateBank",
            ),
            ("the node", "getCluster takeSnapshot makeBackup"),
            ("the one that is named", "handOver"),
            (
                "the tenant's",
                "resumeTenant createAdjustment getTenantStatement openChargeback createCopPayout",
            ),
            (
                "who has it",
                "closeChargeback approveCryptoPayout rejectCryptoPayout completeCopPayout failCopPayout \
                 resolveOperation getAnyPayment getAnyMerchant cancelAnyPayment resendAnyEvent getApproval \
                 approveCall rejectCall getAnyCopPayout",
            ),
        ];
        let expected = expected.map(|(to, operations)| (to, operations.split(' ').collect()));
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn every_act_is_a_record() {
        for route in routes().into_iter().filter(Route::is_write) {
            let own = RECORDS.contains(&route.operation);
            assert!(
                own != route.noted,
                "{}: is it a record by itself (then name it above), or is it to be noted (then say \
                 `noted = true` in its row)?",
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
