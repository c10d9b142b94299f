//! The families of metrics, in order. Names and help are documented in `docs/operating.md`; an
//! alert rule or a dashboard may rest on each, so a name stays.

use super::process::Process;
use super::text::{Page, Value, families};
use super::{Metrics, money};
use crate::cluster::Cluster;
use crate::gateway::services::{Observed, Prices, Services};
use crate::rails::evm::Waits;
use crate::rates::Series;
use crate::webhooks::Webhooks;
use domain::values::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;
use wal::Counted;

/// The log of a cluster, of which there is one.
const PARTITION: &str = "0";
const GWEI: u128 = 1_000_000_000;

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

pub fn write(metrics: &Metrics) -> String {
    let mut page = Page::default();
    let services = &*metrics.services;
    server(&mut page, metrics);
    requests(&mut page, &services.observed);
    engine(&mut page, metrics);
    rates(&mut page, &services.prices, services.now());
    rails(&mut page, services);
    networks(&mut page, services);
    webhooks(&mut page, &services.webhooks);
    let waiting = services.waits.counted().clone();
    money::write(&mut page, &services.observed.business, &waiting);
    if let Some(node) = &services.cluster {
        cluster(&mut page, node, &services.engine.status().log.agree_us);
    }
    if let Some(process) = Process::now() {
        system(&mut page, &process);
    }
    page.text
}

/// Of a node that does not lead, which agrees on nothing.
pub fn standby(node: &Cluster) -> String {
    let mut page = Page::default();
    cluster(&mut page, node, &Counted::default());
    page.text
}

fn cluster(page: &mut Page, node: &Cluster, agree_us: &Counted) {
    let view = node.view();
    families! { page
        gauge "pasarela_cluster_role" "1 for the part that this node has, by partition." by("partition" PARTITION, "role" view.role.name()) => 1_u64;
        gauge "pasarela_cluster_epoch" "The newest epoch that was seen, by partition." by("partition" PARTITION) => view.epoch;
        gauge "pasarela_cluster_behind_records" "Records that were agreed on and are not synced here, by partition." by("partition" PARTITION) => view.behind();
        gauge "pasarela_cluster_window_bytes" "Bytes of batches in etcd, by partition." by("partition" PARTITION) => view.window_bytes;
        counter "pasarela_cluster_takeovers_total" "Times that this process has taken over, by partition." by("partition" PARTITION) => node.takeovers();
        histogram "pasarela_cluster_commit_seconds" "Time until etcd had agreed on a batch, by partition."
            by("partition" PARTITION) => Value::Counted(agree_us, Value::Micros);
    }
}

fn server(page: &mut Page, metrics: &Metrics) {
    let (services, traffic) = (&metrics.services, &metrics.traffic);
    let started = metrics.started.duration_since(UNIX_EPOCH).unwrap_or_default();
    let ended_badly = metrics.ended_badly.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let renewals = metrics.certificates.iter().flat_map(|certificates| {
        let (name, renewed, failed) = (certificates.name, &certificates.renewed, &certificates.failed);
        [(name, "renewed", read(renewed)), (name, "failed", read(failed))]
    });
    families! { page
        gauge "pasarela_build_info" "Always 1; the label says which version runs." by("version" env!("CARGO_PKG_VERSION")) => 1_u64;
        gauge "pasarela_start_time_seconds" "The instant at which the server became ready, in seconds since 1970." => started.as_secs();
        gauge "pasarela_ended_badly_timestamp_seconds" "When a run on this data directory last ended itself, because the log or an invariant failed, in seconds since 1970; 0: never." => ended_badly.unwrap_or_default().as_secs();
        gauge "pasarela_ready" "1 while writes are accepted, as /readyz says." => services.ready().is_ok();
        gauge "pasarela_outbound_open" "1 while live banks and webhooks are spoken to; 0 in a restored copy that has not taken over." => services.site.outbound.is_open();
        gauge "pasarela_connections" "Connections that are open, by listener."
            for (listener, traffic) in traffic, by("listener" listener) => traffic.connections.load(Ordering::Relaxed);
        counter "pasarela_connections_accepted_total" "Connections that were taken, by listener."
            for (listener, traffic) in traffic, by("listener" listener) => read(&traffic.accepted);
        counter "pasarela_connections_refused_total" "Connections beyond server.max_connections, which were answered 503 or dropped, by listener."
            for (listener, traffic) in traffic, by("listener" listener) => read(&traffic.refused);
        counter "pasarela_tls_renewals_total" "How often certificates were read anew since the start, by listener that has some and by outcome."
            for (listener, outcome, count) in renewals, by("listener" listener, "outcome" outcome) => count;
    }
}

