//! The members by which a condition on the past speaks of a tenant: those that the API shows of its balances, payments,
//! payouts and sellers, by the names that it shows them under.

use crate::openapi::schema::Schema;
use crate::{balance, cop_payments, crypto, merchants, payments, payouts};
use domain::entities::Entity;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Balance,
    Payment,
    Payout,
    Seller,
}

impl Subject {
    pub const ALL: [Subject; 4] = [Subject::Balance, Subject::Payment, Subject::Payout, Subject::Seller];

    /// What a member's name has before it.
    pub const fn prefix(self) -> &'static str {
        match self {
            Subject::Balance => "",
            Subject::Payment => "payment.",
            Subject::Payout => "payout.",
            Subject::Seller => "seller.",
        }
    }

    /// What it is shown by: a balance by each of these, a seller by both, the others by the one of their kind.
    fn schemas(self) -> Vec<Schema> {
        match self {
            Subject::Balance => vec![balance::schema(), balance::cop_schema(), crypto::balance_schema()],
            Subject::Payment => vec![payments::payment()],
            Subject::Payout => {
                vec![payouts::schema(), crypto::payout_schema(), cop_payments::payouts::schema()]
            }
            Subject::Seller => vec![merchants::schema(), balance::seller_schema()],
        }
    }

    /// The members that are one text, number or truth, each with the place of the schema that has it first.
    fn members(self) -> impl Iterator<Item = (&'static str, usize)> {
        let schemas = self.schemas().into_iter().enumerate();
        schemas.flat_map(|(n, schema)| schema.scalars().into_iter().map(move |name| (name, n)))
    }

    /// Of an entity, with its members as its endpoint shows them.
    pub fn shown(entity: &Entity) -> Option<(Subject, Vec<u8>)> {
        let subject = match entity {
            Entity::Payment(_) | Entity::CopPayment(_) => Subject::Payment,
            Entity::Payout(_) | Entity::CryptoPayout(_) | Entity::CopPayout(_) => Subject::Payout,
            Entity::Merchant(_) => Subject::Seller,
            _ => return None,
        };
        Some((subject, crate::entity::show(entity)?))
    }
}

/// Whether a member is an amount of money, of all that have this name.
pub fn is_amount(name: &str) -> bool {
    let is_of_currency = ["Ves", "Cop", "Usd", "Usdt", "Amount"].iter().any(|end| name.ends_with(end));
    is_of_currency || ["amount", "monto"].contains(&name)
}

/// A member by its whole name, or the name that is nearest to it.
pub fn find(name: &str) -> Result<(Subject, &'static str, usize), String> {
    let mut nearest: Option<(usize, String)> = None;
    for subject in Subject::ALL {
        for (member, place) in subject.members() {
            let whole = format!("{}{member}", subject.prefix());
            if whole == name {
                return Ok((subject, member, place));
            }
            let distance = strsim::osa_distance(&whole.to_lowercase(), &name.to_lowercase());
            if nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
                nearest = Some((distance, whole));
            }
        }
    }
    Err(nearest.map(|(_, name)| name).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_those_of_the_descriptions() {
        assert_eq!(find("availableVes"), Ok((Subject::Balance, "availableVes", 0)));
        assert_eq!(find("availableCop"), Ok((Subject::Balance, "availableCop", 1)));
        assert_eq!(find("pendingPayoutsUsdt"), Ok((Subject::Balance, "pendingPayoutsUsdt", 2)));
        assert_eq!(find("payment.amountCop").map(|found| found.0), Ok(Subject::Payment));
        for name in
            ["payout.monto", "payout.totalUsdt", "payout.amountCop", "seller.isActive", "seller.pendingVes"]
        {
            assert!(find(name).is_ok(), "{name}");
        }
        assert_eq!(find("availabelVes"), Err("availableVes".to_owned()));
        assert_eq!(find("payment.state"), Err("payment.status".to_owned()));
        // A list is compared with nothing.
        assert!(find("payment.chargebacks").is_err() && find("seller.payoutMethods").is_err());
    }
}
