//! A process that leads a partition: what of `src/gateway/` carries between the parts that decide, without sockets, the
//! disk, prices and banks.

use super::Fault;
use super::moves::Intake;
use super::network::{Network, Path, Question, Said};
use super::universe;
use actors::{Engine, Failure, Guard};
use api::routes::{Modes, Needs};
use domain::cause::Cause;
use domain::codec;
use domain::index;
use domain::kept::KeepRef;
use domain::ledger::Ledger;
use domain::machine::{AnyBook, Command, Domain, KeyedCommand};
use domain::platform::settings::Settings;
use domain::platform::{Followed, PlatformBook, PlatformChange, Scope, Tenant};
use domain::record::Record;
use domain::resources::adjustments::Adjustment;
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::partition_moves::MoveStep;
use domain::values::ids::{Mode, PLATFORM, tenant_key};
use domain::values::money::Currency;
use domain::values::time::Timestamp;
use pasarela::gateway::followers::Followers;
use pasarela::gateway::following::{self, Place};
use pasarela::gateway::keys::Directory;
use pasarela::gateway::names::{NameOf, Reservations};
use pasarela::gateway::services::Turns;
use pasarela::gateway::tenant_request::check;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use wal::cluster::{Following, Keys, Leader, Quorum, Standing};

/// Of a message between leaders.
const ANSWER: Duration = Duration::from_secs(3);
/// Between two attempts to have a partition follow.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
const PATH: &str = "/debits";
/// The request of a debit takes a scope, and no mode.
const NEEDS: Needs = Needs {
    scope: Scope::Manage,
    modes: Modes::Both,
    reads: false,
    is_for_any_key: false,
    is_for_pages: false,
    leads_money: false,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<T> {
    Done(T),
    /// The account is in this partition, or that one knows.
    Elsewhere(u8),
    /// Certainly not carried out.
    Refused(String),
    Unknown(String),
}

/// The way to the other leaders.
pub struct Way {
    pub network: Arc<Network>,
    pub node: usize,
    pub quorum: Arc<dyn Quorum>,
    pub partitions: u8,
}

pub struct Server {
    pub partition: u8,
    pub engine: Engine<Domain>,
    pub directory: Arc<Directory>,
    pub leader: Leader,
    pub is_open: AtomicBool,
    pub followers: Option<Followers>,
    pub turns: Turns,
    pub reservations: Arc<Reservations>,
    pub copies: Mutex<BTreeMap<u32, Arc<tokio::sync::Mutex<Option<Intake>>>>>,
    pub way: Way,
    pub fault: Option<Fault>,
}

pub fn text(failure: Failure) -> String {
    format!("{failure:?}")
}

impl Server {
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.engine.clock.wall_ms())
    }

    pub fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The start: what the log says of callers, what was not pushed, and then what goes on.
    pub async fn begin(self: Arc<Self>) -> Result<(), String> {
        let book = self.platform_book().await?;
        book.tenants.values().for_each(|tenant| self.directory.learn_tenant(tenant));
        book.keys.values().for_each(|key| self.directory.learn_key(key));
        self.push_pending().await?;
        self.is_open.store(true, Ordering::Release);
        if self.partition == 0 {
            for partition in 1..self.way.partitions {
                tokio::spawn(Arc::clone(&self).keep(partition));
            }
            let under_way = self.directory.tenants().into_iter().filter(|tenant| tenant.moving.is_some());
            for tenant in under_way.filter(|_| !self.has(Fault::LeavesMovesUndone)) {
                tokio::spawn(Arc::clone(&self).finish(tenant.number));
            }
        }
        Ok(())
    }

    // What a request does.

    /// Whether this process led at an instant after `since` questions had been asked.
    fn confirmed<T>(&self, since: u64, done: T) -> Reply<T> {
        let is_shown = self.leader.is_confirmed_since(since) || self.has(Fault::AnswersUnconfirmed);
        if is_shown || self.leader.confirm() == Ok(Standing::Ours) {
            return Reply::Done(done);
        }
        Reply::Unknown("it could not confirm that it leads".to_owned())
    }

    /// The book that a key calls, if it may and that is here.
    fn recognised<T>(&self, key: &[u8; 32]) -> Result<u64, Reply<T>> {
        let Some(caller) = self.directory.recognise(key, self.now()) else {
            return Err(match self.partition {
                0 => Reply::Refused("unauthorized".to_owned()),
                _ => Reply::Elsewhere(0),
            });
        };
        if caller.tenant.partition != self.partition {
            return Err(Reply::Elsewhere(caller.tenant.partition));
        }
        match check(&NEEDS, &caller) {
            Ok(()) => Ok(caller.tenant_key),
            Err(problem) => Err(Reply::Refused(problem.code.to_owned())),
        }
    }

    /// Takes a cent, once under each name. The answer is the sequence.
    pub async fn debit(&self, key: &[u8; 32], name: &str) -> Reply<u64> {
        let since = self.leader.asked();
        let tenant = match self.recognised(key) {
            Ok(tenant) => tenant,
            Err(reply) => return reply,
        };
        let Ok(held) = self.reservations.hold(tenant, NameOf::Key(PATH.to_owned()), name, self.now()) else {
            return Reply::Refused("idempotency_in_progress".to_owned());
        };
        let kept =
            self.engine.reader().index_get(&index::kept_on(tenant, name, PATH)).expect("memory can be read");
        if let Some(seq) = kept {
            return self.confirmed(since, u64::from_be_bytes(seq.try_into().expect("a sequence")));
        }
        let adjustment = Adjustment {
            cause: Cause::Adjusted,
            currency: Currency::Ves,
            minor: -1,
            merchant: None,
            held: false,
            description: name.to_owned(),
            external_ref: None,
        };
        let keep = KeepRef {
            key: name.to_owned(),
            path: PATH.to_owned(),
            body_hash: [0; 16],
            first_seen: Timestamp::EPOCH,
            request_id: String::new(),
        };
        let command = KeyedCommand::from(Command::Adjust(Box::new(adjustment))).keeping(Some(keep));
        match self.engine.ask_book(tenant, command, Some(Box::new(held) as Guard)).await {
            Ok(settled) => match (settled.refusal, settled.seq) {
                (Some(refusal), _) => Reply::Refused(format!("{refusal:?}")),
                (None, Some(seq)) => self.confirmed(since, seq),
                (None, None) => Reply::Unknown("it wrote nothing".to_owned()),
            },
            Err(failure) => Reply::Unknown(text(failure)),
        }
    }

    /// What was taken of an account so far.
    pub async fn read(&self, key: &[u8; 32]) -> Reply<i64> {
        let since = self.leader.asked();
        let tenant = match self.recognised(key) {
            Ok(tenant) => tenant,
            Err(reply) => return reply,
        };
        match self.engine.view(tenant).await {
            Ok((AnyBook::Tenant(book), _)) => self.confirmed(since, -book.net(Ledger::Tenant, Currency::Ves)),
            Ok((AnyBook::Platform(_), _)) => panic!("the platform has no tenant's book"),
            Err(failure) => Reply::Unknown(text(failure)),
        }
    }

    /// A change of the platform that somebody asks the first partition for.
    pub async fn change(
        self: &Arc<Self>,
        number: u32,
        ask: PlatformAsk,
    ) -> Result<Option<Arc<Record>>, String> {
        let _turn = self.turns.of(number).await;
        self.platform(ask).await
    }

    /// New settings. The answer is their version.
    pub async fn set(self: &Arc<Self>, number: u32, settings: Settings) -> Result<u64, String> {
        let _turn = self.turns.of(number).await;
        let tenant = self.directory.tenant_numbered(number).ok_or("nobody has that number")?;
        let ask = PlatformAsk::SetTenantSettings {
            number,
            base: tenant.tenant_settings.version,
            settings: Arc::new(settings),
            live_status: tenant.tenant_settings.live_status,
            reason: None,
        };
        self.platform(ask).await?.ok_or("nothing changed")?;
        self.push(number).await?;
        Ok(self.directory.tenant_numbered(number).map_or(0, |tenant| tenant.tenant_settings.version))
    }

    pub async fn begin_move(self: Arc<Self>, number: u32, to: u8) -> Result<(), String> {
        let step = MoveStep::Begin(to);
        self.change(number, PlatformAsk::MoveWithin { number, step }).await?;
        self.finish(number).await
    }

    // `ask.rs`.

    pub async fn platform_book(&self) -> Result<PlatformBook, String> {
        match self.engine.view(PLATFORM).await.map_err(text)? {
            (AnyBook::Platform(book), _) => Ok(book),
            (AnyBook::Tenant(_), _) => panic!("the platform's book is none"),
        }
    }

    pub async fn platform(&self, ask: PlatformAsk) -> Result<Option<Arc<Record>>, String> {
        if self.partition != 0 && ask.is_first_partitions() {
            return Err("the first partition decides it".to_owned());
        }
        let command = Command::Platform(Box::new(ask)).into();
        let settled = self.engine.ask_book(PLATFORM, command, None).await.map_err(text)?;
        if let Some(refusal) = &settled.refusal {
            return Err(format!("{refusal:?}"));
        }
        if let Some(change) = settled.record.as_ref().and_then(|record| record.platform.as_deref()) {
            self.directory.learn(change, Timestamp::from_unix_ms(settled.time_ms));
            if let (Some(followers), Some(seq), false) =
                (&self.followers, settled.seq, self.has(Fault::AnswersBeforeOthersFollow))
            {
                followers.until_followed(seq, change, &self.directory).await;
            }
        }
        Ok(settled.record)
    }

    // `tenant_settings.rs`.

    pub async fn push(&self, number: u32) -> Result<(), String> {
        let tenant = self.directory.tenant_numbered(number).ok_or("nobody has that number")?;
        if tenant.partition != self.partition || tenant.pushed >= tenant.tenant_settings.version {
            return Ok(());
        }
        let (live, test) = tokio::join!(self.push_to(&tenant, Mode::Live), self.push_to(&tenant, Mode::Test));
        live.and(test)?;
        let version = tenant.tenant_settings.version;
        self.platform(PlatformAsk::Pushed { number, version }).await.map(drop)
    }

    async fn push_to(&self, tenant: &Tenant, mode: Mode) -> Result<(), String> {
        let command = Command::TenantSettings(tenant.tenant_settings.clone()).into();
        self.engine.ask_book(tenant_key(tenant.number, mode), command, None).await.map(drop).map_err(text)
    }

    async fn push_pending(&self) -> Result<(), String> {
        for tenant in self.directory.tenants().into_iter().filter(|tenant| tenant.partition == self.partition)
        {
            self.push(tenant.number).await?;
        }
        Ok(())
    }

    // `sending.rs` and the listener for nodes.

    pub async fn ask(&self, partition: u8, path: Path, body: Vec<u8>) -> Said {
        let keys = Keys::new(&universe::name(partition));
        let seen = Following::new(Arc::clone(&self.way.quorum), keys, "").glance();
        let leader = seen.map_err(|error| error.to_string())?.epoch.node;
        let node = leader.strip_prefix('n').and_then(|node| node.parse().ok()).ok_or("nobody leads it")?;
        let places = ((self.way.node, self.partition), (node, partition));
        match timeout(ANSWER, self.way.network.ask(places, path, body)).await {
            Ok(Ok(said)) => said,
            _ => Err("no answer".to_owned()),
        }
    }

    pub async fn answer(self: Arc<Self>, question: Question) {
        let said = match question.path {
            Path::Platform => self.take(&question.body).await.map(|seq| seq.to_be_bytes().to_vec()),
            Path::Copy => self.answer_copy(&question.body).await,
            Path::Records => self.answer_records(&question.body),
        };
        self.way.network.answer(question.slot, said);
    }

    // `following.rs`.

    async fn keep(self: Arc<Self>, partition: u8) {
        let followers = self.followers.as_ref().expect("it is the first partition");
        let (mut place, mut pause) = (None, PAUSES[0]);
        let mut newest = followers.newest.subscribe();
        loop {
            newest.mark_unchanged();
            match self.go_on(partition, &mut place).await {
                Ok(looked_at) => {
                    followers.reached(partition, looked_at);
                    pause = PAUSES[0];
                    let _ = timeout(PAUSES[1], newest.changed()).await;
                }
                Err(_) => {
                    place = None;
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSES[1]);
                }
            }
        }
    }

    async fn send(&self, partition: u8, message: Vec<u8>) -> Result<u64, String> {
        let said = self.ask(partition, Path::Platform, message).await?;
        Ok(u64::from_be_bytes(said.try_into().map_err(|_| "it answered no number")?))
    }

    async fn go_on(&self, partition: u8, place: &mut Option<Place>) -> Result<u64, String> {
        if place.is_none() {
            let followed = self.send(partition, Vec::new()).await?;
            *place = Some(Place { followed, looked_at: followed });
        }
        let place = place.get_or_insert_default();
        loop {
            let newest = self.engine.reader().last_seq();
            assert!(place.followed <= newest, "a partition has followed more than there is");
            let book = self.platform_book().await?;
            let found =
                following::due(self.engine.reader(), *place, (&book, newest), partition, || Ok(Vec::new()))?;
            place.looked_at = found.seq;
            if place.is_worth(&found) {
                let (after, seq) = (place.followed, found.seq);
                place.followed = self.send(partition, codec::encode_newest(&(after, found))).await?;
                if place.followed != seq {
                    return Err(format!("it is at record {} and not at {seq}", place.followed));
                }
            }
            if place.looked_at >= newest {
                return Ok(place.looked_at);
            }
        }
    }

    async fn take(&self, sent: &[u8]) -> Result<u64, String> {
        if sent.is_empty() {
            self.push_pending().await?;
        } else {
            let (after, followed): (u64, Followed) =
                codec::decode(sent).map_err(|error| error.to_string())?;
            let changed = self.platform(PlatformAsk::Follow { after, followed }).await?;
            if let Some(PlatformChange::Followed(followed)) =
                changed.as_ref().and_then(|record| record.platform.as_deref())
            {
                for tenant in &followed.tenants {
                    let _turn = self.turns.of(tenant.number).await;
                    self.push(tenant.number).await?;
                }
            }
        }
        Ok(self.platform_book().await?.followed)
    }
}
