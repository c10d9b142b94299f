//! The model's verdict on each turn of the tenant that it knows, in the order of the turns.

use crate::model::{DAY, Dispute, Hold, INTENT, MANY, Model, Paying, Proof, Sending, Sent, Shop, Verdict};
use crate::steps::Word;
use crate::witness::{Asked, By, Paid, Sought, Turn, Wanted};
use domain::entities::Entity;
use domain::entities::batch::ItemEnd;
use domain::entities::payment::{CHARGE, REVERSE};
use domain::entities::verification::{MethodStatus, Standing};
use domain::rail::RailAnswer;
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::{Date, Timestamp, Zone};
use std::collections::BTreeMap;

impl Model {
    fn may_charge(&self, new: &Sought, now: i64) -> Verdict {
        new.seller.map_or(Ok(()), |(shop, _)| self.there(shop).map(|_| ()))?;
        new.date.map_or(Ok(()), |date| in_time(date, now))?;
        self.may_sell(new.usd_cents * 200, new.seller)
    }

    fn give_up(&mut self, id: Id) -> Verdict {
        match self.sales[&id].stands {
            Paying::Charging => return Err("charge_in_progress"),
            Paying::Completed | Paying::Reversing | Paying::Reversed => return Err("session_paid"),
            Paying::Intent | Paying::Failed | Paying::Canceled => self.cancel(id),
        }
        Ok(())
    }

    /// The verdict that the turn must have; the model is then as after it.
    pub fn judge(&mut self, turn: &Turn) -> Verdict {
        match &turn.within {
            Some(within) => self.judge_within(turn, within),
            None => self.judge_call(turn),
        }
    }

