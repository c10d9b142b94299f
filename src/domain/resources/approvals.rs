//! Approvals: calls of operators that wait for a second person (`docs/contract.md, 20.2`). They are the
//! platform's.
//!
//! The deed that was approved is done in the books that it is about, in records of their own, each
//! of which names the approval; the index then knows that it was done, and it is not done again. So
//! a crash between the deed and the state of its approval leaves nothing open: the state is written
//! by the next start.

use crate::codec::stored;
use crate::decision::{Draft, Ruling};
use crate::entity::{Change, Listing, Resource};
use crate::index::Entries;
use crate::platform::audit::Who;
use crate::record::{Cause, Entity};
use crate::refusal::{ApprovalRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::time::Timestamp;

stored! {
    /// A kind of calls that may need an approval, by its name in the configuration.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Approvable {
        0 Adjustments,
        1 Rates,
        2 LiveStatus,
        3 Operations,
        4 CryptoPayouts,
        5 TakeOver,
        /// Operators that are made, raised, enabled or given another token.
        6 Operators,
        7 CopPayouts,
    }
}

impl Approvable {
    pub const ALL: [Approvable; 8] = [
        Approvable::Adjustments,
        Approvable::Rates,
        Approvable::LiveStatus,
        Approvable::Operations,
        Approvable::CryptoPayouts,
        Approvable::TakeOver,
        Approvable::Operators,
        Approvable::CopPayouts,
    ];

    /// The name in the configuration and the API.
    pub const fn name(self) -> &'static str {
        match self {
            Approvable::Adjustments => "adjustments",
            Approvable::Rates => "rates",
            Approvable::LiveStatus => "live-status",
            Approvable::Operations => "operations",
            Approvable::CryptoPayouts => "crypto-payouts",
            Approvable::TakeOver => "take-over",
            Approvable::Operators => "operators",
            Approvable::CopPayouts => "cop_payouts",
        }
    }

    pub fn from_name(name: &str) -> Option<Approvable> {
        Approvable::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Approval {
        0 pub id: Id,
        1 pub action: Approvable,
        2 pub call: AskedCall,
        /// The instant at which it was asked for.
        3 pub created_at: Timestamp,
        /// The instant from which it can no longer be given.
        4 pub expires_at: Timestamp,
        5 pub decision: Option<Decision>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AskedCall {
        0 pub by: Who,
        1 pub peer: Option<String>,
        2 pub request_id: Option<String>,
        3 pub operation: String,
        4 pub path: String,
        5 pub query: Option<String>,
        6 pub body: Vec<u8>,
        7 pub tenant: Option<Id>,
        8 pub target: Option<String>,
    }

    /// The second person's decision.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Decision {
        0 pub approved: bool,
        1 pub by: Who,
        2 pub note: Option<String>,
        3 pub at: Timestamp,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A second person may decide.
    Pending,
    Approved,
    /// The call will not be done.
    Rejected,
    /// Nobody decided in time, or before its asker could no longer ask for it.
    Expired,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Pending, Status::Approved, Status::Rejected, Status::Expired];

    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Approved => "approved",
            Status::Rejected => "rejected",
            Status::Expired => "expired",
        }
    }

    /// The facet under which it is listed. That an approval has expired follows from the clock alone.
    pub const fn facet(self) -> u8 {
        match self {
            Status::Pending | Status::Expired => 0,
            Status::Approved => 1,
            Status::Rejected => 2,
        }
    }
}

impl Approval {
    /// The status at this instant of the server's clock.
    pub fn status(&self, now: Timestamp) -> Status {
        match &self.decision {
            Some(decision) if decision.approved => Status::Approved,
            Some(_) => Status::Rejected,
            None if now >= self.expires_at => Status::Expired,
            None => Status::Pending,
        }
    }

    /// The refusal to decide it at this instant, if it cannot be.
    pub fn may_be_decided(&self, now: Timestamp) -> Result<(), ApprovalRefusal> {
        match self.status(now) {
            Status::Pending => Ok(()),
            Status::Approved | Status::Rejected => Err(ApprovalRefusal::Decided),
            Status::Expired => Err(ApprovalRefusal::Expired),
        }
    }
}

impl Resource for Approval {
    fn entity_id(&self) -> EntityId {
        EntityId::approval(self.id)
    }

