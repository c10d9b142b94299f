//! Each step, done to the core and to the model.

use crate::model::{Model, Proof, Shop, Verdict};
use crate::steps::{Bank, By, Step, To};
use crate::world::World;
use api::refusals::problem;
use domain::account::AccountNumber;
use domain::adjustments::Adjustment;
use domain::banks::BankCode;
use domain::card::{Brand, Card, Cvv, Expiry, Number};
use domain::chargebacks::{NewChargeback, Reason, Verdict as Decided};
use domain::commands::Ask;
use domain::external_ref::ExternalRef;
use domain::identity::IdentityDocument;
use domain::ids::{EntityId, Id, Kind};
use domain::merchants::Registration;
use domain::money::{Currency, Rate, Usd, Ves};
use domain::own_account::Held;
use domain::payments::c2p::{Execute, NewIntent};
use domain::payments::charge::{NewCharge, Price, Secret};
use domain::payments::{Debtor, Means};
use domain::payouts::batch::{NewBatch, NewItem, Place};
use domain::payouts::{NewPayout, PhoneHolder, Receiver};
use domain::phone::MobilePhone;
use domain::record::{Cause, Entity};
use domain::refusal::Refusal;
use domain::settings::{Settings, Sheet};
use domain::time::{Timestamp, Zone};
use domain::token::Token;
use rust_decimal::Decimal;
use std::collections::HashMap;
use std::sync::Arc;

/// Of the micro-deposits.
const AMOUNTS: (Ves, Ves) = (Ves::from_minor(32), Ves::from_minor(45));

fn pick<T: Copy>(from: &[T], n: usize) -> Option<T> {
    (!from.is_empty()).then(|| from[n % from.len()])
}

impl World {
    pub fn take(&mut self, step: &Step) {
        match step {
            Step::Fund { cents, held, seller } => self.fund(*cents, *held, *seller),
            Step::Correct { cents } => self.correct(*cents),
            Step::Settings { reserve, payout_fee, chargeback_fee, hold_days } => {
                self.settings(*reserve, *payout_fee, *chargeback_fee, *hold_days)
            }
            Step::Collect { by, usd_cents, seller, bank } => self.collect(*by, *usd_cents, *seller, *bank),
            Step::Intent { usd_cents } => drop(self.intent(*usd_cents)),
            Step::Execute { n, bank } => {
                let _ = self.one(Kind::Payment, *n).map(|id| self.execute(id, None, *bank));
            }
            Step::Supersede { n } => drop(self.one(Kind::Payment, *n).map(|id| self.supersede(id))),
            Step::Repeat { n, other } => self.repeat(*n, *other),
            Step::Ask { n, bank } => self.ask_bank(*n, *bank),
            Step::Reverse { n, bank } => drop(self.one(Kind::Payment, *n).map(|id| self.reverse(id, *bank))),
            Step::ChargeBack { n, thousandths } => {
                let _ = self.one(Kind::Payment, *n).map(|id| self.charge_back(id, *thousandths));
            }
            Step::Close { n, nth, won } => {
                let _ = self.one(Kind::Payment, *n).map(|id| self.close(id, *nth, *won));
            }
            Step::Pay { to, cents, bank } => self.pay(*to, *cents, *bank),
            Step::Batch { to, bank } => self.batch(to, *bank),
            Step::Register { shell } => self.register(*shell),
            Step::AddMethod { n } => drop(pick(&self.shops, *n).map(|shop| self.add_method(shop))),
            Step::Prove { n, nth, bank } => {
                let _ = pick(&self.shops, *n).map(|shop| self.prove(shop, *nth, *bank));
            }
            Step::SetDefault { n, nth } => self.set_default(*n, *nth),
            Step::DeleteMethod { n, nth } => self.delete_method(*n, *nth),
            Step::Switch { n, active } => drop(pick(&self.shops, *n).map(|shop| self.switch(shop, *active))),
            Step::DeleteMerchant { n } => drop(pick(&self.shops, *n).map(|shop| self.delete(shop))),
            Step::SetOwn { bank } => self.set_own(*bank),
            Step::Wait { ms, bank } => self.wait(*ms, *bank),
            Step::Crash => self.crash(),
        }
    }

    fn one(&self, kind: Kind, n: usize) -> Option<Id> {
        let all: Vec<Id> = self.order.iter().filter(|id| id.kind == kind).map(|id| id.id).collect();
        pick(&all, n)
    }

