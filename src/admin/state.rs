//! The state of the server, and copies of its data: status, snapshot, backup.

use super::call::{Call, CallResult, Done, Handler, run, said};
use super::rates::show_pin;
use super::tenants::{halted_schema, show_halted};
use crate::backups;
use crate::config::EVM_NETWORKS;
use crate::disk::Disk;
use crate::gateway::ask::{self, failure};
use crate::gateway::services::{Prices, Services};
use crate::rails::evm::{Evm, Waits};
use crate::rails::lane::LaneFigures;
use crate::rates::FeedHealth;
use api::endpoint::chapter;
use api::openapi::operation::Fills;
use api::openapi::schema::Schema;
use api::openapi::values::count;
use api::openapi::{schema, values};
use api::problem::Problem;
use api::shown;
use api::writer::{self, Object};
use domain::platform::Act;
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::atomic::Ordering;

chapter! { "Server", "How it is, and copies of what it knows.", {
        "Status" = status_schema();
        "LiveRail" = live_rail_schema();
        "HaltedBook" = halted_schema();
        "Feed" = feed_schema();
    }
    READ = run!(|call| Ok(Done::ok(show_status(&call.services, &call.services.engine.status())))), "How the server is" => {
        command "status", "Show the state of the server", "";
        answers 200, "Status", "Its figures";
    };
    CONFIRM_CLOCK = run!(confirm_clock), "Believe the machine's clock after it was set" => {
        command "clock confirm", "Confirm that the machine's clock is right after it was set", "";
        about "A step of more than a minute that the clock since boot does not explain is not believed: live \
            money waits (503 `clock_stepped`) until the step is undone or confirmed here.";
        answers_with 200, schema::object().member("stepMs", schema::integer()).member("now",
            values::instant()), "How far the clock had been set; 0 when it was believed already";
    };
    SNAPSHOT = run!(snapshot), "Write a snapshot now" => {
        command "snapshot", "Write snapshots now, so that the next start replays nothing", "";
        answers_with 200, schema::object().member("walSeq", count()), "It holds everything up to here";
    };
    BACKUP = run!(backup), "Copy everything without stopping" => {
        command "backup", "Have the server copy everything to a new directory on its disk",
            "/mnt/backup/pasarela-2026-11-21";
        operand "PATH", Fills::Directory("path"), "The directory to make";
        body "NewBackup";
        example "a directory", r#"{"path":"/var/backups/pasarela/2026-11-21"}"#;
        answers_with 200, schema::object().member("path", schema::text()).member("walSeq", count()),
            "The copy holds at least everything up to here";
        refuses 409, &["directory_exists"];
        refuses 500, &["backup_failed"];
    };
}

shown! {
    fn show_log(log: &wal::Stats), log_schema, 512 {
        number "records" = log.records, count();
        number "snapshots" = log.snapshots, count();
        number "batches" = log.batches, count();
        number "bytes" = log.bytes, count();
        number "syncMs" = log.syncs_time.as_millis(), count();
        number "lastSyncUs" = log.last_sync_time.as_micros(), count();
        number "lastBatchRecords" = log.last_batch_records, count();
        number "lastBatchBytes" = log.last_batch_bytes, count();
        number "pendingRecords" = log.pending_records, count();
        number "pendingBytes" = log.pending_bytes, count();
    }
}

shown! {
    fn show_status(services: &Services, status: &actors::Status), status_schema, 512 [ let site = &services.site; ] {
        number "walSeq" = status.durable_seq, count().about("The last durable record.");
        number "snapshotSeq" = status.snapshot_seq, count();
        number "snapshotAgeSeconds" = status.snapshot_age.as_secs(),
            count().about("Since the last round of snapshots, or since the start; without writes there is none.");
        json "actors" = &Object::new().number("books", status.books).number("entities", status.entities).end(),
            object().member("books", count()).member("entities", count());
        list "haltedBooks" = show_halted(services),
            list(named("HaltedBook")).about("Accounts that decide nothing while the others go on.");
        number "underWay" = status.under_way, count();
        json "rails" = &show_rails(services), rails_schema();
        json "log" = &show_log(&status.log), log_schema();
        json "selfCheck" = &show_self_check(services), self_check_schema();
        json "disk" = &show_disk(&site.disk), disk_schema();
        json "rates" = &show_rates(&services.prices, services.now()), rates_schema();
        json "clock" = &show_clock(services), clock_schema();
        plain "outbound" = if site.outbound.is_open() { "open" } else { "past" },
            one_of(["open", "past"]).about("`past`: live banks and webhooks are shut until this server takes over.");
    }
}

