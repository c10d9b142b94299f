//! THE TABLE of the operators' API: one row per endpoint, with everything that holds for it as a whole and its
//! command in the command line. The description of an endpoint is beside its handler.

use super::call::{Call, Fills, Handler, Operand, Route, Verb, Working};
use super::{
    adjustments, approvals, audit, banks, chargebacks, cluster, cop_payouts, crypto, finding, keys, notices,
    operations, operators, people, rates, reconciliations, state, statements, tenants,
};
use crate::gateway::services::Services;
use api::answer::Show;
use api::openapi::document::{Access, Document, ErrorShape, Row};
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

    fn shows(self, show: Show) -> Route {
        Route { show: Some(show), ..self }
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

    fn verb(mut self, name: &'static str, about: &'static str, example: &'static str) -> Route {
        self.verbs.push(Verb { name, about, example, operand: None, fixed: None, asks_for: None });
        self
    }

    /// Says what the last command takes without a name, after the ids of the path.
    fn operand(mut self, name: &'static str, fills: Fills, about: &'static str) -> Route {
        if let Some(verb) = self.verbs.last_mut() {
            verb.operand = Some(Operand { name, fills, about });
        }
        self
    }

    fn asking_for(mut self, member: &'static str) -> Route {
        if let Some(verb) = self.verbs.last_mut() {
            verb.asks_for = Some(member);
        }
        self
    }

    fn fixed(mut self, name: &'static str, value: &'static str) -> Route {
        if let Some(verb) = self.verbs.last_mut() {
            verb.fixed = Some((name, value));
        }
        self
    }
}

fn row(method: Method, path: &'static str, operation: &'static str, handler: Handler) -> Route {
    Route {
        method,
        path,
        operation,
        role: Role::Viewer,
        approval: None,
        decides_approval: false,
        takes_query: false,
        takes_csv: false,
        noted: false,
        in_reserve: false,
        handler,
        show: None,
        table: None,
        verbs: Vec::new(),
    }
}

macro_rules! rows {
    ($($method:ident $path:literal $operation:literal $file:ident::$handler:ident $([$($row:tt)*])?
        $($verb:literal $about:literal $example:literal $([$($more:tt)*])?)+;)*) => {
        pub fn routes() -> Vec<Route> {
            use Role::{Admin, Support, Treasury};
            vec![$(
                row(Method::$method, $path, $operation, |call: Call| -> Working { Box::pin($file::$handler(call)) })
                    $($($row)*)? $(.verb($verb, $about, $example)$($($more)*)?)+,
            )*]
        }
    };
}

