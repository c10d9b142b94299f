//! Moves of tenants between partitions while they are served. The first partition's book judges
//! (`domain::resources::tenants::partition_moves`); its leader has the target copy what the source has, closes the
//! source when little is left, and says where the tenant is once the target has the records that closed both books.
//!
//! Every step can be asked for again, and whoever begins to lead goes on: the copy is as long as the target's log says,
//! a step that was taken changes nothing, and a move that nobody can finish is undone.

use crate::cluster::{Cluster, MoveInlet};
use crate::gateway::ask::{self, failure};
use crate::gateway::intakes::Intake;
use crate::gateway::services::Services;
use crate::gateway::tenant_settings::push_tenant_settings;
use crate::webhooks::Tenants as _;
use actors::Machine as _;
use api::problem::Problem;
use domain::codec;
use domain::index::{self, Space};
use domain::platform::beside::Beside;
use domain::platform::copies::{BookCopy, Chain, Copied, MoveAsk, Page, record_hash};
use domain::platform::{PlatformChange, Tenant};
use domain::record::Record;
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::partition_moves::MoveStep;
use domain::values::ids::{Mode, PLATFORM, tenant_key};
use domain::values::time::Timestamp;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedRwLockWriteGuard;
use wal::IndexOps;

/// Of a page, unless a single record is longer.
const PAGE_BYTES: usize = 256 << 10;
/// Records of the source's log that are looked through for a page.
const LOOKED_AT: usize = 20_000;
/// Hashes and decisions of the bank in a page.
const LINES_MAX: usize = 5_000;
/// For which a copy goes on before it says how far it is.
const AT_ONCE: Duration = Duration::from_secs(2);
/// For an answer of the target while the tenant is not served. It gives one as soon as it has looked for [`AT_ONCE`],
/// unless it begins anew.
const CLOSED_ANSWER: Duration = Duration::from_secs(4);
/// For which a closed source waits for what a bank is about to say.
const QUIET: Duration = Duration::from_millis(200);
/// Without a step forward a move is undone after so long: while the tenant is served, and while it is not.
const PATIENCE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(10)];
const PAUSE: Duration = Duration::from_millis(50);
/// For which calls that are under way are waited for before their account is closed.
const THROUGH: Duration = Duration::from_millis(200);

/// Live mode first.
fn keys(number: u32) -> [u64; 2] {
    [Mode::Live, Mode::Test].map(|mode| tenant_key(number, mode))
}

/// Answers what leaders ask while a tenant moves; the first partition's leader goes on with what is under way.
pub fn start(services: &Arc<Services>) -> MoveInlet {
    if services.callers.partition == 0 {
        let under_way =
            services.callers.directory.tenants().into_iter().filter(|tenant| tenant.moving.is_some());
        for tenant in under_way {
            let services = Arc::clone(services);
            tokio::spawn(async move { finish(&services, tenant.number).await });
        }
    }
    let (services, leads_since) = (Arc::clone(services), services.now());
    Box::new(move |message| {
        let services = Arc::clone(&services);
        // What is appended is known to the copy, also when nobody waits any more.
        let answered = tokio::spawn(async move {
            let ask: MoveAsk = codec::decode(&message)
                .map_err(|error| Problem::internal_error(format!("what is asked of a move: {error}")))?;
            match ask {
                MoveAsk::Copy { number, from, moves } => {
                    Ok(codec::encode_newest(&copy(&services, number, (from, moves)).await?))
                }
                MoveAsk::Records { number, after, seen, have } => {
                    let page = page(&services, number, after, [seen.0, seen.1], [have.0, have.1]).await?;
                    Ok(codec::encode_newest(&page))
                }
                MoveAsk::LastUse { number } => {
                    Ok(codec::encode_newest(&used_here(&services, number, leads_since).await?))
                }
            }
        });
        Box::pin(async move { answered.await.map_err(|_| Problem::shutting_down())? })
    })
}

