//! Payouts with transactions are followed to their end, and the others get one, in their order, as
//! long as the wallet can pay.

use super::chain::Facts;
use super::open::{self, OpenPayout};
use super::{TurnError, Worker};
use crate::rails::evm::transaction::Transaction;
use crate::rails::evm::{Waits, erc20, hex0x, read_hex};
use domain::entities::crypto_payout::{Fees, Status, Transfer};
use domain::entities::{Entity, crypto_payout};
use domain::index::{self, Space};
use domain::machine::Command;
use domain::rail::{How, RailAnswer, RailReply};
use domain::resources::crypto::payouts as rules;
use domain::resources::crypto::transfers::{Market, Move, Signing, Standing, next_move};
use domain::values::ids::{EntityId, Id, PLATFORM};
use std::sync::Arc;

/// A transfer of USDT uses half of it; what is not used is not paid.
const GAS: u64 = 150_000;
/// Nodes keep so many transactions of one account that no block has, and hardly more.
const IN_FLIGHT_MAX: usize = 16;

#[derive(Default)]
struct Reserved {
    gas: u128,
    usdt: u128,
}

impl Reserved {
    fn add(&mut self, fees: Fees, units: u128) {
        self.gas = self.gas.saturating_add(gas_of(fees));
        self.usdt = self.usdt.saturating_add(units);
    }
}

impl Worker {
    pub(super) async fn follow_all(&mut self, facts: &Facts) -> Result<(), TurnError> {
        let open: Vec<OpenPayout> = self.open.all().cloned().collect();
        for open in open {
            if let Some(transfer) = open.payout.transfer.clone() {
                self.follow(&open, &transfer, facts).await?;
            }
        }
        Ok(())
    }

    async fn follow(
        &mut self,
        open: &OpenPayout,
        transfer: &Transfer,
        facts: &Facts,
    ) -> Result<(), TurnError> {
        let standing = self.standing(open, transfer, facts).await?;
        if standing != Standing::Doubtful {
            self.doubtful.remove(&open.payout.id);
        }
        match standing {
            Standing::Unconfirmed => {}
            Standing::Open => self.push(open, transfer, facts).await?,
            Standing::Doubtful => {
                if self.doubtful.insert(open.payout.id) {
                    let (network, payout) = (self.evm.settings.network.name(), open.payout.id);
                    tracing::error!(network, %payout, nonce = transfer.nonce, "what the node says of a \
                        payout's transactions does not fit together: an operator has to look");
                }
            }
            ended => self.reply(open, ended).await,
        }
        Ok(())
    }