    /// The verdict on what is asked, under whichever mandate.
    pub fn judge_call(&mut self, turn: &Turn) -> Verdict {
        let of = |kind| {
            turn.entity.filter(|entity| entity.kind == kind).map(|entity| entity.id).ok_or("not_found")
        };
        match &turn.asked {
            Asked::Adjust { minor, merchant, held, .. } => self.adjust(*minor, *merchant, *held, turn.now),
            Asked::TenantSettings { version, reserve, payout_fee, chargeback_fee, hold_days } => {
                if *version > self.version {
                    self.version = *version;
                    (self.reserve, self.payout_fee, self.chargeback_fee, self.hold_days) =
                        (*reserve, *payout_fee, *chargeback_fee, *hold_days);
                }
                Ok(())
            }
            Asked::Charge(new) => match of(Kind::Payment) {
                Ok(known) => {
                    let sale = &self.sales[&known];
                    // Transfers are named after their payments, so that those of two are never the same.
                    let is_same = sale.by == new.by
                        && (sale.usd_cents, sale.seller) == (new.usd_cents, new.seller)
                        && (new.by != By::Transfer || known == new.id);
                    self.about(known, is_same)
                }
                Err(_) => {
                    let newest = self.sales.iter().filter(|(_, sale)| sale.reference == new.reference);
                    let newest = newest.max_by_key(|(_, sale)| sale.attempt).map(|(id, _)| *id);
                    assert_eq!(newest, new.before, "the attempt before {} on {}", new.id, new.reference);
                    self.may_charge(new, turn.now)?;
                    self.begin(new.id, &new.reference, new.by, new.usd_cents, turn.now);
                    self.charge(new.id, new.seller);
                    Ok(())
                }
            },
            Asked::Intent { id, usd_cents, reference } => {
                if let Ok(old) = of(Kind::Payment) {
                    let sale = &self.sales[&old];
                    if !matches!(sale.stands, Paying::Intent | Paying::Failed | Paying::Canceled) {
                        return self.about(old, sale.by == By::C2p && sale.usd_cents == *usd_cents);
                    }
                    self.cancel(old);
                }
                self.begin(*id, reference, By::C2p, *usd_cents, turn.now);
                Ok(())
            }
            Asked::CancelIntent => self.give_up(of(Kind::Payment)?),
            Asked::MakeWay(new) => {
                let id = of(Kind::Payment)?;
                if self.sales[&id].stands == Paying::Intent {
                    self.may_charge(new, turn.now)?;
                }
                self.give_up(id)
            }
            Asked::Execute { seller } => {
                let id = of(Kind::Payment)?;
                self.may_execute(id, *seller, turn.now)?;
                self.charge(id, *seller);
                Ok(())
            }
            Asked::Reverse => {
                let id = of(Kind::Payment)?;
                self.may_reverse(id, turn.now)?;
                self.set_aside(id);
                let gross = self.sales[&id].ves;
                let drawn = self.draw(turn, gross);
                self.sales.get_mut(&id).expect("it is there").drawn = drawn;
                Ok(())
            }
            Asked::ChargeBack { id: chargeback, cents } => {
                let id = of(Kind::Payment)?;
                let cents = self.may_charge_back(id, *cents)?;
                self.charge_back(id, *chargeback, cents);
                Ok(())
            }
            Asked::Close { id: chargeback, won } => {
                let id = of(Kind::Payment)?;
                let taken = &self.sales[&id].taken;
                let nth = taken.iter().position(|taken| taken.id == *chargeback).ok_or("not_found")?;
                if taken[nth].dispute != Dispute::Open {
                    return Err("chargeback_closed");
                }
                self.close(id, nth, *won);
                Ok(())
            }
            Asked::Pay(wanted) => match of(Kind::Payout) {
                Ok(known) if self.sent[&known].cents == wanted.cents => Ok(()),
                Ok(_) => Err("external_ref_conflict"),
                Err(_) => {
                    self.pay_one(wanted, turn, 0)?;
                    self.draw_for(&[wanted.id], turn);
                    Ok(())
                }
            },
            Asked::RejectWaiting { id, was_decided } => self.reject(*id, *was_decided, turn.now),
            Asked::Batch { id, items } => {
                if of(Kind::Batch).is_err() {
                    self.batch(*id, items, turn);
                }
                Ok(())
            }
            Asked::Register { id } => {
                self.shops.insert(*id, Shop::default());
                self.learn_methods(*id, turn);
                Ok(())
            }
            Asked::AddMethod => {
                let id = of(Kind::Merchant)?;
                if self.there(id)?.methods.len() >= MANY {
                    return Err("too_many_payout_methods");
                }
                self.learn_methods(id, turn);
                Ok(())
            }
            Asked::Prove { method } => {
                let id = of(Kind::Merchant)?;
                Model::may_start(self.method(id, *method)?, turn.now)?;
                self.send_deposits(turn.now)?;
                let by = operation(turn, EntityId::merchant(id), *method);
                self.set_proof(id, *method, Proof::Started { by, at: turn.now, waits: true });
                Ok(())
            }
            Asked::Proved { method } => {
                let id = of(Kind::Merchant)?;
                may_prove(self.method(id, *method)?)?;
                self.set_proof(id, *method, Proof::Proved);
                self.events += 1;
                Ok(())
            }
            Asked::SetDefault(method) => {
                let id = of(Kind::Merchant)?;
                self.method(id, *method)?;
                self.set_default(id, *method);
                Ok(())
            }
            Asked::DeleteMethod(method) => {
                let id = of(Kind::Merchant)?;
                self.method(id, *method)?;
                self.drop_method(id, *method);
                Ok(())
            }
            Asked::Switch(active) => {
                self.switch(of(Kind::Merchant)?, *active);
                Ok(())
            }
            Asked::Delete => {
                let id = of(Kind::Merchant)?;
                self.may_delete(id, turn.now)?;
                self.delete(id);
                Ok(())
            }
            Asked::SetOwn { phone } => {
                // Every account is another one.
                (self.own, self.own_phone) = (Some(Proof::None), Some(*phone));
                Ok(())
            }
            Asked::ProveOwn { phone } => {
                if self.own.is_some() && self.own_phone != Some(*phone) {
                    return Err("settings_changed");
                }
                Model::may_start(self.own.ok_or("not_found")?, turn.now)?;
                self.send_deposits(turn.now)?;
                let by = operation(turn, EntityId::OWN_ACCOUNT, EntityId::OWN_ACCOUNT.id);
                self.own = Some(Proof::Started { by, at: turn.now, waits: true });
                Ok(())
            }
            Asked::ProvedOwn => {
                may_prove(self.own.ok_or("not_found")?)?;
                self.own = Some(Proof::Proved);
                Ok(())
            }
            Asked::RailReply(heard) => {
                let Some(entity) = turn.entity else { return Ok(()) };
                let word = match heard.answer {
                    RailAnswer::Done { .. } => Word::Done,
                    RailAnswer::Refused { .. } => Word::Refused,
                    RailAnswer::Waiting
                    | RailAnswer::Silent
                    | RailAnswer::Unaskable
                    | RailAnswer::NotSent
                    | RailAnswer::NotAsked => Word::Silent,
                    RailAnswer::NeverReceived => Word::NeverReceived,
                };
                // A word about an operation that is not waited for does not count.
                let about = heard.operation.entity_and_operation().1;
                let waits = self.sales.get(&entity.id).is_none_or(|sale| match sale.stands {
                    Paying::Charging => about == CHARGE,
                    // The first reversal has the name that it always had.
                    Paying::Reversing if sale.reversals == 1 => about == REVERSE,
                    Paying::Reversing => about == 14 + sale.reversals,
                    _ => false,
                });
                if waits { self.heard(entity, heard.operation, heard.how, word, turn.now) } else { Ok(()) }
            }
            Asked::Deadline => {
                let expired = |id: &Id| {
                    self.sales.get(id).is_some_and(|sale| {
                        sale.stands == Paying::Intent && turn.now >= sale.created + INTENT
                    })
                };
                let Some(id) = of(Kind::Payment).ok() else { return Ok(()) };
                if expired(&id) {
                    self.cancel(id);
                } else if self.is_disputed(id, turn.now) {
                    let cents = self.may_charge_back(id, None)?;
                    self.charge_back(id, newest_chargeback(id, turn), cents);
                }
                Ok(())
            }
            Asked::MoveClock | Asked::Other => turn.refusal.map_or(Ok(()), Err),
        }
    }

