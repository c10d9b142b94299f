//! The machine that the engine hosts: which rule answers which command, and what every record gets
//! besides (numbers for its events, the kept answer).

use crate::bank::{Effect, How, Order, RailReply};
use crate::codec;
use crate::commands::{Ask, Command};
use crate::decision::{Draft, Outcome, Turn};
use crate::events::{EventKind, Extra};
use crate::kept::{KEPT_MS, KeepRef, Kept, Shape};
use crate::ledger::book::Book;
use crate::ledger::invariants;
use crate::ledger::sellers;
use crate::platform::settings::TenantSettings;
use crate::platform::{self, PLATFORM, PlatformBook, is_live};
use crate::record::{Cause, Entity, Record};
use crate::refusal::Refusal;
use crate::resources::adjustments;
use crate::resources::chargebacks;
use crate::resources::checkout;
use crate::resources::conversions;
use crate::resources::cop_payments;
use crate::resources::cop_payouts;
use crate::resources::crypto;
use crate::resources::merchants;
use crate::resources::operations;
use crate::resources::own_account;
use crate::resources::payments::{self, asked_on, c2p, charge, otp, reversal};
use crate::resources::payouts;
use crate::resources::payouts::batch;
use crate::resources::products;
use crate::resources::webhooks;
use crate::values::date::Date;
use crate::values::ids::{EntityId, Kind};
use crate::values::time::Timestamp;
use crate::view::{Query, View, balance, cop_balance};
use actors::{Decision, Machine};
use std::sync::Arc;
use wal::IndexOps;

/// What an answer is made from.
pub struct Facts<'a> {
    /// Whether real money moves.
    pub livemode: bool,
    /// The record, if one was written.
    pub record: Option<&'a Record>,
    /// Its sequence is not known yet when an answer is kept; its time is.
    pub time: Timestamp,
    /// The entity as it is now.
    pub entity: Option<&'a Entity>,
    /// A rule said no.
    pub refusal: Option<&'a Refusal>,
    /// The request's id.
    pub request_id: &'a str,
    /// Entities that the answer speaks of and the record does not.
    pub related: &'a [Arc<Entity>],
}

/// Status and body.
pub type Rendered = (u16, Vec<u8>);

/// The domain's rules, and the little that they need to be told once.
pub struct Domain {
    /// Whether live mode has banks to call; test mode always has its simulator.
    pub live_rails: bool,
    /// Days on which banks are closed.
    pub holidays: Vec<Date>,
    /// How an answer looks: given by the API, so that what is kept is byte by byte what was
    /// answered.
    pub render: fn(Shape, &Facts<'_>) -> Rendered,
}

/// The state of one tenant key.
#[derive(Clone)]
pub enum AnyBook {
    /// Of the platform.
    Platform(PlatformBook),
    /// Of a tenant in a mode.
    Tenant(Box<Book>),
}

impl Machine for Domain {
    type EntityId = EntityId;
    type Entity = Entity;
    type Book = AnyBook;
    type Command = Command;
    type Record = Record;
    type Refusal = Refusal;
    type Effect = Effect;
    type Query = Query;
    type View = View;

    fn is_essential(&self, tenant: u64) -> bool {
        // Without the platform's book nobody can be let in.
        tenant == PLATFORM
    }

    fn yields(&self, tenant: u64) -> bool {
        // Simulated money waits for real money.
        !is_live(tenant)
    }

    fn empty(&self, tenant: u64) -> AnyBook {
        if tenant == PLATFORM {
            AnyBook::Platform(PlatformBook::default())
        } else {
            AnyBook::Tenant(Box::default())
        }
    }

    fn now_ms(&self, book: &AnyBook, wall_ms: i64) -> i64 {
        match book {
            AnyBook::Platform(book) => book.last.unix_ms().max(wall_ms),
            AnyBook::Tenant(book) => book.last.unix_ms().max(wall_ms.saturating_add(book.offset_ms)),
        }
    }

