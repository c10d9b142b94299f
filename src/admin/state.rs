//! The state of the server, and copies of its data: status, snapshot, backup.

use super::books;
use super::call::{Call, CallResult, Done};
use super::rates::show_pin;
use super::signature::said;
use crate::backups;
use crate::gateway::ask;
use crate::gateway::ask::failure;
use crate::gateway::prices::Prices;
use crate::gateway::services::Services;
use crate::rails::evm::{Evm, Waits};
use crate::rails::lane::LaneFigures;
use crate::rates::FeedHealth;
use api::problem::Problem;
use api::writer::{Object, text};
use domain::platform::acts::Deed;
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::atomic::Ordering;

/// GET /admin/status
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
        .list("haltedBooks", books::show(&call.services))
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

/// The self-check since the start.
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

/// POST /admin/clock/confirm
pub async fn confirm_clock(call: Call) -> CallResult {
    call.body.optional_fields()?.finish()?;
    let step_ms = call.services.engine.clock().confirm();
    tracing::warn!(step_ms, "an operator confirmed the wall clock");
    Ok(Done::ok(Object::new().number("stepMs", step_ms).plain("now", call.services.now()).end()))
}

/// POST /admin/snapshot
pub async fn snapshot(call: Call) -> CallResult {
    call.body.optional_fields()?.finish()?;
    let seq = call.services.engine.snapshot().await.map_err(failure)?;
    Ok(Done::ok(Object::new().number("walSeq", seq).end()))
}

/// POST /admin/backup
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
