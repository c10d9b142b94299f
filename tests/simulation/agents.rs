//! Calls of keys with a mandate, and the person who approves or rejects what waits: as the gateway makes them.

use crate::acts::{Made, What};
use crate::bank::Script;
use crate::life::Life;
use crate::steps::{Act, To};
use crate::values::{holder, named, payout, receiver};
use domain::entities::Entity;
use domain::entities::mandate_approval::WaitingCall;
use domain::machine::{Command, KeyedCommand};
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::mandate::{Limits, Mandate, Payee};
use domain::refusal::{MandateRefusal, Refusal};
use domain::resources::mandate_approvals::{AskedBy, Consent, Given, Rejection};
use domain::resources::payouts::batch::{self, NewBatch, NewItem};
use domain::resources::{conversions, cop_payments, crypto, payments};
use domain::values::address::Network;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::{Currency, Usdt};
use domain::values::time::Timestamp;
use std::sync::Arc;

pub const AGENTS: usize = 3;

/// What a mandate is to be; the same numbers in each currency.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub per_call: Option<i64>,
    pub per_day: Option<i64>,
    pub per_month: Option<i64>,
    pub above: Option<i64>,
    /// Whether it pays one phone alone.
    pub phone_only: bool,
}

impl Bounds {
    pub const FIRST: Bounds = Bounds {
        per_call: None,
        per_day: Some(400_000),
        per_month: Some(1_500_000),
        above: Some(100_000),
        phone_only: false,
    };

    pub fn of(self, agent: usize) -> Arc<Mandate> {
        let limits = |minor: Option<i64>| {
            minor.map(|minor| {
                Limits([Currency::Ves, Currency::Cop, Currency::Usdt].map(|of| (of, minor)).into())
            })
        };
        Arc::new(Mandate {
            id: Id::derived(1, agent as u64, 9),
            agent: Some("agent".into()),
            per_call: limits(self.per_call),
            per_day: limits(self.per_day),
            per_month: limits(self.per_month),
            payees: if self.phone_only { vec![Payee::Phone(holder().phone)] } else { Vec::new() },
            approval_above: limits(self.above),
        })
    }
}

/// A call that takes money out, so that it can be made again when it is approved.
#[derive(Clone, Debug)]
pub struct Call {
    tenant: u64,
    agent: usize,
    of: EntityId,
    out: Out,
}

#[derive(Clone, Debug)]
enum Out {
    Payout { to: To, shop: Option<Id>, cents: i64 },
    Batch(Vec<BatchItem>),
    Reversal,
    Conversion,
    Usdt { cents: i64 },
    Refund,
}

#[derive(Clone, Debug)]
pub struct BatchItem {
    pub id: Id,
    pub to: To,
    pub shop: Option<Id>,
    pub cents: i64,
    pub reference: Id,
}

pub fn batch_of(id: Id, items: &[BatchItem]) -> NewBatch {
    let item = |item: &BatchItem| {
        let to = receiver(item.to, item.shop);
        NewItem::Sound(payout(item.id, item.cents, to, named(item.reference)))
    };
    NewBatch {
        id,
        external_ref: named(id),
        mark: [1; 16],
        items: items.iter().map(item).collect(),
        known: Default::default(),
        explain: |refusal| (api::refusals::problem(refusal).code, String::new()),
    }
}

impl Out {
    fn command(&self, of: EntityId) -> Command {
        match self {
            Out::Payout { to, shop, cents } => {
                Box::new(payout(of.id, *cents, receiver(*to, *shop), named(of.id))).into()
            }
            Out::Batch(items) => batch::Command::Pay(Box::new(batch_of(of.id, items))).into(),
            Out::Reversal => payments::Command::Reverse.into(),
            Out::Conversion => conversions::Command::Accept(None).into(),
            Out::Usdt { cents } => {
                crypto::payouts::Command::Pay(Box::new(crypto::payouts::NewCryptoPayout {
                    id: of.id,
                    external_ref: named(of.id),
                    amount: Usdt::from_minor(*cents),
                    fee: Usdt::from_minor(100),
                    network: Network::Trc20,
                    address: "T1".to_owned(),
                }))
                .into()
            }
            Out::Refund => cop_payments::Command::Refund.into(),
        }
    }
}

impl Life {
    pub fn bind(&self, agent: usize, bounds: Bounds) {
        self.memory().mandates[agent] = bounds.of(agent);
    }