    fn wall_ms(&self, book: &AnyBook, tenant_ms: i64) -> i64 {
        match book {
            AnyBook::Platform(_) => tenant_ms,
            AnyBook::Tenant(book) => tenant_ms.saturating_sub(book.offset_ms),
        }
    }

    fn may_reach(&self, now_ms: i64) -> Result<(), Refusal> {
        if now_ms < Timestamp::CLOCKS_END.unix_ms() {
            return Ok(());
        }
        Err(Refusal::Invalid {
            field: "advanceSeconds",
            message: "must leave the test clock before the year 9000",
        })
    }

    fn settle(&self, book: &mut AnyBook, now_ms: i64) {
        if let AnyBook::Tenant(book) = book {
            book.settle(Timestamp::from_unix_ms(now_ms));
        }
    }

    fn decide(
        &self,
        book: &AnyBook,
        entity: Option<&Entity>,
        command: Command,
        turn: actors::Turn,
    ) -> Decision<Self> {
        let now = Timestamp::from_unix_ms(turn.now_ms);
        let livemode = is_live(turn.tenant);
        let rules = Turn {
            now,
            seed: turn.seed,
            livemode,
            has_rail: !livemode || self.live_rails,
            holidays: &self.holidays,
        };
        let keep = command.keep.map(|keep| Arc::new(KeepRef { first_seen: now, ..keep }));
        let outcome = match book {
            AnyBook::Platform(book) => match command.ask {
                Ask::Platform(ask) => platform::decide(book, *ask, now),
                _ => Outcome::refuse(Refusal::NotFound),
            },
            AnyBook::Tenant(book) => {
                let is_refusable = command.ask.is_refusable();
                let outcome = decide(book, entity, command.ask, keep.clone(), &rules);
                if is_refusable && overflows(book, &outcome) {
                    Outcome::refuse(Refusal::AmountOverflow)
                } else {
                    outcome
                }
            }
        };
        let ahead_ms = if matches!(book, AnyBook::Tenant(_)) { turn.ahead_ms } else { 0 };
        self.complete(book, entity, outcome, keep, &rules, ahead_ms)
    }

    fn evolve(&self, book: &mut AnyBook, record: &Record, time_ms: i64) {
        let time = Timestamp::from_unix_ms(time_ms);
        match book {
            AnyBook::Platform(book) => book.evolve(record.platform.as_deref(), time),
            AnyBook::Tenant(book) => book.evolve(record, time),
        }
    }

    fn check(&self, book: &AnyBook, record: &Record) -> Result<(), String> {
        match book {
            AnyBook::Platform(_) => Ok(()),
            AnyBook::Tenant(book) => invariants::check(book, record),
        }
    }