fn requests(page: &mut Page, observed: &Observed) {
    let meters = observed.meters.all();
    let named = |status: u16| if status == 0 { "other".to_owned() } else { status.to_string() };
    // A route that nobody asked for would be 17 lines of zeros.
    let asked = meters
        .iter()
        .map(|meter| (meter, meter.latency_us.counted()))
        .filter(|(_, counted)| counted.total() > 0);
    families! { page
        counter "pasarela_http_requests_total" "Answers by method, route (as the table writes it, never a path) and status; 499: the caller went away first."
            for meter in &meters, for (status, count) in meter.counts(),
            by("method" &meter.method, "route" meter.route, "status" &named(status)) => count;
        histogram "pasarela_http_request_duration_seconds" "From the head of a request to its answer, by method and route."
            for (meter, counted) in asked, by("method" &meter.method, "route" meter.route)
            => Value::Counted(&counted, Value::Micros);
    }
}

fn engine(page: &mut Page, metrics: &Metrics) {
    let services = &metrics.services;
    let status = services.engine.status();
    let log = &status.log;
    services.engine.clock.wall_ms();
    let (shares, reads) = (&*services.shares.counters, services.read_pool.counters());
    let refused = [
        ("engine", [status.share_full, status.share_full_yielding]),
        ("slots", shares.slots.each_ref().map(read)),
        ("bodies", shares.bodies.each_ref().map(read)),
        ("reads", reads.share_full.each_ref().map(read)),
    ];
    let long_reads =
        [("ended", read(&reads.ended)), ("full", read(&reads.full)), ("canceled", read(&reads.canceled))];
    let selfcheck = &services.observed.selfcheck;
    let disk = &services.site.disk;
    families! { page
        gauge "pasarela_actors" "Actors in memory: books (a tenant's money in a mode) and entities (payments, payouts … that something is done with)."
            for (kind, count) in [("book", status.books), ("entity", status.entities)], by("kind" kind) => count;
        gauge "pasarela_mailbox_depth" "Messages that wait for books." => status.waiting;
        gauge "pasarela_mailbox_depth_max" "Messages that wait for the book that most wait for." => status.waiting_most;
        gauge "pasarela_permits_in_use" "Requests under way in the engine." => status.under_way;
        gauge "pasarela_permits_max" "Requests that may be under way; one more is answered 503 overloaded." => status.permits_max;
        gauge "pasarela_clock_step_seconds" "How far the wall clock is from what is believed; 0 while it is believed itself."
            => services.engine.clock.step_ms().unsigned_abs() / 1_000;
        counter "pasarela_overloaded_total" "Requests that were refused because so many were under way or waited for the disk." => status.overloaded;
        counter "pasarela_share_refused_total" "Requests that were answered 429 because their tenant had its share, by what it had its share of (engine: requests under way; slots: requests that wait to be worked on; bodies: bytes that arrive; reads: long reads) and mode."
            for (of, counts) in refused, for (mode, count) in ["live", "test"].into_iter().zip(counts),
            by("of" of, "mode" mode) => count;
        gauge "pasarela_share_owners" "Tenants, each mode by itself, and buyers' addresses that asked something in the last seconds; with more than one each has so many work slots." => services.shares.owners_count.load(Ordering::Relaxed);
        gauge "pasarela_slots_waiting" "Requests that wait for a work slot of their tenant." => shares.waiting.load(Ordering::Relaxed);
        counter "pasarela_long_reads_total" "Long reads by outcome; full: refused with 503; canceled: the caller went away."
            for (outcome, count) in long_reads, by("outcome" outcome) => count;
        gauge "pasarela_long_reads_waiting" "Long reads that wait for a thread." => reads.waiting.load(Ordering::Relaxed);
        counter "pasarela_invariants_checked_total" "Records whose invariants were checked before they were written." => status.checked;
        counter "pasarela_invariants_breached_total" "Invariants that were broken, and books that the self-check found wrong." => status.breached;
        gauge "pasarela_books_halted" "Books that are halted: their accounts are answered 503 account_halted until an operator resumes them." => status.halted;
        gauge "pasarela_snapshot_seq" "Every record up to this one is in snapshots." => status.snapshot_seq;
        gauge "pasarela_snapshot_tail_records" "Records in no snapshot: what a restart replays." => status.durable_seq.saturating_sub(status.snapshot_seq);
        gauge "pasarela_snapshot_age_seconds" "Since the last round of snapshots, or since the start; without writes there is none." => status.snapshot_age;
        counter "pasarela_selfcheck_books_total" "Books whose totals the self-check added up again." => read(&selfcheck.books);
        counter "pasarela_selfcheck_books_derived_total" "Books that the self-check derived again from the records since their snapshot before." => read(&selfcheck.derived);
        counter "pasarela_selfcheck_records_total" "Records that the self-check applied again." => read(&selfcheck.records);
        counter "pasarela_selfcheck_breaches_total" "Books that were not what the records lead to, each of which was halted." => read(&selfcheck.breaches);
        gauge "pasarela_selfcheck_age_seconds" "Since the self-check last checked a book, or since the start; without writes there is nothing to check." => selfcheck.age();
        gauge "pasarela_wal_seq" "The newest durable record." => status.durable_seq;
        counter "pasarela_wal_records_total" "Records that became durable since the start." => log.records;
        counter "pasarela_wal_snapshots_total" "Snapshots of books that became durable since the start." => log.snapshots;
        counter "pasarela_wal_bytes_total" "Bytes in synced writes since the start: keys and values, before compression." => log.bytes;
        histogram "pasarela_wal_batch_records" "Records per synced write." => Value::Counted(&log.batch_records, Value::Whole);
        histogram "pasarela_wal_sync_seconds" "Time of a synced write." => Value::Counted(&log.sync_us, Value::Micros);
        gauge "pasarela_wal_pending_records" "Records, reads and snapshots that wait for the disk." => log.pending_records;
        gauge "pasarela_wal_pending_bytes" "Bytes of the records, reads and snapshots that wait for the disk; beyond storage.pending_bytes_max requests are refused." => log.pending_bytes;
        gauge "pasarela_wal_durable_lag_seconds" "How long the oldest of what is being written has waited; large while the disk does not answer." => log.waiting;
        gauge "pasarela_disk_free_bytes" "Room that is left on the disk of the data directory." => disk.free_bytes();
        gauge "pasarela_disk_reserve_bytes" "storage.reserve_bytes: with less room than this writes are refused." => disk.reserve_bytes;
    }
}

