//! Moves of accounts, as `src/gateway/moving.rs` carries them out: with the judge, the chains and the engine's copy of
//! the program, and pages that are small.

use super::Fault;
use super::network::{Path, Said};
use super::server::{Server, text};
use domain::codec;
use domain::platform::Tenant;
use domain::platform::copies::{BookCopy, Chain, Copied, Page, record_hash};
use domain::record::Record;
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::partition_moves::MoveStep;
use domain::values::ids::{Mode, tenant_key};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Records of the source's log that are looked through for a page.
const LOOKED_AT: usize = 20;
const AT_ONCE: Duration = Duration::from_secs(2);
/// Without a step forward a move is undone after so long: while the account is served, and while it is not.
const PATIENCE: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(10)];
const PAUSE: Duration = Duration::from_millis(50);

/// What a partition has of an account that comes.
pub struct Intake {
    from: u8,
    /// How often the account had moved then: it may have been here since.
    moves: u32,
    after: u64,
    books: [BookCopy; 2],
    settings: [(u64, Option<u8>); 2],
}

impl Intake {
    fn learn(&mut self, book: usize, payload: &[u8]) -> Result<(), String> {
        let record: Record = codec::decode(payload).map_err(|error| error.to_string())?;
        if let Some(settings) = &record.tenant_settings {
            self.settings[book] = (settings.version, settings.moving_to);
        }
        Ok(())
    }
}

fn keys(number: u32) -> [u64; 2] {
    [Mode::Live, Mode::Test].map(|mode| tenant_key(number, mode))
}

impl Server {
    pub async fn answer_copy(self: &Arc<Self>, body: &[u8]) -> Said {
        let (number, from, moves) = codec::decode(body).map_err(|error| error.to_string())?;
        Ok(codec::encode_newest(&self.copy(number, (from, moves)).await?))
    }

    pub fn answer_records(&self, body: &[u8]) -> Said {
        let (number, after, seen, have): (u32, u64, (u64, u64), (u64, u64)) =
            codec::decode(body).map_err(|error| error.to_string())?;
        Ok(codec::encode_newest(&self.page(number, after, [seen.0, seen.1], [have.0, have.1])?))
    }

