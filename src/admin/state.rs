//! The state of the server, and copies of its data: status, snapshot, backup.

use super::call::{Call, CallResult, Done, said};
use super::rates::show_pin;
use super::tenants::show_halted;
use crate::backups;
use crate::config::EVM_NETWORKS;
use crate::gateway::ask::{self, failure};
use crate::gateway::prices::Prices;
use crate::gateway::services::Services;
use crate::rails::evm::{Evm, Waits};
use crate::rails::lane::LaneFigures;
use crate::rates::FeedHealth;
use api::fields::body;
use api::openapi::document::Chapter;
use api::openapi::schema::Schema;
use api::problem::Problem;
use api::writer::{Object, text};
use domain::platform::acts::Deed;
use domain::values::mode::Mode;
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::atomic::Ordering;

pub async fn read(call: Call) -> CallResult {
    let status = call.services.engine.status();
    let log = &status.log;
    let log = Object::new()
        .number("records", log.records)
        .number("snapshots", log.snapshots)
        .number("batches", log.batches)
        .number("bytes", log.bytes)
        .number("syncMs", log.syncs_time.as_millis())
        .number("lastSyncUs", log.last_sync_time.as_micros())
        .number("lastBatchRecords", log.last_batch_records)
        .number("lastBatchBytes", log.last_batch_bytes)
        .number("pendingRecords", log.pending_records)
        .number("pendingBytes", log.pending_bytes)
        .end();
    let body = Object::with_capacity(1024)
        .number("walSeq", status.durable_seq)
        .number("snapshotSeq", status.snapshot_seq)
        .number("snapshotAgeSeconds", status.snapshot_age.as_secs())
        .json(
            "actors",
            &Object::new().number("books", status.books).number("entities", status.entities).end(),
        )
        .list("haltedBooks", show_halted(&call.services))
        .number("underWay", status.under_way)
        .json("rails", &show_rails(&call.services))
        .json("log", &log)
        .json("selfCheck", &show_self_check(&call.services))
        .json(
            "disk",
            &Object::new()
                .number("freeBytes", call.services.site.disk.free_bytes())
                .number("reserveBytes", call.services.site.disk.reserve_bytes())
                .end(),
        )
        .json("rates", &show_rates(&call.services.prices, call.services.now()))
        .json(
            "clock",
            &Object::new()
                .plain("now", call.services.now())
                .number("stepMs", call.services.engine.clock().step_ms())
                .end(),
        )
        .plain("outbound", if call.services.site.outbound.is_open() { "open" } else { "past" })
        .end();
    Ok(Done::ok(body))
}

fn show_self_check(services: &Services) -> Vec<u8> {
    let counters = &services.observed.selfcheck;
    Object::new()
        .number("books", counters.books.load(Ordering::Relaxed))
        .number("breaches", counters.breaches.load(Ordering::Relaxed))
        .number("ageSeconds", counters.age().as_secs())
        .end()
}

/// A network of USDT and its wallet as they were when they were looked at last. What was not seen yet
/// is null.
fn show_network(evm: &Evm, now: Timestamp) -> Vec<u8> {
    let (figures, settings) = (evm.figures(), &evm.settings);
    let usdt = figures.usdt.and_then(|units| settings.units.credited(units)).map(|usdt| usdt.amount);
    let lag = figures.head_at.map(|at| {
        let at_ms = i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(SECOND_MS);
        now.unix_ms().saturating_sub(at_ms).max(0) / SECOND_MS
    });
    Object::new()
        .plain("network", evm.network().name())
        .plain("wallet", evm.network().address(&settings.wallet.account()))
        .maybe_plain("balanceUsdt", usdt)
        .maybe_text("gasWei", figures.gas.map(|gas| gas.to_string()).as_deref())
        .maybe_number("nonce", figures.nonce)
        .maybe_number("head", figures.head)
        .maybe_number("lagSeconds", lag)
        .maybe_number("scannedBlock", figures.scanned)
        .number("waiting", figures.waiting)
        .number("inFlight", figures.in_flight)
        .number("doubtful", figures.doubtful)
        .maybe_plain("waits", figures.waits.map(Waits::name))
        .end()
}

