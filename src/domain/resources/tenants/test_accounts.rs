//! Whether somebody may open an account of test mode without an operator.

use crate::platform::PlatformBook;
use crate::platform::test_accounts::Opener;
use crate::values::time::{HOUR_MS, SECOND_MS, Timestamp, wait_for_fewer};

/// Accounts that one address may open within a day. None of them is deleted before the day is over, so all are known.
pub const A_DAY: usize = 10;
/// And one site of IPv6, a /48: whoever has one has 65,536 networks, each of which counts as an address.
pub const SITE_A_DAY: usize = 100;
/// Accounts that are there at once.
pub const ALL_MAX: usize = 10_000;

/// The reason why no account is opened now, with the seconds until one may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOpened {
    ByThisAddress(u32),
    ByAnybody(u32),
}

/// Whether somebody may open an account.
pub fn may_open(book: &PlatformBook, opener: Opener, now: Timestamp) -> Result<(), NotOpened> {
    let opened = |is_meant: &dyn Fn(&Opener) -> bool, most| {
        let own = book.test_accounts.values().filter(|account| is_meant(&account.opener));
        wait_for_fewer(own.map(|account| account.opened_at), most, now)
    };
    let of_address = opened(&|other| other.address == opener.address, A_DAY);
    let of_site = opener.site.and_then(|site| opened(&|other| other.site == Some(site), SITE_A_DAY));
    if let Some(seconds) = of_address.max(of_site) {
        return Err(NotOpened::ByThisAddress(seconds));
    }
    if book.test_accounts.len() >= ALL_MAX {
        return Err(NotOpened::ByAnybody((HOUR_MS / SECOND_MS) as u32));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::settings::{LiveStatus, Settings};
    use crate::platform::{ApiKey, PlatformChange, Scopes};
    use crate::resources::tenants::{PlatformAsk, decide};
    use crate::values::ids::{Id, Mode};
    use crate::values::time::DAY_MS;
    use std::sync::Arc;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    fn key(n: u16, mode: Mode) -> ApiKey {
        ApiKey {
            id: Id::derived(1, 1, n),
            tenant: 0,
            mode,
            hash: [0; 32],
            prefix: "pk_".into(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            details: Default::default(),
        }
    }

    fn asked(book: &mut PlatformBook, ask: PlatformAsk, now: Timestamp) -> Option<PlatformChange> {
        let change = decide(book, ask, now).record?.record.platform.map(|change| *change);
        book.evolve(change.as_ref(), now);
        change
    }

    const OPENER: Opener = Opener { address: [1; 16], site: None };

    fn open(book: &mut PlatformBook, n: u16, now: Timestamp) -> u32 {
        open_by(book, n, OPENER, now)
    }

    fn open_by(book: &mut PlatformBook, n: u16, opener: Opener, now: Timestamp) -> u32 {
        let ask = PlatformAsk::Open {
            id: Id::derived(2, 2, n),
            name: "test account".to_owned(),
            settings: Arc::new(Settings::default()),
            keys: vec![key(n, Mode::Test)],
            opener: Some(opener),
            partitions: vec![0, 1, 2],
        };
        match asked(book, ask, now) {
            Some(PlatformChange::TestAccountOpened { tenant, .. }) => tenant.number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_address_opens_ten_a_day_and_then_waits_for_the_first_to_be_a_day_old() {
        let mut book = PlatformBook::default();
        for n in 0..10 {
            assert_eq!(may_open(&book, OPENER, at(n * 1_000)), Ok(()));
            open(&mut book, n as u16, at(n * 1_000));
        }
        assert_eq!(may_open(&book, OPENER, at(10_000)), Err(NotOpened::ByThisAddress(86_391)));
        let other = Opener { address: [2; 16], site: None };
        assert_eq!(may_open(&book, other, at(10_000)), Ok(()), "another address");
        assert_eq!(may_open(&book, OPENER, at(DAY_MS)), Ok(()));
        assert_eq!(may_open(&book, OPENER, at(DAY_MS - 1)), Err(NotOpened::ByThisAddress(1)));
    }

    #[test]
    fn the_networks_of_a_site_open_a_hundred_a_day_together() {
        let mut book = PlatformBook::default();
        let of = |site: u8, network: u8| Opener { address: [network; 16], site: Some([site; 16]) };
        for n in 0..SITE_A_DAY {
            let opener = of(1, (n / 5) as u8);
            assert_eq!(may_open(&book, opener, at(n as i64)), Ok(()), "{n}");
            open_by(&mut book, n as u16, opener, at(n as i64));
        }
        let now = at(SECOND_MS);
        assert_eq!(may_open(&book, of(1, 99), now), Err(NotOpened::ByThisAddress(86_400)));
        assert_eq!(may_open(&book, of(2, 100), now), Ok(()), "another site");
        assert_eq!(may_open(&book, Opener { address: [101; 16], site: None }, now), Ok(()), "IPv4");
        assert_eq!(may_open(&book, of(1, 99), at(DAY_MS)), Ok(()));
    }

    #[test]
    fn a_deleted_account_leaves_nothing_and_its_number_is_no_other_ones() {
        let mut book = PlatformBook::default();
        let number = open(&mut book, 1, at(0));
        asked(&mut book, PlatformAsk::AskLive { number, body: Vec::new() }, at(1));
        asked(&mut book, PlatformAsk::UseTestAccounts(vec![(number, at(5)), (99, at(5))]), at(6));
        assert_eq!(book.test_accounts.get(&number).map(|account| account.used_at), Some(at(5)));
        assert!(asked(&mut book, PlatformAsk::DeleteTestAccount(number), at(7)).is_some());
        let left = (book.tenants.len(), book.keys.len(), book.test_accounts.len(), book.live_asked.len());
        assert_eq!(left, (0, 0, 0, 0));
        assert_eq!(open(&mut book, 2, at(8)), number + 1);
        assert!(asked(&mut book, PlatformAsk::DeleteTestAccount(number), at(9)).is_none(), "it is gone");
    }

    #[test]
    fn what_an_operator_makes_more_of_is_kept() {
        let mut book = PlatformBook::default();
        let (keyed, active) = (open(&mut book, 1, at(0)), open(&mut book, 2, at(0)));
        let live = ApiKey { tenant: keyed, ..key(3, Mode::Live) };
        asked(&mut book, PlatformAsk::AddKey { key: live, by: None }, at(1));
        asked(
            &mut book,
            PlatformAsk::SetTenantSettings {
                number: active,
                base: 1,
                settings: Arc::new(Settings::default()),
                live_status: LiveStatus::Active,
                reason: None,
            },
            at(1),
        );
        for number in [keyed, active] {
            assert!(asked(&mut book, PlatformAsk::DeleteTestAccount(number), at(2)).is_none());
            assert!(book.tenants.get(&number).is_some());
        }
    }
}
