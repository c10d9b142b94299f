//! The description of the operators' API in OpenAPI 3.1: in the words of `api/openapi`, one entry
//! per row of the table.

use super::operations;
use super::routes::routes;
use api::openapi::document::{Access, Chapter, Document, ErrorShape, Row};
use api::openapi::operation::{Operation, operation};
use api::openapi::schema::{Schema, any_of, boolean, integer, list, named, number, object, one_of, text};
use api::openapi::values::{amount, currency, four_decimals, instant, items, page, pesos, uuid, ves};
use api::writer::Object;
use api::{balance, chargebacks, cop_payments, crypto, reference};
use domain::platform::settings::LiveStatus;
use domain::platform::{Mode, Scope};
use domain::resources::banks::Service;
use domain::resources::cop_payouts::AccountType;
use domain::resources::operations::{Kind, Subject};
use hyper::Method;

const ABOUT: &str = "What the operator of a Pasarela server does: tenants, their keys and settings, corrections, chargebacks, banks, rates, and the state of the server.\n\n\
Send `Authorization: Bearer <admin token>`; a server for local work may need none. Every call has a twin in the command line, `pasarela admin …`. Every POST takes an `Idempotency-Key`, which belongs to operators and not to a tenant. Errors and conventions are those of the tenants' API.";

/// The heading of what the server knows of the world.
const BANKS: &str = "Rates and banks";

/// The document of the admin listener.
pub fn document() -> Document {
    let rows = routes().into_iter().map(|route| Row {
        takes_key: route.method == Method::POST,
        method: route.method,
        path: route.path,
        operation: route.operation,
        access: Access::Operator,
        errors: ErrorShape::Gateway,
    });
    let operator = Object::new()
        .plain("type", "http")
        .plain("scheme", "bearer")
        .text("description", "The token of `[admin] token`.")
        .end();
    Document {
        title: "Pasarela for operators",
        about: ABOUT,
        rows: rows.collect(),
        chapters: vec![
            tenants(),
            keys(),
            money(),
            crypto_payouts(),
            cop_payouts(),
            orders(),
            rates_and_banks(),
            bank_changes(),
            server(),
        ],
        security: vec![("operator", operator)],
    }
}