    fn adjust(&mut self, minor: i64, merchant: Option<Id>, held: bool, now: i64) -> Verdict {
        let hold = held.then_some(Hold { until: now + DAY, left: minor });
        match merchant {
            None => {
                self.net += minor;
                self.funded.extend(hold);
            }
            Some(merchant) => {
                self.there(merchant)?;
                let shop = self.shops.get_mut(&merchant).expect("it is there");
                shop.net += minor;
                shop.funded.extend(hold);
            }
        }
        Ok(())
    }

    /// The merchant who is paid, the seller who pays if one does, and whether the receiver can be
    /// paid at all.
    pub fn receiver(&self, to: Paid) -> (Option<Id>, Option<Id>, Verdict) {
        match to {
            Paid::Merchant { id, from_balance } => {
                (Some(id), from_balance.then_some(id), self.may_receive(id))
            }
            Paid::Own if self.own != Some(Proof::Proved) => (None, None, Err("payout_account_not_verified")),
            Paid::Own | Paid::Phone | Paid::Other => (None, None, Ok(())),
        }
    }

    /// `taken` is what the same call has taken by now.
    fn pay_one(&mut self, wanted: &Wanted, turn: &Turn, taken: i64) -> Verdict {
        let (shop, from_seller, may) = self.receiver(wanted.to);
        may?;
        self.may_pay_item(turn.within.as_ref(), wanted, taken, turn.now)?;
        if wanted.cents + self.payout_fee > self.spendable(from_seller, turn.now) {
            return Err("insufficient_balance");
        }
        self.pay(wanted.id, wanted.cents, shop, from_seller);
        Ok(())
    }

    /// Takes payouts of a turn out of its mandate.
    fn draw_for(&mut self, sent: &[Id], turn: &Turn) {
        for id in sent {
            let Sent { cents, fee, .. } = self.sent[id];
            let drawn = self.draw(turn, cents + fee);
            self.sent.get_mut(id).expect("it was sent").drawn = drawn;
        }
    }

    fn batch(&mut self, id: Id, items: &[Wanted], turn: &Turn) {
        let mut paid: BTreeMap<&str, Id> = BTreeMap::new();
        let (mut expected, mut taken) = (Vec::new(), 0);
        for item in items {
            let verdict = match paid.get(item.reference.as_str()) {
                Some(known) => Ok(*known),
                None => self.pay_one(item, turn, taken).map(|()| {
                    taken += item.cents + self.payout_fee;
                    item.id
                }),
            };
            if let Ok(payout) = verdict {
                paid.insert(&item.reference, payout);
            }
            expected.push(verdict);
        }
        let sent: Vec<Id> = paid.values().copied().collect();
        self.draw_for(&sent, turn);
        let record = turn.record.as_ref().expect("a batch is written");
        let Some(Entity::Batch(batch)) = record.entity(EntityId::batch(id)).map(|entity| &**entity) else {
            panic!("the batch {id} is not in its record")
        };
        let decided = batch.items.iter().map(|place| match place {
            ItemEnd::Payout(id) => Ok(*id),
            ItemEnd::Refused { code, .. } => Err(code.as_str()),
        });
        let decided: Vec<Result<Id, &str>> = decided.collect();
        assert_eq!(decided, expected, "the items of {id}");
    }

