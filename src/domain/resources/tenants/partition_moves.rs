//! The move of a tenant from one partition of the deployment to another, as the first partition's book judges it.
//!
//! ```text
//!          Begin(to)           Close                        End
//! serves ────────────▶ moving ────────▶ closed, for `to` ────────▶ serves in `to`
//!    ▲                   │                    │
//!    └───────────────────┴────────────────────┘ Undo
//! ```
//!
//! While it is moving it is served where it was, and its books are copied. Closing is a version of its settings, so a
//! record in each of its books: who has copied that record has copied all. One record says where it is from then on,
//! so it is in one place at any moment, and nobody who is late is believed: what is said of a move names the version
//! that closed it.

use crate::decision::{Ruling, write_platform};
use crate::platform::settings::{LiveStatus, TenantSettings};
use crate::platform::{PlatformBook, PlatformChange, Tenant};
use crate::refusal::{PlatformRefusal, Refusal};
use std::sync::Arc;

/// A step of a move. One that was taken before, or is not the next, changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    /// To this partition.
    Begin(u8),
    Close,
    /// Both books are there with the settings of this version, which closed them.
    End {
        closed: u64,
    },
    Undo,
}

pub(super) fn decide(book: &PlatformBook, number: u32, step: MoveStep) -> Ruling {
    let Some(tenant) = book.tenants.get(&number) else { return Ruling::refuse(Refusal::NotFound) };
    let settings = &tenant.tenant_settings;
    let change = |moving, tenant_settings| Tenant { moving, tenant_settings, ..(**tenant).clone() };
    let settled = |moving_to| TenantSettings { version: settings.version + 1, moving_to, ..settings.clone() };
    let next = match (step, tenant.moving) {
        (MoveStep::Begin(to), None) if to == tenant.partition => return Ruling::unchanged(),
        (MoveStep::Begin(to), None) => match may_begin(tenant) {
            Ok(()) => change(Some(to), settings.clone()),
            Err(refusal) => return Ruling::refuse(refusal),
        },
        (MoveStep::Begin(_), Some(_)) => return Ruling::refuse(PlatformRefusal::MoveUnderWay),
        (MoveStep::Close, Some(to)) if settings.moving_to.is_none() => change(Some(to), settled(Some(to))),
        (MoveStep::End { closed }, Some(to))
            if settings.moving_to == Some(to) && settings.version == closed =>
        {
            let moved = Tenant { partition: to, moves: tenant.moves + 1, ..change(None, settled(None)) };
            let (tenant, from) = (Arc::new(moved), tenant.partition);
            return write_platform(PlatformChange::Moved { tenant, from });
        }
        (MoveStep::Undo, Some(_)) => match settings.moving_to {
            Some(_) => change(None, settled(None)),
            None => change(None, settings.clone()),
        },
        (MoveStep::Close | MoveStep::End { .. } | MoveStep::Undo, _) => return Ruling::unchanged(),
    };
    write_platform(PlatformChange::Tenant(Arc::new(next)))
}

