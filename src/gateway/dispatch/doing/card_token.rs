//! Charges the card that a token names (`docs/contract.md, 12.12`).

use super::{Doing, Performer};
use crate::gateway::card_vault;
use crate::http::respond::Reply;
use crate::store::history;
use actors::Guard;
use api::payments::card_tokens::CardToken;
use api::problem::Problem;
use domain::index::Space;
use domain::kept::Shape;
use domain::resources::payments::charge::{NewCharge, Secret};
use domain::resources::payments::{self, Method};
use domain::values::ids::EntityId;

impl Performer {
    /// A charge of the card that waits under a token's name. A repeat needs no card; of however many
    /// requests come with one token, one has the card.
    pub(super) async fn charge_token(
        &self,
        token: CardToken,
        mut new: NewCharge,
        mut doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let (tenant, request_id) = (doing.caller.tenant_key, doing.request_id);
        let (services, reader) = (&self.services, self.services.engine.reader());
        let name = new.external_ref.as_str().to_owned();
        let held_name = self.hold_name(Space::Payment, &name, &mut doing).await?;
        let known = history::named(reader, tenant, Space::Payment, &name)?
            .map(|newest| history::attempt_by(reader, tenant, newest, Method::Vpos))
            .transpose()?;
        new.is_known = known.is_some();
        if known.is_none() {
            new.secret = Secret::Card(services.cards.take(&token.name).ok_or_else(card_vault::gone)?);
        }
        let (id, is_new) = known.map_or((new.id, true), |known| (known, false));
        let ask = payments::Command::Charge(Box::new(new)).into();
        let (command, slot, held) = doing.command(ask, Shape::Charged);
        let until_record: Guard = Box::new((held_name, slot));
        let outcome = services.engine.ask_entity(
            tenant,
            EntityId::payment(id),
            is_new,
            command,
            Some(until_record),
            held,
        );
        self.answer(tenant, Shape::Charged, outcome.await, request_id)
    }
}
