//! The acts, as the requests that they take: what the server would ask of the engine, with the
//! names that it would give.

use crate::agents::{BatchItem, batch_of};
use crate::bank::{Fate, Script};
use crate::life::Life;
use crate::steps::{Act, To, Word};
use crate::values::{bank_code, charge, debtor, identity, marketplace, named, payout, receiver};
use crate::witness::By;
use actors::Failure;
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::chargeback::Reason;
use domain::entities::own_account::OwnPhone;
use domain::entities::payment::{Phase, Status};
use domain::entities::verification::KnownPhone;
use domain::index::Space;
use domain::machine::Command;
use domain::platform::settings::{Settings, TenantSettings};
use domain::rail::{How, RailAnswer, RailReply};
use domain::resources::adjustments::Adjustment;
use domain::resources::chargebacks;
use domain::resources::chargebacks::{NewChargeback, Verdict as Decided};
use domain::resources::merchants;
use domain::resources::merchants::Registration;
use domain::resources::own_account;
use domain::resources::payments;
use domain::resources::payments::c2p::{Execute, NewIntent};
use domain::resources::payments::charge::{NewCharge, Price};
use domain::resources::payments::otp::NewOtp;
use domain::resources::payouts::batch;
use domain::resources::verification::Start;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::{Currency, Rate, Usd, Ves};
use domain::values::text::ExternalRef;
use domain::values::time::{DAY_MS, Date, Zone};
use domain::values::token::Token;
use domain::values::venezuela::{BankCode, MobilePhone};
use rust_decimal::Decimal;
use std::sync::Arc;
use std::time::Duration;

/// The amounts of the micro-deposits.
const AMOUNTS: (Ves, Ves) = (Ves::from_minor(32), Ves::from_minor(45));

/// The verification of a phone that nobody has started before.
fn start(bank: BankCode, phone: MobilePhone) -> Box<Start> {
    Box::new(Start { amounts: AMOUNTS, phone: KnownPhone { bank, phone, starts: Vec::new() } })
}

/// A thing that was asked for, so that it can be asked for again.
#[derive(Clone, Debug)]
pub struct Made {
    pub tenant: u64,
    pub id: EntityId,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    Charge {
        by: By,
        usd_cents: i64,
        seller: Option<(Id, u32)>,
        date: Date,
    },
    Intent {
        usd_cents: i64,
    },
    Payout {
        to: To,
        shop: Option<Id>,
        cents: i64,
    },
    /// A thing that is not repeated.
    Other,
}

fn pick<T: Clone>(from: &[T], n: usize) -> Option<T> {
    (!from.is_empty()).then(|| from[n % from.len()].clone())
}

impl Life {
    /// Does a step for a tenant; one that names something that is not there is left out.
    pub async fn act(&self, tenant: u64, act: Act) {
        // A step that names something that is not there does nothing.
        let _ = self.try_act(tenant, act).await;
    }