    fn adjust(
        &mut self,
        cause: Cause,
        cents: i64,
        held: bool,
        seller: Option<Id>,
        expected: Verdict,
    ) -> bool {
        let description = "funds".to_owned();
        let ask = Adjustment {
            cause,
            currency: Currency::Ves,
            minor: cents,
            merchant: seller,
            held,
            description,
            external_ref: None,
        };
        self.agree(EntityId::payment(Id::derived(0, 0, 0)), Ask::Adjust(Box::new(ask)), expected).is_some()
    }

    fn fund(&mut self, cents: i64, held: bool, seller: Option<usize>) {
        let seller = seller.and_then(|n| pick(&self.shops, n));
        let expected =
            if seller.is_some_and(|shop| self.model.shops[&shop].gone) { Err("not_found") } else { Ok(()) };
        if self.adjust(Cause::Funded, cents, held, seller, expected) {
            let hold =
                held.then_some(crate::model::Hold { until: self.now + crate::model::DAY, left: cents });
            match seller.map(|shop| self.model.shops.get_mut(&shop).expect("a shop")) {
                None => {
                    self.model.net += cents;
                    self.model.funded.extend(hold);
                }
                Some(shop) => {
                    shop.net += cents;
                    shop.funded.extend(hold);
                }
            }
        }
    }

    fn correct(&mut self, cents: i64) {
        self.adjust(Cause::Adjusted, cents, false, None, Ok(()));
        self.model.net += cents;
    }

    fn settings(&mut self, reserve: i64, payout_fee: i64, chargeback_fee: i64, hold_days: u32) {
        self.sheets += 1;
        let mut settings = Settings {
            reserve: Ves::from_minor(reserve),
            seller_hold_business_days: hold_days,
            ..Settings::default()
        };
        (settings.fees.payout, settings.fees.chargeback) =
            (Ves::from_minor(payout_fee), Ves::from_minor(chargeback_fee));
        let sheet = Sheet { version: self.sheets, settings: Arc::new(settings), ..Sheet::default() };
        self.agree(EntityId::payment(Id::derived(0, 0, 0)), Ask::Sheet(sheet), Ok(()));
        let model = &mut self.model;
        (model.reserve, model.payout_fee, model.chargeback_fee, model.hold_days) =
            (reserve, payout_fee, chargeback_fee, hold_days);
    }

    fn collect(&mut self, by: By, usd_cents: i64, seller: Option<(usize, u32)>, bank: Bank) {
        let seller = seller.and_then(|(n, percent)| Some((pick(&self.shops, n)?, percent)));
        if by == By::C2p {
            let id = self.intent(usd_cents);
            self.execute(id, seller, bank);
            return;
        }
        let id = self.fresh();
        let expected = self.model.may_sell(usd_cents * 200, seller);
        if let Some(effects) =
            self.agree(EntityId::payment(id), self.charge(id, by, usd_cents, seller), expected)
        {
            self.order.push(EntityId::payment(id));
            self.model.begin(id, by, usd_cents, self.now);
            self.model.charge(id, seller);
            self.perform(effects, bank);
        }
    }

    fn charge(&self, id: Id, by: By, usd_cents: i64, seller: Option<(Id, u32)>) -> Ask {
        let (mut price, mut secret) = (Price::Usd(Usd::from_minor(usd_cents)), Secret::None);
        let means = match by {
            By::Card => {
                secret = Secret::Card(Box::new(card()));
                Means::Card { brand: Brand::Visa, last_four: 1111, mark: [7; 16] }
            }
            By::Debit => {
                price = Price::Ves(Ves::from_minor(usd_cents * 200));
                secret = Secret::Token(Token::parse_debit("1234").expect("a code"));
                Means::Debit { debtor: debtor(), name: "Ana".to_owned() }
            }
            By::Transfer => Means::Transfer {
                debtor: debtor(),
                date: Timestamp::from_unix_ms(self.now).date_in(Zone::Caracas),
                reference: id.to_string(),
            },
            By::C2p => unreachable!("C2P has an intent"),
        };
        let marketplace = seller.map(|(shop, percent)| (shop, Rate(Decimal::new(i64::from(percent), 4))));
        let rate = Some(Rate(Decimal::from(200)));
        Ask::Charge(Box::new(NewCharge {
            id,
            external_ref: named(id),
            price,
            rate,
            means,
            description: None,
            marketplace,
            secret,
            transfer_used: false,
        }))
    }

