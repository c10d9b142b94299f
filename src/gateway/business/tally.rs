//! Counts under names that are not known beforehand, of which there are only so many: a name gets a slot
//! when it first comes, for as long as the process lives. No lock is taken.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

/// The banks that are told apart; there are about thirty.
pub const BANKS: usize = 64;
/// The codes of failures that are told apart, of one method or currency.
const CODES: usize = 48;
/// Characters of a code; a longer text is a sentence.
const CODE_MAX: usize = 32;
/// The label of what has no slot.
const OTHER: &str = "other";

/// The slots of banks.
pub struct Slots([AtomicU16; BANKS]);

impl Default for Slots {
    fn default() -> Slots {
        Slots([const { AtomicU16::new(0) }; BANKS])
    }
}

impl Slots {
    /// The slot of a bank, by its number, which is never 0. Beyond the last one there are two more: see
    /// [`Slots::name`].
    pub fn of(&self, bank: u16) -> usize {
        for (slot, known) in self.0.iter().enumerate() {
            let holder = match known.load(Ordering::Relaxed) {
                0 => match known.compare_exchange(0, bank, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => bank,
                    Err(other) => other,
                },
                other => other,
            };
            if holder == bank {
                return slot;
            }
        }
        BANKS + 1
    }

    /// The code of the bank with a slot.
    pub fn name(&self, slot: usize) -> String {
        self.0
            .get(slot)
            .map_or_else(|| OTHER.to_owned(), |bank| format!("{:04}", bank.load(Ordering::Relaxed)))
    }
}

/// The number of times that each code came.
pub struct Codes {
    known: [OnceLock<Box<str>>; CODES],
    counts: [AtomicU64; CODES],
    others: AtomicU64,
}

impl Default for Codes {
    fn default() -> Codes {
        Codes {
            known: [const { OnceLock::new() }; CODES],
            counts: [const { AtomicU64::new(0) }; CODES],
            others: AtomicU64::new(0),
        }
    }
}

impl Codes {
    /// Counts a code.
    pub fn note(&self, code: &str) {
        let slot = self.known.iter().position(|known| &**known.get_or_init(|| code.into()) == code);
        let count = slot.map_or(&self.others, |slot| &self.counts[slot]);
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// The codes that came, and how often.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let known = self.known.iter().map_while(|known| known.get());
        let mut found: Vec<(String, u64)> = known
            .zip(&self.counts)
            .map(|(code, count)| (code.to_string(), count.load(Ordering::Relaxed)))
            .collect();
        let others = self.others.load(Ordering::Relaxed);
        if others > 0 {
            found.push((OTHER.to_owned(), others));
        }
        found
    }
}

/// A code as a label: what a bank wrote that is no code, or no code at all, is not one.
pub fn clean(code: Option<&str>) -> &str {
    match code {
        None => "none",
        Some(code)
            if (1..=CODE_MAX).contains(&code.len())
                && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)) =>
        {
            code
        }
        Some(_) => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bank_keeps_its_slot_and_the_last_ones_are_others() {
        let slots = Slots::default();
        let first: Vec<usize> = (1..=BANKS as u16).map(|bank| slots.of(bank)).collect();
        assert_eq!(first, (0..BANKS).collect::<Vec<_>>());
        assert_eq!((slots.of(7), slots.name(6).as_str()), (6, "0007"));
        assert_eq!((slots.of(9999), slots.name(slots.of(9999)).as_str()), (BANKS + 1, "other"));
    }

    #[test]
    fn codes_are_counted_by_name_as_far_as_there_is_room() {
        let codes = Codes::default();
        for n in 0..CODES + 3 {
            codes.note(&format!("C{n}"));
        }
        codes.note("C0");
        let counts = codes.counts();
        assert_eq!(counts.len(), CODES + 1);
        assert_eq!((&counts[0], &counts[CODES]), (&("C0".to_owned(), 2), &("other".to_owned(), 3)));
    }

    #[test]
    fn what_is_no_code_is_no_label() {
        let long = "x".repeat(33);
        for (code, label) in [
            (Some("AM04"), "AM04"),
            (Some("insufficient_funds"), "insufficient_funds"),
            (Some("la cuenta de Ana"), "other"),
            (Some("a\"}"), "other"),
            (Some(""), "other"),
            (Some(long.as_str()), "other"),
            (None, "none"),
        ] {
            assert_eq!(clean(code), label, "{code:?}");
        }
    }

    #[test]
    fn threads_that_meet_a_new_name_agree_on_its_slot() {
        let (slots, codes) = (Slots::default(), Codes::default());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 1..=40_u16 {
                        slots.of(n);
                        codes.note(&n.to_string());
                    }
                });
            }
        });
        let slots_of: std::collections::BTreeSet<usize> = (1..=40).map(|bank| slots.of(bank)).collect();
        assert_eq!(slots_of, (0..40).collect());
        assert!(codes.counts().len() == 40 && codes.counts().iter().all(|(_, count)| *count == 4));
    }
}
