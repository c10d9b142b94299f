//! Transfers of USDT to our addresses, found in the blocks of a network that are final, in order,
//! and credited once each. A range of blocks counts as searched when the node shows the block at
//! its end, whose name is kept and looked at again at every turn. Where the chain has another block
//! there, or none, an earlier answer was a lie or the chain has changed: what was searched ends
//! with the newest block that is still there, or where the network was served first. So nothing
//! that a node says for a while moves the search on for good.
//!
//! The progress stands in a record of the platform, a little behind what was searched: after a
//! restart the blocks since then are searched again, and a deposit that was credited is known by
//! its names, which the record of the credit has: a transfer counts once, in whatever block a node
//! shows it. A network is searched from the block that was final when it was served first; no
//! address is given out before.

use super::head::head;
use super::{BUSY, Connection, IDLE, REST, TurnError, may_turn};
use crate::gateway::services::Services;
use crate::gateway::{ask, usdt_addresses};
use crate::rails::evm::node::{Block, Logged};
use crate::rails::evm::rpc::RpcError;
use crate::rails::evm::{Account, Evm, hex0x};
use crate::store::history::{self, Unreadable};
use api::problem::Problem;
use domain::entities::deposit_address::{Asset, LogEntry};
use domain::index::{self, Space};
use domain::machine::Command;
use domain::platform::{Mark, PlatformChange, SearchedBlocks};
use domain::resources::crypto::deposits as rules;
use domain::resources::crypto::deposits::{Incoming, deposit_id};
use domain::resources::tenants::PlatformAsk;
use domain::values::address::canonical;
use domain::values::ids::{EntityId, Kind, Mode, PLATFORM, tenant_key};
use domain::values::time::{HOUR_MS, SECOND_MS};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BLOCKS_MAX: u64 = 1_000;
const ADDRESSES_MAX: usize = 500;
const CHUNKS_MAX: usize = 20;
const RECORDED_BLOCKS: u64 = 500;
const RECORDED_EVERY: Duration = Duration::from_secs(60);
/// So that each entry that is not credited is told once.
const SET_ASIDE_MAX: usize = 1_024;
/// An entry in whose place the node has shown another block so often is in no block of the chain.
const MISPLACED_MAX: u32 = 5;

#[derive(Clone)]
struct Owed {
    logged: Logged,
    misplaced: u32,
}