shown! {
    fn show_self_check(services: &Services), self_check_schema, 512 [ let counters = &services.observed.selfcheck; ] {
        number "books" = counters.books.load(Ordering::Relaxed),
            count().about("Books that were checked since the start.");
        number "breaches" = counters.breaches.load(Ordering::Relaxed),
            count().about("Those of them that were not what the records lead to: to be 0.");
        number "ageSeconds" = counters.age().as_secs(),
            count().about("Since everything that was to be checked had been.");
    }
}

shown! {
    fn show_disk(disk: &Disk), disk_schema, 512 {
        number "freeBytes" = disk.free_bytes(), count();
        number "reserveBytes" = disk.reserve_bytes,
            count().about("With less room than this writes are refused.");
    }
}

shown! {
    fn show_clock(services: &Services), clock_schema, 512 {
        plain "now" = services.now(), instant();
        number "stepMs" = services.engine.clock.step_ms(),
            integer().about("How far the wall clock was set; 0 while it is believed.");
    }
}

shown! {
    /// A network of USDT and its wallet as they were when they were looked at last. What was not seen yet
    /// is null.
    fn show_network(evm: &Evm, now: Timestamp), network_schema, 512 [
        let (figures, settings) = (evm.state().figures.clone(), &evm.settings);
        let usdt = figures.usdt.and_then(|units| settings.units.credited(units)).map(|(usdt, _)| usdt);
        let lag = figures.head_at.map(|at| {
            let at_ms = i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(SECOND_MS);
            now.unix_ms().saturating_sub(at_ms).max(0) / SECOND_MS
        });
    ] {
        plain "network" = evm.settings.network.name(), one_of(EVM_NETWORKS);
        plain "wallet" = evm.settings.network.address(&settings.wallet.account),
            text().about("The hot wallet's address.");
        maybe plain "balanceUsdt" = usdt, ves();
        maybe text "gasWei" = figures.gas.map(|gas| gas.to_string()),
            text().about("What gas is paid from, in wei.");
        maybe number "nonce" = figures.nonce, count().about("The wallet's transactions in blocks.");
        maybe number "head" = figures.head, count().about("The number of the node's newest block.");
        maybe number "lagSeconds" = lag, count().about("How old that block is.");
        maybe number "scannedBlock" = figures.scanned,
            count().about("The last block that was searched for deposits.");
        number "waiting" = figures.waiting, count().about("Payouts without a transaction.");
        number "inFlight" = figures.in_flight, count().about("Payouts whose transaction is not final.");
        number "doubtful" = figures.doubtful,
            count().about("Payouts of which what the node says does not fit together: an operator has to look.");
        maybe plain "waits" = figures.waits.map(Waits::name),
            one_of(Waits::ALL.map(Waits::name)).about("What payouts wait for, if they do.");
    }
}

shown! {
    fn show_live_rail(services: &Services, lane: LaneFigures), live_rail_schema, 512 [
        let serves = lane.serves.iter().map(|service| writer::text(service.name()));
        let open_calls = lane.open_calls.iter().map(|call| writer::text(&call.to_string()));
    ] {
        plain "name" = lane.name, text();
        list "serves" = serves,
            list(text()).about("What it does: methods as in `GET /v1/payment-methods`, `PAYOUTS`, `MICRO_DEPOSITS`, and `USDT_` with a network.");
        plain "circuit" = if lane.is_open { "open" } else { "closed" },
            one_of(["closed", "open"]).about("`open`: calls have failed, and it is probed until it answers.");
        boolean "isSilent" = lane.is_silent,
            boolean().about("Whether it did not answer the last probe: all charges are refused, and all payouts wait.");
        list "openCalls" = open_calls,
            list(text()).about("The calls that are not made though it answers, each with the bank of the payer or payee: `charge_c2p 0102`.");
        number "calls" = lane.calls, count().about("Since the start, without probes.");
        number "errors" = lane.errors, count().about("Those of them without a readable answer.");
        maybe number "p50Ms" = lane.p50_ms, count().about("Of the newest calls; null before the first.");
        maybe number "p99Ms" = lane.p99_ms, count();
        maybe plain "lastOkAt" = lane.last_ok_ms.map(Timestamp::from_unix_ms),
            instant().about("When it last answered a call or a probe.");
        number "unresolved" = services.waits.counted().unresolved.get(lane.name).copied().unwrap_or(0),
            count().about("Its orders that nobody can tell the outcome of, at the last count.");
    }
}