    /// In the first partition: moves an account, whose move has begun, to its end.
    pub async fn finish(self: Arc<Self>, number: u32) -> Result<(), String> {
        let mut stuck: Option<Instant> = None;
        loop {
            let tenant = self.directory.tenant_numbered(number).ok_or("nobody has that number")?;
            let Some(to) = tenant.moving else { return self.until_served(&tenant).await };
            let closed = tenant.tenant_settings.moving_to.map(|_| tenant.tenant_settings.version);
            let took = match self.ask_to_copy(to, &tenant).await {
                Ok(_) if closed.is_some() && self.has(Fault::EndsBeforeAllIsCopied) => {
                    self.step(&tenant, MoveStep::End { closed: closed.unwrap_or_default() }).await
                }
                Ok(copied) if closed.is_some() && copied.closed == closed => {
                    self.step(&tenant, MoveStep::End { closed: copied.closed.unwrap_or_default() }).await
                }
                Ok(copied) if closed.is_none() && copied.is_level => {
                    self.step(&tenant, MoveStep::Close).await
                }
                Ok(_) if closed.is_none() => {
                    stuck = None;
                    sleep(PAUSE).await;
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
            if since.elapsed() > PATIENCE[usize::from(closed.is_some())] {
                match self.step(&tenant, MoveStep::Undo).await {
                    Ok(()) => return Err(format!("the move was undone: {why}")),
                    Err(why) if self.engine.ready().is_err() => return Err(why),
                    Err(_) => {}
                }
            }
            sleep(PAUSE).await;
        }
    }

    async fn ask_to_copy(&self, to: u8, tenant: &Tenant) -> Result<Copied, String> {
        let ask = (tenant.number, tenant.partition, tenant.moves);
        let said = self.ask(to, Path::Copy, codec::encode_newest(&ask)).await?;
        codec::decode(&said).map_err(|error| error.to_string())
    }

    async fn until_served(&self, tenant: &Tenant) -> Result<(), String> {
        let began = Instant::now();
        if self.has(Fault::GoesOnFromAnOldCopy) {
            return Ok(());
        }
        while !matches!(self.ask_to_copy(tenant.partition, tenant).await, Ok(Copied { serves: true, .. })) {
            if began.elapsed() > PATIENCE[1] {
                return Err("it is in its new partition, which has no leader yet".to_owned());
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn step(&self, tenant: &Tenant, step: MoveStep) -> Result<(), String> {
        let number = tenant.number;
        let _turn = self.turns.of(number).await;
        self.platform(PlatformAsk::MoveWithin { number, step }).await?;
        self.push(number).await
    }

    /// In the target: takes over what the source has by now.
    async fn copy(&self, number: u32, (from, moves): (u8, u32)) -> Result<Copied, String> {
        if let Some(tenant) =
            self.directory.tenant_numbered(number).filter(|known| known.partition == self.partition)
        {
            self.copies.lock().expect("nobody panics with it").remove(&number);
            let serves = tenant.pushed >= tenant.tenant_settings.version;
            return Ok(Copied { serves, ..Copied::default() });
        }
        let copy = Arc::clone(self.copies.lock().expect("nobody panics with it").entry(number).or_default());
        let Ok(mut copy) = timeout(AT_ONCE, copy.lock()).await else { return Ok(Copied::default()) };
        let goes_on = self.has(Fault::GoesOnFromAnOldCopy);
        let mut known = match copy.take() {
            Some(known) if known.from == from && (known.moves == moves || goes_on) => known,
            _ => self.beginning(number, (from, moves)).await?,
        };
        let began = Instant::now();
        let is_level = loop {
            let is_level = self.take_page(number, &mut known).await?;
            if is_level || began.elapsed() > AT_ONCE {
                break is_level;
            }
        };
        let [live, test] = known.settings;
        let closed = (live == test && live.1 == Some(self.partition)).then_some(live.0);
        *copy = Some(known);
        Ok(Copied { is_level, closed, serves: false })
    }

    async fn beginning(&self, number: u32, (from, moves): (u8, u32)) -> Result<Intake, String> {
        if !keys(number).into_iter().all(|key| self.engine.is_quiet(key)) {
            return Err("something is under way".to_owned());
        }
        for key in keys(number) {
            self.engine.copy(key, Vec::new()).await.map_err(text)?;
        }
        let mut copy =
            Intake { from, moves, after: 0, books: Default::default(), settings: Default::default() };
        let reader = self.engine.reader();
        for stored in reader.records(1, Some(reader.last_seq())) {
            let stored = stored.map_err(|error| error.to_string())?;
            if let Some(book) = keys(number).iter().position(|key| *key == stored.tenant) {
                copy.books[book].have.add(record_hash(stored.time_ms, &stored.payload));
                copy.learn(book, &stored.payload)?;
            }
        }
        Ok(copy)
    }

    /// Whether the source had nothing more.
    async fn take_page(&self, number: u32, copy: &mut Intake) -> Result<bool, String> {
        let of = |chain: fn(&BookCopy) -> Chain| {
            let [live, test] = copy.books.each_ref().map(|book| chain(book).count);
            (live, test)
        };
        let (seen, have) = (of(|book| book.seen), of(|book| book.have));
        let ask = (number, copy.after, seen, have);
        let said = self.ask(copy.from, Path::Records, codec::encode_newest(&ask)).await?;
        let page: Page = codec::decode(&said).map_err(|error| error.to_string())?;
        for (book, hash) in &page.known {
            copy.books.get_mut(usize::from(*book)).ok_or("no book")?.next(*hash, false)?;
        }
        let (mut rest, mut new) = (&page.records[..], [Vec::new(), Vec::new()]);
        while !rest.is_empty() {
            let seq = rest.get(8..16).and_then(|seq| seq.try_into().ok()).map(u64::from_le_bytes);
            let split = wal::Record::split_off(rest, seq.ok_or("it is cut off")?, None);
            let (stored, following) = split.map_err(|error| error.to_string())?;
            rest = following;
            let book = keys(number).iter().position(|key| *key == stored.tenant).ok_or("no book")?;
            if copy.books[book].next(record_hash(stored.time_ms, &stored.payload), true)? {
                copy.learn(book, &stored.payload)?;
                new[book].push((stored.time_ms, stored.payload));
            }
        }
        for (key, records) in keys(number).into_iter().zip(new) {
            if !records.is_empty() {
                self.engine.copy(key, records).await.map_err(text)?;
            }
        }
        copy.after = page.until;
        let is_level = page.until >= page.newest;
        if is_level && copy.books.iter().any(|book| book.seen.count < book.have.count) {
            return Err("the source has less than is here".to_owned());
        }
        Ok(is_level)
    }

    /// In the source: what it has of both books after a record of its log.
    fn page(&self, number: u32, after: u64, mut seen: [u64; 2], have: [u64; 2]) -> Result<Page, String> {
        let reader = self.engine.reader();
        let mut page = Page { until: after, newest: reader.last_seq(), ..Page::default() };
        if page.newest < after {
            return Err("this log is shorter than it was".to_owned());
        }
        for stored in reader.records(after + 1, Some(page.newest)).take(LOOKED_AT) {
            let stored = stored.map_err(|error| error.to_string())?;
            page.until = stored.seq;
            if let Some(book) = keys(number).iter().position(|key| *key == stored.tenant) {
                if seen[book] < have[book] {
                    page.known.push((book as u8, record_hash(stored.time_ms, &stored.payload)));
                } else {
                    stored.encode_into(&mut page.records);
                }
                seen[book] += 1;
            }
        }
        Ok(page)
    }
}