    fn encode(&self, record: &Record) -> Vec<u8> {
        codec::encode(record)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Record, String> {
        codec::decode(bytes)
    }

    fn index(&self, tenant: u64, time_ms: i64, record: &Record, ops: &mut IndexOps) {
        crate::index::entries(tenant, Timestamp::from_unix_ms(time_ms), record, ops);
    }

    fn entity_key(&self, tenant: u64, id: EntityId) -> Vec<u8> {
        crate::index::entity(tenant, id)
    }

    fn entity_in(&self, record: &Record, id: EntityId) -> Option<Arc<Entity>> {
        record.entity(id).cloned()
    }

    fn entities_in(&self, record: &Record) -> impl Iterator<Item = (EntityId, Arc<Entity>)> {
        record.entities.iter().map(|written| (written.state.id(), Arc::clone(&written.state)))
    }

    fn is_open(&self, entity: &Entity) -> bool {
        match entity {
            // A quote is accepted soon or never; what was accepted then waits for hours.
            Entity::Conversion(conversion) => conversion.is_quote(),
            entity => entity.deadline().is_some(),
        }
    }

    fn is_gone(&self, record: &Record, id: EntityId) -> bool {
        record.removed.iter().any(|(removed, _)| *removed == id)
    }

    fn effect_target(&self, effect: &Effect) -> EntityId {
        effect.entity
    }

    fn is_wanted(&self, target: Option<&Entity>, effect: &Effect) -> bool {
        match target {
            // Payouts of a batch are sent at the batch's word.
            Some(Entity::Payout(payout)) => payout.is_unsent(),
            // The intent that this one supersedes was asked; the payer needs a code while the new
            // one waits for it.
            Some(Entity::Payment(payment)) => {
                payment.awaits_otp() && matches!(effect.order, Order::RequestOtp { .. })
            }
            // A payment's record asks what its conversion costs.
            Some(Entity::Conversion(conversion)) => conversions::auto::is_waiting(conversion),
            _ => false,
        }
    }

    fn is_awaited(&self, book: &AnyBook, record: &Record) -> bool {
        // An endpoint that was just deleted is in the record alone.
        let of_webhooks = || {
            record
                .entities
                .iter()
                .map(|written| written.state.id())
                .chain(record.removed.iter().map(|(id, _)| *id))
                .any(|id| id.kind == Kind::Webhook)
        };
        match book {
            AnyBook::Tenant(book) => {
                (!record.events.is_empty() && !book.webhooks.is_empty()) || of_webhooks()
            }
            AnyBook::Platform(_) => false,
        }
    }

    fn is_large(&self, book: &AnyBook) -> bool {
        match book {
            AnyBook::Platform(book) => book.is_large(),
            AnyBook::Tenant(book) => book.is_large(),
        }
    }

    fn save(&self, book: &AnyBook) -> Vec<u8> {
        match book {
            AnyBook::Platform(book) => codec::encode(book),
            AnyBook::Tenant(book) => codec::encode(&**book),
        }
    }

    fn restore(&self, tenant: u64, bytes: &[u8]) -> Result<AnyBook, String> {
        if tenant == PLATFORM {
            codec::decode(bytes).map(AnyBook::Platform)
        } else {
            codec::decode(bytes).map(|book| AnyBook::Tenant(Box::new(book)))
        }
    }

    fn next_due(&self, book: &AnyBook, skip: &dyn Fn(EntityId) -> bool) -> Option<(i64, EntityId)> {
        match book {
            AnyBook::Platform(_) => None,
            AnyBook::Tenant(book) => book.next_due(skip).map(|(at, id)| (at.unix_ms(), id)),
        }
    }

    fn deadline(&self, _id: EntityId) -> Command {
        Ask::Deadline.into()
    }

    fn view(&self, book: &AnyBook, query: Query, now_ms: i64) -> View {
        match (book, query) {
            (AnyBook::Tenant(book), Query::Balance) => View::Balance(balance(book)),
            (AnyBook::Tenant(book), Query::Crypto) => View::Crypto(crypto::balance(book)),
            (AnyBook::Tenant(book), Query::Seller(merchant)) => {
                View::Seller(sellers::balance(book, merchant))
            }
            (AnyBook::Tenant(book), Query::CopBalance) => View::CopBalance(cop_balance(book)),
            (AnyBook::Tenant(book), Query::Agenda) => {
                View::Agenda { now: Timestamp::from_unix_ms(now_ms), due: book.agenda.clone() }
            }
            (AnyBook::Platform(book), Query::Platform) => {
                View::Platform { tenants: book.tenants.clone(), keys: book.keys.clone() }
            }
            (AnyBook::Platform(book), Query::Key(id)) => View::Key(book.keys.get(&id).cloned()),
            (AnyBook::Platform(book), Query::Banks) => View::Banks(Box::new(book.banks.clone())),
            // The platform has no balance and a tenant's book no tenants: the clock is all that
            // both have.
            _ => View::Clock(Timestamp::from_unix_ms(now_ms)),
        }
    }
}

/// Whether what is to be written would bring some ledger to where its sum might overflow one day.
fn overflows(book: &Book, outcome: &Outcome) -> bool {
    outcome
        .draft
        .iter()
        .flat_map(|draft| &draft.postings)
        .any(|posting| !book.fits(posting.ledger, posting.currency, posting.minor))
}

/// Which rule answers.
fn decide(
    book: &Book,
    entity: Option<&Entity>,
    ask: Ask,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Outcome {
    match (ask, entity) {
        // Whoever takes the name then waits for this record (`outbox.rs`).
        (Ask::Found(reply, _until_decided), found) => decide(book, found, Ask::RailReply(reply), keep, turn),
        (Ask::Resolve(resolution), Some(found)) => {
            let answer = match operations::in_banks_words(found, &resolution) {
                Ok(answer) => answer,
                Err(refusal) => return Outcome::refuse(refusal),
            };
            let operations::Resolution { operation, answer: _, act } = *resolution;
            let reply = RailReply { operation, how: How::Ask, answer };
            let outcome = decide(book, entity, Ask::RailReply(reply), None, turn);
            operations::resolved(outcome, operation, act, turn.now)
        }
        (Ask::RequestC2p(new), None) => c2p::request(*new, None, turn),
        (Ask::RequestC2p(new), Some(Entity::Payment(payment))) => c2p::supersede(payment, *new, turn),
        (Ask::ExecuteC2p(ask), Some(Entity::Payment(payment))) => {
            c2p::execute(book, payment, *ask, keep, turn)
        }
        (Ask::Reverse, Some(Entity::Payment(payment))) => reversal::reverse(book, payment, keep, turn),
        (Ask::RailReply(reply), Some(Entity::Payment(payment))) => {
            payment_on_rail_reply(book, payment, reply, turn)
        }
        (Ask::Deadline, Some(Entity::Payment(payment))) => match payment.phase {
            payments::Phase::Reversing { .. } => reversal::deadline(payment, turn),
            payments::Phase::Charging { .. } => charge::deadline(payment, turn),
            payments::Phase::AskedOn { operation, .. } => asked_on::deadline(payment, operation, turn),
            payments::Phase::Idle | payments::Phase::ReversalDenied { .. } => c2p::deadline(payment, turn),
        },
        (Ask::Pay(new), None) => payouts::create(book, *new, keep, turn),
        (Ask::Pay(new), Some(Entity::Payout(payout))) => payouts::repeat(book, payout, &new),
        (Ask::RailReply(reply), Some(Entity::Payout(payout))) => payouts::on_rail_reply(payout, reply, turn),
        (Ask::Deadline, Some(Entity::Payout(payout))) => payouts::deadline(payout, turn),
        (Ask::Register(ask), None) => merchants::register(None, *ask, turn),
        (Ask::Register(ask), Some(Entity::Merchant(merchant))) => {
            merchants::register(Some(merchant), *ask, turn)
        }
        (Ask::AddMethod(bank, phone), Some(Entity::Merchant(merchant))) => {
            merchants::add_method(merchant, bank, phone, turn)
        }
        (Ask::SetDefaultMethod(method), Some(Entity::Merchant(merchant))) => {
            merchants::set_default(merchant, method, turn)
        }
        (Ask::DeleteMethod(method), Some(Entity::Merchant(merchant))) => {
            merchants::delete_method(merchant, method, turn)
        }
        (Ask::StartVerification { method, amounts }, Some(Entity::Merchant(merchant))) => {
            merchants::start_verification(merchant, method, amounts, keep, turn)
        }
        (Ask::Verify { method, seen }, Some(Entity::Merchant(merchant))) => {
            merchants::verify(merchant, method, seen, turn)
        }
        (Ask::SetActive(active), Some(Entity::Merchant(merchant))) => {
            merchants::set_active(merchant, active, turn)
        }
        (Ask::DeleteMerchant, Some(Entity::Merchant(merchant))) => merchants::delete(book, merchant),
        (Ask::Deadline, Some(Entity::Merchant(merchant))) => merchants::deadline(book, merchant, turn),
        (Ask::RailReply(reply), Some(Entity::Merchant(merchant))) => {
            merchants::on_rail_reply(merchant, reply, turn)
        }
        (Ask::PayBatch(new), None) => batch::create(book, *new, turn),
        (Ask::PayBatch(new), Some(Entity::Batch(batch))) => batch::repeat(batch, &new),
        (Ask::Answered { kept, status, body }, Some(Entity::Batch(_))) => batch::answered(kept, status, body),
        (Ask::SetOwnAccount(held), None) => own_account::set(None, held, turn),
        (Ask::SetOwnAccount(held), Some(Entity::OwnAccount(account))) => {
            own_account::set(Some(account), held, turn)
        }
        (Ask::StartOwnVerification(amounts), Some(Entity::OwnAccount(account))) => {
            own_account::start_verification(account, amounts, keep, turn)
        }
        (Ask::Deadline, Some(Entity::OwnAccount(account))) => own_account::deadline(account, turn),
        (Ask::VerifyOwn(seen), Some(Entity::OwnAccount(account))) => own_account::verify(account, seen, turn),
        (Ask::RailReply(reply), Some(Entity::OwnAccount(account))) => {
            own_account::on_rail_reply(account, &reply, turn)
        }
        (Ask::Adjust(ask), _) => adjustments::adjust(book, *ask, turn),
        // How far it moved is in every record that is made while it moves.
        (Ask::MoveClock, _) => Outcome::write(Draft::new(Cause::ClockMoved)),
        (Ask::TenantSettings(tenant_settings), _) => new_tenant_settings(book, tenant_settings),
        (Ask::Charge(new), None) => charge::create(book, *new, keep, turn),
        (Ask::Charge(new), Some(Entity::Payment(payment))) => charge::repeat(book, payment, &new),
        (Ask::OpenChargeback(new), Some(Entity::Payment(payment))) => {
            chargebacks::open(book, payment, *new, turn)
        }
        (Ask::CloseChargeback(id, verdict), Some(Entity::Payment(payment))) => {
            chargebacks::close(payment, id, verdict, turn)
        }
        (Ask::RequestOtp(new), None) => otp::request(*new, keep, turn),
        (Ask::RailReply(reply), Some(Entity::Otp(request))) => otp::on_rail_reply(request, reply, turn),
        (Ask::Deadline, Some(Entity::Otp(request))) => otp::deadline(request, turn),
        (Ask::CreateProduct(new), None) => products::create(*new, turn),
        (Ask::ChangeProduct(ask), Some(Entity::Product(product))) => products::change(product, *ask, turn),
        (Ask::DeleteProduct, Some(Entity::Product(product))) => products::delete(book, product),
        (Ask::AddLink(new), Some(Entity::Product(product))) => products::add_link(book, product, *new, turn),
        (Ask::ChangeLink(link, ask), Some(Entity::Product(product))) => {
            products::change_link(product, link, *ask, turn)
        }
        (Ask::DeleteLink(link), Some(Entity::Product(product))) => {
            products::delete_link(book, product, link, turn)
        }
        (Ask::OpenSession(new), None) => checkout::open(*new, turn),
        (Ask::CancelIntent, Some(Entity::Payment(payment))) => c2p::give_up(payment),
        (Ask::Quote(new), None) => conversions::quote(book, *new, turn),
        (Ask::Accept(reference), Some(Entity::Conversion(conversion))) => {
            conversions::accept(book, conversion, reference, turn)
        }
        (Ask::EndConversion(decision), Some(Entity::Conversion(conversion))) => {
            conversions::decide(conversion, decision, turn)
        }
        (Ask::Deadline, Some(Entity::Conversion(conversion))) => {
            conversions::auto::deadline(conversion, turn)
        }
        (Ask::Market(rate), Some(Entity::Conversion(conversion))) => {
            conversions::auto::on_rail_reply(book, conversion, rate, turn)
        }
        (Ask::PayCrypto(new), None) => crypto::payouts::create(book, *new, keep, turn),
        (Ask::PayCrypto(new), Some(Entity::CryptoPayout(payout))) => crypto::payouts::repeat(payout, &new),
        (Ask::ReviewCrypto(verdict), Some(Entity::CryptoPayout(payout))) => {
            crypto::payouts::review(payout, verdict, keep, turn)
        }
        (Ask::RailReply(reply), Some(Entity::CryptoPayout(payout))) => {
            crypto::payouts::on_rail_reply(payout, reply, turn)
        }
        (Ask::Deadline, Some(Entity::CryptoPayout(payout))) => crypto::payouts::deadline(payout, turn),
        (Ask::OpenDepositAddress(new), None) => crypto::deposits::open(book, *new, turn),
        (Ask::OpenDepositAddress(new), Some(Entity::DepositAddress(known))) => {
            crypto::deposits::open_again(book, known, *new, turn)
        }
        (Ask::Deposit(incoming), Some(Entity::DepositAddress(address))) => {
            crypto::deposits::receive(book, address, *incoming, turn)
        }
        (Ask::CollectCop(new), None) => cop_payments::collect::create(book, *new, keep, turn),
        (ask, Some(Entity::CopPayment(payment))) => cop_payment(book, payment, ask, keep, turn),
        (Ask::PayCop(new), None) => cop_payouts::create(book, *new, turn),
        (Ask::PayCop(new), Some(Entity::CopPayout(payout))) => cop_payouts::repeat(payout, &new),
        (Ask::SettleCopPayout(verdict), Some(Entity::CopPayout(payout))) => {
            cop_payouts::settle(payout, verdict, turn)
        }
        (Ask::RegisterWebhook(new), None) => webhooks::register(book, *new, turn),
        (Ask::ChangeWebhook(change), Some(Entity::Webhook(webhook))) => {
            webhooks::change(book, webhook, *change)
        }
        (Ask::RotateSecret, Some(Entity::Webhook(webhook))) => webhooks::rotate_secret(webhook),
        (Ask::DeleteWebhook, Some(Entity::Webhook(webhook))) => webhooks::delete(webhook),
        (Ask::WebhookProgress(progress), Some(Entity::Webhook(webhook))) => {
            webhooks::progress(webhook, *progress)
        }
        (Ask::Resend(event), Some(Entity::Webhook(webhook))) => webhooks::resend(webhook, event, turn),
        (Ask::KeepResent(status, body), Some(Entity::Webhook(_))) => webhooks::keep_resent(status, body),
        // A deadline or an answer for something that is gone.
        (Ask::Deadline | Ask::RailReply(_) | Ask::Market(_), _) => Outcome::unchanged(),
        // The id names nothing, or something of another kind.
        _ => Outcome::refuse(Refusal::NotFound),
    }
}

fn payment_on_rail_reply(
    book: &Book,
    payment: &payments::Payment,
    reply: RailReply,
    turn: &Turn<'_>,
) -> Outcome {
    match reply.operation.entity_and_operation().1 {
        payments::CHARGE => charge::on_rail_reply(book, payment, reply, turn),
        n if payments::is_reversal(n) => reversal::on_rail_reply(book, payment, reply, turn),
        // Whether the bank sent the payer a code changes nothing here.
        _ => Outcome::unchanged(),
    }
}

/// Which rule answers what is asked of a payment in pesos.
fn cop_payment(
    book: &Book,
    payment: &cop_payments::CopPayment,
    ask: Ask,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Outcome {
    use cop_payments::{Phase, collect, refund};
    match ask {
        Ask::SubmitCopCode(code) => collect::submit_code(payment, code, keep, turn),
        Ask::CancelCop => collect::cancel(payment, keep, turn),
        Ask::PlayCopBuyer { pays } => collect::play_buyer(payment, pays, keep, turn),
        Ask::RefundCop => refund::refund(book, payment, keep, turn),
        Ask::RailReply(reply) => match reply.operation.entity_and_operation().1 {
            cop_payments::COLLECT | cop_payments::TELL => collect::on_rail_reply(book, payment, reply, turn),
            _ => refund::on_rail_reply(book, payment, reply, turn),
        },
        Ask::Deadline => match payment.phase {
            Phase::Collecting { .. } | Phase::Tried { .. } => collect::deadline(payment, turn),
            Phase::Refunding { .. } => refund::deadline(payment, turn),
            Phase::AskedOn { operation: cop_payments::COLLECT, .. } => collect::deadline(payment, turn),
            Phase::AskedOn { .. } => refund::deadline(payment, turn),
            Phase::Idle => Outcome::unchanged(),
        },
        Ask::Reverse => Outcome::refuse(Refusal::NotReversible),
        Ask::OpenChargeback(_) => Outcome::refuse(Refusal::ChargebackNotAllowed),
        _ => Outcome::refuse(Refusal::NotFound),
    }
}

fn new_tenant_settings(book: &Book, tenant_settings: TenantSettings) -> Outcome {
    if tenant_settings.version <= book.tenant_settings.version {
        return Outcome::unchanged();
    }
    let mut draft = Draft::new(Cause::TenantSettingsChanged);
    if tenant_settings.live_status != book.tenant_settings.live_status {
        let extra = Extra::LiveStatus {
            status: tenant_settings.live_status.name().to_owned(),
            previous: book.tenant_settings.live_status.name().to_owned(),
            reason: tenant_settings.reason.clone(),
        };
        draft.event_with(EventKind::TenantLiveStatusChanged, None, extra);
    }
    draft.tenant_settings = Some(tenant_settings);
    Outcome::write(draft)
}

impl Domain {
    /// Numbers the events, renders the answer that is to be kept, and makes the record.
    fn complete(
        &self,
        book: &AnyBook,
        entity: Option<&Entity>,
        outcome: Outcome,
        keep: Option<Arc<KeepRef>>,
        turn: &Turn<'_>,
        ahead_ms: i64,
    ) -> Decision<Self> {
        let Outcome { draft, refusal, effects } = outcome;
        let draft = match (draft, &refusal, &keep) {
            (Some(draft), _, _) => draft,
            (None, Some(refusal), Some(_)) if refusal.is_kept() => Draft::new(Cause::RefusalKept),
            (None, _, _) => return Decision { record: None, refusal, effects },
        };
        let first_event = match book {
            AnyBook::Tenant(book) => book.events + 1,
            AnyBook::Platform(_) => 0,
        };
        // After 24 hours nothing is kept for that use of the key any more, and there may be a newer
        // one.
        let keep = keep.or(draft.replaces_kept.filter(|kept| turn.now < kept.first_seen.plus_ms(KEPT_MS)));
        let freed = match entity {
            Some(Entity::Merchant(merchant)) if !draft.removed.is_empty() => {
                vec![merchant.external_ref.as_str().to_owned()]
            }
            _ => draft.freed,
        };
        let mut record = Record {
            cause: draft.cause,
            seed: turn.seed,
            postings: draft.postings,
            holds: draft.holds,
            entities: draft.entities,
            removed: draft.removed,
            freed,
            first_event,
            events: draft.events,
            tenant_settings: draft.tenant_settings,
            clock_advance_ms: ahead_ms,
            platform: draft.platform.map(Box::new),
            kept: None,
        };
        if let Some(of) = keep {
            let from_record = || {
                let facts = Facts {
                    livemode: turn.livemode,
                    record: Some(&record),
                    time: turn.now,
                    entity: record.entities.first().map(|written| &*written.state).or(entity),
                    refusal: refusal.as_ref(),
                    request_id: &of.request_id,
                    related: &draft.related,
                };
                (self.render)(of.shape, &facts)
            };
            let (status, body) = draft.answer.unwrap_or_else(from_record);
            let void = refusal.as_ref().is_some_and(Refusal::is_void);
            record.kept = Some(Kept { of, status, body, void });
        }
        Decision { record: Some(Arc::new(record)), refusal, effects }
    }
}