fn show_rails(services: &Services) -> Vec<u8> {
    let rails = &services.rails;
    Object::new()
        .number("duplicateCalls", rails.test.duplicate_calls())
        .list("live", rails.figures().into_iter().map(|lane| show_live_rail(services, lane)))
        .list("networks", rails.networks.iter().map(|evm| show_network(evm, services.now())))
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
    fn show_feed(feed: &FeedHealth, now: Timestamp), feed_schema, 512 [ let (series, state) = (&feed.series, feed.state()); ] {
        plain "pair" = series.pair, text();
        text "source" = &series.source, text();
        maybe text "side" = series.side.as_deref(), text();
        maybe text "method" = series.method.as_deref(), text();
        maybe number "ageSeconds" = state.age_seconds(now),
            count().about("Of its newest price; null as long as there is none.");
        number "failures" = state.failures, count();
        number "failuresInARow" = state.failures_in_a_row, count();
        maybe text "lastError" = state.last_error.as_deref(), text();
    }
}

shown! {
    fn show_rates(prices: &Prices, now: Timestamp), rates_schema, 512 [ let [written, lost] = prices.history.stats(); ] {
        number "written" = written, count().about("Samples that are on the disk since the start.");
        number "lost" = lost, count().about("Samples that the disk did not keep up with.");
        list "feeds" = prices.feeds.iter().map(|feed| show_feed(feed, now)),
            list(named("Feed")).about("What prices come from, and how it does.");
        list "pins" = prices.board.pins(now).iter().map(|pin| show_pin(pin)),
            list(named("RatePin")).about("The prices that operators hold in force.");
    }
}

async fn confirm_clock(call: Call) -> CallResult {
    call.body.nothing()?;
    let clock = &call.services.engine.clock;
    if call.services.is_rehearsal() {
        return Ok(Done::ok(
            Object::new().number("stepMs", clock.step_ms()).plain("now", call.services.now()).end(),
        ));
    }
    let step_ms = clock.confirm();
    tracing::warn!(step_ms, "an operator confirmed the wall clock");
    Ok(Done::ok(Object::new().number("stepMs", step_ms).plain("now", call.services.now()).end()))
}

async fn snapshot(call: Call) -> CallResult {
    call.body.nothing()?;
    let engine = &call.services.engine;
    let seq = match engine.is_rehearsal() {
        true => engine.real_seq(),
        false => engine.snapshot().await.map_err(failure)?,
    };
    Ok(Done::ok(Object::new().number("walSeq", seq).end()))
}

async fn backup(call: Call) -> CallResult {
    let path = backups::wanted(call.body.fields()?)?;
    let disk = &call.services.site.disk;
    let (engine, data) = (call.services.engine.clone(), disk.data.clone());
    if !disk.has_room_for(backups::bytes_taken(&data, &path)) {
        return Err(Problem::disk_nearly_full());
    }
    if engine.is_rehearsal() {
        return Ok(Done::ok(backups::rehearsed(path, engine.real_seq())?.show()));
    }
    let partitions = call.services.callers.followers.as_ref().map_or(1, |followers| followers.count());
    let made = backups::make(data, path, partitions, move |log| engine.reader().checkpoint(log)).await?;
    let shown = made.show();
    let act = Act::BackedUp { directory: made.directory, seq: made.seq };
    let (keep, _held) = call.pending_key.take();
    let audit = said(call.sign_about(None, None), &shown);
    let done = ask::Done { act: Some(act), audit };
    let trace = ask::done_and_answered(&call.services, done, keep, (200, &shown)).await?;
    Ok(Done::ok(shown).traced(trace))
}
