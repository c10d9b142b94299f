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

    /// Adds a command with its help, and what follows its name and the ids of the path in the example.
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

macro_rules! run {
    ($handler:path) => {
        |call: Call| -> Working { Box::pin($handler(call)) }
    };
}

pub fn routes() -> Vec<Route> {
    let get = |path, operation, handler| row(Method::GET, path, operation, handler);
    let post = |path, operation, handler| row(Method::POST, path, operation, handler);
    let patch = |path, operation, handler| row(Method::PATCH, path, operation, handler);
    let delete = |path, operation, handler| row(Method::DELETE, path, operation, handler);
    vec![
        post("/admin/tenants", "createTenant", run!(tenants::create))
            .shows(api::tenants::show_opened)
            .by(Role::Admin)
            .verb(
                "tenant create",
                "Create a tenant; its first two keys are shown only now",
                "--name \"Tienda Sol\" --settings '{\"reserveVes\": \"100.00\"}'",
            ),
        get("/admin/tenants", "listTenants", run!(tenants::list)).verb(
            "tenant list",
            "List tenants, newest first",
            "--limit 100",
        ),
        get("/admin/tenants/:id", "getTenant", run!(tenants::read)).verb("tenant get", "Show a tenant", ""),
        patch("/admin/tenants/:id/settings", "updateSettings", run!(tenants::set_settings))
            .by(Role::Admin)
            .verb(
                "tenant settings",
                "Change settings; what is not named stays",
                "'{\"fees\": {\"c2p\": {\"percent\": \"1.2500\"}}}'",
            )
            .operand("JSON", Fills::Body, "The settings to change"),
        post("/admin/tenants/:id/live-status", "setLiveStatus", run!(tenants::set_live_status))
            .shows(api::tenants::show_changed)
            .by(Role::Admin)
            .approved_as(Approvable::LiveStatus)
            .in_reserve()
            .verb(
                "tenant live-status",
                "Set whether a tenant may use live mode",
                "active --reason \"contract signed\"",
            )
            .operand("STATUS", Fills::Member("status"), "active, suspended or inactive"),
        post("/admin/tenants/:id/resume", "resumeTenant", run!(tenants::resume))
            .by(Role::Admin)
            .noted()
            .in_reserve()
            .verb("tenant resume", "Resume a tenant's halted books, if their records verify", ""),
        post("/admin/tenants/:id/keys", "createKey", run!(keys::create))
            .shows(api::tenants::show_made)
            .by(Role::Admin)
            .verb(
                "key create",
                "Create an API key; it is shown only now",
                "--mode test --scopes read,collect",
            ),
        get("/admin/tenants/:id/keys", "listKeys", run!(keys::list)).verb(
            "key list",
            "List a tenant's keys",
            "",
        ),
        delete("/admin/keys/:keyId", "revokeKey", run!(keys::revoke)).by(Role::Admin).in_reserve().verb(
            "key revoke",
            "Revoke a key at once",
            "",
        ),
        post("/admin/keys/:keyId/rotate", "rotateKey", run!(keys::rotate))
            .shows(api::tenants::show_made)
            .by(Role::Admin)
            .verb("key rotate", "Replace a key; the old one works on for a while", "--overlap-seconds 3600"),
        post("/admin/tenants/:id/adjustments", "createAdjustment", run!(adjustments::create))
            .shows(api::balance::new_movement)
            .by(Role::Treasury)
            .approved_as(Approvable::Adjustments)
            .verb(
                "adjustment create",
                "Correct a balance",
                "--mode live --currency VES --amount=-12.50 --description \"bank fee\"",
            ),
        get("/admin/tenants/:id/statements", "getTenantStatement", run!(statements::of_tenant)).verb(
            "statement tenant",
            "Show a tenant's statement, day by day",
            "--currency VES --from 2026-11-01 --to 2026-11-30",
        ),
        get("/admin/statements", "getPlatformStatement", run!(statements::of_platform)).verb(
            "statement platform",
            "Show what the platform earned, day by day",
            "--currency VES --from 2026-11-01 --to 2026-11-30",
        ),
        post("/admin/rates", "recordRate", run!(rates::record))
            .by(Role::Treasury)
            .approved_as(Approvable::Rates)
            .noted()
            .verb(
                "rate add",
                "Enter a sample of a rate",
                "--pair USD/VES --source bcv --side OFFICIAL --price 231.0462",
            ),
        get("/admin/rates", "listRates", run!(rates::list)).verb(
            "rate list",
            "List the newest sample of every rate, and what is pinned",
            "",
        ),
        delete("/admin/rates/pin", "unpinRate", run!(rates::unpin))
            .by(Role::Treasury)
            .approved_as(Approvable::Rates)
            .noted()
            .verb(
                "rate unpin",
                "Unpin a rate; its feed sets it again",
                "--pair USDT/VES --source p2p --side FLOOR",
            ),
        get("/admin/banks", "listAllBanks", run!(banks::list)).verb(
            "bank list",
            "List banks, hidden ones too",
            "",
        ),
        get("/admin/cluster", "getCluster", run!(cluster::read)).verb(
            "cluster get",
            "Show the nodes, as `pasarela cluster status --json` does",
            "",
        ),
        post("/admin/cluster/hand-over", "handOver", run!(cluster::hand_over))
            .by(Role::Admin)
            .in_reserve()
            .verb(
                "cluster hand-over",
                "Make another node the leader, as `pasarela cluster hand-over` does",
                "node-2",
            )
            .operand("NODE", Fills::Member("to"), "The node that becomes the leader"),
        get("/admin/status", "getStatus", run!(state::read)).verb(
            "status",
            "Show the state of the server",
            "",
        ),
        post("/admin/snapshot", "takeSnapshot", run!(state::snapshot)).by(Role::Admin).noted().verb(
            "snapshot",
            "Write snapshots now, so that the next start replays nothing",
            "",
        ),
        post("/admin/clock/confirm", "confirmClock", run!(state::confirm_clock))
            .by(Role::Admin)
            .noted()
            .in_reserve()
            .verb("clock confirm", "Confirm that the machine's clock is right after it was set", ""),
        post("/admin/tenants/:id/chargebacks", "openChargeback", run!(chargebacks::open))
            .shows(api::chargebacks::opened)
            .by(Role::Treasury)
            .approved_as(Approvable::Adjustments)
            .verb(
                "chargeback create",
                "Record that a bank takes a card payment back",
                "--payment-id 01930a4b-5c6d-7e8f-9012-3456789b0000 --reason fraud",
            ),
        post("/admin/chargebacks/:id/close", "closeChargeback", run!(chargebacks::close))
            .shows(api::chargebacks::closed)
            .by(Role::Treasury)
            .verb("chargeback close", "Record how the dispute ended", "--outcome won"),
        post("/admin/backup", "makeBackup", run!(state::backup))
            .by(Role::Admin)
            .verb(
                "backup",
                "Have the server copy everything to a new directory on its disk",
                "/mnt/backup/pasarela-2026-11-21",
            )
            .operand("PATH", Fills::Directory("path"), "The directory to make"),
        get("/admin/crypto/payouts", "listAllCryptoPayouts", run!(crypto::list)).verb(
            "crypto-payout list",
            "List payouts in USDT",
            "--status pending_review",
        ),
        post("/admin/crypto/payouts/:id/approve", "approveCryptoPayout", run!(crypto::approve))
            .shows(api::crypto::reviewed)
            .by(Role::Treasury)
            .approved_as(Approvable::CryptoPayouts)
            .verb("crypto-payout approve", "Approve a large payout", ""),
        post("/admin/crypto/payouts/:id/reject", "rejectCryptoPayout", run!(crypto::reject))
            .shows(api::crypto::reviewed)
            .by(Role::Treasury)
            .approved_as(Approvable::CryptoPayouts)
            .verb(
                "crypto-payout reject",
                "Reject a large payout; the money returns to the balance",
                "--reason \"address on a list\"",
            )
            .asking_for("reason"),
        post("/admin/tenants/:id/cop-payouts", "createCopPayout", run!(cop_payouts::create))
            .shows(api::cop_payments::payouts::created)
            .by(Role::Treasury)
            .approved_as(Approvable::CopPayouts)
            .verb(
                "cop-payout create",
                "Pay pesos out; the balance is debited at once",
                "--mode live --amount-cop 50000 --bank Bancolombia --account-number 12345678901 \
                 --account-type savings --holder-name \"Ana Paz\" --document-type CC --document-number \
                 1020304050",
            ),
        post("/admin/cop-payouts/:id/complete", "completeCopPayout", run!(cop_payouts::complete))
            .shows(api::cop_payments::payouts::settled)
            .by(Role::Treasury)
            .approved_as(Approvable::CopPayouts)
            .verb("cop-payout complete", "Record that pesos have arrived", "--reference 778899"),
        post("/admin/cop-payouts/:id/fail", "failCopPayout", run!(cop_payouts::fail))
            .shows(api::cop_payments::payouts::settled)
            .by(Role::Treasury)
            .approved_as(Approvable::CopPayouts)
            .verb(
                "cop-payout fail",
                "Record that pesos have not arrived; they return to the balance",
                "--failure-code AC01",
            ),
        post("/admin/banks/refresh", "refreshBanks", run!(banks::refresh_now)).by(Role::Admin).verb(
            "bank refresh",
            "Fetch the catalogue from its feed now",
            "",
        ),
        get("/admin/operations", "listOperations", run!(operations::list)).verb(
            "operation list",
            "List orders to banks that are pending, unresolved or contradicted",
            "--status contradicted",
        ),
        post("/admin/operations/:id/resolve", "resolveOperation", run!(operations::resolve))
            .by(Role::Treasury)
            .approved_as(Approvable::Operations)
            .verb(
                "operation resolve",
                "Record what became of an order whose outcome no bank has confirmed",
                "--outcome done --reference 81234567 --note \"on the statement\"",
            ),
        post("/admin/reconciliations", "createReconciliation", run!(reconciliations::create))
            .with_csv()
            .by(Role::Treasury)
            .noted()
            .verb(
                "reconciliation create",
                "Upload a bank's statement",
                "statement.csv --rail r4 --account 01690001001234567890 --from 2026-11-01 --to 2026-11-30",
            )
            .operand("FILE", Fills::File, "The statement as CSV, with the names of its columns"),
        get("/admin/reconciliations", "listReconciliations", run!(reconciliations::list)).verb(
            "reconciliation list",
            "List reconciliations, newest first",
            "--status failed",
        ),
        get("/admin/reconciliations/:id", "getReconciliation", run!(reconciliations::read)).verb(
            "reconciliation show",
            "Show the progress and the figures of a reconciliation",
            "",
        ),
        get("/admin/reconciliations/:id/items", "listReconciliationItems", run!(reconciliations::items))
            .verb("reconciliation items", "List the result of each line", "--result missingHere"),
        post("/admin/reconciliations/:id/accept", "acceptReconciliation", run!(reconciliations::accept))
            .by(Role::Treasury)
            .approved_as(Approvable::Operations)
            .noted()
            .verb(
                "reconciliation accept",
                "Accept proposals: resolve the operations that lines answer",
                "--all true",
            ),
        get("/admin/me", "getMe", run!(operators::me)).verb("me", "Show who the token is", ""),
        post("/admin/operators", "createOperator", run!(operators::create))
            .shows(api::operators::show_made)
            .by(Role::Admin)
            .approved_as(Approvable::Operators)
            .verb(
                "operator create",
                "Make an operator; the token is shown only now",
                "--name Ana --email ana@example.com --role support",
            ),
        get("/admin/operators", "listOperators", run!(operators::list)).verb(
            "operator list",
            "List operators, newest first",
            "",
        ),
        get("/admin/operators/:id", "getOperator", run!(operators::read)).verb(
            "operator get",
            "Show an operator",
            "",
        ),
        patch("/admin/operators/:id", "updateOperator", run!(operators::change))
            .by(Role::Admin)
            .approved_as(Approvable::Operators)
            .in_reserve()
            .verb("operator update", "Change the role, or disable", "--status disabled"),
        post("/admin/operators/:id/rotate", "rotateOperator", run!(operators::rotate))
            .shows(api::operators::show_made)
            .by(Role::Admin)
            .approved_as(Approvable::Operators)
            .in_reserve()
            .verb("operator rotate", "Give a new token, shown only now; the old one ends at once", ""),
        get("/admin/payments/:id", "getAnyPayment", run!(people::read_payment)).verb(
            "payment get",
            "Show a payment of any tenant",
            "",
        ),
        get("/admin/merchants/:id", "getAnyMerchant", run!(people::read_merchant)).verb(
            "merchant get",
            "Show a seller of any tenant",
            "",
        ),
        post("/admin/payments/:id/cancel", "cancelAnyPayment", run!(people::cancel_payment))
            .shows(people::show_canceled)
            .by(Role::Support)
            .verb("payment cancel", "Cancel a payment that waits for its payer", ""),
        post("/admin/events/:id/resend", "resendAnyEvent", run!(people::resend_event))
            .by(Role::Support)
            .noted()
            .verb("event resend", "Send an event to its endpoints again", ""),
        get("/admin/approvals", "listApprovals", run!(approvals::list)).verb(
            "approval list",
            "List calls that wait or waited for a second person",
            "--status pending",
        ),
        get("/admin/approvals/:id", "getApproval", run!(approvals::read)).verb(
            "approval get",
            "Show an approval",
            "",
        ),
        post("/admin/approvals/:id/approve", "approveCall", run!(approvals::approve))
            .by(Role::Treasury)
            .decides_approval()
            .verb(
                "approval approve",
                "Let a call of somebody else go on",
                "--note \"seen on the statement\"",
            ),
        post("/admin/approvals/:id/reject", "rejectCall", run!(approvals::reject))
            .by(Role::Treasury)
            .decides_approval()
            .verb("approval reject", "Refuse a call of somebody else", "--note \"ask the bank first\""),
        get("/admin/audit", "listAudit", run!(audit::list))
            .verb("audit list", "List who changed what, newest first", "--action adjustment.create")
            .verb(
                "adjustment list",
                "List who corrected which balance, newest first",
                "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0000",
            )
            .fixed("action", "adjustment.create"),
        get("/admin/search", "searchAll", run!(finding::search))
            .verb("search", "Search all tenants by an id, reference, document, phone or name", "order-81")
            .operand("TEXT", Fills::Option("q"), "An id, a reference, a document, a phone, a tenant's name"),
        get("/admin/payments", "listAllPayments", run!(finding::payments)).verb(
            "payment list",
            "List payments, newest first",
            "--status PENDING",
        ),
        get("/admin/payouts", "listAllPayouts", run!(finding::payouts)).verb(
            "payout list",
            "List payouts, newest first",
            "--status pending",
        ),
        get("/admin/conversions", "listAllConversions", run!(finding::conversions)).verb(
            "conversion list",
            "List conversions, newest first",
            "--status PENDING",
        ),
        get("/admin/cop-payouts", "listAllCopPayouts", run!(finding::cop_payouts)).verb(
            "cop-payout list",
            "List payouts in pesos, newest first",
            "--status pending",
        ),
        get("/admin/cop-payouts/:id", "getAnyCopPayout", run!(finding::read_cop_payout)).verb(
            "cop-payout get",
            "Show a payout in pesos; to treasury also to whom it goes",
            "",
        ),
        get("/admin/chargebacks", "listAllChargebacks", run!(finding::chargebacks)).verb(
            "chargeback list",
            "List chargebacks, newest first",
            "--status open",
        ),
        get("/admin/webhooks/deliveries", "listAllDeliveries", run!(finding::deliveries)).verb(
            "delivery list",
            "List webhook deliveries, newest first",
            "--mode live",
        ),
        get("/admin/notices", "listNotices", run!(notices::list)).verb(
            "notice list",
            "List transfers that banks reported, newest first",
            "--unmatched true",
        ),
        post("/admin/notices/:id/give", "giveNotice", run!(notices::give))
            .by(Role::Treasury)
            .approved_as(Approvable::Operations)
            .verb(
                "notice give",
                "Say whose a transfer is whose reference was guessed at",
                "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0002 --note \"receipt seen\"",
            ),
        patch("/admin/banks/:code", "updateBank", run!(banks::update)).by(Role::Admin).verb(
            "bank update",
            "Change a bank's entry in the catalogue",
            "--hidden true",
        ),
    ]
}

static ROWS: LazyLock<Vec<Route>> = LazyLock::new(routes);

/// The operators' route table, made once.
pub fn rows() -> &'static [Route] {
    &ROWS
}

/// The least role that may decide about an approval.
pub fn least_role(services: &Services, approval: Option<Id>) -> Role {
    approvals::least_role(services, rows(), approval)
}

/// Writes down, at a start, what the last run did by an approval and did not come to say, and what ended.
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
        assert!(
            Router::new(routes.into_iter().map(|route| (route.method.clone(), route.path, route))).is_ok()
        );
    }
}
