//! Approvals: calls of operators that wait for a second person (`docs/contract.md, 20.2`). They are the
//! platform's.
//!
//! The deed that was approved is done in the books that it is about, in records of their own, each
//! of which names the approval; the index then knows that it was done, and it is not done again. So
//! a crash between the deed and the state of its approval leaves nothing open: the state is written
//! by the next start.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling};
use crate::entities::approval::{Approval, Decision, Status};
use crate::platform::audit::Who;
use crate::refusal::{ApprovalRefusal, Refusal};
use crate::values::time::Timestamp;

impl Approval {
    /// The refusal to decide it at this instant, if it cannot be.
    pub fn may_be_decided(&self, now: Timestamp) -> Result<(), ApprovalRefusal> {
        match self.status(now) {
            Status::Pending => Ok(()),
            Status::Approved | Status::Rejected => Err(ApprovalRefusal::Decided),
            Status::Expired => Err(ApprovalRefusal::Expired),
        }
    }
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
            let asked =
                Approval { created_at: now, expires_at: now.plus_ms(valid_ms), decision: None, ..*approval };
            Ruling::write(Draft::created(Cause::ApprovalAsked, asked))
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
            let decided = Approval { decision, ..approval.clone() };
            let mut draft = Draft::changed(Cause::ApprovalDecided, approval, decided);
            draft.answer = Some(answer);
            Ruling::write(draft)
        }
        (Command::End, Some(approval)) if approval.status(now) == Status::Pending => {
            let ended = Approval { expires_at: now, ..approval.clone() };
            Ruling::write(Draft::changed(Cause::ApprovalDecided, approval, ended))
        }
        (Command::Ask { .. } | Command::End, Some(_)) => Ruling::unchanged(),
        (Command::Decide { .. } | Command::End, None) => Ruling::refuse(Refusal::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entities::Entity;
    use crate::entities::approval::Approvable;
    use crate::entities::approval::AskedCall;
    use crate::entities::resource::Resource;
    use crate::values::ids::Id;

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
        let Entity::Approval(approval) = &*draft.record.entities[0].state else { panic!("an approval") };
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
            Some(draft) => match &*draft.record.entities[0].state {
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
        let Entity::Approval(ended) = &*draft.record.entities[0].state else { panic!("an approval") };
        assert_eq!((status(ended, 10_499), status(ended, 10_500)), ("pending", "expired"));
    }
}