// Method, path, operation, handler, what holds for the row; then each command with its help and, for its example, what
// follows its name and the ids of the path.
rows! {
    POST "/admin/tenants" "createTenant" tenants::create [.shows(api::tenants::show_opened).by(Admin)]
        "tenant create" "Create a tenant; its first two keys are shown only now"
            "--name \"Tienda Sol\" --settings '{\"reserveVes\": \"100.00\"}'";
    GET "/admin/tenants" "listTenants" tenants::list
        "tenant list" "List tenants, newest first" "--limit 100";
    GET "/admin/tenants/:id" "getTenant" tenants::read
        "tenant get" "Show a tenant" "";
    PATCH "/admin/tenants/:id/settings" "updateSettings" tenants::set_settings [.by(Admin)]
        "tenant settings" "Change settings; what is not named stays"
            "'{\"fees\": {\"c2p\": {\"percent\": \"1.2500\"}}}'" [.operand("JSON", Fills::Body, "The settings to change")];
    POST "/admin/tenants/:id/live-status" "setLiveStatus" tenants::set_live_status [.shows(api::tenants::show_changed).by(Admin).approved_as(Approvable::LiveStatus).in_reserve()]
        "tenant live-status" "Set whether a tenant may use live mode"
            "active --reason \"contract signed\"" [.operand("STATUS", Fills::Member("status"), "active, suspended or inactive")];
    POST "/admin/tenants/:id/resume" "resumeTenant" tenants::resume [.by(Admin).noted().in_reserve()]
        "tenant resume" "Resume a tenant's halted books, if their records verify" "";
    POST "/admin/tenants/:id/keys" "createKey" keys::create [.shows(api::tenants::show_made).by(Admin)]
        "key create" "Create an API key; it is shown only now" "--mode test --scopes read,collect";
    GET "/admin/tenants/:id/keys" "listKeys" keys::list
        "key list" "List a tenant's keys" "";
    DELETE "/admin/keys/:keyId" "revokeKey" keys::revoke [.by(Admin).in_reserve()]
        "key revoke" "Revoke a key at once" "";
    POST "/admin/keys/:keyId/rotate" "rotateKey" keys::rotate [.shows(api::tenants::show_made).by(Admin)]
        "key rotate" "Replace a key; the old one works on for a while" "--overlap-seconds 3600";
    POST "/admin/tenants/:id/adjustments" "createAdjustment" adjustments::create [.shows(api::balance::new_movement).by(Treasury).approved_as(Approvable::Adjustments)]
        "adjustment create" "Correct a balance" "--mode live --currency VES --amount=-12.50 --description \"bank fee\"";
    GET "/admin/tenants/:id/statements" "getTenantStatement" statements::of_tenant
        "statement tenant" "Show a tenant's statement, day by day" "--currency VES --from 2026-11-01 --to 2026-11-30";
    GET "/admin/statements" "getPlatformStatement" statements::of_platform
        "statement platform" "Show what the platform earned, day by day"
            "--currency VES --from 2026-11-01 --to 2026-11-30";
    POST "/admin/rates" "recordRate" rates::record [.by(Treasury).approved_as(Approvable::Rates).noted()]
        "rate add" "Enter a sample of a rate" "--pair USD/VES --source bcv --side OFFICIAL --price 231.0462";
    GET "/admin/rates" "listRates" rates::list
        "rate list" "List the newest sample of every rate, and what is pinned" "";
    DELETE "/admin/rates/pin" "unpinRate" rates::unpin [.by(Treasury).approved_as(Approvable::Rates).noted()]
        "rate unpin" "Unpin a rate; its feed sets it again" "--pair USDT/VES --source p2p --side FLOOR";
    GET "/admin/banks" "listAllBanks" banks::list
        "bank list" "List banks, hidden ones too" "";
    GET "/admin/cluster" "getCluster" cluster::read
        "cluster get" "Show the nodes, as `pasarela cluster status --json` does" "";
    POST "/admin/cluster/hand-over" "handOver" cluster::hand_over [.by(Admin).in_reserve()]
        "cluster hand-over" "Make another node the leader, as `pasarela cluster hand-over` does"
            "node-2" [.operand("NODE", Fills::Member("to"), "The node that becomes the leader")];
    GET "/admin/status" "getStatus" state::read
        "status" "Show the state of the server" "";
    POST "/admin/snapshot" "takeSnapshot" state::snapshot [.by(Admin).noted()]
        "snapshot" "Write snapshots now, so that the next start replays nothing" "";
    POST "/admin/clock/confirm" "confirmClock" state::confirm_clock [.by(Admin).noted().in_reserve()]
        "clock confirm" "Confirm that the machine's clock is right after it was set" "";
    POST "/admin/tenants/:id/chargebacks" "openChargeback" chargebacks::open [.shows(api::chargebacks::opened).by(Treasury).approved_as(Approvable::Adjustments)]
        "chargeback create" "Record that a bank takes a card payment back"
            "--payment-id 01930a4b-5c6d-7e8f-9012-3456789b0000 --reason fraud";
    POST "/admin/chargebacks/:id/close" "closeChargeback" chargebacks::close [.shows(api::chargebacks::closed).by(Treasury)]
        "chargeback close" "Record how the dispute ended" "--outcome won";
    POST "/admin/backup" "makeBackup" state::backup [.by(Admin)]
        "backup" "Have the server copy everything to a new directory on its disk"
            "/mnt/backup/pasarela-2026-11-21" [.operand("PATH", Fills::Directory("path"), "The directory to make")];
    GET "/admin/crypto/payouts" "listAllCryptoPayouts" crypto::list
        "crypto-payout list" "List payouts in USDT" "--status pending_review";
    POST "/admin/crypto/payouts/:id/approve" "approveCryptoPayout" crypto::approve [.shows(api::crypto::reviewed).by(Treasury).approved_as(Approvable::CryptoPayouts)]
        "crypto-payout approve" "Approve a large payout" "";
    POST "/admin/crypto/payouts/:id/reject" "rejectCryptoPayout" crypto::reject [.shows(api::crypto::reviewed).by(Treasury).approved_as(Approvable::CryptoPayouts)]
        "crypto-payout reject" "Reject a large payout; the money returns to the balance"
            "--reason \"address on a list\"" [.asking_for("reason")];
    POST "/admin/tenants/:id/cop-payouts" "createCopPayout" cop_payouts::create [.shows(api::cop_payments::payouts::created).by(Treasury).approved_as(Approvable::CopPayouts)]
        "cop-payout create" "Pay pesos out; the balance is debited at once"
            "--mode live --amount-cop 50000 --bank Bancolombia --account-number 12345678901 --account-type savings --holder-name \"Ana Paz\" --document-type CC --document-number 1020304050";
    POST "/admin/cop-payouts/:id/complete" "completeCopPayout" cop_payouts::complete [.shows(api::cop_payments::payouts::settled).by(Treasury).approved_as(Approvable::CopPayouts)]
        "cop-payout complete" "Record that pesos have arrived" "--reference 778899";
    POST "/admin/cop-payouts/:id/fail" "failCopPayout" cop_payouts::fail [.shows(api::cop_payments::payouts::settled).by(Treasury).approved_as(Approvable::CopPayouts)]
        "cop-payout fail" "Record that pesos have not arrived; they return to the balance" "--failure-code AC01";
    POST "/admin/banks/refresh" "refreshBanks" banks::refresh_now [.by(Admin)]
        "bank refresh" "Fetch the catalogue from its feed now" "";
    GET "/admin/operations" "listOperations" operations::list
        "operation list" "List orders to banks that are pending, unresolved or contradicted" "--status contradicted";
    POST "/admin/operations/:id/resolve" "resolveOperation" operations::resolve [.by(Treasury).approved_as(Approvable::Operations)]
        "operation resolve" "Record what became of an order whose outcome no bank has confirmed"
            "--outcome done --reference 81234567 --note \"on the statement\"";
    POST "/admin/reconciliations" "createReconciliation" reconciliations::create [.with_csv().by(Treasury).noted()]
        "reconciliation create" "Upload a bank's statement"
            "statement.csv --rail r4 --account 01690001001234567890 --from 2026-11-01 --to 2026-11-30" [.operand("FILE", Fills::File, "The statement as CSV, with the names of its columns")];
    GET "/admin/reconciliations" "listReconciliations" reconciliations::list
        "reconciliation list" "List reconciliations, newest first" "--status failed";
    GET "/admin/reconciliations/:id" "getReconciliation" reconciliations::read
        "reconciliation show" "Show the progress and the figures of a reconciliation" "";
    GET "/admin/reconciliations/:id/items" "listReconciliationItems" reconciliations::items
        "reconciliation items" "List the result of each line" "--result missingHere";
    POST "/admin/reconciliations/:id/accept" "acceptReconciliation" reconciliations::accept [.by(Treasury).approved_as(Approvable::Operations).noted()]
        "reconciliation accept" "Accept proposals: resolve the operations that lines answer" "--all true";
    GET "/admin/me" "getMe" operators::me
        "me" "Show who the token is" "";
    POST "/admin/operators" "createOperator" operators::create [.shows(api::operators::show_made).by(Admin).approved_as(Approvable::Operators)]
        "operator create" "Make an operator; the token is shown only now"
            "--name Ana --email ana@example.com --role support";
    GET "/admin/operators" "listOperators" operators::list
        "operator list" "List operators, newest first" "";
    GET "/admin/operators/:id" "getOperator" operators::read
        "operator get" "Show an operator" "";
    PATCH "/admin/operators/:id" "updateOperator" operators::change [.by(Admin).approved_as(Approvable::Operators).in_reserve()]
        "operator update" "Change the role, or disable" "--status disabled";
    POST "/admin/operators/:id/rotate" "rotateOperator" operators::rotate [.shows(api::operators::show_made).by(Admin).approved_as(Approvable::Operators).in_reserve()]
        "operator rotate" "Give a new token, shown only now; the old one ends at once" "";
    GET "/admin/payments/:id" "getAnyPayment" people::read_payment
        "payment get" "Show a payment of any tenant" "";
    GET "/admin/merchants/:id" "getAnyMerchant" people::read_merchant
        "merchant get" "Show a seller of any tenant" "";
    POST "/admin/payments/:id/cancel" "cancelAnyPayment" people::cancel_payment [.shows(people::show_canceled).by(Support)]
        "payment cancel" "Cancel a payment that waits for its payer" "";
    POST "/admin/events/:id/resend" "resendAnyEvent" people::resend_event [.by(Support).noted()]
        "event resend" "Send an event to its endpoints again" "";
    GET "/admin/approvals" "listApprovals" approvals::list
        "approval list" "List calls that wait or waited for a second person" "--status pending";
    GET "/admin/approvals/:id" "getApproval" approvals::read
        "approval get" "Show an approval" "";
    POST "/admin/approvals/:id/approve" "approveCall" approvals::approve [.by(Treasury).decides_approval()]
        "approval approve" "Let a call of somebody else go on" "--note \"seen on the statement\"";
    POST "/admin/approvals/:id/reject" "rejectCall" approvals::reject [.by(Treasury).decides_approval()]
        "approval reject" "Refuse a call of somebody else" "--note \"ask the bank first\"";
    GET "/admin/audit" "listAudit" audit::list
        "audit list" "List who changed what, newest first" "--action adjustment.create"
        "adjustment list" "List who corrected which balance, newest first"
            "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0000" [.fixed("action", "adjustment.create")];
    GET "/admin/search" "searchAll" finding::search
        "search" "Search all tenants by an id, reference, document, phone or name"
            "order-81" [.operand("TEXT", Fills::Option("q"), "An id, a reference, a document, a phone, a tenant's name")];
    GET "/admin/payments" "listAllPayments" finding::payments
        "payment list" "List payments, newest first" "--status PENDING";
    GET "/admin/payouts" "listAllPayouts" finding::payouts
        "payout list" "List payouts, newest first" "--status pending";
    GET "/admin/conversions" "listAllConversions" finding::conversions
        "conversion list" "List conversions, newest first" "--status PENDING";
    GET "/admin/cop-payouts" "listAllCopPayouts" finding::cop_payouts
        "cop-payout list" "List payouts in pesos, newest first" "--status pending";
    GET "/admin/cop-payouts/:id" "getAnyCopPayout" finding::read_cop_payout
        "cop-payout get" "Show a payout in pesos; to treasury also to whom it goes" "";
    GET "/admin/chargebacks" "listAllChargebacks" finding::chargebacks
        "chargeback list" "List chargebacks, newest first" "--status open";
    GET "/admin/webhooks/deliveries" "listAllDeliveries" finding::deliveries
        "delivery list" "List webhook deliveries, newest first" "--mode live";
    GET "/admin/notices" "listNotices" notices::list
        "notice list" "List transfers that banks reported, newest first" "--unmatched true";
    POST "/admin/notices/:id/give" "giveNotice" notices::give [.by(Treasury).approved_as(Approvable::Operations)]
        "notice give" "Say whose a transfer is whose reference was guessed at"
            "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0002 --note \"receipt seen\"";
    PATCH "/admin/banks/:code" "updateBank" banks::update [.by(Admin)]
        "bank update" "Change a bank's entry in the catalogue" "--hidden true";
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
    let rows = rows().iter().map(|route| Row {
        takes_key: route.method == Method::POST,
        method: route.method.clone(),
        path: route.path,
        operation: route.operation,
        access: Access::Operator { role: route.role.name() },
        errors: ErrorShape::Gateway,
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
            state::copies(),
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
        assert_eq!(document().gaps(), Vec::<String>::new());
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
