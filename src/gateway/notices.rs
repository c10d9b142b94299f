//! Notices of money that came (`docs/contract.md, 18.6`): keeping them once, and finding the one that
//! verifies a Pago Móvil payment.
//!
//! A payment claims its notice in a record of the platform's before it is decided in a record of its
//! tenant's. Who dies in between is asked again, and finds the notice that the payment has claimed.
//!
//! Banks speak to the first partition, so notices are in its log, and a payment of another partition asks its leader.
//! Before such a payment is refused, that log says that it claims nothing any more: a claim that was sent before, by
//! whoever led then, and arrives later would take a transfer that nobody is paid for.

use crate::cluster::questions::Question;
use crate::gateway::ask::{self, accepted, failure, look_now};
use crate::gateway::live_asks;
use crate::gateway::names::Held;
use crate::gateway::services::Services;
use crate::store::history::{self, Unreadable};
use api::problem::Problem;
use domain::bank_names::without_zeros;
use domain::entities::Entity;
use domain::entities::cop_payment::CopPayment;
use domain::entities::means::Means;
use domain::entities::means::transfer_name;
use domain::entities::notice::{About, Claim, Guess, Notice, Traits};
use domain::entities::payment::{Payment, Phase};
use domain::index::{self, Space};
use domain::machine::Command;
use domain::platform::live_asks::{Candidates, Guesses, LiveAsk, TransferSearch};
use domain::rail::{How, RailAnswer, RailReply};
use domain::resources::notices::{self, GUESSES, GUESSES_OF_A_PART};
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{EntityId, Id, PLATFORM};
use domain::values::time::Timestamp;
use domain::values::venezuela::IdentityDocument;
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wal::Reader;

const USED: &str = "reference_already_used";
const NOT_FOUND: &str = "reference_not_found";
const CANDIDATES_MAX: usize = 10_000;
const AWAITING_MAX: usize = 100;
/// For what another partition knows of guesses: one that is stopped does not hold everybody's transfers up.
const PATIENCE: Duration = Duration::from_secs(1);

/// Keeps a notice, unless the same was kept before; and has the payments that wait for it looked at.
pub async fn receive(services: &Arc<Services>, about: About) -> Result<(), Problem> {
    let id = services.fresh_id(PLATFORM);
    let notice = Notice { id, about, created_at: services.now(), claim: None, given_to: None };
    let name = notice.name();
    let traits = match &notice.about {
        About::Transfer(transfer) => Some(transfer.traits()),
        About::Transaction { .. } => None,
    };
    let held = services.names.reservations.hold_name(PLATFORM, Space::Notice, &name).await;
    let engine = &services.engine;
    if history::named(engine.reader(), PLATFORM, Space::Notice, &name)?.is_none() {
        let command = Command::from(notices::Command::Receive(Box::new(notice))).into();
        let until_record = Some(Box::new(held) as actors::Guard);
        let asked = engine.ask_entity(PLATFORM, EntityId::notice(id), true, command, until_record, None);
        accepted(asked.await.map_err(failure)?)?;
    }
    let Some(traits) = traits else { return Ok(()) };
    let others = Arc::clone(services);
    // Whom this does not reach looks all the same when it is time.
    tokio::spawn(async move { live_asks::ask_others::<bool>(&others, &LiveAsk::Noticed(traits)).await });
    // Also of one that was there: who kept it may have died before it came to this.
    look_at_awaiting(services, &traits)
}

/// The payment in pesos that a transaction's reference names, and its tenant in its mode.
pub fn collected(reader: &Reader, reference: Option<&str>) -> Result<Option<(u64, CopPayment)>, Unreadable> {
    let Some(operation) = reference.and_then(Id::parse) else { return Ok(None) };
    let (payment, _) = operation.entity_and_operation();
    let Some(tenant) = history::owner(reader, Space::CopPayment, payment)? else { return Ok(None) };
    let found = history::entity(reader, tenant, EntityId::cop_payment(payment))?;
    Ok(match found.as_deref() {
        Some(Entity::CopPayment(payment)) => Some((tenant, payment.clone())),
        _ => None,
    })
}