fn names(series: &Series) -> [String; 4] {
    let [side, method] =
        [&series.side, &series.method].map(|name| name.as_deref().unwrap_or_default().to_owned());
    [series.pair.to_string(), series.source.to_string(), side, method]
}

fn rates(page: &mut Page, prices: &Prices, now: Timestamp) {
    let mut ages: BTreeMap<[String; 4], u64> = BTreeMap::new();
    for sample in prices.board.all() {
        let age = u64::try_from(now.since_ms(sample.fetched_at)).unwrap_or(0) / 1_000;
        // The BCV may have one for tomorrow too: what counts is when the last one came.
        let known = ages.entry(names(&sample.series)).or_insert(age);
        *known = age.min(*known);
    }
    let suspect: Vec<_> = prices.board.suspect().iter().map(|sample| names(&sample.series)).collect();
    let pins = prices.board.pins(now).into_iter().map(|pin| names(&pin.sample.series));
    let feeds: Vec<_> = prices.feeds.iter().map(|feed| (names(&feed.series), feed.state())).collect();
    let [written, lost] = prices.history.stats();
    families! { page
        gauge "pasarela_rate_age_seconds" "Seconds since a price was last received, by series."
            for ([pair, source, side, method], age) in &ages,
            by("pair" pair, "source" source, "side" side, "method" method) => *age;
        gauge "pasarela_rate_age_max_seconds" "rates.max_age_seconds: an older market rate is not used for money." => prices.market.max_age_seconds();
        gauge "pasarela_rate_suspect" "1 while the newest sample of a series is too far from the one before it, and decides nothing."
            for series in ages.keys(),
            by("pair" &series[0], "source" &series[1], "side" &series[2], "method" &series[3]) => suspect.contains(series);
        gauge "pasarela_rate_pinned" "1 while an operator holds the price of a source and side."
            for [pair, source, side, _] in pins, by("pair" &pair, "source" &source, "side" &side) => true;
        counter "pasarela_rate_feed_failures_total" "How often a feed got no price."
            for ([pair, source, side, method], state) in &feeds,
            by("pair" pair, "source" source, "side" side, "method" method) => state.failures;
        gauge "pasarela_rate_feed_failures_in_a_row" "How often a feed got no price since it last got one."
            for ([pair, source, side, method], state) in &feeds,
            by("pair" pair, "source" source, "side" side, "method" method) => state.failures_in_a_row;
        counter "pasarela_rate_samples_written_total" "Samples that are in the history of rates since the start." => written;
        counter "pasarela_rate_samples_lost_total" "Samples that the history of rates could not take." => lost;
    }
}

