//! The state of the server, and copies of its data: status, snapshot, backup.

use super::call::{Call, CallResult, Done, Handler, run, said, shown};
use super::rates::show_pin;
use super::tenants::{halted_schema, show_halted};
use crate::backups;
use crate::config::EVM_NETWORKS;
use crate::disk::Disk;
use crate::gateway::ask::{self, failure};
use crate::gateway::prices::Prices;
use crate::gateway::services::Services;
use crate::rails::evm::{Evm, Waits};
use crate::rails::lane::LaneFigures;
use crate::rates::FeedHealth;
use api::endpoint::{Endpoint, endpoint};
use api::openapi::document::Chapter;
use api::openapi::operation::{Fills, summary};
use api::openapi::schema::Schema;
use api::openapi::values::count;
use api::openapi::{schema, values};
use api::problem::Problem;
use api::writer::{self, Object};
use domain::platform::acts::Deed;
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::atomic::Ordering;

pub const CHAPTER: &str = "Server";

pub const READ: Endpoint<Handler> = endpoint(CHAPTER, run!(read), || {
    summary("How the server is").answers(200, "Status", "Its figures").command(
        "status",
        "Show the state of the server",
        "",
    )
});

async fn read(call: Call) -> CallResult {
    Ok(Done::ok(show_status(&call.services, &call.services.engine.status()).end()))
}

shown! {
    fn show_log(log: &wal::Stats) as log_schema [
        number "records" count() => log.records;
        number "snapshots" count() => log.snapshots;
        number "batches" count() => log.batches;
        number "bytes" count() => log.bytes;
        number "syncMs" count() => log.syncs_time.as_millis();
        number "lastSyncUs" count() => log.last_sync_time.as_micros();
        number "lastBatchRecords" count() => log.last_batch_records;
        number "lastBatchBytes" count() => log.last_batch_bytes;
        number "pendingRecords" count() => log.pending_records;
        number "pendingBytes" count() => log.pending_bytes;
    ]
}

shown! {
    fn show_status(services: &Services, status: &actors::Status) as status_schema { let site = &services.site; } [
        number "walSeq" count().about("The last durable record.") => status.durable_seq;
        number "snapshotSeq" count() => status.snapshot_seq;
        number "snapshotAgeSeconds" count().about("Since the last round of snapshots, or since the start; without writes there is none.") => status.snapshot_age.as_secs();
        json "actors" object().member("books", count()).member("entities", count()) => &Object::new().number("books", status.books).number("entities", status.entities).end();
        list "haltedBooks" list(named("HaltedBook")).about("Accounts that decide nothing while the others go on.") => show_halted(services);
        number "underWay" count() => status.under_way;
        json "rails" rails_schema() => &show_rails(services);
        json "log" log_schema() => &show_log(&status.log).end();
        json "selfCheck" self_check_schema() => &show_self_check(services).end();
        json "disk" disk_schema() => &show_disk(&site.disk).end();
        json "rates" rates_schema() => &show_rates(&services.prices, services.now()).end();
        json "clock" clock_schema() => &show_clock(services).end();
        plain "outbound" one_of(["open", "past"]).about("`past`: live banks and webhooks are shut until this server takes over.") => if site.outbound.is_open() { "open" } else { "past" };
    ]
}

shown! {
    fn show_self_check(services: &Services) as self_check_schema { let counters = &services.observed.selfcheck; } [
        number "books" count().about("Books that were checked since the start.") => counters.books.load(Ordering::Relaxed);
        number "breaches" count().about("Those of them that were not what the records lead to: to be 0.") => counters.breaches.load(Ordering::Relaxed);
        number "ageSeconds" count().about("Since everything that was to be checked had been.") => counters.age().as_secs();
    ]
}

shown! {
    fn show_disk(disk: &Disk) as disk_schema [
        number "freeBytes" count() => disk.free_bytes();
        number "reserveBytes" count().about("With less room than this writes are refused.") => disk.reserve_bytes();
    ]
}

shown! {
    fn show_clock(services: &Services) as clock_schema [
        plain "now" instant() => services.now();
        number "stepMs" integer().about("How far the wall clock was set; 0 while it is believed.") => services.engine.clock().step_ms();
    ]
}