/// What becomes of a transfer.
enum Outcome {
    Settled,
    /// It is tried again, for this reason.
    Owed(String),
    SetAside(&'static str),
}

pub(super) struct Search {
    services: Arc<Services>,
    evm: Arc<Evm>,
    connection: Connection,
    is_watching: bool,
    searched: Option<SearchedBlocks>,
    recorded: Option<u64>,
    recorded_at: Instant,
    /// Not credited yet, as their book is halted or full, or their block is not shown.
    owed: Vec<Owed>,
    set_aside: BTreeSet<String>,
}

impl Search {
    pub(super) fn new(services: &Arc<Services>, evm: &Arc<Evm>) -> Search {
        Search {
            services: Arc::clone(services),
            evm: Arc::clone(evm),
            connection: Connection::default(),
            is_watching: false,
            searched: None,
            recorded: None,
            recorded_at: Instant::now(),
            owed: Vec::new(),
            set_aside: BTreeSet::new(),
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let mut pause = IDLE;
            if may_turn(&self.services).await {
                match self.turn().await {
                    Ok(true) => pause = REST,
                    Ok(false) => pause = if self.owed.is_empty() { BUSY } else { IDLE },
                    Err(error) => self.connection.note(&self.evm, Err(&error), "searched for deposits"),
                }
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// `true` when there is more to search.
    async fn turn(&mut self) -> Result<bool, TurnError> {
        self.begin().await?;
        self.credit_owed().await?;
        let head = head(&self.evm, self.services.now()).await?;
        let Some(last) = head.last else { return Ok(false) };
        let Some(mut searched) = self.look_again(&head.newest, &last).await? else { return Ok(false) };
        // A node behind a balancer may not have had the newest blocks of the last search.
        let mut first = (searched.last + 1).saturating_sub(self.evm.settings.confirmations);
        for _ in 0..CHUNKS_MAX {
            if searched.last >= last.number {
                break;
            }
            let to = (searched.last + BLOCKS_MAX).min(last.number);
            for logged in self.transfers(first, to).await? {
                self.credit(Owed { logged, misplaced: 0 }).await?;
            }
            let end = if to == last.number { last } else { self.shown(to).await? };
            let is_too_old = searched.marks.last().is_some_and(|before| end.timestamp < before.made_at);
            if is_too_old || end.timestamp > head.newest.timestamp {
                return Err(TurnError::Unshown(to));
            }
            searched.reached(end.mark());
            first = to + 1;
            self.note_searched(searched.clone());
        }
        self.record_if_due().await?;
        self.connection.note(&self.evm, Ok(()), "searched for deposits");
        Ok(searched.last < last.number)
    }

    async fn shown(&self, block: u64) -> Result<Block, TurnError> {
        self.evm.node.block(block).await?.ok_or(TurnError::Unshown(block))
    }

    fn note_searched(&mut self, searched: SearchedBlocks) {
        self.evm.state().figures.scanned = Some(searched.last);
        self.searched = Some(searched);
    }

    /// `None` where the search begins only now, or the node lags behind it a little, as one behind
    /// a balancer may.
    async fn look_again(&mut self, head: &Block, last: &Block) -> Result<Option<SearchedBlocks>, TurnError> {
        let Some(mut searched) = self.searched.clone() else {
            let (network, chain_id) = (self.evm.settings.network, self.evm.settings.chain_id);
            let (since, marks) = (self.services.now(), vec![last.mark()]);
            self.record(SearchedBlocks { network, chain_id, last: last.number, since, marks }).await?;
            return Ok(None);
        };
        let (recorded, confirmations) = (searched.last, self.evm.settings.confirmations);
        while let Some(mark) = searched.marks.last().copied() {
            match self.evm.node.block(mark.block).await? {
                Some(block) if block.mark() == mark => {
                    self.evm.state().known = Some(mark);
                    break;
                }
                None if (head.number..=head.number.saturating_add(confirmations)).contains(&mark.block) => {
                    return Ok(None);
                }
                _ => _ = searched.go_back(),
            }
        }
        if searched.marks.is_empty() {
            let since = searched.since.minus_ms(HOUR_MS).unix_ms() / SECOND_MS;
            searched.reached(self.last_before(u64::try_from(since).unwrap_or(0), last).await?);
        }
        if searched.last < recorded {
            self.evm.state().figures.gone_back += 1;
            tracing::error!(
                network = self.evm.settings.network.name(),
                from = recorded,
                to = searched.last,
                "the chain does not have the block up to which it was searched: it is searched again"
            );
            self.record(searched.clone()).await?;
        }
        Ok(Some(searched))
    }

    /// Made before this instant, in seconds since 1970; or the first of all.
    async fn last_before(&self, at: u64, last: &Block) -> Result<Mark, TurnError> {
        if last.timestamp < at {
            return Ok(last.mark());
        }
        let (mut low, mut high) = (0, last.number);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.shown(middle).await?.timestamp < at { low = middle } else { high = middle }
        }
        Ok(self.shown(low).await?.mark())
    }

    /// What fails again is kept, and so is what was not tried.
    async fn credit_owed(&mut self) -> Result<(), TurnError> {
        for owed in self.owed.clone() {
            self.owed.retain(|other| other.logged != owed.logged);
            if let Err(error) = self.credit(owed.clone()).await {
                self.owed.push(owed);
                return Err(error);
            }
        }
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), TurnError> {
        if self.searched.is_none()
            && let Some(searched) = self.recorded()?
        {
            self.recorded = Some(searched.last);
            self.note_searched(searched);
        }
        if !self.is_watching {
            for tenant in self.services.callers.own_tenants() {
                let tenant_key = tenant_key(tenant.number, Mode::Live);
                let given = usdt_addresses::given_out(&self.services, tenant_key, self.evm.settings.network);
                for account in given.map_err(unreadable)? {
                    self.evm.state().watched.insert(account, tenant_key);
                }
                tokio::task::yield_now().await;
            }
            self.is_watching = true;
        }
        self.connection.check_chain(&self.evm).await
    }

    fn recorded(&self) -> Result<Option<SearchedBlocks>, TurnError> {
        let reader = self.services.engine.reader();
        let name = SearchedBlocks::name_of(self.evm.settings.network, self.evm.settings.chain_id);
        let key = index::name(PLATFORM, Space::SearchedBlocks, &name);
        let Some(seq) = reader.index_get(&key).map_err(Unreadable::from)? else { return Ok(None) };
        let read = history::record(reader, history::seq(&seq)?)?;
        match read.record.platform.as_deref() {
            Some(PlatformChange::Searched(searched)) => Ok(Some(searched.clone())),
            _ => Err(Unreadable("a record of searched blocks that is none".to_owned()).into()),
        }
    }

    async fn record_if_due(&mut self) -> Result<(), TurnError> {
        let Some(mut searched) = self.searched.clone() else { return Ok(()) };
        // The deposits that are owed are searched for again after a restart.
        if let Some(owed) = self.owed.iter().map(|owed| owed.logged.block).min() {
            while searched.last >= owed {
                if !searched.go_back() {
                    return Ok(());
                }
            }
        }
        let recorded = self.recorded.unwrap_or(0);
        // What was not written down is searched again after a restart.
        if !self.services.site.disk.has_room(PLATFORM, false) {
            return Ok(());
        }
        let is_due = searched.last >= recorded.saturating_add(RECORDED_BLOCKS)
            || searched.last > recorded && self.recorded_at.elapsed() >= RECORDED_EVERY;
        if is_due { self.keep(searched).await } else { Ok(()) }
    }

    async fn record(&mut self, searched: SearchedBlocks) -> Result<(), TurnError> {
        self.keep(searched.clone()).await?;
        self.note_searched(searched);
        Ok(())
    }

    async fn keep(&mut self, searched: SearchedBlocks) -> Result<(), TurnError> {
        let last = searched.last;
        let ask = || PlatformAsk::Searched(searched.clone());
        ask::platform_patiently(&self.services, ask).await.map_err(unreadable)?;
        (self.recorded, self.recorded_at) = (Some(last), Instant::now());
        Ok(())
    }

    async fn transfers(&mut self, first: u64, last: u64) -> Result<Vec<Logged>, TurnError> {
        let watched: Vec<Account> = self.evm.state().watched.keys().copied().collect();
        let mut found = Vec::new();
        for some in watched.chunks(ADDRESSES_MAX) {
            let mut from = first;
            let mut blocks = last - first + 1;
            while from <= last {
                let to = (from + blocks - 1).min(last);
                match self.evm.node.transfers(&self.evm.settings.contract, some, (from, to)).await {
                    Ok(logs) => {
                        found.extend(logs.transfers);
                        for name in logs.unreadable {
                            self.set_aside(name, "it cannot be read");
                        }
                        from = to + 1;
                    }
                    // Nodes refuse what they find too much of.
                    Err(RpcError::Refused { .. } | RpcError::NoAnswer(_)) if blocks > 1 => {
                        blocks = blocks.div_ceil(2)
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        found.sort_by_key(|logged| (logged.block, logged.index));
        Ok(found)
    }

    /// An operator has to look, and nothing waits for the entry.
    fn set_aside(&mut self, name: String, why: &str) {
        if self.set_aside.len() < SET_ASIDE_MAX && self.set_aside.insert(name.clone()) {
            self.evm.state().figures.set_aside += 1;
            tracing::error!(
                network = self.evm.settings.network.name(),
                entry = name,
                why,
                "an entry of the token's log is not credited: an operator has to look"
            );
        }
    }

    async fn credit(&mut self, mut owed: Owed) -> Result<(), TurnError> {
        if self.set_aside.contains(&owed.logged.name) {
            return Ok(());
        }
        match self.outcome(&mut owed).await? {
            Outcome::Settled => {}
            Outcome::SetAside(why) => self.set_aside(owed.logged.name, why),
            Outcome::Owed(why) => {
                tracing::warn!(
                    network = self.evm.settings.network.name(),
                    transaction = hex0x(&owed.logged.transaction),
                    why,
                    "a deposit cannot be credited yet: it is tried again"
                );
                // The newest blocks are searched more than once.
                if !self.owed.iter().any(|other| other.logged == owed.logged) {
                    self.owed.push(owed);
                }
            }
        }
        Ok(())
    }

    async fn outcome(&self, owed: &mut Owed) -> Result<Outcome, TurnError> {
        let (logged, network) = (&owed.logged, self.evm.settings.network);
        let tenant_key = self.evm.state().watched.get(&logged.transfer.to).copied();
        let Some(tenant_key) = tenant_key else { return Ok(Outcome::Settled) };
        let address = hex0x(&logged.transfer.to);
        debug_assert_eq!(canonical(&address), address);
        let reader = self.services.engine.reader();
        let to = history::named(reader, tenant_key, Space::DepositTo, &address)?;
        let Some(to) = to else { return Ok(Outcome::Settled) };
        let block = self.evm.node.block(logged.block).await?;
        let Some(block) = block.filter(|block| block.hash == logged.block_hash) else {
            const IN_NO_BLOCK: &str = "the node does not show the block that it is of";
            owed.misplaced += 1;
            return Ok(match owed.misplaced <= MISPLACED_MAX {
                true => Outcome::Owed(IN_NO_BLOCK.to_owned()),
                false => Outcome::SetAside(IN_NO_BLOCK),
            });
        };
        let chain_id = self.evm.settings.chain_id;
        let id = deposit_id(chain_id, &logged.transaction, logged.index, block.timestamp);
        let transaction = hex0x(&logged.transaction);
        let entry = LogEntry { chain_id, index: logged.index, block: logged.block_hash };
        // Whether it was credited is known by its place in the log, and by the block of its transaction.
        let named = async |name: String| {
            ask::named_now(&self.services, tenant_key, Space::Deposit, &name, true).await
        };
        match named(entry.name(&transaction)).await {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(Outcome::Settled),
            Err(problem) => return Ok(Outcome::Owed(problem.to_string())),
        }
        match named(entry.transaction_name(&transaction)).await {
            Ok(Some(block)) if block != entry.block_id() => {
                return Ok(Outcome::SetAside("its transaction was credited out of another block"));
            }
            Ok(_) => {}
            Err(problem) => return Ok(Outcome::Owed(problem.to_string())),
        }
        let credited = self.evm.settings.units.credited(logged.transfer.units);
        if credited.is_none_or(|(_, rest)| rest > 0) {
            self.evm.state().figures.rests += 1;
            tracing::warn!(network = network.name(), address, transaction, units = %logged.transfer.units, "a deposit has a fraction of a cent or exceeds the limit, so a part of it is not credited");
        }
        let amount = credited.map(|(amount, _)| amount).filter(|amount| amount.minor() > 0);
        let Some(amount) = amount else { return Ok(Outcome::Settled) };
        if let Err(problem) = self.services.may_decide(tenant_key) {
            return Ok(Outcome::Owed(problem.to_string()));
        }
        let (asset, tx_hash) = (Asset::Usdt, transaction.clone());
        let incoming = Incoming { id, address, amount, network, asset, tx_hash, entry: Some(entry) };
        let command = Command::from(rules::Command::Receive(Box::new(incoming))).into();
        let to = EntityId { kind: Kind::DepositAddress, id: to };
        let network = network.name();
        match self.services.engine.continue_entity(tenant_key, to, command).await {
            Err(failure) => return Ok(Outcome::Owed(format!("{failure:?}"))),
            // The deposit came over another network than the address's own, or is beyond the
            // balance's bound.
            Ok(settled) => match settled.refusal {
                None => {
                    self.evm.state().figures.deposits += 1;
                    tracing::info!(network, transaction, deposit = %id, "a deposit was credited");
                }
                Some(refusal) => {
                    self.evm.state().figures.rests += 1;
                    tracing::error!(
                        network,
                        transaction,
                        ?refusal,
                        "a deposit was not credited: an operator has to look"
                    );
                }
            },
        }
        Ok(Outcome::Settled)
    }
}

fn unreadable(problem: Problem) -> TurnError {
    TurnError::Store(Unreadable(problem.private_message().unwrap_or_else(|| problem.to_string())))
}