/// When a key of a tenant that is here was used last. Who led before may have seen a use that nobody remembers, so it
/// is never before this process began to lead.
async fn used_here(services: &Services, number: u32, leads_since: Timestamp) -> Result<Timestamp, Problem> {
    let tenant = services.callers.directory.tenant_numbered(number).ok_or_else(Problem::not_found)?;
    if !services.callers.has(&tenant) {
        return Err(Problem::tenant_moving());
    }
    let used = services.keys_of(number).await?.into_iter().filter_map(|(_, used_at)| used_at);
    Ok(used.fold(leads_since, Ord::max))
}

/// When a tenant was used last that is in another partition than this, the first.
pub async fn last_use(services: &Services, tenant: &Tenant) -> Result<Timestamp, Problem> {
    let sending = services.callers.sending.as_ref().ok_or_else(Problem::no_leader)?;
    let ask = codec::encode_newest(&MoveAsk::LastUse { number: tenant.number });
    let said = sending.ask_of_move(tenant.partition, ask).await;
    let said = said.map_err(|why| Problem::no_leader().because(why))?;
    codec::decode(&said).map_err(|error| Problem::internal_error(error.to_string()))
}

/// Moves a tenant, whose move has begun, to its end. The error says why it was undone.
pub async fn finish(services: &Arc<Services>, number: u32) -> Result<Arc<Tenant>, Problem> {
    let mut stuck: Option<Instant> = None;
    loop {
        let known = || services.callers.directory.tenant_numbered(number).ok_or_else(Problem::not_found);
        let tenant = known()?;
        let Some(to) = tenant.moving else { return until_served(services, tenant).await };
        let closed = tenant.tenant_settings.moving_to.map(|_| tenant.tenant_settings.version);
        let patience = if closed.is_some() { CLOSED_ANSWER } else { Duration::MAX };
        let asked = tokio::time::timeout(patience, ask_to_copy(services, to, &tenant)).await;
        let asked = asked.unwrap_or_else(|_| Err("the target takes its time".to_owned()));
        // It begins the copy anew, and the logs are long: the account is better served meanwhile.
        let is_far = matches!(&asked, Ok(copied) if closed.is_some() && !copied.is_level);
        let took = match asked {
            Ok(copied) if closed.is_some() && copied.closed == closed => {
                step(services, &tenant, MoveStep::End { closed: copied.closed.unwrap_or_default() }).await
            }
            Ok(copied) if closed.is_none() && copied.is_level => {
                step(services, &tenant, MoveStep::Close).await
            }
            Ok(_) if closed.is_none() => {
                stuck = None;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            Ok(_) => Err("the source has not closed its books yet".to_owned()),
            Err(why) => Err(why),
        };
        let Err(why) = took else {
            stuck = None;
            continue;
        };
        let since = *stuck.get_or_insert_with(Instant::now);
        if is_far || since.elapsed() > PATIENCE[usize::from(closed.is_some())] {
            tracing::warn!(tenant = %tenant.id, to, why, "a move is undone: nobody could finish it");
            match step(services, &tenant, MoveStep::Undo).await {
                Ok(()) => {
                    let message =
                        format!("the move was undone, and the account is served where it was: {why}");
                    return Err(Problem { message: message.into(), ..Problem::no_leader() });
                }
                // Nobody else would end it while this process leads.
                Err(why) if services.engine.ready().is_err() => return Err(Problem::internal_error(why)),
                Err(_) => {}
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn ask_to_copy(services: &Services, to: u8, tenant: &Tenant) -> Result<Copied, String> {
    let sending = services.callers.sending.as_ref().ok_or("this is one log alone")?;
    let ask = MoveAsk::Copy { number: tenant.number, from: tenant.partition, moves: tenant.moves };
    let said = sending.ask_of_move(to, codec::encode_newest(&ask)).await?;
    codec::decode(&said).map_err(|error| error.to_string())
}

/// Takes a step in the first partition's book, and in its own books where they are concerned.
async fn step(services: &Arc<Services>, tenant: &Tenant, step: MoveStep) -> Result<(), String> {
    let number = tenant.number;
    let text = |problem: Problem| problem.code.to_owned();
    let _turn = services.callers.turns.of(number).await;
    ask::platform_patiently(services, || PlatformAsk::MoveWithin { number, step }).await.map_err(text)?;
    settle(services, number).await.map_err(text)
}

/// Does here what the settings of a tenant say since it may have come, left, closed or opened. In the tenant's turn.
pub async fn settle(services: &Arc<Services>, number: u32) -> Result<(), Problem> {
    {
        let _alone = let_through(services, number).await;
        push_tenant_settings(services, number).await?;
    }
    let webhooks = &services.webhooks;
    for key in keys(number) {
        match services.mode_of(key) {
            Some(_) => webhooks.attach_tenant(&**services, key)?,
            None => webhooks.forget_tenant(key),
        }
    }
    Ok(())
}

/// Before books are closed here, lets the calls of test mode that are under way come to their end, so that none is
/// refused in its middle. Live calls are one record, or go on by themselves.
async fn let_through(services: &Services, number: u32) -> Option<OwnedRwLockWriteGuard<()>> {
    let tenant = services.callers.directory.tenant_numbered(number)?;
    let settings = &tenant.tenant_settings;
    let is_here = tenant.partition == services.callers.partition;
    if !is_here || settings.moving_to.is_none() || tenant.pushed >= settings.version {
        return None;
    }
    let gate = Arc::clone(&services.names.test_gates.entry(tenant_key(number, Mode::Test)).or_default());
    tokio::time::timeout(THROUGH, gate.write_owned()).await.ok()
}

async fn until_served(services: &Arc<Services>, tenant: Arc<Tenant>) -> Result<Arc<Tenant>, Problem> {
    let began = Instant::now();
    while !matches!(ask_to_copy(services, tenant.partition, &tenant).await, Ok(Copied { serves: true, .. })) {
        if began.elapsed() > PATIENCE[1] {
            let message = "the account is in its new partition, which has no leader yet".into();
            return Err(Problem { message, ..Problem::no_leader() });
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(tenant)
}

/// The target: takes over what the source has by now.
async fn copy(services: &Arc<Services>, number: u32, place: (u8, u32)) -> Result<Copied, Problem> {
    let callers = &services.callers;
    if let Some(tenant) =
        callers.directory.tenant_numbered(number).filter(|known| known.partition == callers.partition)
    {
        callers.moves.copies.remove(&number);
        let serves = tenant.pushed >= tenant.tenant_settings.version;
        return Ok(Copied { serves, ..Copied::default() });
    }
    let copy = Arc::clone(&callers.moves.copies.entry(number).or_default());
    // Its log is looked through, which takes as long as it is.
    let Ok(mut copy) = tokio::time::timeout(AT_ONCE, copy.lock()).await else { return Ok(Copied::default()) };
    // Whatever breaks off: the log says how far it came.
    let mut known = match copy.take() {
        Some(known) if (known.from, known.moves) == place => known,
        _ => beginning(services, number, place).await?,
    };
    let began = Instant::now();
    let is_level = loop {
        let page = match next_page(services, number, &known).await {
            Ok(page) => page,
            // Nothing was taken of it: the copy goes on when the source does.
            Err(problem) => {
                *copy = Some(known);
                return Err(problem);
            }
        };
        let is_level = take_page(services, number, &mut known, page).await?;
        if is_level || began.elapsed() > AT_ONCE {
            break is_level;
        }
    };
    let [live, test] = known.settings;
    let closed = (live == test && live.1 == Some(callers.partition)).then_some(live.0);
    *copy = Some(known);
    Ok(Copied { is_level, closed, serves: false })
}

/// What the log here has of the tenant: a copy that was given up, or its books of when it was here before.
async fn beginning(
    services: &Arc<Services>,
    number: u32,
    (from, moves): (u8, u32),
) -> Result<Intake, Problem> {
    let engine = &services.engine;
    if !keys(number).into_iter().all(|key| engine.forget_entities(key)) {
        return Err(Problem::overloaded(1));
    }
    let mut copy = Intake {
        from,
        moves,
        after: 0,
        books: Default::default(),
        settings: Default::default(),
        operations: HashSet::new(),
    };
    // What was appended before something failed is durable then, and read, too.
    let mut is_new = true;
    for key in keys(number) {
        is_new &= engine.copy(key, Vec::new()).await.map_err(failure)? == engine.machine().empty(key);
    }
    if is_new {
        return Ok(copy);
    }
    let services = Arc::clone(services);
    let walked = tokio::task::spawn_blocking(move || {
        let reader = services.engine.reader();
        for stored in reader.records(1, Some(reader.last_seq())) {
            let stored = stored.map_err(unreadable)?;
            if let Some(book) = keys(number).iter().position(|key| *key == stored.tenant) {
                copy.books[book].have.add(record_hash(stored.time_ms, &stored.payload));
                let record: Record = codec::decode(&stored.payload).map_err(unreadable)?;
                copy.learn(book, &record);
            }
        }
        Ok::<_, Problem>(copy)
    });
    walked.await.map_err(|_| ask::defect("a panic while the log was read"))?
}

fn unreadable(why: impl std::fmt::Display) -> Problem {
    Problem::internal_error(format!("a record of a tenant that moves: {why}"))
}

async fn next_page(services: &Services, number: u32, copy: &Intake) -> Result<Page, Problem> {
    let of = |chain: fn(&BookCopy) -> Chain| {
        let [live, test] = copy.books.each_ref().map(|book| chain(book).count);
        (live, test)
    };
    let (seen, have) = (of(|book| book.seen), of(|book| book.have));
    let ask = MoveAsk::Records { number, after: copy.after, seen, have };
    let sending = services.callers.sending.as_ref().ok_or_else(Problem::no_leader)?;
    let said = sending.ask_of_move(copy.from, codec::encode_newest(&ask)).await;
    let said = said.map_err(|why| Problem::no_leader().because(why))?;
    codec::decode(&said).map_err(unreadable)
}

/// Whether the source had nothing more.
async fn take_page(
    services: &Arc<Services>,
    number: u32,
    copy: &mut Intake,
    page: Page,
) -> Result<bool, Problem> {
    for (book, hash) in &page.known {
        let book = copy.books.get_mut(usize::from(*book)).ok_or_else(|| unreadable("no book"))?;
        book.next(*hash, false).map_err(unreadable)?;
    }
    let (mut rest, mut new) = (&page.records[..], Copies::default());
    while !rest.is_empty() {
        let seq = rest.get(8..16).and_then(|seq| seq.try_into().ok()).map(u64::from_le_bytes);
        let seq = seq.ok_or_else(|| unreadable("it is cut off"))?;
        let (stored, following) = wal::Record::split_off(rest, seq, None).map_err(unreadable)?;
        rest = following;
        let book =
            keys(number).iter().position(|key| *key == stored.tenant).ok_or_else(|| unreadable("no book"))?;
        if !copy.books[book].next(record_hash(stored.time_ms, &stored.payload), true).map_err(unreadable)? {
            continue;
        }
        let record: Record = codec::decode(&stored.payload).map_err(unreadable)?;
        copy.learn(book, &record);
        // Both books take names of the same space, in this order.
        if may_take_slugs(services, &stored, &record)? && !new[1 - book].is_empty() {
            append(services, number, std::mem::take(&mut new)).await?;
        }
        new[book].push((stored.time_ms, stored.payload));
    }
    append(services, number, new).await?;
    take_fates(services, copy, page.fates).await?;
    copy.after = page.until;
    let is_level = page.until >= page.newest;
    if is_level && copy.books.iter().any(|book| book.seen.count < book.have.count) {
        return Err(unreadable("the source has less than is here"));
    }
    Ok(is_level)
}

type Copies = [Vec<(i64, Vec<u8>)>; 2];

async fn append(services: &Services, number: u32, new: Copies) -> Result<(), Problem> {
    if !services.site.disk.has_room(PLATFORM, false) {
        return Err(Problem::disk_nearly_full());
    }
    if services.cluster.as_ref().is_some_and(Cluster::is_window_full) {
        return Err(Problem::window_full());
    }
    for (key, records) in keys(number).into_iter().zip(new) {
        if !records.is_empty() {
            services.engine.copy(key, records).await.map_err(failure)?;
        }
    }
    Ok(())
}

/// Whether a record takes or frees slugs of links. None must be another tenant's: what this one gave up elsewhere may
/// be taken here by now, and would be free again.
fn may_take_slugs(services: &Services, stored: &wal::Record, record: &Record) -> Result<bool, Problem> {
    let (engine, mut ops, mut takes) = (&services.engine, IndexOps::new(), false);
    engine.machine().index(stored.tenant, stored.time_ms, record, &mut ops);
    for op in ops.resolved(stored.seq).ops() {
        let is_slug = index::among_all(op.key).is_some_and(|(space, _)| space == Space::Slug as u8);
        if !is_slug {
            continue;
        }
        takes = true;
        let known = engine.reader().index_get(op.key).map_err(unreadable)?;
        let owner =
            known.as_deref().and_then(|value| value.first_chunk()).map(|key| u64::from_be_bytes(*key));
        // Of one that has left the name is free.
        if owner.is_some_and(|owner| owner != stored.tenant && !services.callers.is_elsewhere(owner)) {
            return Err(unreadable("a payment link of it has, or had, the slug of another account's there"));
        }
    }
    Ok(takes)
}

async fn take_fates(services: &Arc<Services>, copy: &Intake, fates: Vec<Beside>) -> Result<(), Problem> {
    let reader = services.engine.reader();
    // The last word about each counts: of a tenant that comes back those from before are told once more.
    let mut newest = BTreeMap::new();
    for fate in fates {
        if let Beside::Fate { operation, kind, refusal } = fate
            && copy.operations.contains(&operation)
        {
            newest.insert(operation, (kind, refusal));
        }
    }
    let mut new = Vec::new();
    for (operation, (kind, refusal)) in newest {
        let name = index::name(PLATFORM, Space::Fate, &operation.to_string().replace('-', ""));
        let known = reader.index_get(&name).map_err(unreadable)?;
        if known.as_deref() != Some(&[kind, refusal]) {
            new.push(Beside::Fate { operation, kind, refusal });
        }
    }
    if !new.is_empty() {
        ask::platform_patiently(services, || PlatformAsk::Beside(new.clone())).await?;
    }
    Ok(())
}

/// The source: what it has of both books after a record of its log.
async fn page(
    services: &Arc<Services>,
    number: u32,
    after: u64,
    mut seen: [u64; 2],
    have: [u64; 2],
) -> Result<Page, Problem> {
    // What a bank has just decided about the last orders is to come along.
    let began = Instant::now();
    let is_closed = services.mode_of(keys(number)[1]).is_none();
    while is_closed && !services.engine.is_quiet(keys(number)[1]) && began.elapsed() < QUIET {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let services = Arc::clone(services);
    let read = tokio::task::spawn_blocking(move || {
        let reader = services.engine.reader();
        let mut page = Page { until: after, newest: reader.last_seq(), ..Page::default() };
        if page.newest < after {
            return Err(unreadable("this log is shorter than it was"));
        }
        for stored in reader.records(after + 1, Some(page.newest)).take(LOOKED_AT) {
            let stored = stored.map_err(unreadable)?;
            page.until = stored.seq;
            if stored.tenant == PLATFORM {
                let record: Record = codec::decode(&stored.payload).map_err(unreadable)?;
                if let Some(PlatformChange::Beside(entries)) = record.platform.map(|change| *change) {
                    page.fates
                        .extend(entries.into_iter().filter(|entry| matches!(entry, Beside::Fate { .. })));
                }
            }
            if let Some(book) = keys(number).iter().position(|key| *key == stored.tenant) {
                if seen[book] < have[book] {
                    page.known.push((book as u8, record_hash(stored.time_ms, &stored.payload)));
                } else {
                    stored.encode_into(&mut page.records);
                }
                seen[book] += 1;
            }
            if page.records.len() >= PAGE_BYTES || page.known.len() + page.fates.len() >= LINES_MAX {
                break;
            }
        }
        Ok::<_, Problem>(page)
    });
    read.await.map_err(|_| ask::defect("a panic while the log was read"))?
}