pub fn look_at_awaiting(services: &Arc<Services>, traits: &Traits) -> Result<(), Problem> {
    let (from, to) = names_beginning_with(Space::AwaitedNotice, &traits.prefix());
    for entry in services.engine.reader().index_scan(&from, &to, false).take(AWAITING_MAX) {
        let (_, value) = entry.map_err(Unreadable::from)?;
        let (tenant, payment) = value.split_first_chunk::<8>().ok_or_else(|| ask::defect(NO_PAYMENT))?;
        let payment = <[u8; 16]>::try_from(payment).map_err(|_| ask::defect(NO_PAYMENT))?;
        look_now(services, u64::from_be_bytes(*tenant), EntityId::payment(Id::from_bytes(payment)));
    }
    Ok(())
}

const NO_PAYMENT: &str = "an awaited notice of no payment";

fn names_beginning_with(space: Space, prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let from = index::name(PLATFORM, space, prefix);
    let to = [from.as_slice(), &[0xFF]].concat();
    (from, to)
}

pub async fn knows_payer(services: &Services, document: u32) -> Result<bool, Problem> {
    match &services.callers.sending {
        _ if is_payer(services.engine.reader(), document)? => Ok(true),
        Some(sending) => sending.others_hold(Question::Payer(document)).await,
        None => Ok(false),
    }
}

pub fn is_payer(reader: &Reader, document: u32) -> Result<bool, Unreadable> {
    let key = index::name(PLATFORM, Space::Payer, &document.to_string());
    Ok(reader.index_get(&key)?.is_some())
}

pub struct Sought {
    pub tenant: u64,
    pub payment: Id,
    pub operation: Id,
    pub how: How,
    pub at: Timestamp,
}

impl Sought {
    /// Looks for the notice, and claims it for the payment.
    ///
    /// One search of a payment goes on at a time, until what it came to is decided: a payment that
    /// failed by one search must not claim a notice by another.
    pub async fn find(self, services: &Services) -> Command {
        let alone = format!("search {}", self.payment);
        let alone = services.names.reservations.hold_name(self.tenant, Space::AwaitedNotice, &alone).await;
        let (answer, name) = self.search(services).await.unwrap_or_else(|problem| {
            let (error, operation) = (problem.private_message(), self.operation);
            tracing::error!(%problem, error, %operation, "notices of a transfer cannot be searched");
            (RailAnswer::Silent, None)
        });
        let reply = RailReply::plain(self.operation, self.how, answer);
        Command::Found(reply, Box::new((alone, name)))
    }

    /// The word of the notices, and the name of the transfer, which nobody else may take until the
    /// payment is decided.
    async fn search(&self, services: &Services) -> Result<(RailAnswer, Option<Held>), Problem> {
        let engine = &services.engine;
        // The outcome of the search before this one is durable then.
        engine.continue_view(self.tenant).await.map_err(failure)?;
        let found = history::entity(engine.reader(), self.tenant, EntityId::payment(self.payment))?;
        let Some(Entity::Payment(payment)) = found.as_deref() else { return Ok((RailAnswer::Silent, None)) };
        let (Phase::Charging, Means::Transfer { reference, .. }, Some(traits)) =
            (&payment.phase, &payment.means, payment.notice_traits())
        else {
            return Ok((RailAnswer::Silent, None));
        };
        let found = candidates(services, self.tenant, &traits, reference).await?;
        let Candidates { notices: mut candidates, guesses } = found;
        let is_mine = |notice: &&Notice| self.has_claimed(notice);
        if let Some(mine) = candidates.iter().find(is_mine) {
            return Ok(self.done(services, &traits, reference, mine).await);
        }
        let payer = payment.debtor().map(|debtor| debtor.id);
        candidates.retain(|notice| may_claim(notice, reference, payer, guesses, self.tenant));
        let mut is_used = false;
        for notice in &candidates {
            match notice.claim {
                Some(claim) => is_used |= claim.tenant == self.tenant,
                None => match self.claim(services, &traits, reference, notice).await? {
                    Claimed::Mine(held) => return Ok((RailAnswer::done(reference_of(notice)), held)),
                    Claimed::Used => is_used = true,
                    Claimed::Taken => {}
                },
            }
        }
        let not_found = self.not_found(services, payment, is_used);
        if services.callers.first().is_some() && matches!(not_found, RailAnswer::Refused { .. }) {
            let ask = LiveAsk::EndSearch(self.of(traits, reference));
            if let Some(mine) = live_asks::ask::<Option<Notice>>(services, 0, &ask).await? {
                return Ok(self.done(services, &traits, reference, &mine).await);
            }
        }
        Ok((not_found, None))
    }

