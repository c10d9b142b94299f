//! The words for what the server knows and does: orders to banks, rates, the catalogue of banks, its state.

use crate::admin::cluster::read_leader;
use crate::admin::rates::asked_place;
use crate::admin::{banks, notices, operations, rates};
use crate::backups;
use crate::config::EVM_NETWORKS;
use crate::rails::evm::Waits;
use api::kind::body;
use api::openapi::document::Chapter;
use api::openapi::operation::operation;
use api::openapi::schema::{Schema, any_of, boolean, integer, list, named, number, object, one_of, text};
use api::openapi::values::{currency, instant, page, uuid, ves};
use api::{merchants, payouts, reference};
use domain::platform::Mode;
use domain::resources::operations::{Kind, Subject};
use domain::values::time::Timestamp;

/// The heading of rates and banks.
const BANKS: &str = "Rates and banks";

pub(super) fn orders() -> Chapter {
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
                .about("All of them, each with its status, unless `status` names one. A rail that there is not is refused with the names of those that there are.")
                .list(|query, list| operations::asked(query, list, &[]))
                .answers(200, "OperationPage", "Newest first"),
            operation("resolveOperation", "Say what became of an order that no bank has answered")
                .about("Ask the bank first. The payment, payout or refund goes on as if the bank had said so; the bank is asked on for seven days, and if it says the opposite that is a contradiction, which moves no money.")
                .body("OperationResolution")
                .example("the bank's reference", r#"{"outcome":"done","reference":"81234567","note":"confirmed by the bank's help desk, ticket 4711"}"#)
                .example("refused", r#"{"outcome":"refused","failureCode":"AC01","note":"not on the statement of the day"}"#)
                .answers(202, "AskedApproval", "It waits for a second person")
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
                    .member("sentAt", instant().or_null().about("None while it waits for its turn: nothing of it has left the gateway."))
                    .member("askedAt", instant().or_null())
                    .member("asks", integer().at_least("0"))
                    .member("bankCode", text().or_null().about("With which the bank refused it."))
                    .member("bankText", text().or_null())
                    .member("bankReference", text().or_null().about("Under which the bank did it."))
                    .member("contradictedAt", instant().or_null())
                    .member("otherAttemptId", uuid().or_null().about("Of a payment that failed and was paid all the same, as its bank says later: another attempt under its `externalRef` that was paid too. An operator decides which goes back."))
                    .member("status", one_of(operations::STATUSES)),
            ),
            ("OperationPage", page("BankOperation")),
            ("OperationResolution", body(operations::read)),
            ("Payout", payouts::description::payout()),
            ("Merchant", merchants::description::merchant()),
            ("PayoutAccount", payouts::description::account()),
            (
                "ResolvedOperation",
                any_of(["Payment", "CopPayment", "Payout", "CryptoPayout", "Merchant", "PayoutAccount"].map(named))
                .about("A payment in bolívares or pesos, a payout, a USDT payout, or the merchant or own account whose payout method was proved or not; as the tenants' API has them."),
            ),
        ],
        ..Chapter::default()
    }
}

pub(super) fn incoming() -> Chapter {
    Chapter {
        tag: "Notices",
        about: "What banks and processors said by themselves of money that came. A notice of a transfer verifies one Pago Móvil payment of whatever account; a transaction of Wompi is listed if no payment is known by it.",
        operations: vec![
            operation("listNotices", "List what banks said by themselves").list(notices::asked).answers(
                200,
                "NoticePage",
                "Newest first; with `unmatched=true` those that nobody claimed",
            ),
            operation("giveNotice", "Say whose a transfer is whose reference was guessed at")
                .about(
                    "After 20 wrong references for a phone, bank and day nobody's payment is verified by its \
                     transfers until it is known whose they are. The account's next payment with the whole \
                     reference is verified then, and nobody else's.",
                )
                .body("NoticeGift")
                .example(
                    "the buyer showed the bank's receipt",
                    r#"{"tenantId":"01975a2e-7c00-7000-8000-000000000000","note":"receipt seen, ticket 4711"}"#,
                )
                .answers(200, "Notice", "The notice")
                .refuses(409, &["notice_claimed"]),
        ],
        schemas: vec![
            (
                "Notice",
                object()
                    .member("noticeId", uuid())
                    .member("rail", one_of(notices::RAILS))
                    .member(
                        "reference",
                        text().or_null().about(
                            "The bank's, as it wrote it; of a transaction the one that it was made under.",
                        ),
                    )
                    .member("transactionId", text().or_null().about("Wompi's id of a transaction."))
                    .member("bankCode", text().or_null())
                    .member("phone", text().or_null().about("The payer's, masked."))
                    .member("amountVes", text().or_null())
                    .member("paidAt", instant().or_null())
                    .member("receivedAt", instant())
                    .member("paymentId", uuid().or_null().about("The payment that it verified."))
                    .member("tenantId", uuid().or_null().about("Whose payment that is."))
                    .member("givenTo", uuid().or_null().about("Whose the transfer is, as an operator said.")),
            ),
            ("NoticeGift", body(notices::read_gift)),
            ("NoticePage", page("Notice")),
        ],
        ..Chapter::default()
    }
}