    fn new_intent(id: Id, usd_cents: i64, external_ref: ExternalRef) -> Ask {
        let (usd, ves) = (Usd::from_minor(usd_cents), Ves::from_minor(usd_cents * 200));
        Ask::RequestC2p(Box::new(NewIntent {
            id,
            external_ref,
            usd,
            rate: Rate(Decimal::from(200)),
            ves,
            debtor: debtor(),
            bank_sends_otp: false,
            checkout: None,
        }))
    }

    fn intent(&mut self, usd_cents: i64) -> Id {
        let id = self.fresh();
        self.agree(EntityId::payment(id), World::new_intent(id, usd_cents, named(id)), Ok(()));
        self.order.push(EntityId::payment(id));
        self.model.begin(id, By::C2p, usd_cents, self.now);
        id
    }

    fn execute(&mut self, id: Id, seller: Option<(Id, u32)>, bank: Bank) {
        let payment = self.payment(id);
        let ask = Execute {
            external_ref: payment.external_ref.clone(),
            usd: payment.usd,
            debtor: debtor(),
            token: Token::parse_c2p("12345678").expect("a token"),
            token_mark: [1; 16],
            marketplace: seller.map(|(shop, percent)| (shop, Rate(Decimal::new(i64::from(percent), 4)))),
        };
        let expected = self.model.may_execute(id, seller);
        if let Some(effects) = self.agree(EntityId::payment(id), Ask::ExecuteC2p(Box::new(ask)), expected) {
            self.model.charge(id, seller);
            self.perform(effects, bank);
        }
    }

    fn supersede(&mut self, old: Id) {
        let id = self.fresh();
        let expected = self.model.may_supersede(old);
        let external_ref = self.payment(old).external_ref.clone();
        if self.agree(EntityId::payment(old), World::new_intent(id, 100, external_ref), expected).is_some() {
            self.model.cancel(old);
            self.order.push(EntityId::payment(id));
            self.model.begin(id, By::C2p, 100, self.now);
        }
    }

    /// What is known under its reference is answered again, and changes nothing.
    fn repeat(&mut self, n: usize, other: bool) {
        let Some(id) = pick(&self.order, n) else { return };
        let expected = if other { Err("external_ref_conflict") } else { Ok(()) };
        let more = i64::from(other);
        let ask = match self.known(id).as_deref() {
            Some(Entity::Payout(payout)) => {
                let receiver = match (&payout.destination, payout.merchant) {
                    (_, Some(merchant)) => Receiver::Merchant {
                        merchant,
                        method: None,
                        from_balance: payout.from_merchant_balance,
                    },
                    _ => match payout.kind {
                        domain::payouts::PayoutKind::Credit => Receiver::Credit(holder()),
                        domain::payouts::PayoutKind::Account => receiver_account(),
                        _ => Receiver::Own,
                    },
                };
                Ask::Pay(Box::new(new_payout(
                    id.id,
                    payout.amount.minor() + more,
                    receiver,
                    payout.external_ref.clone(),
                )))
            }
            _ if self.model.sales[&id.id].by != By::C2p => {
                let sale = &self.model.sales[&id.id];
                let (by, usd_cents, seller) = (sale.by, sale.usd_cents, sale.seller);
                // A transfer is of the day on which it was made.
                if by == By::Transfer
                    && Timestamp::from_unix_ms(sale.created).date_in(Zone::Caracas)
                        != Timestamp::from_unix_ms(self.now).date_in(Zone::Caracas)
                {
                    return;
                }
                self.charge(id.id, by, usd_cents + more, seller)
            }
            _ => return,
        };
        let records = self.records.len();
        let effects = self.agree(id, ask, expected);
        assert!(effects.is_none_or(|effects| effects.is_empty()), "the bank is called again for {id:?}");
        assert_eq!(self.records.len(), records, "a repeat wrote something");
    }

    fn ask_bank(&mut self, n: usize, bank: Bank) {
        let Some(id) = pick(&self.order, n) else { return };
        let effects = self.ask(id, Ask::Deadline).expect("a deadline is never refused");
        self.perform(effects, bank);
    }