shown! {
    /// A network of USDT and its wallet as they were when they were looked at last. What was not seen yet
    /// is null.
    fn show_network(evm: &Evm, now: Timestamp) as network_schema {
        let (figures, settings) = (evm.figures(), &evm.settings);
        let usdt = figures.usdt.and_then(|units| settings.units.credited(units)).map(|usdt| usdt.amount);
        let lag = figures.head_at.map(|at| {
            let at_ms = i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(SECOND_MS);
            now.unix_ms().saturating_sub(at_ms).max(0) / SECOND_MS
        });
    } [
        plain "network" one_of(EVM_NETWORKS) => evm.network().name();
        plain "wallet" text().about("The hot wallet's address.") => evm.network().address(&settings.wallet.account());
        maybe_plain "balanceUsdt" ves().or_null() => usdt;
        maybe_text "gasWei" text().or_null().about("What gas is paid from, in wei.") => figures.gas.map(|gas| gas.to_string());
        maybe_number "nonce" count().or_null().about("The wallet's transactions in blocks.") => figures.nonce;
        maybe_number "head" count().or_null().about("The number of the node's newest block.") => figures.head;
        maybe_number "lagSeconds" count().or_null().about("How old that block is.") => lag;
        maybe_number "scannedBlock" count().or_null().about("The last block that was searched for deposits.") => figures.scanned;
        number "waiting" count().about("Payouts without a transaction.") => figures.waiting;
        number "inFlight" count().about("Payouts whose transaction is not final.") => figures.in_flight;
        number "doubtful" count().about("Payouts of which what the node says does not fit together: an operator has to look.") => figures.doubtful;
        maybe_plain "waits" one_of(Waits::ALL.map(Waits::name)).or_null().about("What payouts wait for, if they do.") => figures.waits.map(Waits::name);
    ]
}

shown! {
    fn show_live_rail(services: &Services, lane: LaneFigures) as live_rail_schema {
        let serves = lane.serves.iter().map(|service| writer::text(service.name()));
        let open_calls = lane.open_calls.iter().map(|call| writer::text(&call.to_string()));
    } [
        plain "name" text() => lane.name;
        list "serves" list(text()).about("What it does: methods as in `GET /v1/payment-methods`, `PAYOUTS`, `MICRO_DEPOSITS`, and `USDT_` with a network.") => serves;
        plain "circuit" one_of(["closed", "open"]).about("`open`: calls have failed, and it is probed until it answers.") => if lane.is_open { "open" } else { "closed" };
        boolean "isSilent" boolean().about("Whether it did not answer the last probe: all charges are refused, and all payouts wait.") => lane.is_silent;
        list "openCalls" list(text()).about("The calls that are not made though it answers, each with the bank of the payer or payee: `charge_c2p 0102`.") => open_calls;
        number "calls" count().about("Since the start, without probes.") => lane.calls;
        number "errors" count().about("Those of them without a readable answer.") => lane.errors;
        maybe_number "p50Ms" count().or_null().about("Of the newest calls; null before the first.") => lane.p50_ms;
        maybe_number "p99Ms" count().or_null() => lane.p99_ms;
        maybe_plain "lastOkAt" instant().or_null().about("When it last answered a call or a probe.") => lane.last_ok_ms.map(Timestamp::from_unix_ms);
        number "unresolved" count().about("Its orders that nobody can tell the outcome of, at the last count.") => services.waits.unresolved.at(lane.name);
    ]
}

fn show_rails(services: &Services) -> Vec<u8> {
    let rails = &services.rails;
    Object::new()
        .number("duplicateCalls", rails.duplicate_calls())
        .list("live", rails.figures().into_iter().map(|lane| show_live_rail(services, lane).end()))
        .list("networks", rails.networks.iter().map(|evm| show_network(evm, services.now()).end()))
        .end()
}