    fn of(&self, traits: Traits, typed: &str) -> TransferSearch {
        TransferSearch { tenant: self.tenant, payment: self.payment, traits, typed: typed.to_owned() }
    }

    fn has_claimed(&self, notice: &Notice) -> bool {
        notice.claim.is_some_and(|claim| claim.is_of(self.tenant, self.payment))
    }

    /// Decided already, whatever the names say: it only has to be told.
    async fn done(
        &self,
        services: &Services,
        traits: &Traits,
        typed: &str,
        mine: &Notice,
    ) -> (RailAnswer, Option<Held>) {
        let (full, name) = self.name(traits, mine);
        let held = match full == without_zeros(typed) {
            true => None,
            false => Some(services.names.reservations.hold_name(self.tenant, Space::Transfer, &name).await),
        };
        (RailAnswer::done(reference_of(mine)), held)
    }

    /// Claims a notice, if the tenant has not used its transfer. A payment that has the name and waits for
    /// another payer or amount has used nothing: the claim is what settles whose the transfer is.
    ///
    /// The name is held before the claim, and nobody waits for a name who has claimed: whoever holds
    /// one waits for nothing but longer ones, so no two wait for each other.
    async fn claim(
        &self,
        services: &Services,
        traits: &Traits,
        typed: &str,
        notice: &Notice,
    ) -> Result<Claimed, Problem> {
        let (full, name) = self.name(traits, notice);
        let mut held = None;
        // The reference that was typed is held already by the request that asked for the payment.
        if full != without_zeros(typed) {
            held = Some(services.names.reservations.hold_name(self.tenant, Space::Transfer, &name).await);
            let named = ask::named_now(services, self.tenant, Space::Transfer, &name, true).await?;
            if let Some(other) = named.filter(|other| *other != self.payment)
                && !payment(services, self.tenant, other)?.awaits_another(Some(traits))
            {
                return Ok(Claimed::Used);
            }
        }
        let (tenant, payment) = (self.tenant, self.payment);
        let claim = match services.callers.first() {
            None => claimed(services, (tenant, payment), notice.id).await?,
            Some(_) => {
                let ask = LiveAsk::Claim { search: self.of(*traits, typed), notice: notice.id };
                live_asks::ask(services, 0, &ask).await?
            }
        };
        Ok(match claim {
            Some(claim) if claim.is_of(tenant, payment) => Claimed::Mine(held),
            Some(claim) if claim.tenant == tenant => Claimed::Used,
            _ => Claimed::Taken,
        })
    }

    fn name<'n>(&self, traits: &Traits, notice: &'n Notice) -> (&'n str, String) {
        let full = without_zeros(reference_of(notice));
        (full, transfer_name(traits.bank, traits.day, full))
    }

    fn not_found(&self, services: &Services, payment: &Payment, is_used: bool) -> RailAnswer {
        // The notice of another transfer, of the same data, may still come.
        if self.at < payment.created_at.plus_ms(services.waits.notice_ms) {
            return RailAnswer::Waiting;
        }
        let code = if is_used { USED } else { NOT_FOUND };
        if !is_used {
            services.waits.transfer_guesses.fetch_add(1, Ordering::Relaxed);
        }
        RailAnswer::Refused { code: code.to_owned() }
    }
}