    fn facet(&self) -> u8 {
        match &self.decision {
            None => Status::Pending.facet(),
            Some(decision) if decision.approved => Status::Approved.facet(),
            Some(_) => Status::Rejected.facet(),
        }
    }

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    fn external_ref(&self) -> Option<&str> {
        None
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    fn entries(&self, _: Change, _: &mut Entries<'_>) {}
}

pub enum Command {
    /// A call that has to wait; the instants are filled in.
    Ask {
        approval: Box<Approval>,
        /// The time for which it can be given, in ms.
        valid_ms: i64,
    },
    Decide {
        approved: bool,
        by: Who,
        note: Option<String>,
        answer: (u16, Vec<u8>),
    },
    /// The end of its time: whoever asked may not ask for it any more.
    End,
}

pub fn decide(approval: Option<&Approval>, command: Command, now: Timestamp) -> Ruling {
    match (command, approval) {
        (Command::Ask { approval, valid_ms }, None) => {
            let mut draft = Draft::new(Cause::ApprovalAsked);
            let asked =
                Approval { created_at: now, expires_at: now.plus_ms(valid_ms), decision: None, ..*approval };
            draft.create(Entity::Approval(asked));
            Ruling::write(draft)
        }
        (Command::Decide { approved, by, note, answer }, Some(approval)) => {
            // A deed that was done in time stays done, however late its approval hears of it.
            let may = match approval.may_be_decided(now) {
                Err(ApprovalRefusal::Expired) if approved => Ok(()),
                may => may,
            };
            if let Err(refusal) = may {
                return Ruling::refuse(refusal);
            }
            let decision = Some(Decision { approved, by, note, at: now });
            let mut draft = Draft::new(Cause::ApprovalDecided);
            draft.change(approval, Entity::Approval(Approval { decision, ..approval.clone() }));
            draft.answer = Some(answer);
            Ruling::write(draft)
        }
        (Command::End, Some(approval)) if approval.status(now) == Status::Pending => {
            let mut draft = Draft::new(Cause::ApprovalDecided);
            draft.change(approval, Entity::Approval(Approval { expires_at: now, ..approval.clone() }));
            Ruling::write(draft)
        }
        (Command::Ask { .. } | Command::End, Some(_)) => Ruling::unchanged(),
        (Command::Decide { .. } | Command::End, None) => Ruling::refuse(Refusal::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(now: Timestamp) -> Approval {
        let call = AskedCall {
            by: Who::root(),
            peer: None,
            request_id: None,
            operation: "createAdjustment".to_owned(),
            path: "/admin/tenants/t/adjustments".to_owned(),
            query: None,
            body: b"{}".to_vec(),
            tenant: None,
            target: None,
        };
        let approval = Approval {
            id: Id::derived(1, 2, 0),
            action: Approvable::Adjustments,
            call,
            created_at: Timestamp::EPOCH,
            expires_at: Timestamp::EPOCH,
            decision: None,
        };
        let ruling = decide(None, Command::Ask { approval: Box::new(approval), valid_ms: 1_000 }, now);
        let draft = ruling.record.expect("written");
        let Entity::Approval(approval) = &*draft.entities[0].state else { panic!("an approval") };
        approval.clone()
    }

    fn say(approval: &Approval, approved: bool, at: i64) -> Result<Approval, Refusal> {
        let command = Command::Decide {
            approved,
            by: Who { id: Some(Id::derived(3, 4, 0)), name: "Ana".into() },
            note: None,
            answer: (200, Vec::new()),
        };
        let ruling = decide(Some(approval), command, Timestamp::from_unix_ms(at));
        match ruling.record {
            Some(draft) => match &*draft.entities[0].state {
                Entity::Approval(approval) => Ok(approval.clone()),
                _ => panic!("an approval"),
            },
            None => Err(ruling.refusal.expect("refused")),
        }
    }

    #[test]
    fn it_is_decided_once_and_in_time() {
        let approval = asked(Timestamp::from_unix_ms(10_000));
        let status = |approval: &Approval, at| approval.status(Timestamp::from_unix_ms(at)).name();
        assert_eq!((status(&approval, 10_999), status(&approval, 11_000)), ("pending", "expired"));
        let rejected = say(&approval, false, 10_999).expect("in time");
        assert_eq!(status(&rejected, 99_000), "rejected");
        assert_eq!(say(&approval, false, 11_000), Err(ApprovalRefusal::Expired.into()));
        // Done just before the end: the record of the deed was first.
        let approved = say(&approval, true, 11_000).expect("done");
        assert_eq!((status(&approved, 11_000), approved.facet()), ("approved", 1));
        for decided in [approved, rejected] {
            assert_eq!(say(&decided, true, 10_999), Err(ApprovalRefusal::Decided.into()));
            assert!(decide(Some(&decided), Command::End, Timestamp::from_unix_ms(10_999)).record.is_none());
        }
        // Whoever asked was disabled.
        let draft = decide(Some(&approval), Command::End, Timestamp::from_unix_ms(10_500)).record;
        let draft = draft.expect("written");
        let Entity::Approval(ended) = &*draft.entities[0].state else { panic!("an approval") };
        assert_eq!((status(ended, 10_499), status(ended, 10_500)), ("pending", "expired"));
    }
}
