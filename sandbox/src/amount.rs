//! Amounts of bolívares as R4 writes them: text with a dot, counted in cents.
//!
//! Promises: what is read is exactly what was written (docs/contract.md, 18.3, 21.3); sums are
//! checked.

/// Digits before the dot that R4 takes.
const INTEGER_DIGITS_MAX: usize = 8;

/// The cents of a `Monto`: one to eight digits without a leading zero, a dot, two digits; more than
/// nothing.
pub fn cents(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.')?;
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let well_formed = (1..=INTEGER_DIGITS_MAX).contains(&whole.len())
        && decimals.len() == 2
        && are_digits(whole)
        && are_digits(decimals)
        && (whole.len() == 1 || !whole.starts_with('0'));
    if !well_formed {
        return None;
    }
    let cents = whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(decimals.parse().ok()?)?;
    (cents > 0).then_some(cents)
}

/// Cents as text with two decimals.
pub fn text(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// The sum of amounts.
///
/// # Panics
/// When it is more than a `u64` holds: books that cannot be added up must not be shown.
pub fn sum(amounts: impl Iterator<Item = u64>) -> u64 {
    amounts.fold(0, |total, amount| total.checked_add(amount).expect("the sum of the books fits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_two_decimals_and_no_leading_zero() {
        let good = [("0.01", 1), ("1.00", 100), ("120.50", 12_050), ("99999999.99", 9_999_999_999)];
        for (written, counted) in good {
            assert_eq!(cents(written), Some(counted), "{written}");
            assert_eq!(text(counted), written);
        }
        for bad in [
            "",
            "1",
            "1.0",
            "1.000",
            "01.00",
            "100000000.00",
            "-1.00",
            "+1.00",
            "1,00",
            "0.00",
            ".50",
            "1.5e",
        ] {
            assert_eq!(cents(bad), None, "{bad}");
        }
    }
}