fn tenants() -> Chapter {
    let status =
        || one_of([LiveStatus::Inactive, LiveStatus::Active, LiveStatus::Suspended].map(LiveStatus::name));
    let begin = || object().member("tenantId", uuid()).member("name", text()).member("liveStatus", status());
    let count = || integer().at_least("0");
    let first_key = || {
        object().member("keyId", uuid()).member(
            "key",
            text().about("Shown here, and again only to a repeat with the same Idempotency-Key."),
        )
    };
    Chapter {
        tag: "Tenants",
        about: "The accounts of this server.",
        operations: vec![
            operation("createTenant", "Open an account")
                .body("NewTenant")
                .example("a shop", r#"{"name":"mi tienda"}"#)
                .example("with a fee of its own", r#"{"name":"mi tienda","settings":{"fees":{"c2p":{"percent":"1.2500","fixedVes":"0.00"}}}}"#)
                .answers(201, "OpenedTenant", "The account with both its keys: the only time they are shown"),
            operation("listTenants", "List accounts").pages().answers(200, "TenantPage", "Newest first"),
            operation("getTenant", "Read an account").answers(200, "Tenant", "The account"),
            operation("updateSettings", "Change settings")
                .about("What is not named stays as it is; objects are merged, lists replaced.")
                .body("SettingsChange")
                .example("a reserve", r#"{"reserveVes":"1000.00"}"#)
                .answers(200, "Settings", "All settings as they are now")
                .refuses(409, &["settings_changed"]),
            operation("setLiveStatus", "Allow or forbid live mode")
                .about("A change sends `tenant.live_status_changed` in both modes.")
                .body("LiveStatusChange")
                .example("approve", r#"{"status":"active","reason":"documents checked"}"#)
                .answers(200, "Tenant", "The account")
                .refuses(409, &["settings_changed"]),
            operation("resumeTenant", "Resume halted books")
                .about("A book is halted when its state is in doubt, or set aside by `serve --set-aside`. Its state is derived from all of its records, which are proved on the way; snapshots that say \
                    something else are removed. What does not prove right stays halted.")
                .answers(200, "ResumedTenant", "The account goes on in these modes")
                .refuses(409, &["tenant_not_halted", "book_not_proved"]),
        ],
        schemas: vec![
            ("NewTenant", object().member("name", text().chars(1..=120).pattern(r"\S")).optional("settings", named("SettingsPart").or_null()).closed()),
            (
                "OpenedTenant",
                begin().member("testKey", first_key()).member("liveKey", first_key()).member("settings", named("Settings")).member("createdAt", instant()),
            ),
            ("Tenant", begin().member("liveStatusReason", text().or_null()).member("settings", named("Settings")).member("createdAt", instant())),
            ("TenantPage", page("Tenant")),
            (
                "ResumedTenant",
                object().member("tenantId", uuid()).member(
                    "resumed",
                    list(
                        object()
                            .member("mode", one_of(Mode::ALL.map(Mode::name)))
                            .member("tenantKey", count())
                            .member("records", count().about("That lead to the book."))
                            .member("snapshotsRemoved", count().about("That were not what the records lead to.")),
                    ),
                ),
            ),
            ("LiveStatusChange", object().member("status", status()).optional("reason", text().chars(0..=500).or_null()).closed()),
            ("Settings", settings(false)),
            ("SettingsPart", settings(true)),
            ("SettingsChange", settings(true).members_min(1)),
            ("Error", reference::description::error()),
        ],
        ..Chapter::default()
    }
}

/// The settings of a tenant: whole, or any part of them.
fn settings(part: bool) -> Schema {
    let put = |at: Schema, name, schema: Schema| {
        if part { at.optional(name, schema.or_null()) } else { at.member(name, schema) }
    };
    let end = |at: Schema| if part { at.closed() } else { at };
    let of = |members: Vec<(&'static str, Schema)>| {
        end(members.into_iter().fold(object(), |at, (name, schema)| put(at, name, schema)))
    };
    let percent = || match part {
        true => text()
            .pattern(r"^(100(\.0{1,4})?|(0|[1-9][0-9]?)(\.[0-9]{1,4})?)$")
            .about("In percent, 0 to 100."),
        false => four_decimals(),
    };
    let money = || if part { amount() } else { ves() };
    let fee = || of(vec![("percent", percent()), ("fixedVes", money())]);
    let fees = of(vec![
        ("c2p", fee()),
        ("vpos", fee()),
        ("debit", fee()),
        ("pagoMovil", fee()),
        ("linkPercent", percent().about("The operator's share of sales through payment links, in percent.")),
        ("chargebackVes", money()),
        ("payoutVes", money()),
    ]);
    let conversions = of(vec![
        ("enabled", list(one_of(["VES", "COP"])).distinct()),
        ("spreadPercent", of(vec![("VES", percent()), ("COP", percent())])),
        ("minimumUsdt", money()),
        (
            "dailyLimit",
            of(vec![
                ("VES", money().or_null().about("Null: none.")),
                ("COP", pesos().or_null().about("Null: none.")),
            ]),
        ),
    ]);
    of(vec![
        ("reserveVes", money()),
        ("fees", fees),
        ("sellerHoldBusinessDays", integer().range("0", "365")),
        ("conversions", conversions),
        ("usdt", of(vec![("enabled", boolean()), ("payoutAutoLimitUsdt", money())])),
        ("cop", of(vec![("enabled", boolean())])),
        ("withdrawFeePolicy", one_of(["legacy_flat", "tiered_v1", "tiered_v2"])),
        (
            "checkout",
            of(vec![(
                "allowedOrigins",
                list(text().about("An https origin; http to loopback.")).count(0..=100).distinct(),
            )]),
        ),
    ])
}

fn keys() -> Chapter {
    let scopes = || list(one_of(Scope::ALL.map(Scope::name))).about("What it may do.");
    let mode = || one_of(Mode::ALL.map(Mode::name));
    let known = |at: Schema| {
        at.member("mode", mode())
            .member("prefix", text().about("Its first characters."))
            .member("scopes", scopes())
            .member("createdAt", instant())
            .member("expiresAt", instant().or_null())
    };
    Chapter {
        tag: "Keys",
        about: "API keys. A key is shown once, in the answer that makes it; what is kept is its SHA-256.",
        operations: vec![
            operation("createKey", "Make a key")
                .body("NewKey")
                .example("one that only reads", r#"{"mode":"test","scopes":["read"]}"#)
                .answers(201, "MadeKey", "The key: the only time it is shown"),
            operation("listKeys", "List an account's keys").answers(200, "KeyList", "Without their secrets"),
            operation("revokeKey", "Revoke a key at once").answers(200, "Key", "The key, revoked"),
            operation("rotateKey", "Replace a key")
                .body_optional("KeyRotation")
                .example("with an hour to change over", r#"{"overlapSeconds":3600}"#)
                .answers(201, "MadeKey", "The new key; the old one works until the overlap is over"),
        ],
        schemas: vec![
            (
                "NewKey",
                object()
                    .member("mode", mode())
                    .optional("scopes", scopes().count(1..=5).distinct().or_null())
                    .optional("expiresAt", instant().or_null().about("In the future; never if missing."))
                    .closed(),
            ),
            (
                "KeyRotation",
                object()
                    .optional("overlapSeconds", integer().range("0", "2592000").or_null().default("0"))
                    .closed(),
            ),
            ("MadeKey", known(object().member("keyId", uuid()).member("key", text()))),
            (
                "Key",
                known(object().member("keyId", uuid()))
                    .member("lastUsedAt", instant().or_null())
                    .member("revokedAt", instant().or_null()),
            ),
            ("KeyList", items("Key")),
        ],
        ..Chapter::default()
    }
}

fn money() -> Chapter {
    Chapter {
        tag: "Money",
        about: "Corrections of balances, and what banks took back of card payments.",
        operations: vec![
            operation("createAdjustment", "Correct a balance")
                .refuses(503, &["clock_stepped"])
                .body("NewAdjustment")
                .example("12.50 VES out", r#"{"mode":"test","currency":"VES","amount":"-12.50","description":"comision bancaria","externalRef":"fix-1"}"#)
                .answers(201, "Movement", "The movement")
                .answers(200, "Movement", "The movement that is there under this reference")
                .refuses(409, &["external_ref_conflict"])
                .refuses(422, &["insufficient_balance"]),
            chargeback(operation("openChargeback", "Record a chargeback").refuses(503, &["clock_stepped"])),
            operation("closeChargeback", "Decide a dispute")
                .refuses(503, &["clock_stepped"])
                .body("ChargebackOutcome")
                .example("won", r#"{"outcome":"won"}"#)
                .answers(200, "Chargeback", "The chargeback, closed")
                .refuses(409, &["chargeback_closed"]),
        ],
        schemas: [
            vec![(
                "NewAdjustment",
                object()
                    .member("mode", one_of(Mode::ALL.map(Mode::name)))
                    .member("currency", currency())
                    .member(
                        "amount",
                        text().pattern(r"^-?(0|[1-9][0-9]{0,11})(\.[0-9]{2})?$").about("Signed, not zero, with exactly the decimals of its currency."),
                    )
                    .member("description", text().chars(1..=255).pattern(r"\S"))
                    .member("externalRef", text().chars(1..=64).pattern(r"\S"))
                    .closed(),
            )],
            vec![("Movement", balance::description::movement())],
            chargebacks::description::schemas(),
        ]
        .concat(),
        ..Chapter::default()
    }
}

fn crypto_payouts() -> Chapter {
    let review = |operation: Operation| {
        operation.answers(200, "CryptoPayout", "The payout").refuses(409, &["payout_not_pending_review"])
    };
    Chapter {
        tag: "USDT payouts",
        about: "Payouts in USDT above the limit of their account wait for a review.",
        operations: vec![
            operation("listAllCryptoPayouts", "List the USDT payouts of all accounts")
                .query("status", crypto::description::payout_status())
                .pages()
                .answers(200, "CryptoPayoutPage", "Newest first"),
            review(
                operation("approveCryptoPayout", "Approve a USDT payout").refuses(503, &["clock_stepped"]),
            )
            .answers(202, "CryptoPayout", "The network has not answered yet"),
            review(operation("rejectCryptoPayout", "Reject a USDT payout").refuses(503, &["clock_stepped"]))
                .about("The money goes back; `crypto_payout.failed` is sent with the status `rejected`.")
                .body_optional("Rejection")
                .example("why", r#"{"reason":"unknown wallet"}"#),
        ],
        schemas: vec![
            ("CryptoPayout", crypto::description::payout()),
            ("AccountCryptoPayout", crypto::description::payout().member("tenantId", uuid().or_null())),
            ("CryptoPayoutPage", page("AccountCryptoPayout")),
            (
                "Rejection",
                object().optional("reason", text().chars(1..=200).pattern(r"\S").or_null()).closed(),
            ),
        ],
        ..Chapter::default()
    }
}

fn orders() -> Chapter {
    let entity = || {
        object()
            .member("type", one_of(Subject::TYPES))
            .member("id", uuid().or_null().about("The account's own payout account has none."))
    };
    Chapter {
        tag: "Operations",
        about: "Orders to banks that may need an operator. A pending one has no answer; an unresolved one has had none for longer than `[rails] unresolved_after_seconds`. A contradicted one was done and not done, as the bank says: what it said first counts, and its second word moved no money.",
        operations: vec![
            operation("listOperations", "List the orders to banks that may need an operator")
                .about("Those that banks contradicted themselves about, unless `status` names others.")
                .query("status", one_of(operations::STATUSES))
                .query("rail", text())
                .query("tenantId", uuid())
                .pages()
                .answers(200, "OperationPage", "Newest first"),
            operation("resolveOperation", "Say what became of an order that no bank has answered")
                .about("Ask the bank first. The payment, payout or refund goes on as if the bank had said so; the bank is asked on for seven days, and if it says the opposite that is a contradiction, which moves no money.")
                .body("OperationResolution")
                .example("the bank's reference", r#"{"outcome":"done","reference":"81234567","note":"confirmed by the bank's help desk, ticket 4711"}"#)
                .example("refused", r#"{"outcome":"refused","failureCode":"AC01","note":"not on the statement of the day"}"#)
                .answers(200, "ResolvedOperation", "The payment, payout or payout method, as its account reads it")
                .refuses(409, &["operation_resolved"])
                .refuses(503, &["clock_stepped"]),
        ],
        schemas: vec![
            (
                "BankOperation",
                object()
                    .member("operationId", uuid())
                    .member("kind", one_of(Kind::ALL.map(Kind::name)))
                    .member("rail", text())
                    .member("tenantId", uuid().or_null())
                    .member("mode", one_of(["live", "test"]))
                    .member("entity", entity())
                    .member("amount", text())
                    .member("currency", currency())
                    .member("sentAt", instant())
                    .member("askedAt", instant().or_null())
                    .member("asks", integer().at_least("0"))
                    .member("bankCode", text().or_null().about("With which the bank refused it."))
                    .member("bankText", text().or_null())
                    .member("bankReference", text().or_null().about("Under which the bank did it."))
                    .member("contradictedAt", instant().or_null())
                    .member("status", one_of(operations::STATUSES)),
            ),
            ("OperationPage", page("BankOperation")),
            (
                "OperationResolution",
                object()
                    .member("outcome", one_of(["done", "refused"]))
                    .optional("reference", text().chars(1..=64).pattern(r"\S").or_null().about("The bank's, of what was done: required then, and only then allowed."))
                    .optional("failureCode", text().pattern("^[A-Za-z0-9_]{1,32}$").or_null().about("The bank's, of what was refused: required then, and only then allowed."))
                    .member("note", text().chars(1..=500).pattern(r"\S").about("Why it is believed. It is in the record, with who said it."))
                    .closed(),
            ),
            (
                "ResolvedOperation",
                object()
                    .about("A payment in bolívares or pesos, a payout, a USDT payout, or the merchant or own account whose payout method was proved or not; as the tenants' API has them.")
                    .example(r#"{"payoutId":"01975a2e-7c00-7000-8000-000000000200","object":"payout","kind":"merchant","status":"completed","reference":"81234567","failureCode":null,"monto":"20.06"}"#),
            ),
        ],
        ..Chapter::default()
    }
}

fn cop_payouts() -> Chapter {
    let settle = |operation: Operation| {
        operation
            .answers(200, "CopPayout", "The payout")
            .refuses(409, &["payout_not_pending"])
            .refuses(503, &["clock_stepped"])
    };
    let word = || text().chars(1..=64).pattern(r"\S");
    let name = || text().chars(1..=120).pattern(r"\S");
    Chapter {
        tag: "Payouts in pesos",
        about: "Paid by the operator at a bank in Colombia. The account's balance is debited at once.",
        operations: vec![
            operation("createCopPayout", "Debit pesos that are to be paid out")
                .refuses(503, &["clock_stepped"])
                .body("NewCopPayout")
                .example("to a wallet", r#"{"mode":"test","amountCop":"40000","bank":"Nequi","accountNumber":"3001234567","accountType":"wallet","holderName":"Ana Perez","documentType":"CC","documentNumber":"1020304050","externalRef":"cop-1"}"#)
                .answers(201, "CopPayout", "The payout, pending")
                .answers(200, "CopPayout", "The payout that is there under this reference")
                .refuses(403, &["cop_not_enabled"])
                .refuses(409, &["external_ref_conflict"])
                .refuses(422, &["insufficient_balance"]),
            settle(operation("completeCopPayout", "Say that a payout in pesos was paid")).body("CopPayoutCompletion").example("the bank's reference", r#"{"reference":"BC-812"}"#),
            settle(operation("failCopPayout", "Say that a payout in pesos failed"))
                .about("The pesos go back.")
                .body("CopPayoutFailure")
                .example("why", r#"{"failureCode":"account_closed"}"#),
        ],
        schemas: vec![
            (
                "NewCopPayout",
                object()
                    .member("mode", one_of(Mode::ALL.map(Mode::name)))
                    .member("amountCop", any_of([pesos(), integer().at_least("1")]).about("Whole pesos, as a string or as a number."))
                    .member("bank", name())
                    .member("accountNumber", text())
                    .member("accountType", one_of(AccountType::ALL.map(AccountType::name)))
                    .member("holderName", name())
                    .member("documentType", cop_payments::description::document_type())
                    .member("documentNumber", text().pattern("^[A-Za-z0-9-]{3,20}$"))
                    .member("externalRef", text().chars(1..=64).pattern(r"\S"))
                    .closed(),
            ),
            ("CopPayoutCompletion", object().member("reference", word()).closed()),
            ("CopPayoutFailure", object().member("failureCode", word()).closed()),
            ("CopPayout", cop_payments::description::payout()),
        ],
        ..Chapter::default()
    }
}

fn bank_changes() -> Chapter {
    let service = || one_of(Service::ALL.map(Service::code));
    Chapter {
        tag: BANKS,
        operations: vec![
            operation("refreshBanks", "Refresh the banks from their feed now")
                .answers_with(200, list(named("BankEntry")), "The banks as they are now")
                .refuses(503, &["bank_feed_unavailable"]),
            operation("updateBank", "Change what is told of a bank")
                .about("A change outlives every refresh.")
                .body("BankChange")
                .example("hide it", r#"{"hidden":true}"#)
                .answers(200, "BankEntry", "The bank"),
        ],
        schemas: vec![(
            "BankChange",
            object()
                .optional("hidden", boolean().or_null())
                .optional("name", text().chars(1..=120).pattern(r"\S").or_null())
                .optional("services", list(service()).or_null())
                .optional("logoUrl", text().or_null())
                .members_min(1)
                .closed(),
        )],
        ..Chapter::default()
    }
}

fn chargeback(operation: Operation) -> Operation {
    operation
        .body("NewChargeback")
        .example(
            "the whole payment",
            r#"{"paymentId":"01975a2e-7c00-7000-8000-000000000010","reason":"fraud"}"#,
        )
        .answers(201, "Chargeback", "The chargeback")
        .refuses(409, &["chargeback_not_allowed", "chargeback_exceeds_payment", "too_many_chargebacks"])
}

fn rates_and_banks() -> Chapter {
    let name = || text().chars(1..=32);
    let price = || {
        any_of([number(), text().pattern(r"^[0-9]+(\.[0-9]{1,8})?$")])
            .about("More than nothing, at most 8 decimals; as a string or as a number, exact either way.")
    };
    Chapter {
        tag: BANKS,
        about: "What the server knows of the world.",
        operations: vec![
            operation("recordRate", "Enter a sample of a rate")
                .body("NewRate")
                .example(
                    "the BCV's",
                    r#"{"pair":"USD/VES","source":"bcv","side":"OFFICIAL","price":"210.00000000"}"#,
                )
                .answers(201, "RateSample", "The sample"),
            operation("listAllBanks", "List the banks, hidden ones too").answers_with(
                200,
                list(named("BankEntry")),
                "Sorted by code; a bare array",
            ),
        ],
        schemas: vec![
            (
                "NewRate",
                object()
                    .member("pair", text().pattern("^[A-Za-z]{3,5}/[A-Za-z]{3,5}$"))
                    .member("source", name())
                    .optional("side", name().or_null())
                    .optional("method", name().or_null())
                    .optional("paymentMethod", name().or_null())
                    .member("price", price())
                    .optional(
                        "asOf",
                        instant()
                            .or_null()
                            .about("Now if missing. Of the BCV it is the value date: its day in Caracas."),
                    )
                    .closed(),
            ),
            (
                "RateSample",
                object()
                    .member("pair", text())
                    .member("source", text())
                    .member("side", text().or_null())
                    .member("method", text().or_null())
                    .member("paymentMethod", text().or_null())
                    .member("price", number())
                    .member("asOf", instant())
                    .member("fetchedAt", instant())
                    .member("valueDate", text().format("date").or_null()),
            ),
            (
                "BankEntry",
                reference::description::bank()
                    .member("hidden", boolean().about("Whether tenants do not see it.")),
            ),
        ],
        ..Chapter::default()
    }
}

fn server() -> Chapter {
    let count = || integer().at_least("0");
    let log = [
        "records",
        "snapshots",
        "batches",
        "bytes",
        "syncMs",
        "lastSyncUs",
        "lastBatchRecords",
        "lastBatchBytes",
        "pendingRecords",
        "pendingBytes",
    ];
    let log = log.into_iter().fold(object(), |at, name| at.member(name, count()));
    let history = object()
        .member("written", count().about("Samples that are on the disk since the start."))
        .member("lost", count().about("Samples that the disk did not keep up with."))
        .member("feeds", list(named("Feed")).about("What prices come from, and how it does."));
    Chapter {
        tag: "Server",
        about: "How it is, and copies of what it knows.",
        operations: vec![
            operation("getStatus", "How the server is").answers(200, "Status", "Its figures"),
            operation("confirmClock", "Believe the machine's clock after it was set")
                .about("A step of more than a minute that the clock since boot does not explain is not believed: live money waits (503 `clock_stepped`) until the step is undone or confirmed here.")
                .answers_with(200, object().member("stepMs", integer()).member("now", instant()), "How far the clock had been set; 0 when it was believed already"),
            operation("takeSnapshot", "Write a snapshot now").answers_with(200, object().member("walSeq", count()), "It holds everything up to here"),
            operation("makeBackup", "Copy everything without stopping")
                .body("NewBackup")
                .example("a directory", r#"{"path":"/var/backups/pasarela/2026-11-21"}"#)
                .answers_with(200, object().member("path", text()).member("walSeq", count()), "The copy holds at least everything up to here")
                .refuses(409, &["directory_exists"])
                .refuses(500, &["backup_failed"]),
        ],
        schemas: vec![
            (
                "Status",
                object()
                    .member("walSeq", count().about("The last durable record."))
                    .member("snapshotSeq", count())
                    .member("actors", object().member("books", count()).member("entities", count()))
                    .member("haltedBooks", list(named("HaltedBook")).about("Accounts that decide nothing while the others go on."))
                    .member("underWay", count())
                    .member("rails", object().member("duplicateCalls", count().about("Orders that the simulated bank got more than once: to be 0.")))
                    .member("log", log)
                    .member("rates", history)
                    .member(
                        "clock",
                        object().member("now", instant()).member("stepMs", integer().about("How far the wall clock was set; 0 while it is believed.")),
                    )
                    .member("outbound", one_of(["open", "past"]).about("`past`: live banks and webhooks are shut until this server takes over.")),
            ),
            (
                "HaltedBook",
                object()
                    .member("tenantKey", count().about("As `serve --set-aside` takes it."))
                    .member("tenantId", uuid().or_null())
                    .member("mode", one_of(Mode::ALL.map(Mode::name)))
                    .member("since", instant())
                    .member("why", text()),
            ),
            (
                "Feed",
                object()
                    .member("pair", text())
                    .member("source", text())
                    .member("side", text().or_null())
                    .member("method", text().or_null())
                    .member("ageSeconds", count().or_null().about("Of its newest price; null as long as there is none."))
                    .member("failures", count())
                    .member("failuresInARow", count())
                    .member("lastError", text().or_null()),
            ),
            ("NewBackup", object().member("path", text().chars(1..=4096).about("A new directory inside one that exists on the server.")).closed()),
        ],
        ..Chapter::default()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_route_is_described() {
        assert_eq!(super::document().gaps(), Vec::<String>::new());
    }
}