fn rails(page: &mut Page, services: &Services) {
    let rails = &services.rails;
    let lanes = rails.figures();
    families! { page
        counter "pasarela_rail_calls_total" "Calls of banks by kind (send an order, ask about one) and answer; silent: none came in time; unaskable: none that says what became of an order that cannot be asked about; not_sent, not_asked: the bank was not called."
            for outcomes in rails.outcomes(), for (how, tally) in outcomes.tallies(), for (answer, count) in tally.answers(),
            by("rail" outcomes.rail, "call" how, "outcome" answer) => count;
        histogram "pasarela_rail_call_duration_seconds" "Time until a bank answered or was given up, by kind of call."
            for outcomes in rails.outcomes(), for (how, tally) in outcomes.tallies(),
            by("rail" outcomes.rail, "call" how) => Value::Counted(&tally.answer_us(), Value::Micros);
        counter "pasarela_rail_contradicted_total" "Operations of which a bank said both that they were done and that they were not, over all runs; GET /admin/operations lists them."
            => services.contradictions(usize::MAX) as u64;
        gauge "pasarela_rail_unresolved" "Orders that no bank has answered for longer than rails.unresolved_after_seconds, when they were counted last; GET /admin/operations?status=unresolved lists them."
            => services.waits.counted().unresolved.values().sum::<u64>();
        gauge "pasarela_transfer_guesses" "References of live Pago Móvil transfers that were looked for since the start and are no transfer's."
            => services.waits.transfer_guesses.load(Ordering::Relaxed);
        gauge "pasarela_rail_circuit_open" "1 while a circuit of a live rail is open: such calls are not made, their charges are refused, their payouts wait, and the rail is probed until it answers."
            for lane in &lanes, by("rail" lane.name) => lane.is_open;
        gauge "pasarela_rail_queued" "Payouts that were accepted and that no live rail was sent yet."
            for lane in &lanes, by("rail" lane.name) => lane.queued;
        counter "pasarela_rail_duplicate_calls_total" "Orders that reached the simulated bank twice, over all runs: 0, unless there is a defect." => rails.test.duplicate_calls();
    }
}

