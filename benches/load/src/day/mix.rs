//! The mix: what a day asks for, in what shares, in an order that a seed decides. The order of a
//! connection is the same in every run of a seed, however fast the server is.

/// A thing that somebody wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A buyer pays by C2P: the request, then the execution.
    C2p,
    /// A shop looks at its balance.
    Balance,
    /// A shop looks at a payment that was made before.
    Payment,
    /// A shop pays a merchant.
    Payout,
    /// A shop pays many merchants at once.
    Batch,
    /// A buyer pays in pesos: the request, then the code.
    Pesos,
    /// A shop with a webhook endpoint pays a merchant, and is told of it.
    Announced,
}

/// The shares, in hundredths.
pub const SHARES: [(Wish, u64); 7] = [
    (Wish::C2p, 60),
    (Wish::Balance, 7),
    (Wish::Payment, 8),
    (Wish::Payout, 10),
    (Wish::Batch, 5),
    (Wish::Pesos, 5),
    (Wish::Announced, 5),
];

/// Numbers that look like chance and are decided by a seed (SplitMix64).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of a connection.
    pub fn of(seed: u64, connection: usize) -> Chance {
        let mut chance = Chance(seed);
        let own = chance.next() ^ connection as u64;
        Chance(own)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from zero up to, and without, `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// One of so many things.
    pub fn one_of(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).unwrap_or(0)
    }

    /// What is wished for next.
    pub fn wish(&mut self) -> Wish {
        let mut left = self.below(100);
        for (wish, share) in SHARES {
            if left < share {
                return wish;
            }
            left -= share;
        }
        Wish::C2p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_what_is_wished_for() {
        assert_eq!(SHARES.iter().map(|(_, share)| share).sum::<u64>(), 100);
        let wishes = |seed, connection| {
            let mut chance = Chance::of(seed, connection);
            (0..10_000).map(|_| chance.wish()).collect::<Vec<_>>()
        };
        assert_eq!(wishes(7, 3), wishes(7, 3));
        assert!(wishes(7, 3) != wishes(7, 4) && wishes(7, 3) != wishes(8, 3));
        for (wish, share) in SHARES {
            let seen = wishes(7, 3).iter().filter(|other| **other == wish).count();
            let expected = usize::try_from(share).expect("a hundredth") * 100;
            assert!(seen.abs_diff(expected) < 150, "{wish:?}: {seen} instead of {expected}");
        }
    }
}
