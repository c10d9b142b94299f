//! Charges the card that a token names (`docs/contract.md, 12.12`).

use super::{Doing, Performer};
use crate::gateway::card_vault;
use crate::http::respond::Reply;
use crate::store::history;
use actors::{CommandReply, Failure, Guard};
use api::payments::card_tokens::CardToken;
use api::problem::Problem;
use domain::index::Space;
use domain::kept::Shape;
use domain::machine::Domain;
use domain::resources::payments::charge::{NewCharge, Secret};
use domain::resources::payments::{self, Method};
use domain::values::ids::EntityId;

impl Performer {
    /// A charge of the card that waits under a token's name. A repeat needs no card; of however many
    /// requests come with one token, one has the card, and the next one if no bank has had it.
    pub(super) async fn charge_token(
        &self,
        token: CardToken,
        mut new: NewCharge,
        mut doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let (services, reader) = (&self.services, self.services.engine.reader());
        let name = new.external_ref.as_str().to_owned();
        // The payment's name comes before the card everywhere, so that no two requests wait for each
        // other; a card is waited for until another charge has ended, which nobody does in a slot.
        doing.slot = None;
        let held_name = services.names.reservations.hold_name(tenant, Space::Payment, &name).await;
        let known = history::named(reader, tenant, Space::Payment, &name)?
            .map(|newest| history::attempt_by(reader, tenant, newest, Method::Vpos))
            .transpose()?;
        new.is_known = known.is_some();
        let mut lent = None;
        if known.is_none() {
            let card = services.cards.lend(&token.name).await.ok_or_else(card_vault::gone)?;
            new.secret = Secret::Card(card.card());
            lent = Some(card);
        }
        let (id, is_new) = known.map_or((new.id, true), |known| (known, false));
        let ask = payments::Command::Charge(Box::new(new)).into();
        let (command, _, held) = doing.command(ask, Shape::Charged);
        let until_record: Guard = Box::new(held_name);
        let outcome = services
            .engine
            .ask_entity(tenant, EntityId::payment(id), is_new, command, Some(until_record), held)
            .await;
        if let Some(lent) = lent.filter(|_| nothing_was_ordered(&outcome)) {
            lent.give_back();
        }
        self.answer(tenant, Shape::Charged, outcome, request_id)
    }
}

/// Whether it is certain that no bank was asked to charge. Who stops may have written the order, and
/// a failure of the disk or of a rule says nothing.
fn nothing_was_ordered(outcome: &CommandReply<Domain>) -> bool {
    match outcome {
        Ok(settled) => {
            let is_written = settled.record.as_ref().is_some_and(|record| !record.entities.is_empty());
            settled.refusal.is_some() && !is_written
        }
        Err(Failure::Overloaded | Failure::ShareFull | Failure::Halted | Failure::TooLarge) => true,
        Err(Failure::ShuttingDown | Failure::Storage(_) | Failure::Defect(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_comes_back_only_where_nothing_was_ordered() {
        for (failure, is_certain) in [
            (Failure::Overloaded, true),
            (Failure::ShareFull, true),
            (Failure::Halted, true),
            (Failure::TooLarge, true),
            (Failure::ShuttingDown, false),
            (Failure::Storage("the disk is gone".to_owned()), false),
            (Failure::Defect("a rule broke".to_owned()), false),
        ] {
            assert_eq!(nothing_was_ordered(&Err(failure.clone())), is_certain, "{failure:?}");
        }
    }
}