/// Whether a payment with this reference and payer may claim a notice that has its other data, after others
/// guessed at it. The last four digits are guessed in a minute.
fn may_claim(
    notice: &Notice,
    typed: &str,
    payer: Option<IdentityDocument>,
    guesses: Guesses,
    tenant: u64,
) -> bool {
    let About::Transfer(transfer) = &notice.about else { return false };
    let is_whole = without_zeros(&transfer.reference) == without_zeros(typed);
    let is_payer = match (transfer.document, payer) {
        (Some(noticed), Some(payer)) => noticed.is(payer),
        _ => true,
    };
    let is_given = notice.given_to == Some(tenant);
    let (wrong, all) = (guesses.wrong, guesses.wrong.saturating_add(guesses.waiting));
    is_payer && (is_whole || all < GUESSES_OF_A_PART as u64) && (is_given || wrong < GUESSES as u64)
}

/// Those of this partition.
pub fn guesses(services: &Services, traits: &Traits, typed: &str) -> Result<Guesses, Problem> {
    let count = |guess: Guess| {
        let (from, to) = names_beginning_with(Space::TransferGuess, &traits.guesses(guess));
        let mut others = 0;
        for entry in services.engine.reader().index_scan(&from, &to, false).take(GUESSES + 1) {
            let (name, _) = entry.map_err(Unreadable::from)?;
            others += u64::from(name.get(from.len()..) != Some(without_zeros(typed).as_bytes()));
        }
        Ok::<u64, Problem>(others)
    };
    Ok(Guesses { wrong: count(Guess::Wrong)?, waiting: count(Guess::Waiting)? })
}

/// Those of the other partitions, as far as they answer; of the one that asks they are with its question.
async fn guesses_elsewhere(services: &Services, asker: Option<u8>, traits: &Traits, typed: &str) -> Guesses {
    let ask = &LiveAsk::Guesses { traits: *traits, typed: typed.to_owned() };
    let others = services.callers.sending.iter().flat_map(|sending| sending.others());
    let asked = others
        .filter(|partition| Some(*partition) != asker)
        .map(|partition| tokio::time::timeout(PATIENCE, live_asks::ask::<Guesses>(services, partition, ask)));
    join_all(asked).await.into_iter().flatten().flatten().fold(Guesses::default(), Guesses::and)
}

enum Claimed {
    Mine(Option<Held>),
    Used,
    Taken,
}

fn reference_of(notice: &Notice) -> &str {
    match &notice.about {
        About::Transfer(transfer) => &transfer.reference,
        About::Transaction { id, .. } => id,
    }
}

pub async fn is_used_up(
    services: &Services,
    tenant: u64,
    traits: &Traits,
    typed: &str,
) -> Result<bool, Problem> {
    let notices = match services.callers.first() {
        None => kept(services, traits, typed)?,
        Some(_) => {
            let found = tokio::time::timeout(PATIENCE, candidates(services, tenant, traits, typed)).await;
            // The search says it where nobody answers now.
            found.ok().and_then(Result::ok).map(|found| found.notices).unwrap_or_default()
        }
    };
    // One that nobody has claimed may be the one that is meant.
    let claims: Option<Vec<_>> = notices.iter().map(|notice| notice.claim).collect();
    Ok(claims.is_some_and(|claims| claims.iter().any(|claim| claim.tenant == tenant)))
}

/// The notices that may be of a transfer, from the log that has them, and what others guessed at it.
async fn candidates(
    services: &Services,
    tenant: u64,
    traits: &Traits,
    typed: &str,
) -> Result<Candidates, Problem> {
    if services.callers.first().is_none() {
        return candidates_here(services, tenant, traits, typed).await;
    }
    let ask = LiveAsk::Notices { tenant, traits: *traits, typed: typed.to_owned() };
    let found: Candidates = live_asks::ask(services, 0, &ask).await?;
    Ok(Candidates { guesses: found.guesses.and(guesses(services, traits, typed)?), ..found })
}

/// In the first partition, or where there is one log.
pub async fn candidates_here(
    services: &Services,
    tenant: u64,
    traits: &Traits,
    typed: &str,
) -> Result<Candidates, Problem> {
    let (notices, mut guessed) = (kept(services, traits, typed)?, Guesses::default());
    if notices.iter().any(|notice| notice.claim.is_none()) {
        let asker = services.callers.elsewhere_of(tenant);
        let elsewhere = guesses_elsewhere(services, asker, traits, typed).await;
        guessed = guesses(services, traits, typed)?.and(elsewhere);
    }
    Ok(Candidates { notices, guesses: guessed })
}