    fn reverse(&mut self, id: Id, bank: Bank) {
        let expected = self.model.may_reverse(id, self.now);
        if let Some(effects) = self.agree(EntityId::payment(id), Ask::Reverse, expected) {
            self.model.set_aside(id);
            // Nobody asks twice while the bank decides.
            self.agree(EntityId::payment(id), Ask::Reverse, self.model.may_reverse(id, self.now));
            self.perform(effects, bank);
        }
    }

    fn charge_back(&mut self, id: Id, thousandths: i64) {
        let chargeback = self.fresh();
        let may = self.model.may_charge_back(id, thousandths);
        let amount =
            (thousandths != 1_000).then(|| Ves::from_minor(self.model.sales[&id].ves * thousandths / 1_000));
        let new =
            NewChargeback { id: chargeback, amount, fee: None, reason: Reason::Fraud, bank_debited_at: None };
        if self.agree(EntityId::payment(id), Ask::OpenChargeback(Box::new(new)), may.map(|_| ())).is_some() {
            self.model.charge_back(id, chargeback, may.unwrap_or_default());
        }
    }

    fn close(&mut self, id: Id, nth: usize, won: bool) {
        let taken = &self.model.sales[&id].taken;
        if taken.is_empty() {
            return;
        }
        let nth = nth % taken.len();
        let expected =
            if taken[nth].dispute == crate::model::Dispute::Open { Ok(()) } else { Err("chargeback_closed") };
        let ask = Ask::CloseChargeback(taken[nth].id, if won { Decided::Won } else { Decided::Lost });
        if self.agree(EntityId::payment(id), ask, expected).is_some() {
            self.model.close(id, nth, won);
        }
    }

    /// Who is paid, who pays if it is a seller, and whether the receiver can be paid at all.
    /// Nobody, when there is no merchant.
    fn receiver(&self, to: To) -> Option<(Receiver, Option<Id>, Option<Id>, Verdict)> {
        Some(match to {
            To::Merchant { n, from_balance } => {
                let shop = pick(&self.shops, n)?;
                let receiver = Receiver::Merchant { merchant: shop, method: None, from_balance };
                (receiver, Some(shop), from_balance.then_some(shop), self.model.may_receive(shop))
            }
            To::Phone => (Receiver::Credit(holder()), None, None, Ok(())),
            To::Account => (receiver_account(), None, None, Ok(())),
            To::Own => (
                Receiver::Own,
                None,
                None,
                if self.model.own == Some(Proof::Proved) {
                    Ok(())
                } else {
                    Err("payout_account_not_verified")
                },
            ),
        })
    }

    fn pay(&mut self, to: To, cents: i64, bank: Bank) {
        let Some((receiver, shop, from_seller, may)) = self.receiver(to) else { return };
        let id = self.fresh();
        let fits =
            cents + self.model.payout_fee <= may.map_or(0, |()| self.model.spendable(from_seller, self.now));
        let expected = may.and(if fits { Ok(()) } else { Err("insufficient_balance") });
        let ask = Ask::Pay(Box::new(new_payout(id, cents, receiver, named(id))));
        if let Some(effects) = self.agree(EntityId::payout(id), ask, expected) {
            self.order.push(EntityId::payout(id));
            self.model.pay(id, cents, shop, from_seller);
            self.perform(effects, bank);
        }
    }

