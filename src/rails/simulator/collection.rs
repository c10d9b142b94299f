//! A buyer pays, declines or types a code, the tenant cancels, time passes: whatever comes first
//! ends a collection.

use super::Simulator;
use super::books::BooksError;
use super::fate::{Fate, Refusal};
use crate::rails::RailAnswer;
use domain::rail::{Collection, Instruction};
use domain::resources::cop_payments::collect::WRONG_CODE;
use domain::values::time::Timestamp;
use uuid::Uuid;

const CODE: &str = "123456";

fn outcome(instruction: &Instruction) -> Option<Fate> {
    match instruction {
        Instruction::Cancel => Some(Fate::Refused(Refusal::Canceled)),
        Instruction::Code(code) => (code.reveal() == CODE).then_some(Fate::Done),
        Instruction::Paid => Some(Fate::Done),
        Instruction::Declined => Some(Fate::Refused(Refusal::Rejected)),
        Instruction::SendCode => None,
    }
}

impl Simulator {
    pub(super) fn collection(
        &self,
        collection: &Collection,
        at: Timestamp,
    ) -> Result<RailAnswer, BooksError> {
        let operation = collection.original.into();
        let _turn = self.turn(operation);
        Ok(self.standing(collection, at)?.map_or(RailAnswer::NeverReceived, |fate| fate.settled(operation)))
    }

    pub(super) fn tell(
        &self,
        collection: &Collection,
        instruction: &Instruction,
        at: Timestamp,
    ) -> Result<RailAnswer, BooksError> {
        let operation: Uuid = collection.original.into();
        let _turn = self.turn(operation);
        let Some(standing) = self.standing(collection, at)? else { return Ok(RailAnswer::NeverReceived) };
        match (standing, outcome(instruction)) {
            (Fate::Open, Some(ended)) => {
                self.books.put(operation, ended)?;
                Ok(ended.settled(operation))
            }
            (Fate::Open, None) => Ok(match instruction {
                Instruction::SendCode => RailAnswer::Waiting,
                _ => RailAnswer::Refused { code: WRONG_CODE.to_owned() },
            }),
            (ended, _) => Ok(ended.settled(operation)),
        }
    }

    fn standing(&self, collection: &Collection, at: Timestamp) -> Result<Option<Fate>, BooksError> {
        let operation = collection.original.into();
        let fate = self.books.get(operation)?;
        if fate == Some(Fate::Open) && at >= collection.expires_at {
            let expired = Fate::Refused(Refusal::Expired);
            self.books.put(operation, expired)?;
            return Ok(Some(expired));
        }
        Ok(fate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rails::Rail as _;
    use crate::rails::{Call, Order};
    use domain::values::colombia::Channel;
    use domain::values::ids::Id;
    use domain::values::money::Cop;
    use domain::values::token::Token;

    const EXPIRES: Timestamp = Timestamp::from_unix_ms(1_000_000);
    const BEFORE: Timestamp = Timestamp::from_unix_ms(999_999);

    fn open(bank: &Simulator) -> Collection {
        let original = Id::from(Uuid::now_v7());
        let collection = Collection { original, amount: Cop::from_minor(50_000), expires_at: EXPIRES };
        let order = Order::CollectCop {
            collection,
            channel: Channel::Qr,
            amount: Cop::from_minor(50_000),
            transfer_key: "@K".to_owned(),
            buyer: None,
            is_paid: false,
        };
        let sent =
            bank.receive(&Call { operation_id: original.into(), at: Timestamp::EPOCH, tenant: 2, order });
        assert_eq!(sent.expect("an answer"), RailAnswer::Waiting);
        collection
    }

    fn code(text: &str) -> Instruction {
        Instruction::Code(Token::parse_debit(text).expect("digits"))
    }

    fn refused_with(code: &str) -> RailAnswer {
        RailAnswer::Refused { code: code.to_owned() }
    }

    #[test]
    fn whatever_comes_first_ends_it() {
        let bank = Simulator::in_memory();
        for (told, ends_paid, code_of_end) in [
            (Instruction::Paid, true, ""),
            (code("123456"), true, ""),
            (Instruction::Declined, false, "rejected"),
            (Instruction::Cancel, false, "canceled"),
        ] {
            let collection = open(&bank);
            assert_eq!(bank.collection(&collection, BEFORE).expect("an answer"), RailAnswer::Waiting);
            let end = bank.tell(&collection, &told, BEFORE).expect("an answer");
            if ends_paid {
                assert!(matches!(end, RailAnswer::Done { .. }))
            } else {
                assert_eq!(end, refused_with(code_of_end))
            }
            for after in
                [Instruction::Paid, Instruction::Cancel, Instruction::Declined, code("123456"), code("1111")]
            {
                assert_eq!(bank.tell(&collection, &after, EXPIRES).expect("an answer"), end);
            }
            assert_eq!(bank.collection(&collection, EXPIRES).expect("an answer"), end);
        }
        assert_eq!(bank.duplicate_calls(), 0);
    }

    #[test]
    fn a_wrong_code_leaves_it_open_and_the_end_is_exact() {
        let bank = Simulator::in_memory();
        let collection = open(&bank);
        assert_eq!(
            bank.tell(&collection, &code("654321"), BEFORE).expect("an answer"),
            refused_with(WRONG_CODE)
        );
        assert_eq!(bank.collection(&collection, BEFORE).expect("an answer"), RailAnswer::Waiting);
        assert_eq!(
            bank.tell(&collection, &code("123456"), EXPIRES).expect("an answer"),
            refused_with("expired")
        );
        assert_eq!(
            bank.tell(&collection, &Instruction::Paid, BEFORE).expect("an answer"),
            refused_with("expired")
        );
    }

    #[test]
    fn what_never_arrived_is_not_known() {
        let bank = Simulator::in_memory();
        let collection = Collection {
            original: Id::from(Uuid::now_v7()),
            amount: Cop::from_minor(50_000),
            expires_at: EXPIRES,
        };
        assert_eq!(bank.collection(&collection, BEFORE).expect("an answer"), RailAnswer::NeverReceived);
        assert_eq!(
            bank.tell(&collection, &Instruction::Paid, BEFORE).expect("an answer"),
            RailAnswer::NeverReceived
        );
    }
}