fn may_begin(tenant: &Tenant) -> Result<(), Refusal> {
    let settings = &tenant.tenant_settings;
    if settings.moved_to.is_some() {
        return Err(Refusal::TenantMoved);
    }
    if settings.live_status != LiveStatus::Inactive {
        let message = "must be the partition that it is in: an account with live mode does not move";
        return Err(Refusal::Invalid { field: "to", message });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::PersonMarks;
    use crate::kept::KeepRef;
    use crate::machine::{Command, Domain, KeyedCommand};
    use crate::platform::audit::Changes;
    use crate::rail::RailAnswer;
    use crate::resources::operations::Resolution;
    use crate::values::ids::Id;
    use crate::values::time::Timestamp;
    use actors::Machine as _;
    use proptest::prelude::*;

    const NUMBER: u32 = 7;

    fn book_of(tenant: Tenant) -> PlatformBook {
        let mut book = PlatformBook::default();
        book.tenants.insert(tenant.number, Arc::new(tenant));
        book
    }

    fn tenant() -> Tenant {
        Tenant {
            id: Id::derived(1, 1, 0),
            number: NUMBER,
            first_number: NUMBER,
            name: "tienda".into(),
            tenant_settings: TenantSettings { version: 1, ..TenantSettings::default() },
            pushed: 1,
            created_at: Timestamp::from_unix_ms(0),
            partition: 0,
            moving: None,
            moves: 0,
        }
    }

    fn take(book: &mut PlatformBook, step: MoveStep) -> Option<PlatformChange> {
        let change = decide(book, NUMBER, step).record.and_then(|draft| draft.record.platform);
        book.evolve(change.as_deref(), Timestamp::from_unix_ms(1));
        change.map(|change| *change)
    }

    fn known(book: &PlatformBook) -> Arc<Tenant> {
        Arc::clone(book.tenants.get(&NUMBER).expect("the tenant"))
    }

    fn step() -> impl Strategy<Value = MoveStep> {
        prop_oneof![
            (0..3_u8).prop_map(MoveStep::Begin),
            Just(MoveStep::Close),
            (0..8_u64).prop_map(|closed| MoveStep::End { closed }),
            Just(MoveStep::Undo),
        ]
    }

    proptest! {
        /// Whatever is said in whatever order: a tenant is served where it is known to be, moves only after books
        /// with the very version that closed it were copied, and the versions of its settings only grow.
        #[test]
        fn a_tenant_is_in_one_place_whatever_comes_late(steps in prop::collection::vec(step(), 1..60)) {
            let mut book = book_of(tenant());
            let mut closed_by = None;
            for step in steps {
                let before = known(&book);
                let change = take(&mut book, step);
                let after = known(&book);
                prop_assert!(after.tenant_settings.version >= before.tenant_settings.version);
                let changed = after.tenant_settings.moving_to != before.tenant_settings.moving_to;
                prop_assert!(!changed || after.tenant_settings.version > before.tenant_settings.version);
                prop_assert!(after.tenant_settings.moving_to.is_none_or(|to| after.moving == Some(to)));
                prop_assert!(after.moving != Some(after.partition));
                if after.partition != before.partition {
                    prop_assert_eq!(Some(after.partition), before.moving);
                    prop_assert_eq!(step, MoveStep::End { closed: closed_by.expect("it was closed") });
                    prop_assert!(after.moving.is_none() && !after.tenant_settings.are_closed());
                    let is_said = matches!(change, Some(PlatformChange::Moved { from, .. }) if from == before.partition);
                    prop_assert!(is_said);
                }
                closed_by = after.tenant_settings.moving_to.map(|_| after.tenant_settings.version);
            }
        }
    }

    /// Given books that a record closed; when somebody keeps an answer there, or says a bank's word, or a deadline
    /// comes; then nothing is written, as whoever has copied that record has copied all.
    #[test]
    fn nothing_is_written_after_the_record_that_closed_a_book() {
        let domain = Domain {
            rails: Arc::new(crate::rail::TestModeAlone),
            holidays: Vec::new(),
            person_marks: PersonMarks::default(),
            changes: |_| Changes::default(),
        };
        let mut book = domain.empty(3);
        let mut ask = |command: KeyedCommand| {
            let turn = actors::Turn { tenant: 3, now_ms: 5, seed: 1, ahead_ms: 0 };
            let decided = domain.decide(&book, None, command, turn);
            let is_written = decided.record.is_some();
            decided.record.iter().for_each(|record| domain.evolve(&mut book, record, 5));
            (is_written, decided.refusal)
        };
        let settings = |version, moving_to| {
            Command::TenantSettings(TenantSettings { version, moving_to, ..TenantSettings::default() }).into()
        };
        assert_eq!(ask(settings(1, Some(2))), (true, None));
        let keep = || {
            let of = KeepRef {
                key: "key".to_owned(),
                path: "/v1/webhooks".to_owned(),
                body_hash: [1; 16],
                first_seen: Timestamp::EPOCH,
                request_id: "request".to_owned(),
            };
            Some(of)
        };
        let operation = Id::derived(1, 1, 0);
        let word = || Box::new(Resolution { operation, answer: RailAnswer::refused("AC01") });
        for kept in [None, keep()] {
            let keeping = |command: Command| KeyedCommand::from(command).keeping(kept.clone());
            let refused = (false, Some(Refusal::TenantMoving));
            assert_eq!(ask(keeping(Command::KeepAnswer(200, b"{}".to_vec()))), refused);
            assert_eq!(ask(keeping(Command::Resolve(word()))), refused);
            assert_eq!(ask(keeping(Command::MoveClock)), refused);
            assert_eq!(ask(keeping(Command::Deadline)), (false, None));
        }
        assert_eq!(ask(settings(2, None)), (true, None));
        let keeping = Command::KeepAnswer(200, b"{}".to_vec());
        assert_eq!(ask(KeyedCommand::from(keeping).keeping(keep())), (true, None), "it is open again");
    }

    #[test]
    fn an_account_that_may_not_leave_gets_a_reason() {
        let active = TenantSettings { live_status: LiveStatus::Suspended, ..TenantSettings::default() };
        let of = |tenant_settings| book_of(Tenant { tenant_settings, ..tenant() });
        let refused = |book: &PlatformBook, to| decide(book, NUMBER, MoveStep::Begin(to)).refusal;
        assert!(matches!(refused(&of(active), 1), Some(Refusal::Invalid { field: "to", .. })));
        let mut book = book_of(tenant());
        assert_eq!(refused(&book, 0), None);
        assert!(take(&mut book, MoveStep::Begin(0)).is_none());
        assert!(take(&mut book, MoveStep::Begin(1)).is_some());
        let under_way = Some(Refusal::from(PlatformRefusal::MoveUnderWay));
        assert_eq!(refused(&book, 2), under_way);
        assert_eq!(decide(&book, 8, MoveStep::Begin(1)).refusal, Some(Refusal::NotFound));
        assert_eq!(known(&book).moving, Some(1));
    }
}