/// The claim of a notice, after a payment has asked for it.
async fn claimed(
    services: &Services,
    (tenant, payment): (u64, Id),
    notice: Id,
) -> Result<Option<Claim>, Problem> {
    let command = Command::from(notices::Command::Claim { tenant, payment }).into();
    let asked = services.engine.continue_entity(PLATFORM, EntityId::notice(notice), command).await;
    Ok(match asked.map_err(failure)?.entity.as_deref() {
        Some(Entity::Notice(notice)) => notice.claim,
        _ => None,
    })
}

/// The same for a payment of another partition, whose leader may be deposed: it may have been refused by now, or have
/// claimed another notice.
pub async fn claimed_elsewhere(
    services: &Services,
    search: &TransferSearch,
    notice: Id,
) -> Result<Option<Claim>, Problem> {
    let (has_ended, _alone) = has_ended(services, search.payment).await?;
    if has_ended || found_before(services, search)?.is_some_and(|mine| mine.id != notice) {
        return Ok(None);
    }
    claimed(services, (search.tenant, search.payment), notice).await
}

/// A payment of another partition claims no notice from here on; the one that it has claimed.
pub async fn end_search(services: &Services, search: &TransferSearch) -> Result<Option<Notice>, Problem> {
    let TransferSearch { tenant, payment, .. } = *search;
    let (has_ended, _alone) = has_ended(services, payment).await?;
    let mine = found_before(services, search)?;
    if mine.is_none() && !has_ended {
        ask::platform_patiently(services, || PlatformAsk::EndSearch { tenant, payment }).await?;
    }
    Ok(mine)
}

fn found_before(services: &Services, search: &TransferSearch) -> Result<Option<Notice>, Problem> {
    let TransferSearch { tenant, payment, traits, typed } = search;
    let is_mine = |notice: &Notice| notice.claim.is_some_and(|claim| claim.is_of(*tenant, *payment));
    Ok(kept(services, traits, typed)?.into_iter().find(is_mine))
}

/// Whether a payment claims nothing any more, and the right to be the only one who claims or ends.
async fn has_ended(services: &Services, payment: Id) -> Result<(bool, Held), Problem> {
    let name = payment.to_string();
    let alone = services.names.reservations.hold_name(PLATFORM, Space::EndedSearch, &name).await;
    let ended = ask::named_now(services, PLATFORM, Space::EndedSearch, &name, true).await?;
    Ok((ended.is_some(), alone))
}

fn kept(services: &Services, traits: &Traits, typed: &str) -> Result<Vec<Notice>, Problem> {
    let reader = services.engine.reader();
    let (from, to) = names_beginning_with(Space::Notice, &traits.prefix());
    let mut ids = Vec::new();
    for entry in reader.index_scan(&from, &to, false).take(CANDIDATES_MAX) {
        let (name, id) = entry.map_err(Unreadable::from)?;
        let full = name.get(from.len()..).and_then(|full| str::from_utf8(full).ok());
        if full.is_some_and(|full| notices::ends_with(full, typed)) {
            let id =
                <[u8; 16]>::try_from(id.as_slice()).map_err(|_| ask::defect("a notice without an id"))?;
            ids.push(Id::from_bytes(id));
        }
    }
    ids.sort_unstable();
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(Entity::Notice(notice)) =
            history::entity(reader, PLATFORM, EntityId::notice(id))?.as_deref()
        {
            found.push(notice.clone());
        }
    }
    Ok(found)
}

pub fn payment(services: &Services, tenant: u64, id: Id) -> Result<Payment, Problem> {
    let found = history::entity(services.engine.reader(), tenant, EntityId::payment(id))?;
    match found.as_deref() {
        Some(Entity::Payment(payment)) => Ok(payment.clone()),
        _ => Err(ask::defect("a transfer belongs to a payment that is not there")),
    }
}