    fn batch(&mut self, to: &[(To, i64)], bank: Bank) {
        let id = self.fresh();
        // Items never name a seller's balance; the last one is the first one once more.
        let to: Vec<(To, i64)> =
            to.iter().chain(to.first()).map(|(to, cents)| (tenant_pays(*to), *cents)).collect();
        let (mut items, mut expected, mut left) = (Vec::new(), Vec::new(), self.model.available(self.now));
        let mut payouts: Vec<(Id, i64, Option<Id>)> = Vec::new();
        let (mut first, last) = (None, to.len() - 1);
        for (n, (to, cents)) in to.into_iter().enumerate() {
            let Some((receiver, shop, _, may)) = self.receiver(to) else { continue };
            let payout = self.fresh();
            let (reference, twin) = match first {
                Some((reference, paid)) if n == last => (reference, paid),
                _ => (payout, None),
            };
            items.push(NewItem::Sound(new_payout(payout, cents, receiver, named(reference))));
            let total = cents + self.model.payout_fee;
            let verdict = match (twin, may) {
                (Some(paid), _) => Ok(paid),
                (None, Ok(())) if total <= left => {
                    left -= total;
                    payouts.push((payout, cents, shop));
                    Ok(payout)
                }
                (None, Ok(())) => Err("insufficient_balance"),
                (None, Err(code)) => Err(code),
            };
            if n == 0 {
                first = Some((payout, verdict.ok()));
            }
            expected.push(verdict);
        }
        let explain = |refusal: &Refusal| (problem(refusal).code, String::new());
        let new =
            NewBatch { id, external_ref: named(id), mark: [1; 16], items, known: HashMap::new(), explain };
        let effects = self
            .agree(EntityId::batch(id), Ask::PayBatch(Box::new(new)), Ok(()))
            .expect("a batch is never refused");
        let Some(Entity::Batch(batch)) = self.entity(EntityId::batch(id)) else {
            panic!("the batch is lost")
        };
        let decided = batch.items.iter().map(|place| match place {
            Place::Payout(id) => Ok(*id),
            Place::Refused { code, .. } => Err(code.as_str()),
        });
        let decided: Vec<Result<Id, &str>> = decided.collect();
        assert_eq!(decided, expected, "the items");
        assert_eq!(effects.len(), payouts.len(), "each is sent once");
        for (payout, cents, shop) in payouts {
            self.order.push(EntityId::payout(payout));
            self.model.pay(payout, cents, shop, None);
        }
        self.perform(effects, bank);
    }

    fn phone(&mut self) -> MobilePhone {
        let number = self.records.len() % 10_000_000;
        MobilePhone::parse(&format!("0414{number:07}")).expect("a phone")
    }

    fn register(&mut self, shell: bool) {
        let id = self.fresh();
        let method = (!shell).then(|| (bank_code(), self.phone()));
        let registration = Registration {
            id,
            external_ref: named(id),
            name: "Bodega".to_owned(),
            identification: None,
            contact_email: None,
            contact_phone: None,
            method,
        };
        self.agree(EntityId::merchant(id), Ask::Register(Box::new(registration)), Ok(()));
        self.shops.push(id);
        self.model.shops.insert(id, Shop::default());
        self.learn_methods(id);
    }

    /// The ids of methods are the core's to give.
    fn learn_methods(&mut self, id: Id) {
        let Some(Entity::Merchant(merchant)) = self.entity(EntityId::merchant(id)) else {
            panic!("{id} is lost")
        };
        let newest = merchant.methods.last().map(|method| method.id);
        let shop = self.model.shops.get_mut(&id).expect("a shop");
        if let Some(method) = newest
            && !shop.methods.iter().any(|(id, _)| *id == method)
        {
            shop.methods.push((method, Proof::None));
            shop.default.get_or_insert(method);
        }
    }

    fn there(&self, shop: Id) -> Verdict {
        if self.model.shops[&shop].gone { Err("not_found") } else { Ok(()) }
    }

    fn add_method(&mut self, shop: Id) {
        let phone = self.phone();
        let known = self
            .entity(EntityId::merchant(shop))
            .is_some_and(|entity| matches!(entity, Entity::Merchant(merchant) if merchant.methods.iter().any(|method| method.phone == phone)));
        if self
            .agree(EntityId::merchant(shop), Ask::AddMethod(bank_code(), phone), self.there(shop))
            .is_some()
            && !known
        {
            self.learn_methods(shop);
        }
    }

    fn method(&self, shop: Id, nth: usize) -> Option<(Id, Proof)> {
        pick(&self.model.shops[&shop].methods, nth)
    }

    fn set_proof(&mut self, shop: Id, method: Id, proof: Proof) {
        let methods = &mut self.model.shops.get_mut(&shop).expect("a shop").methods;
        methods.iter_mut().filter(|(id, _)| *id == method).for_each(|(_, stands)| *stands = proof);
    }

    fn prove(&mut self, shop: Id, nth: usize, bank: Bank) {
        let Some((method, proof)) = self.method(shop, nth) else { return };
        let expected = self.there(shop).and(Model::may_start(proof, self.now));
        let Some(effects) = self.agree(
            EntityId::merchant(shop),
            Ask::StartVerification { method, amounts: AMOUNTS },
            expected,
        ) else {
            return;
        };
        let by = effects.first().expect("deposits are sent").operation;
        self.set_proof(shop, method, Proof::Started { by, at: self.now });
        self.perform(effects, bank);
        if bank == Bank::Done {
            self.agree(
                EntityId::merchant(shop),
                Ask::Verify { method, seen: (AMOUNTS.1, AMOUNTS.0) },
                Ok(()),
            );
            self.set_proof(shop, method, Proof::Proved);
            self.model.events += 1;
        }
    }