    async fn push(&mut self, open: &OpenPayout, transfer: &Transfer, facts: &Facts) -> Result<(), TurnError> {
        let settings = &self.evm.settings;
        let market = Market {
            count: facts.count,
            offered: facts.offered,
            max: settings.max_fee_per_gas,
            stuck_after_ms: i64::try_from(settings.stuck_after.as_millis()).unwrap_or(i64::MAX),
        };
        // Another wallet's transaction can be broadcast and not be signed.
        let is_ours = transfer.wallet == settings.wallet.account;
        match next_move(transfer, market, self.services.now()) {
            Move::Replace(fees) if is_ours => {
                if self.sign(open, transfer.nonce, fees, facts).await? {
                    self.evm.state().figures.replaced += 1;
                    tracing::warn!(network = self.evm.settings.network.name(), payout = %open.payout.id, nonce = transfer.nonce, max_fee = fees.max, "a stuck transaction was replaced by one that pays more");
                }
            }
            Move::Replace(_) | Move::Broadcast => {
                let newest = transfer.newest().map(|newest| newest.hash);
                if let Some(hash) = newest
                    && !self.evm.node.knows(&hash).await?
                {
                    self.broadcast(open.payout.id, &transfer.raw).await;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn follow_asked(&mut self, facts: &Facts) -> Result<(), TurnError> {
        let asked = std::mem::take(&mut self.evm.state().asked);
        for (tenant_key, operation) in asked {
            let (id, _) = Id::from(operation).entity_and_operation();
            let found = open::read(self.services.engine.reader(), tenant_key, id)?;
            let Some(open) = found.filter(|open| open.payout.status != Status::Processing) else { continue };
            let Some(transfer) = open.payout.transfer.clone() else { continue };
            let standing = self.standing(&open, &transfer, facts).await?;
            self.reply(&open, standing).await;
        }
        Ok(())
    }

    /// What is not at its end has no reply.
    async fn reply(&mut self, open: &OpenPayout, standing: Standing) {
        let answer = match standing {
            Standing::Done { hash } => RailAnswer::done(hex0x(&hash)),
            Standing::Failed { code } => RailAnswer::refused(code),
            Standing::Unconfirmed | Standing::Open | Standing::Doubtful => return,
        };
        let operation = open.payout.id.operation(crypto_payout::SEND);
        let command = Command::RailReply(RailReply::plain(operation, How::Ask, answer)).into();
        let id = EntityId::crypto_payout(open.payout.id);
        let engine = &self.services.engine;
        let asked = engine.continue_entity(open.tenant_key, id, command).await;
        if let Err(failure) = asked {
            tracing::warn!(payout = %open.payout.id, ?failure, "the network's word on a payout was not \
                recorded: it is asked again");
        }
        self.open.forget(open.payout.id);
    }

    pub(super) async fn sign_next(&mut self, facts: &Facts) -> Result<(), TurnError> {
        let (unsigned, signed): (Vec<OpenPayout>, Vec<OpenPayout>) =
            self.open.all().cloned().partition(|open| open.payout.transfer.is_none());
        let evm = Arc::clone(&self.evm);
        let units_of = |open: &OpenPayout| evm.settings.units.of(open.payout.amount).unwrap_or(u128::MAX);
        let mut reserved = Reserved::default();
        for open in &signed {
            let transfer = open.payout.transfer.as_deref().filter(|transfer| transfer.nonce >= facts.count);
            if let Some(newest) = transfer.and_then(Transfer::newest) {
                reserved.add(newest.fees, units_of(open));
            }
        }
        let room = IN_FLIGHT_MAX.saturating_sub(signed.len());
        let mut begun = 0;
        let mut waits = None;
        for open in unsigned.iter().take(room) {
            // While the clock is in doubt no live money is decided on.
            if self.services.may_decide(open.tenant_key).is_err() {
                break;
            }
            let units = units_of(open);
            let fees = match affordable(facts, &reserved, units) {
                Ok(fees) => fees,
                Err(why) => {
                    waits = Some(why);
                    break;
                }
            };
            let nonce = self.free_nonce(facts.count)?;
            if self.sign(open, nonce, fees, facts).await? {
                begun += 1;
                reserved.add(fees, units);
            }
        }
        let (waiting, network) = (unsigned.len() - begun, self.evm.settings.network.name());
        {
            let figures = &mut self.evm.state().figures;
            (figures.waiting, figures.in_flight) = (waiting, signed.len() + begun);
            (figures.doubtful, figures.waits) = (self.doubtful.len(), waits);
        }
        if self.waits != waits {
            self.waits = waits;
            match waits.map(Waits::name) {
                Some(why) => tracing::warn!(network, waiting, why, "USDT payouts wait for the wallet"),
                None => tracing::info!(network, "USDT payouts no longer wait for the wallet"),
            }
        }
        Ok(())
    }

    /// From the network's own on, that no record has taken.
    fn free_nonce(&self, from: u64) -> Result<u64, TurnError> {
        let (settings, reader) = (&self.evm.settings, self.services.engine.reader());
        let wallet = settings.wallet.account;
        let mut nonce = from;
        loop {
            let name = Transfer::nonce_name(settings.chain_id, &wallet, nonce);
            let key = index::name(PLATFORM, Space::WalletNonce, &name);
            if reader.index_get(&key).map_err(crate::store::history::Unreadable::from)?.is_none() {
                return Ok(nonce);
            }
            nonce += 1;
        }
    }

    /// Broadcast only after the record. `false` when it was not recorded: then nobody has seen it.
    async fn sign(
        &mut self,
        open: &OpenPayout,
        nonce: u64,
        fees: Fees,
        facts: &Facts,
    ) -> Result<bool, TurnError> {
        let settings = &self.evm.settings;
        let to = read_hex(&open.payout.address.to_ascii_lowercase());
        let Some((to, units)) = to.zip(settings.units.of(open.payout.amount)) else {
            tracing::error!(payout = %open.payout.id, "a payout cannot be written as a transaction: an \
                operator has to look");
            return Ok(false);
        };
        let transaction = Transaction {
            chain_id: settings.chain_id,
            nonce,
            tip_per_gas: fees.tip,
            fee_per_gas: fees.max,
            gas: GAS,
            to: settings.contract,
            data: erc20::transfer(&to, units),
        };
        let signed = transaction.sign(&settings.wallet);
        let signing = Signing {
            chain_id: settings.chain_id,
            wallet: settings.wallet.account,
            nonce,
            since_block: facts.head.number,
            hash: signed.hash,
            fees,
            raw: signed.raw.clone(),
        };
        let command = Command::from(rules::Command::Sign(Box::new(signing))).into();
        let id = EntityId::crypto_payout(open.payout.id);
        let engine = &self.services.engine;
        let asked = engine.continue_entity(open.tenant_key, id, command).await;
        let recorded = match asked {
            Ok(settled) if settled.record.is_some() => settled.entity,
            // The payout has ended meanwhile, or the log did not take it.
            Ok(_) => None,
            Err(failure) => {
                tracing::warn!(payout = %open.payout.id, ?failure, "a payout's transaction was not recorded, \
                    and is not broadcast");
                None
            }
        };
        let Some(Entity::CryptoPayout(payout)) = recorded.as_deref() else {
            self.open.forget(open.payout.id);
            return Ok(false);
        };
        self.open.update(payout.clone());
        self.broadcast(open.payout.id, &signed.raw).await;
        Ok(true)
    }

    /// What the node says is a hint for people: blocks alone tell what became of the transaction.
    async fn broadcast(&self, payout: Id, raw: &[u8]) {
        if let Err(error) = self.evm.node.broadcast(raw).await {
            tracing::warn!(network = self.evm.settings.network.name(), %payout, %error, "a transaction was not \
                taken: it is broadcast again");
        }
    }
}

/// In wei.
fn gas_of(fees: Fees) -> u128 {
    u128::from(GAS) * u128::from(fees.max)
}

fn affordable(facts: &Facts, reserved: &Reserved, units: u128) -> Result<Fees, Waits> {
    let fees = facts.offered.ok_or(Waits::Fee)?;
    if facts.usdt < reserved.usdt.saturating_add(units) {
        return Err(Waits::Usdt);
    }
    if facts.gas < reserved.gas.saturating_add(gas_of(fees)) {
        return Err(Waits::Gas);
    }
    Ok(fees)
}