    /// Learns the ids of methods, which the engine gives.
    fn learn_methods(&mut self, id: Id, turn: &Turn) {
        let Some(record) = &turn.record else { return };
        let Some(Entity::Merchant(merchant)) = record.entity(EntityId::merchant(id)).map(|entity| &**entity)
        else {
            panic!("the merchant {id} is not in its record")
        };
        let newest = merchant.methods.last().map(|method| method.id);
        let shop = self.shops.get_mut(&id).expect("a shop");
        if let Some(method) = newest
            && !shop.methods.iter().any(|(id, _)| *id == method)
        {
            shop.methods.push((method, Proof::None));
            shop.default.get_or_insert(method);
        }
    }

    fn method(&self, shop: Id, method: Id) -> Result<Proof, &'static str> {
        let methods = &self.there(shop)?.methods;
        methods.iter().find(|(id, _)| *id == method).map(|(_, proof)| *proof).ok_or("not_found")
    }

    fn set_proof(&mut self, shop: Id, method: Id, proof: Proof) {
        let methods = &mut self.shops.get_mut(&shop).expect("a shop").methods;
        methods.iter_mut().filter(|(id, _)| *id == method).for_each(|(_, stands)| *stands = proof);
    }

    /// The sales and payouts for which a bank is waited for, in words.
    pub fn waiting(&self) -> Vec<String> {
        let selling = |stands| matches!(stands, Paying::Intent | Paying::Charging | Paying::Reversing);
        let sales = self.sales.iter().filter(|(_, sale)| selling(sale.stands));
        let sent = self.sent.iter().filter(|(_, sent)| sent.stands == Sending::Pending);
        let undisputed = self.sales.iter().filter(|(_, sale)| {
            sale.by == By::Disputed && sale.stands == Paying::Completed && sale.taken.is_empty()
        });
        let sales = sales.chain(undisputed).map(|(id, sale)| format!("{id}: {sale:?}"));
        sales.chain(sent.map(|(id, sent)| format!("{id}: {sent:?}"))).collect()
    }
}

/// The chargeback that a turn opened of a payment, whose id the engine gives.
fn newest_chargeback(id: Id, turn: &Turn) -> Id {
    let state = turn.record.as_ref().and_then(|record| record.entity(EntityId::payment(id)));
    let Some(Entity::Payment(payment)) = state.map(|entity| &**entity) else {
        panic!("{id} is not disputed at {}", turn.now)
    };
    payment.chargebacks.last().expect("a chargeback").id
}

fn may_prove(proof: Proof) -> Verdict {
    match proof {
        Proof::None => Err("verification_not_started"),
        Proof::Proved => Err("already_verified"),
        Proof::Started { .. } => Ok(()),
    }
}

/// Checks the date of a transfer: one of tomorrow is refused, and one of more than 30 days ago is
/// too old.
fn in_time(date: Date, now: i64) -> Verdict {
    let day = |ms| Timestamp::from_unix_ms(ms).date_in(Zone::Caracas);
    if date > day(now) || date < day(now - 30 * DAY) { Err("invalid_data") } else { Ok(()) }
}

/// The name under which the bank was sent deposits.
fn operation(turn: &Turn, entity: EntityId, method: Id) -> Id {
    let state = turn.record.as_ref().and_then(|record| record.entity(entity)).map(|entity| &**entity);
    let status = match state {
        Some(Entity::Merchant(merchant)) => {
            merchant.methods.iter().find(|known| known.id == method).map(|known| &known.status)
        }
        Some(Entity::OwnAccount(account)) => Some(&account.status),
        _ => None,
    };
    match status {
        Some(MethodStatus { standing: Standing::Verifying { operation, .. }, .. }) => *operation,
        other => panic!("deposits were to be sent: {other:?}"),
    }
}
