//! The blocks of a network that were searched for deposits, as a record of the platform has them.

use crate::codec::stored;
use crate::values::address::Network;
use crate::values::time::Timestamp;

/// The most marks that are kept: enough for the whole life of a network, as the distance between
/// them grows with their age.
const MARKS_MAX: usize = 32;

stored! {
    /// A block up to which everything was searched, and its name, by which it is known again.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Mark {
        0 pub block: u64,
        1 pub hash: [u8; 32],
        /// The instant at which the block says that it was made, in seconds since 1970.
        2 pub made_at: u64,
    }

    /// The progress of the search of a network for deposits.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SearchedBlocks {
        0 pub network: Network,
        1 pub chain_id: u64,
        /// The last block of those that were searched.
        2 pub last: u64,
        /// The instant from which on addresses were given out: no deposit is in a block before it.
        3 pub since: Timestamp,
        /// Blocks that were searched, oldest first; the last of them is `last`. A chain that shows others
        /// instead is searched again.
        4 pub marks: Vec<Mark>,
    }
}

impl SearchedBlocks {
    /// The name under which the newest record of a network is found.
    pub fn name(&self) -> String {
        SearchedBlocks::name_of(self.network, self.chain_id)
    }

    pub fn name_of(network: Network, chain_id: u64) -> String {
        format!("{} {chain_id}", network.name())
    }

    /// Everything up to this block was searched too.
    pub fn reached(&mut self, mark: Mark) {
        self.last = mark.block;
        self.marks.push(mark);
        // A mark goes where those beside it are closer to each other than they are old.
        let mut at = 1;
        while at + 1 < self.marks.len() {
            let (before, after) = (self.marks[at - 1].block, self.marks[at + 1].block);
            let age = mark.block.saturating_sub(after);
            if after.saturating_sub(before) <= age {
                self.marks.remove(at);
            } else {
                at += 1;
            }
        }
        if self.marks.len() > MARKS_MAX {
            self.marks.remove(1);
        }
    }

    /// The chain does not have the last mark: what was searched ends with the one before. `false` when
    /// there is none.
    pub fn go_back(&mut self) -> bool {
        self.marks.pop();
        self.last = self.marks.last().map_or(0, |mark| mark.block);
        !self.marks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_close_where_they_are_young_and_few_where_they_are_old() {
        let mut searched = SearchedBlocks {
            network: Network::Polygon,
            chain_id: 137,
            last: 0,
            since: Timestamp::EPOCH,
            marks: Vec::new(),
        };
        for block in 0..20_000_u64 {
            searched.reached(Mark { block: block * 1_000, hash: [0; 32], made_at: 0 });
        }
        let blocks: Vec<u64> = searched.marks.iter().map(|mark| mark.block).collect();
        assert_eq!((blocks[0], searched.last), (0, 19_999_000));
        assert!(blocks.len() <= MARKS_MAX && blocks.is_sorted(), "{blocks:?}");
        assert_eq!(blocks[blocks.len() - 3..], [19_997_000, 19_998_000, 19_999_000]);
        for pair in blocks.windows(2) {
            assert!(pair[1] - pair[0] <= 1_000.max(searched.last - pair[1]), "{pair:?}");
        }
        let (kept, mut gone) = (blocks.len(), 0);
        while searched.go_back() {
            gone += 1;
        }
        assert_eq!((gone, searched.last), (kept - 1, 0));
    }
}