pub(super) fn rates_and_banks() -> Chapter {
    Chapter {
        tag: BANKS,
        about: "What the server knows of the outside.",
        operations: vec![
            operation("recordRate", "Enter a sample of a rate")
                .body("NewRate")
                .example(
                    "the BCV's",
                    r#"{"pair":"USD/VES","source":"bcv","side":"OFFICIAL","price":"210.00000000"}"#,
                )
                .example(
                    "one that no feed replaces",
                    r#"{"pair":"USDT/VES","source":"p2p","side":"FLOOR","price":"245.00","pinnedUntil":"2026-11-21T18:00:00Z","reason":"the market is shut"}"#,
                )
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(201, "RateSample", "The sample")
                .refuses(409, &["rate_pinned"]),
            operation("listRates", "List the newest sample of every rate")
                .about("One for each pair, source, side and method; where one is pinned, until when and why. After them, the suspect ones that are the last word of their series.")
                .answers_with(200, object().member("items", list(named("RateSample"))), "By pair, source and side"),
            operation("unpinRate", "End the pin of a rate")
                .about("The newest sample counts again. The price that was pinned is one too, until the feed's next.")
                .query(asked_place)
                .answers(202, "AskedApproval", "It waits for a second person")
                .answers(200, "RatePin", "The pin as it was")
                .refuses(404, &["not_found"]),
            operation("listAllBanks", "List the banks, hidden ones too").answers_with(
                200,
                list(named("BankEntry")),
                "Sorted by code; a bare array",
            ),
        ],
        schemas: vec![
            ("NewRate", body(|fields| rates::read(fields, Timestamp::EPOCH))),
            (
                "RatePin",
                object()
                    .member("pair", text())
                    .member("source", text())
                    .member("side", text().or_null())
                    .member("method", text().or_null())
                    .member("price", number())
                    .member("pinnedUntil", instant())
                    .member("reason", text())
                    .member("operator", object().member("operatorId", text()).member("name", text())),
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
                    .member("valueDate", text().format("date").or_null())
                    .member("suspect", boolean().about("It is too far from the last accepted one of its series, and decides nothing until three in a row say it for a quarter of an hour, or a pin does."))
                    .optional("pinnedUntil", instant().or_null())
                    .optional("reason", text().or_null()),
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

pub(super) fn bank_changes() -> Chapter {
    Chapter {
        tag: BANKS,
        operations: vec![
            operation("refreshBanks", "Refresh the banks from their feed now")
                .answers_with(200, list(named("BankEntry")), "The banks as they are now")
                .refuses(503, &["bank_feed_unavailable"]),
            operation("updateBank", "Change the facts about a bank")
                .about("A change outlives every refresh.")
                .body("BankChange")
                .example("hide it", r#"{"hidden":true}"#)
                .answers(200, "BankEntry", "The bank"),
        ],
        schemas: vec![("BankChange", body(banks::read_change))],
        ..Chapter::default()
    }
}

pub(super) fn server() -> Chapter {
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
        .member("feeds", list(named("Feed")).about("What prices come from, and how it does."))
        .member("pins", list(named("RatePin")).about("The prices that operators hold in force."));
    Chapter {
        tag: "Server",
        about: "How it is, and copies of what it knows.",
        operations: vec![
            operation("getStatus", "How the server is").answers(200, "Status", "Its figures"),
            operation("confirmClock", "Believe the machine's clock after it was set")
                .about("A step of more than a minute that the clock since boot does not explain is not believed: live money waits (503 `clock_stepped`) until the step is undone or confirmed here.")
                .answers_with(200, object().member("stepMs", integer()).member("now", instant()), "How far the clock had been set; 0 when it was believed already"),
            operation("getCluster", "How the machines of a cluster are")
                .about("The view of the node that is asked, also while nobody leads. 404 where there is one machine.")
                .answers(200, "ClusterView", "The nodes")
                .refuses(404, &["not_found"]),
            operation("handOver", "Have another node lead")
                .about("A planned switch; nothing is refused for longer than a second. The node that leads already changes nothing.")
                .body("NewLeader")
                .example("another node", r#"{"to":"node-2"}"#)
                .answers_with(200, object().member("leader", text()).member("epoch", count()), "The new leader, which serves")
                .refuses(404, &["not_found"])
                .refuses(409, &["not_a_candidate"]),
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
                    .member("snapshotAgeSeconds", count().about("Since the last round of snapshots, or since the start; without writes there is none."))
                    .member("actors", object().member("books", count()).member("entities", count()))
                    .member("haltedBooks", list(named("HaltedBook")).about("Accounts that decide nothing while the others go on."))
                    .member("underWay", count())
                    .member("rails", object().member("duplicateCalls", count().about("Orders that the simulated bank got more than once: to be 0.")).member("networks", list(usdt_network()).about("The networks of USDT that are configured, as they stood when they were looked at last.")).member("live", list(named("LiveRail")).about("The rails of live mode that are configured.")))
                    .member("log", log)
                    .member("selfCheck", object().member("books", count().about("Books that were checked since the start.")).member("breaches", count().about("Those of them that were not what the records lead to: to be 0.")).member("ageSeconds", count().about("Since everything that was to be checked had been.")))
                    .member("disk", object().member("freeBytes", count()).member("reserveBytes", count().about("With less room than this writes are refused.")))
                    .member("rates", history)
                    .member(
                        "clock",
                        object().member("now", instant()).member("stepMs", integer().about("How far the wall clock was set; 0 while it is believed.")),
                    )
                    .member("outbound", one_of(["open", "past"]).about("`past`: live banks and webhooks are shut until this server takes over.")),
            ),
            (
                "LiveRail",
                object()
                    .member("name", text())
                    .member("serves", list(text()).about("What it does: methods as in `GET /v1/payment-methods`, `PAYOUTS`, `MICRO_DEPOSITS`, and `USDT_` with a network."))
                    .member("circuit", one_of(["closed", "open"]).about("`open`: calls have failed, and it is probed until it answers."))
                    .member("isSilent", boolean().about("Whether it did not answer the last probe: all charges are refused, and all payouts wait."))
                    .member("openCalls", list(text()).about("The calls that are not made though it answers, each with the bank of the payer or payee: `charge_c2p 0102`."))
                    .member("calls", count().about("Since the start, without probes."))
                    .member("errors", count().about("Those of them without a readable answer."))
                    .member("p50Ms", count().or_null().about("Of the newest calls; null before the first."))
                    .member("p99Ms", count().or_null())
                    .member("lastOkAt", instant().or_null().about("When it last answered a call or a probe."))
                    .member("unresolved", count().about("Its orders that nobody can tell the outcome of, at the last count.")),
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
            ("NewLeader", body(read_leader)),
            (
                "ClusterView",
                object()
                    .member("partition", text())
                    .member("node", text().about("The node that answers."))
                    .member("role", one_of(["leader", "standby"]).about("Its part."))
                    .member("leader", text().or_null().about("Who serves; null while nobody does, or this node cannot tell."))
                    .member("epoch", count().about("The times that the log changed hands."))
                    .member("walSeq", count().about("The last record that is synced on this node."))
                    .member("agreedSeq", count().about("The last record that was agreed on."))
                    .member("windowBytes", count().about("Bytes of the log in etcd."))
                    .member("nodes", list(named("ClusterNode"))),
            ),
            (
                "ClusterNode",
                object()
                    .member("node", text())
                    .member("role", one_of(["leader", "standby"]))
                    .member("walSeq", count())
                    .member("behind", count().about("Records that were agreed on and are not synced there."))
                    .member("seenAt", instant().about("When it last said so, by its own clock."))
                    .member("version", text()),
            ),
            ("NewBackup", body(backups::wanted)),
        ],
        ..Chapter::default()
    }
}

/// A network of USDT and its hot wallet.
fn usdt_network() -> Schema {
    let count = || integer().at_least("0");
    object()
        .member("network", one_of(EVM_NETWORKS))
        .member("wallet", text().about("The hot wallet's address."))
        .member("balanceUsdt", ves().or_null())
        .member("gasWei", text().or_null().about("What gas is paid from, in wei."))
        .member("nonce", count().or_null().about("The wallet's transactions in blocks."))
        .member("head", count().or_null().about("The number of the node's newest block."))
        .member("lagSeconds", count().or_null().about("How old that block is."))
        .member("scannedBlock", count().or_null().about("The last block that was searched for deposits."))
        .member("waiting", count().about("Payouts without a transaction."))
        .member("inFlight", count().about("Payouts whose transaction is not final."))
        .member(
            "doubtful",
            count()
                .about("Payouts of which what the node says does not fit together: an operator has to look."),
        )
        .member(
            "waits",
            one_of(Waits::ALL.map(Waits::name)).or_null().about("What payouts wait for, if they do."),
        )
}