fn rails_schema() -> Schema {
    use api::openapi::schema::{list, named, object};
    let calls = count().about("Orders that the simulated bank got more than once: to be 0.");
    let networks = list(network_schema())
        .about("The networks of USDT that are configured, as they stood when they were looked at last.");
    let live = list(named("LiveRail")).about("The rails of live mode that are configured.");
    object().member("duplicateCalls", calls).member("networks", networks).member("live", live)
}

shown! {
    fn show_feed(feed: &FeedHealth, now: Timestamp) as feed_schema { let (series, state) = (&feed.series, feed.state()); } [
        plain "pair" text() => series.pair;
        text "source" text() => &series.source;
        maybe_text "side" text().or_null() => series.side.as_deref();
        maybe_text "method" text().or_null() => series.method.as_deref();
        maybe_number "ageSeconds" count().or_null().about("Of its newest price; null as long as there is none.") => state.age_seconds(now);
        number "failures" count() => state.failures;
        number "failuresInARow" count() => state.failures_in_a_row;
        maybe_text "lastError" text().or_null() => state.last_error.as_deref();
    ]
}

shown! {
    fn show_rates(prices: &Prices, now: Timestamp) as rates_schema { let history = prices.history.stats(); } [
        number "written" count().about("Samples that are on the disk since the start.") => history.written;
        number "lost" count().about("Samples that the disk did not keep up with.") => history.lost;
        list "feeds" list(named("Feed")).about("What prices come from, and how it does.") => prices.feeds.iter().map(|feed| show_feed(feed, now).end());
        list "pins" list(named("RatePin")).about("The prices that operators hold in force.") => prices.board.pins(now).iter().map(|pin| show_pin(pin).end());
    ]
}

pub const CONFIRM_CLOCK: Endpoint<Handler> = endpoint(CHAPTER, run!(confirm_clock), || {
    summary("Believe the machine's clock after it was set")
        .about(
            "A step of more than a minute that the clock since boot does not explain is not \
                     believed: live money waits (503 `clock_stepped`) until the step is undone or \
                     confirmed here.",
        )
        .answers_with(
            200,
            schema::object().member("stepMs", schema::integer()).member("now", values::instant()),
            "How far the clock had been set; 0 when it was believed already",
        )
        .command("clock confirm", "Confirm that the machine's clock is right after it was set", "")
});

async fn confirm_clock(call: Call) -> CallResult {
    call.body.nothing()?;
    let step_ms = call.services.engine.clock().confirm();
    tracing::warn!(step_ms, "an operator confirmed the wall clock");
    Ok(Done::ok(Object::new().number("stepMs", step_ms).plain("now", call.services.now()).end()))
}

pub const SNAPSHOT: Endpoint<Handler> = endpoint(CHAPTER, run!(snapshot), || {
    summary("Write a snapshot now")
        .answers_with(200, schema::object().member("walSeq", count()), "It holds everything up to here")
        .command("snapshot", "Write snapshots now, so that the next start replays nothing", "")
});

async fn snapshot(call: Call) -> CallResult {
    call.body.nothing()?;
    let seq = call.services.engine.snapshot().await.map_err(failure)?;
    Ok(Done::ok(Object::new().number("walSeq", seq).end()))
}

pub const BACKUP: Endpoint<Handler> = endpoint(CHAPTER, run!(backup), || {
    summary("Copy everything without stopping")
        .body("NewBackup")
        .example("a directory", r#"{"path":"/var/backups/pasarela/2026-11-21"}"#)
        .answers_with(
            200,
            schema::object().member("path", schema::text()).member("walSeq", count()),
            "The copy holds at least everything up to here",
        )
        .refuses(409, &["directory_exists"])
        .refuses(500, &["backup_failed"])
        .command(
            "backup",
            "Have the server copy everything to a new directory on its disk",
            "/mnt/backup/pasarela-2026-11-21",
        )
        .operand("PATH", Fills::Directory("path"), "The directory to make")
});

async fn backup(call: Call) -> CallResult {
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
    Chapter {
        tag: CHAPTER,
        about: "How it is, and copies of what it knows.",
        schemas: vec![
            ("Status", status_schema()),
            ("LiveRail", live_rail_schema()),
            ("HaltedBook", halted_schema()),
            ("Feed", feed_schema()),
        ],
        ..Chapter::default()
    }
}
