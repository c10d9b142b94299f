//! The calls of keys with a mandate that wait for an approval, as their book knows them: how each is decided is
//! in `src/domain/resources/mandate_approvals.rs`.

use crate::entities::mandate_approval::{MandateApproval, Waiting};
use crate::values::ids::Id;
use persistent::SortedMap;
use std::sync::Arc;

/// By their mandates and their own ids.
pub type AllWaiting = SortedMap<(Id, Id), Arc<Waiting>>;

pub fn of_mandate(all: &AllWaiting, mandate: Id) -> impl Iterator<Item = (Id, &Arc<Waiting>)> {
    let all = all.iter_from(&(mandate, Id::from_bytes([0; 16])));
    all.take_while(move |((of, _), _)| *of == mandate).map(|((_, id), waiting)| (*id, waiting))
}

/// Applies what a record says of an approval. Those that nobody can give any more go when another begins to wait.
pub fn apply(all: &mut AllWaiting, approval: &MandateApproval) {
    let key = (approval.mandate, approval.id);
    if approval.decision.is_some() {
        all.remove(&key);
        return;
    }
    let now = approval.created_at;
    let over: Vec<_> =
        all.iter().filter(|(_, waiting)| waiting.expires_at <= now).map(|(key, _)| *key).collect();
    for key in over {
        all.remove(&key);
    }
    let waiting = Waiting { expires_at: approval.expires_at, subject: approval.subject.clone() };
    all.insert(key, Arc::new(waiting));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::tests::Sampled as _;
    use crate::entities::mandate_approval::MandateDecision;
    use crate::values::time::{DAY_MS, Timestamp};

    #[test]
    fn what_is_decided_goes_at_once_and_what_is_over_when_another_comes() {
        let mut all = AllWaiting::default();
        let sample = MandateApproval::sample(false, &mut 0);
        let asked = |n: u16, at: i64| {
            let created_at = Timestamp::from_unix_ms(at);
            let expires_at = created_at.plus_ms(DAY_MS);
            MandateApproval { id: Id::derived(1, 1, n), created_at, expires_at, ..sample.clone() }
        };
        for n in 0..3 {
            apply(&mut all, &asked(n, i64::from(n)));
        }
        let decision = Some(MandateDecision { is_approved: false, by: sample.key, at: Timestamp::EPOCH });
        apply(&mut all, &MandateApproval { decision, ..asked(1, 1) });
        assert_eq!(all.len(), 2);
        apply(&mut all, &asked(3, DAY_MS));
        let left: Vec<Id> = of_mandate(&all, sample.mandate).map(|(id, _)| id).collect();
        assert_eq!(left, [Id::derived(1, 1, 2), Id::derived(1, 1, 3)]);
        assert_eq!(of_mandate(&all, Id::derived(9, 9, 9)).count(), 0);
    }
}