    /// Does a step for an agent, if it is one that takes money out.
    pub async fn by_agent(&self, tenant: u64, agent: usize, act: Act) -> Option<()> {
        let (of, out, bank) = match act {
            Act::Pay { to, cents, bank } => {
                let shop = self.shop_of(tenant, to)?;
                let of = self.fresh(tenant, Kind::Payout, What::Payout { to, shop, cents });
                (of, Out::Payout { to, shop, cents }, Some(bank))
            }
            Act::Repeat { n, other } => {
                let is_payout = |made: &Made| matches!(made.what, What::Payout { .. });
                let payouts = self.made(tenant, is_payout);
                let made = payouts.get(n % payouts.len().max(1))?;
                let What::Payout { to, shop, cents } = made.what else { return None };
                (made.id, Out::Payout { to, shop, cents: cents + i64::from(other) }, None)
            }
            Act::Batch { to, bank } => {
                let of = self.fresh(tenant, Kind::Batch, What::Other);
                (of, Out::Batch(self.batch_items(tenant, &to, bank)), None)
            }
            Act::Reverse { n, bank } => (self.one(tenant, Kind::Payment, n)?.id, Out::Reversal, Some(bank)),
            Act::Accept { n } => (self.one(tenant, Kind::Conversion, n)?.id, Out::Conversion, None),
            Act::PayCrypto { cents, bank } => {
                (self.fresh(tenant, Kind::CryptoPayout, What::Other), Out::Usdt { cents }, Some(bank))
            }
            Act::RefundPesos { n, bank } => {
                (self.one(tenant, Kind::CopPayment, n)?.id, Out::Refund, Some(bank))
            }
            act => unreachable!("it takes no money out: {act:?}"),
        };
        self.follow(of, bank);
        let id = self.id();
        let key = self.memory().mandates[agent].id;
        let call = Call { tenant, agent, of, out };
        let asks = self.memory().mandates[agent].approval_above.is_some();
        let consent = asks.then(|| {
            let call = WaitingCall {
                operation: "createPayout".into(),
                path: "/v1/payouts".into(),
                body: Vec::new(),
                request_id: "r".into(),
            };
            Consent::Ask(Box::new(AskedBy { id, key, call }))
        });
        self.make(&call, consent).await
    }

    fn follow(&self, of: EntityId, bank: Option<Script>) {
        if let Some(bank) = bank {
            self.bank.follow(of.id, bank);
        }
    }

    async fn make(&self, call: &Call, consent: Option<Consent>) -> Option<()> {
        let mandate = Arc::clone(&self.memory().mandates[call.agent]);
        let command = call.out.command(call.of);
        let command = KeyedCommand { mandate: Some(mandate), consent, ..KeyedCommand::from(command) };
        let outcome = self.engine.ask_entity(call.tenant, call.of, false, command, None, None).await;
        let settled = self.answered(call.tenant, Some(call.of), outcome)?;
        if let Some(Refusal::Mandate(MandateRefusal::Awaits { approval })) = settled.refusal {
            let mut memory = self.memory();
            if memory.waiting.iter().all(|(known, _)| *known != approval) {
                memory.waiting.push((approval, call.clone()));
            }
        }
        Some(())
    }

    /// Decides about the n-th call that waited, whether or not that is over.
    pub async fn decide_waiting(&self, tenant: u64, n: usize, is_approved: bool) -> Option<()> {
        let own: Vec<(Id, Call)> =
            self.memory().waiting.iter().filter(|(_, call)| call.tenant == tenant).cloned().collect();
        let (id, call) = own.get(n % own.len().max(1))?;
        let found = self.read(tenant, EntityId::mandate_approval(*id))?;
        let Entity::MandateApproval(approval) = &*found else { return None };
        let (by, approval) = (Id::derived(2, 1, 9), approval.clone());
        let who = Who { id: None, name: "owner".into() };
        let audit = |action| Box::new(AuditEntry::by(who, Timestamp::from_unix_ms(self.wall_ms()), action));
        if is_approved {
            let given = Given { approval, by, audit: audit("approval.approve"), known: None };
            return self.make(call, Some(Consent::Given(Box::new(given)))).await;
        }
        let rejection = Rejection { approval: Box::new(approval), by, audit: audit("approval.reject") };
        let ask = Command::RejectWaiting(rejection).into();
        let outcome = self.engine.ask_book(tenant, ask, None).await;
        self.answered(tenant, None, outcome);
        Some(())
    }
}