    fn set_default(&mut self, n: usize, nth: usize) {
        let Some(shop) = pick(&self.shops, n) else { return };
        let Some((method, _)) = self.method(shop, nth) else { return };
        if self.agree(EntityId::merchant(shop), Ask::SetDefaultMethod(method), self.there(shop)).is_some() {
            self.model.shops.get_mut(&shop).expect("a shop").default = Some(method);
        }
    }

    fn delete_method(&mut self, n: usize, nth: usize) {
        let Some(shop) = pick(&self.shops, n) else { return };
        let Some((method, _)) = self.method(shop, nth) else { return };
        if self.agree(EntityId::merchant(shop), Ask::DeleteMethod(method), self.there(shop)).is_some() {
            self.model.drop_method(shop, method);
        }
    }

    fn switch(&mut self, shop: Id, active: bool) {
        if self.agree(EntityId::merchant(shop), Ask::SetActive(active), self.there(shop)).is_some() {
            let stands = self.model.shops.get_mut(&shop).expect("a shop");
            if stands.inactive == active {
                stands.inactive = !active;
                self.model.events += 1;
            }
        }
    }

    fn delete(&mut self, shop: Id) {
        let expected = self.model.may_delete(shop, self.now);
        if self.agree(EntityId::merchant(shop), Ask::DeleteMerchant, expected).is_some() {
            self.model.shops.get_mut(&shop).expect("a shop").gone = true;
        }
    }

    fn set_own(&mut self, bank: Bank) {
        let held = Held { bank: bank_code(), phone: self.phone(), identification: identity() };
        let same = matches!(self.entity(EntityId::OWN_ACCOUNT), Some(Entity::OwnAccount(account)) if account.held == held);
        self.agree(EntityId::OWN_ACCOUNT, Ask::SetOwnAccount(held), Ok(()));
        if !same {
            self.model.own = Some(Proof::None);
        }
        let expected = Model::may_start(self.model.own.unwrap_or(Proof::None), self.now);
        let Some(effects) = self.agree(EntityId::OWN_ACCOUNT, Ask::StartOwnVerification(AMOUNTS), expected)
        else {
            return;
        };
        let by = effects.first().expect("deposits are sent").operation;
        self.model.own = Some(Proof::Started { by, at: self.now });
        self.perform(effects, bank);
        if bank == Bank::Done {
            self.agree(EntityId::OWN_ACCOUNT, Ask::VerifyOwn(AMOUNTS), Ok(()));
            self.model.own = Some(Proof::Proved);
        }
    }
}

fn tenant_pays(to: To) -> To {
    match to {
        To::Merchant { n, .. } => To::Merchant { n, from_balance: false },
        other => other,
    }
}

fn new_payout(id: Id, cents: i64, receiver: Receiver, external_ref: ExternalRef) -> NewPayout {
    NewPayout { id, external_ref, receiver, amount: Ves::from_minor(cents), concept: "pago".to_owned() }
}

fn named(id: Id) -> ExternalRef {
    ExternalRef::parse(&id.to_string()).expect("a reference")
}

fn bank_code() -> BankCode {
    BankCode::parse("0134").expect("a bank")
}

fn identity() -> IdentityDocument {
    IdentityDocument::parse("V12345678").expect("a document")
}

fn holder() -> PhoneHolder {
    PhoneHolder {
        bank: bank_code(),
        phone: MobilePhone::parse("04141234567").expect("a phone"),
        identity: identity(),
    }
}

fn debtor() -> Debtor {
    Debtor { bank: bank_code(), id: identity(), phone: holder().phone }
}

fn receiver_account() -> Receiver {
    let account = (0..100)
        .find_map(|check| AccountNumber::parse(&format!("01340001{check:02}0123456789"), |_| true).ok());
    Receiver::Account {
        account: account.expect("one of them is right"),
        identity: identity(),
        name: "Ana".to_owned(),
    }
}

fn card() -> Card {
    Card {
        number: Number::parse("4111111111111111").expect("a number"),
        expiry: Expiry { year: 2040, month: 12 },
        cvv: Cvv::parse("123").expect("a code"),
        holder_name: "Ana".to_owned(),
        holder_id: identity(),
    }
}
