//! Amounts of a token as integers, in the decimals of its contract: exact, or not at all.

use domain::values::money::Usdt;

pub const DECIMALS_MAX: u32 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    per_cent: u128,
}

impl Units {
    /// 2 to 18 decimals.
    pub fn with_decimals(decimals: u32) -> Option<Units> {
        let more = decimals.checked_sub(Usdt::DECIMALS)?;
        (decimals <= DECIMALS_MAX).then(|| Units { per_cent: 10_u128.pow(more) })
    }

    /// `None` below zero.
    pub fn of(self, amount: Usdt) -> Option<u128> {
        u128::try_from(amount.minor()).ok()?.checked_mul(self.per_cent)
    }

    /// With the rest of less than a cent, in the token's units; `None` when it is beyond every amount that the
    /// ledger takes.
    pub fn credited(self, units: u128) -> Option<(Usdt, u128)> {
        let cents = i64::try_from(units / self.per_cent).ok()?;
        let fits = cents <= domain::values::money::AMOUNT_MINOR_MAX;
        fits.then(|| (Usdt::from_minor(cents), units % self.per_cent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::money::AMOUNT_MINOR_MAX;
    use proptest::prelude::*;

    #[test]
    fn six_and_eighteen_decimals() {
        let six = Units::with_decimals(6).expect("units");
        let eighteen = Units::with_decimals(18).expect("units");
        let amount = Usdt::from_minor(2_501);
        assert_eq!(
            (six.of(amount), eighteen.of(amount)),
            (Some(25_010_000), Some(25_010_000_000_000_000_000))
        );
        assert_eq!(six.credited(25_010_001), Some((amount, 1)));
        assert_eq!(six.credited(9_999), Some((Usdt::ZERO, 9_999)));
        assert_eq!((six.of(Usdt::from_minor(-1)), six.credited(u128::MAX)), (None, None));
        assert_eq!((Units::with_decimals(1), Units::with_decimals(19)), (None, None));
    }

    proptest! {
        #[test]
        fn what_is_paid_out_comes_back_whole(cents in 0..=AMOUNT_MINOR_MAX, decimals in 2..=DECIMALS_MAX) {
            let units = Units::with_decimals(decimals).expect("units");
            let amount = Usdt::from_minor(cents);
            let written = units.of(amount).expect("fits");
            prop_assert_eq!(units.credited(written), Some((amount, 0)));
        }

        #[test]
        fn nothing_is_credited_that_did_not_come(written in 0..=u128::from(u64::MAX), decimals in 2..=DECIMALS_MAX) {
            let units = Units::with_decimals(decimals).expect("units");
            if let Some((amount, rest)) = units.credited(written) {
                prop_assert_eq!(units.of(amount).expect("fits") + rest, written);
            }
        }
    }
}