/// The rails: how the simulated one was called, and how the live ones do.
fn show_rails(services: &Services) -> Vec<u8> {
    let live = |lane: LaneFigures| {
        Object::new()
            .plain("name", lane.name)
            .list("serves", lane.serves.iter().map(|service| text(service.name())))
            .plain("circuit", if lane.is_open { "open" } else { "closed" })
            .boolean("isSilent", lane.is_silent)
            .list("openCalls", lane.open_calls.iter().map(|call| text(&call.to_string())))
            .number("calls", lane.calls)
            .number("errors", lane.errors)
            .maybe_number("p50Ms", lane.p50_ms)
            .maybe_number("p99Ms", lane.p99_ms)
            .maybe_plain("lastOkAt", lane.last_ok_ms.map(Timestamp::from_unix_ms))
            .number("unresolved", services.waits.unresolved.at(lane.name))
            .end()
    };
    Object::new()
        .number("duplicateCalls", services.rails.duplicate_calls())
        .list("live", services.rails.figures().into_iter().map(live))
        .list("networks", services.rails.networks().iter().map(|evm| show_network(evm, services.now())))
        .end()
}

/// The health of the feeds, and of the history that they write, and what operators pinned.
fn show_rates(prices: &Prices, now: Timestamp) -> Vec<u8> {
    let history = prices.history.stats();
    let feed = |feed: &FeedHealth| {
        let state = feed.state();
        Object::new()
            .plain("pair", feed.series.pair)
            .text("source", &feed.series.source)
            .maybe_text("side", feed.series.side.as_deref())
            .maybe_text("method", feed.series.method.as_deref())
            .maybe_number("ageSeconds", state.age_seconds(now))
            .number("failures", state.failures)
            .number("failuresInARow", state.failures_in_a_row)
            .maybe_text("lastError", state.last_error.as_deref())
            .end()
    };
    Object::new()
        .number("written", history.written)
        .number("lost", history.lost)
        .list("feeds", prices.feeds.iter().map(feed))
        .list("pins", prices.board.pins(now).iter().map(|pin| show_pin(pin)))
        .end()
}

pub async fn confirm_clock(call: Call) -> CallResult {
    call.body.nothing()?;
    let step_ms = call.services.engine.clock().confirm();
    tracing::warn!(step_ms, "an operator confirmed the wall clock");
    Ok(Done::ok(Object::new().number("stepMs", step_ms).plain("now", call.services.now()).end()))
}

pub async fn snapshot(call: Call) -> CallResult {
    call.body.nothing()?;
    let seq = call.services.engine.snapshot().await.map_err(failure)?;
    Ok(Done::ok(Object::new().number("walSeq", seq).end()))
}

pub async fn backup(call: Call) -> CallResult {
    let path = backups::wanted(call.body.fields()?)?;
    let disk = &call.services.site.disk;
    let (engine, data) = (call.services.engine.clone(), disk.data().to_path_buf());
    if !disk.has_room_for(backups::bytes_taken(&data, &path)) {
        return Err(Problem::disk_nearly_full());
    }
    let made = backups::make(data, path, move |log| engine.checkpoint(log)).await?;
    let shown = made.show();
    let act = call.act(Deed::BackedUp { directory: made.directory, seq: made.seq });
    let (keep, _held) = call.keep();
    let audit = said(call.sign_about(None, None), &shown);
    let done = ask::Done { act: Some(act), audit };
    let trace = ask::done_and_answered(&call.services, done, keep, (200, &shown)).await?;
    Ok(Done::ok(shown).traced(trace))
}

pub fn chapter() -> Chapter {
    use api::openapi::operation::operation;
    use api::openapi::schema::{boolean, integer, list, named, object, one_of, text};
    use api::openapi::values::{instant, uuid};
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
        ],
        ..Chapter::default()
    }
}

fn usdt_network() -> Schema {
    use api::openapi::schema::{integer, object, one_of, text};
    use api::openapi::values::ves;
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

/// Snapshots and backups.
pub fn copies() -> Chapter {
    use api::openapi::operation::operation;
    use api::openapi::schema::{integer, object, text};
    let count = || integer().at_least("0");
    Chapter {
        tag: "Server",
        operations: vec![
            operation("takeSnapshot", "Write a snapshot now").answers_with(
                200,
                object().member("walSeq", count()),
                "It holds everything up to here",
            ),
            operation("makeBackup", "Copy everything without stopping")
                .body("NewBackup")
                .example("a directory", r#"{"path":"/var/backups/pasarela/2026-11-21"}"#)
                .answers_with(
                    200,
                    object().member("path", text()).member("walSeq", count()),
                    "The copy holds at least everything up to here",
                )
                .refuses(409, &["directory_exists"])
                .refuses(500, &["backup_failed"]),
        ],
        schemas: vec![("NewBackup", body(backups::wanted))],
        ..Chapter::default()
    }
}