    async fn try_act(&self, tenant: u64, act: Act) -> Option<()> {
        match act {
            Act::Fund { cents, held, seller } => {
                let seller = seller.and_then(|n| self.shop(tenant, n));
                self.adjust(tenant, Cause::Funded, Currency::Ves, cents, held, seller).await;
            }
            Act::Correct { cents } => {
                self.adjust(tenant, Cause::Adjusted, Currency::Ves, cents, false, None).await
            }
            Act::Grant { usdt, minor, held } => {
                let currency = if usdt { Currency::Usdt } else { Currency::Cop };
                self.adjust(tenant, Cause::Funded, currency, minor, held, None).await;
            }
            Act::Settings { reserve, payout_fee, chargeback_fee, hold_days } => {
                let mut settings = Settings {
                    reserve: Ves::from_minor(reserve),
                    seller_hold_business_days: hold_days,
                    ..Settings::default()
                };
                (settings.fees.payout, settings.fees.chargeback) =
                    (Ves::from_minor(payout_fee), Ves::from_minor(chargeback_fee));
                self.set(tenant, settings).await;
            }
            Act::AutoConvert { percent } => {
                let mut settings = Settings::default();
                settings.conversions.auto_cop_percent = percent;
                self.set(tenant, settings).await;
            }
            Act::TooLarge => self.too_large(tenant).await,
            Act::Collect { by, usd_cents, seller, bank } => {
                let seller = seller.and_then(|(n, percent)| Some((self.shop(tenant, n)?, percent)));
                if by == By::C2p {
                    let id = self.intent(tenant, None, usd_cents, false, bank).await;
                    self.execute(tenant, id, usd_cents, seller).await;
                    return Some(());
                }
                let date = self.today(tenant).await?;
                let id = self.fresh(tenant, Kind::Payment, What::Charge { by, usd_cents, seller, date });
                self.bank.follow(id.id, bank);
                self.ask(tenant, id, true, first(charge(id.id, by, usd_cents, seller, date))).await;
            }
            Act::Intent { usd_cents, sends_otp, bank } => {
                self.intent(tenant, None, usd_cents, sends_otp, bank).await;
            }
            Act::Supersede { n, sends_otp } => {
                let reference = self.reference(tenant, n)?;
                let bank = Script { fate: Fate::Done, takes_ms: 0 };
                self.intent(tenant, Some(reference), 100, sends_otp, bank).await;
            }
            Act::Again { n, by, usd_cents, bank } => {
                let reference = self.reference(tenant, n)?;
                if by == By::C2p {
                    let id = self.intent(tenant, Some(reference), usd_cents, false, bank).await;
                    self.execute(tenant, id, usd_cents, None).await;
                    return Some(());
                }
                self.again(tenant, reference, by, usd_cents, bank).await?;
            }
            Act::Execute { n, seller } => {
                let seller = seller.and_then(|(n, percent)| Some((self.shop(tenant, n)?, percent)));
                let made = self.one(tenant, Kind::Payment, n)?;
                let usd_cents = match made.what {
                    What::Intent { usd_cents } | What::Charge { usd_cents, .. } => usd_cents,
                    _ => return None,
                };
                self.execute(tenant, made.id, usd_cents, seller).await;
            }
            Act::Otp { cents, bank } => {
                let id = self.fresh(tenant, Kind::Otp, What::Other);
                self.bank.follow(id.id, bank);
                let new =
                    NewOtp { id: id.id, debtor: debtor(), amount: Ves::from_minor(cents), answer: None };
                self.ask(tenant, id, true, new).await;
            }
            Act::Repeat { n, other } => self.repeat(tenant, n, other).await?,
            Act::Look { n } => {
                let made = pick(&self.made(tenant, |made| made.what.is_asked_about()), n)?;
                self.ask(tenant, made.id, false, Command::Deadline).await;
            }
            Act::Say { n, word } => self.say(n, word).await?,
            Act::Reverse { n, bank } => {
                let id = self.one(tenant, Kind::Payment, n)?.id;
                self.bank.follow(id.id, bank);
                self.ask(tenant, id, false, payments::Command::Reverse).await;
            }
            Act::ReverseAtTheEnd { usd_cents, before_ms, bank } => {
                let at_once = Script { fate: Fate::Done, takes_ms: 0 };
                let id = self.intent(tenant, None, usd_cents, false, at_once).await;
                self.execute(tenant, id, usd_cents, None).await;
                self.jump(tenant, DAY_MS - before_ms).await;
                self.bank.follow(id.id, bank);
                self.ask(tenant, id, false, payments::Command::Reverse).await;
                tokio::time::sleep(Duration::from_secs(61)).await;
            }
            Act::ChargeBack { n, thousandths } => {
                let id = self.one(tenant, Kind::Payment, n)?.id;
                self.charge_back(tenant, id, thousandths).await?;
            }
            Act::ChargeBackOften { n, times } => {
                let id = self.one(tenant, Kind::Payment, n)?.id;
                for _ in 0..times {
                    self.charge_back(tenant, id, 1).await?;
                }
            }
            Act::Close { n, nth, won } => {
                let id = self.one(tenant, Kind::Payment, n)?.id;
                let Entity::Payment(payment) = &*self.read(tenant, id)? else { return None };
                let chargeback = pick(&payment.chargebacks, nth)?.id;
                let verdict = if won { Decided::Won } else { Decided::Lost };
                self.ask(tenant, id, false, chargebacks::Command::Close(chargeback, verdict)).await;
            }
            Act::Pay { to, cents, bank } => {
                let shop = self.shop_of(tenant, to)?;
                let id = self.fresh(tenant, Kind::Payout, What::Payout { to, shop, cents });
                self.bank.follow(id.id, bank);
                let new = payout(id.id, cents, receiver(to, shop), named(id.id));
                self.ask(tenant, id, true, Box::new(new)).await;
            }
            Act::Batch { to, bank } => {
                let id = self.fresh(tenant, Kind::Batch, What::Other);
                let new = batch_of(id.id, &self.batch_items(tenant, &to, bank));
                self.ask(tenant, id, true, batch::Command::Pay(Box::new(new))).await;
            }
            Act::Bind { agent, bounds } => self.bind(agent, bounds),
            Act::ByAgent { agent, act } => self.by_agent(tenant, agent, *act).await?,
            Act::Decide { n, approve } => self.decide_waiting(tenant, n, approve).await?,
            Act::Register { shell } => {
                let id = self.fresh(tenant, Kind::Merchant, What::Other);
                let registration = Registration {
                    id: id.id,
                    external_ref: named(id.id),
                    name: Some("Bodega".to_owned()),
                    identification: None,
                    contact_email: None,
                    contact_phone: None,
                    method: (!shell).then(|| (bank_code(), self.phone())),
                };
                self.ask(tenant, id, true, merchants::Command::Register(Box::new(registration))).await;
            }
            Act::AddMethod { n } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                self.ask(tenant, id, false, merchants::Command::AddMethod(bank_code(), self.phone())).await;
            }
            Act::AddMethods { n, times } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                for _ in 0..times {
                    self.ask(tenant, id, false, merchants::Command::AddMethod(bank_code(), self.phone()))
                        .await;
                }
            }
            Act::Prove { n, nth, bank } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                let method = self.method(tenant, id, nth)?;
                self.bank.follow(id.id, bank);
                let start = start(bank_code(), self.phone());
                let ask = merchants::Command::StartVerification { method, start };
                let begun = self.ask(tenant, id, false, ask).await?;
                if begun.refusal.is_none() && bank.fate != Fate::Refused {
                    let seen = (AMOUNTS.1, AMOUNTS.0);
                    self.ask(tenant, id, false, merchants::Command::Verify { method, seen }).await;
                }
            }
            Act::SetDefault { n, nth } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                let method = self.method(tenant, id, nth)?;
                self.ask(tenant, id, false, merchants::Command::SetDefaultMethod(method)).await;
            }
            Act::DeleteMethod { n, nth } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                let method = self.method(tenant, id, nth)?;
                self.ask(tenant, id, false, merchants::Command::DeleteMethod(method)).await;
            }
            Act::Switch { n, active } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                self.ask(tenant, id, false, merchants::Command::SetActive(active)).await;
            }
            Act::DeleteMerchant { n } => {
                let id = self.one(tenant, Kind::Merchant, n)?.id;
                self.ask(tenant, id, false, merchants::Command::Delete).await;
            }
            Act::SetOwn { bank } => {
                let held = OwnPhone { bank: bank_code(), phone: self.phone(), identification: identity() };
                let own = EntityId::OWN_ACCOUNT;
                self.bank.follow(own.id, bank);
                self.ask(tenant, own, false, own_account::Command::Set(held)).await;
                let start = own_account::Command::StartVerification(start(held.bank, held.phone));
                let begun = self.ask(tenant, own, false, start).await?;
                if begun.refusal.is_none() && bank.fate != Fate::Refused {
                    self.ask(tenant, own, false, own_account::Command::Verify(AMOUNTS)).await;
                }
            }
            other => return self.try_other_money(tenant, other).await,
        }
        Some(())
    }

    fn shop(&self, tenant: u64, n: usize) -> Option<Id> {
        self.one(tenant, Kind::Merchant, n).map(|made| made.id.id)
    }

    /// The merchant that is paid, if it is one; nothing if there is none.
    pub fn shop_of(&self, tenant: u64, to: To) -> Option<Option<Id>> {
        match to {
            To::Merchant { n, .. } => self.shop(tenant, n).map(Some),
            _ => Some(None),
        }
    }

    /// The n-th of what was asked for of a kind.
    pub fn one(&self, tenant: u64, kind: Kind, n: usize) -> Option<Made> {
        pick(&self.made(tenant, |made| made.id.kind == kind), n)
    }

    fn method(&self, tenant: u64, merchant: EntityId, nth: usize) -> Option<Id> {
        let Entity::Merchant(merchant) = &*self.read(tenant, merchant)? else { return None };
        pick(&merchant.methods, nth).map(|method| method.id)
    }

    /// The date in Caracas, by the tenant's clock.
    async fn today(&self, tenant: u64) -> Option<Date> {
        Some(self.look(tenant).await?.date_in(Zone::Caracas))
    }

    async fn adjust(
        &self,
        tenant: u64,
        cause: Cause,
        currency: Currency,
        minor: i64,
        held: bool,
        merchant: Option<Id>,
    ) {
        let description = "funds".to_owned();
        let ask = Adjustment { cause, currency, minor, merchant, held, description, external_ref: None };
        let outcome = self.engine.ask_book(tenant, Command::Adjust(Box::new(ask)).into(), None).await;
        self.answered(tenant, None, outcome);
    }

    async fn set(&self, tenant: u64, settings: Settings) {
        let version = self.version();
        let tenant_settings =
            TenantSettings { version, settings: Arc::new(settings), ..TenantSettings::default() };
        let outcome =
            self.engine.ask_book(tenant, Command::TenantSettings(tenant_settings).into(), None).await;
        self.answered(tenant, None, outcome);
    }

    async fn too_large(&self, tenant: u64) {
        let ask = Adjustment {
            cause: Cause::Adjusted,
            currency: Currency::Ves,
            minor: 1,
            merchant: None,
            held: false,
            description: "x".repeat(wal::PAYLOAD_BYTES_MAX),
            external_ref: None,
        };
        match self.engine.ask_book(tenant, Command::Adjust(Box::new(ask)).into(), None).await {
            Err(Failure::TooLarge | Failure::Storage(_) | Failure::ShuttingDown) => {}
            Err(failure) => self.complain(format!("a record that is too large came to {failure:?}")),
            Ok(_) => self.complain("a record that is too large was written".to_owned()),
        }
    }

    /// The reference of the n-th payment, which its first attempt is named after.
    fn reference(&self, tenant: u64, n: usize) -> Option<ExternalRef> {
        let made = self.one(tenant, Kind::Payment, n)?;
        match &*self.read(tenant, made.id)? {
            Entity::Payment(payment) => Some(payment.external_ref.clone()),
            _ => None,
        }
    }

    /// A charge on a reference that is known, as the gateway makes one: who holds the reference makes a new
    /// attempt after one that is over, and asks about any other.
    async fn again(
        &self,
        tenant: u64,
        reference: ExternalRef,
        by: By,
        usd_cents: i64,
        bank: Script,
    ) -> Option<()> {
        let date = self.today(tenant).await?;
        let held = self.names.hold_name(tenant, Space::Payment, &reference).await;
        let newest = self.newest_on(tenant, &reference)?;
        let id = self.id();
        let more = NewCharge { external_ref: reference, ..charge(id, by, usd_cents, None, date) };
        let is_intent = newest.status == Status::Pending && newest.phase == Phase::Idle;
        if is_intent {
            let way = payments::Command::MakeWay(Box::new(more.without_code()));
            if self.ask(tenant, EntityId::payment(newest.id), false, way).await?.refusal.is_some() {
                return None;
            }
        }
        if is_intent || matches!(newest.status, Status::Failed | Status::Canceled) {
            let id = EntityId::payment(id);
            let what = What::Charge { by, usd_cents, seller: None, date };
            self.memory().made.push(Made { tenant, id, what });
            self.bank.follow(id.id, bank);
            let more = NewCharge { before: Some(newest.before()), ..more };
            self.ask_under(held, tenant, id, true, payments::Command::Charge(Box::new(more))).await;
        } else {
            let more = NewCharge { is_known: true, ..more };
            let ask = payments::Command::Charge(Box::new(more));
            self.ask(tenant, EntityId::payment(newest.id), false, ask).await;
        }
        Some(())
    }

    /// A first intent, or one on a reference that is known.
    async fn intent(
        &self,
        tenant: u64,
        known: Option<ExternalRef>,
        usd_cents: i64,
        bank_sends_otp: bool,
        bank: Script,
    ) -> EntityId {
        let id = self.fresh(tenant, Kind::Payment, What::Intent { usd_cents });
        self.bank.follow(id.id, bank);
        let reference = known.unwrap_or_else(|| named(id.id));
        let held = self.names.hold_name(tenant, Space::Payment, &reference).await;
        let old = self.newest_on(tenant, &reference).map(|newest| EntityId::payment(newest.id));
        let price = Price::Usd(Usd::from_minor(usd_cents));
        let new = NewIntent {
            id: id.id,
            external_ref: reference,
            price,
            figured: price.at(Rate(Decimal::from(200))).expect("it fits"),
            debtor: debtor(),
            bank_sends_otp,
            is_known: old.is_some(),
            checkout: None,
        };
        let ask = payments::Command::RequestC2p(Box::new(new));
        let answer = self.ask_under(held, tenant, old.unwrap_or(id), old.is_none(), ask).await;
        if let Some(answer) = answer
            && bank_sends_otp
            && answer.refusal.is_none()
        {
            self.promised_code(tenant, id).await;
        }
        id
    }

    /// Executes an intent that can be read; about one that is not there yet a server answers 404 by itself.
    async fn execute(&self, tenant: u64, id: EntityId, usd_cents: i64, seller: Option<(Id, u32)>) {
        let known = self.read(tenant, id);
        let Some(Entity::Payment(payment)) = known.as_deref() else { return };
        // The reference is that of the first attempt, which the payment knows.
        let external_ref = payment.external_ref.clone();
        let ask = Execute {
            external_ref,
            price: Price::Usd(Usd::from_minor(usd_cents)),
            debtor: debtor(),
            token: Token::parse_c2p("12345678").expect("a token"),
            token_mark: [1; 16],
            marketplace: marketplace(seller),
        };
        self.ask(tenant, id, false, payments::Command::ExecuteC2p(Box::new(ask))).await;
    }

    /// Sends a request with a known reference again, or another one under it.
    async fn repeat(&self, tenant: u64, n: usize, other: bool) -> Option<()> {
        let made = pick(&self.made(tenant, |made| made.what.is_repeated()), n)?;
        let (id, more) = (made.id, i64::from(other));
        let ask = match made.what {
            What::Charge { by, usd_cents, seller, date } => {
                first(charge(id.id, by, usd_cents + more, seller, date))
            }
            What::Payout { to, shop, cents } => {
                let again = payout(id.id, cents + more, receiver(to, shop), named(id.id));
                Box::new(again).into()
            }
            What::Intent { .. } | What::Other => return None,
        };
        self.ask(tenant, id, false, ask).await;
        Some(())
    }

    /// Has the bank speak although nobody has asked.
    async fn say(&self, n: usize, word: Word) -> Option<()> {
        let (tenant, entity, operation) = pick(&self.bank.owners(), n)?;
        let answer = match word {
            Word::Done => RailAnswer::done("87654321"),
            Word::Refused => {
                self.bank.disown(operation);
                RailAnswer::Refused { code: "BE01".to_owned() }
            }
            Word::Silent => RailAnswer::Silent,
            Word::NeverReceived => {
                self.bank.disown(operation);
                RailAnswer::NeverReceived
            }
        };
        self.ask(tenant, entity, false, Command::RailReply(RailReply::plain(operation, How::Ask, answer)))
            .await;
        Some(())
    }

    async fn charge_back(&self, tenant: u64, id: EntityId, thousandths: i64) -> Option<()> {
        let Entity::Payment(payment) = &*self.read(tenant, id)? else { return None };
        let part = Ves::from_minor(payment.ves.minor() * thousandths / 1_000);
        let new = NewChargeback {
            id: self.id(),
            amount: (thousandths != 1_000).then_some(part),
            fee: None,
            reason: Reason::Fraud,
            bank_debited_at: None,
        };
        self.ask(tenant, id, false, chargebacks::Command::Open(Box::new(new))).await;
        Some(())
    }

    pub fn batch_items(&self, tenant: u64, to: &[(To, i64)], bank: Script) -> Vec<BatchItem> {
        let (mut items, mut first) = (Vec::new(), None);
        // The last one is the first one once more.
        for (n, (receives, cents)) in to.iter().chain(to.first()).enumerate() {
            // Items never name a seller's balance.
            let receives = match receives {
                To::Merchant { n, .. } => To::Merchant { n: *n, from_balance: false },
                other => *other,
            };
            let Some(shop) = self.shop_of(tenant, receives) else { continue };
            let item = self.id();
            self.bank.follow(item, bank);
            let reference = *first.get_or_insert(item);
            let reference = if n == to.len() { reference } else { item };
            items.push(BatchItem { id: item, to: receives, shop, cents: *cents, reference });
        }
        items
    }
}

/// The command of a charge on a reference that is new.
fn first(new: NewCharge) -> Command {
    payments::Command::Charge(Box::new(new)).into()
}

impl What {
    fn is_asked_about(&self) -> bool {
        matches!(self, What::Charge { .. } | What::Intent { .. } | What::Payout { .. })
    }

    fn is_repeated(&self) -> bool {
        matches!(self, What::Charge { .. } | What::Payout { .. })
    }
}