fn networks(page: &mut Page, services: &Services) {
    let seen: Vec<_> = services
        .rails
        .networks
        .iter()
        .map(|evm| (evm.settings.network.name(), evm.state().figures.clone()))
        .collect();
    families! { page
        gauge "pasarela_usdt_head_block" "The newest block of a network's node."
            for (network, of) in &seen, by("network" network) => of.head.unwrap_or(0);
        gauge "pasarela_usdt_head_timestamp_seconds" "The instant at which the newest block that the node knows was made, in seconds since 1970; 0: the node was not seen yet."
            for (network, of) in &seen, by("network" network) => of.head_at.unwrap_or(0);
        gauge "pasarela_usdt_scanned_block" "The last block that was searched for deposits; above the head, somebody has lied of blocks; 0: none was yet."
            for (network, of) in &seen, by("network" network) => of.scanned.unwrap_or(0);
        counter "pasarela_usdt_log_entries_set_aside_total" "Entries of the token's log that cannot be read and are not credited, since the start; the log names them."
            for (network, of) in &seen, by("network" network) => of.set_aside;
        counter "pasarela_usdt_searches_repeated_total" "How often the chain did not have the block any more up to which it was searched, since the start."
            for (network, of) in &seen, by("network" network) => of.gone_back;
        gauge "pasarela_usdt_gas_gwei" "What the hot wallet pays gas from, in whole gwei."
            for (network, of) in &seen, by("network" network)
            => u64::try_from(of.gas.unwrap_or(0) / GWEI).unwrap_or(u64::MAX);
        gauge "pasarela_usdt_payouts" "USDT payouts of live mode by what they are: waiting for a transaction, in_flight (it is not final), doubtful (an operator has to look)."
            for (network, of) in &seen,
            for (state, count) in [("waiting", of.waiting), ("in_flight", of.in_flight), ("doubtful", of.doubtful)],
            by("network" network, "state" state) => count;
        gauge "pasarela_usdt_payouts_held" "1 where payouts wait for this: usdt or gas in the wallet, the fee below max_fee_gwei, the node, or the node to be on the right chain."
            for (network, of) in &seen, for why in Waits::ALL,
            by("network" network, "for" why.name()) => of.waits == Some(why);
        counter "pasarela_usdt_replaced_total" "Stuck transactions that were replaced by one that pays more, since the start."
            for (network, of) in &seen, by("network" network) => of.replaced;
        counter "pasarela_usdt_deposits_total" "Transfers to our addresses since the start: credited, or not_whole (a part, or all, was not credited)."
            for (network, of) in &seen, for (outcome, count) in [("credited", of.deposits), ("not_whole", of.rests)],
            by("network" network, "outcome" outcome) => count;
    }
}

fn webhooks(page: &mut Page, webhooks: &Webhooks) {
    let counters = &webhooks.counters;
    let deliveries = [("delivered", &counters.delivered), ("failed", &counters.failed)];
    families! { page
        gauge "pasarela_webhook_backlog" "Events that endpoints were not sent yet, at most." => webhooks.backlog();
        gauge "pasarela_webhook_under_way" "Deliveries on their way." => counters.under_way.load(Ordering::Relaxed);
        counter "pasarela_webhook_deliveries_total" "Deliveries by outcome."
            for (outcome, count) in deliveries, by("outcome" outcome) => count.load(Ordering::Relaxed);
    }
}

fn system(page: &mut Page, process: &Process) {
    families! { page
        gauge "pasarela_process_resident_memory_bytes" "Memory in use." => process.resident_bytes;
        counter "pasarela_process_cpu_seconds_total" "Processor time spent, on all cores." => Value::Micros(process.cpu_us);
        gauge "pasarela_process_threads" "Threads." => process.threads;
        gauge "pasarela_process_open_fds" "Files and sockets that are open." => process.open_files;
    }
    if let Some(most) = process.open_files_max {
        families! { page
            gauge "pasarela_process_max_fds" "Files and sockets that may be open." => most;
        }
    }
}
