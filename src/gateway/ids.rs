//! Ids of new things.

use dashmap::DashMap;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use uuid::Uuid;

/// An id that tells nothing, not even its time: for things that are shown to anybody who knows
/// their id.
pub fn random_id() -> Id {
    Id::from(Uuid::new_v4())
}

/// The ids of new things (UUIDv7), which lists are in the order of.
///
/// Each is later than the ones before it of the same tenant, also within a millisecond. Ids begin
/// anew at random in every millisecond and go on in random steps, each tenant's apart from the
/// others': so an id tells nothing of its neighbours, nor of how many there are.
#[derive(Default)]
pub struct Ids(DashMap<u64, NewestId>);

/// The newest id of a tenant: its millisecond and its random bits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct NewestId {
    ms: i64,
    bits: u64,
}

/// The random bits of an id between its time and the 16 bits that number its operations.
const RANDOM_BITS: u32 = 58;
/// The bits of the first id of a millisecond, which leave half of the room to those after it.
const START_BITS: u32 = RANDOM_BITS - 1;
/// The longest step between two ids, in bits: thousands fit in a millisecond, and none is guessed.
const STEP_BITS: u32 = 44;

impl Ids {
    pub fn fresh(&self, tenant: u64, now: Timestamp) -> Id {
        self.next(tenant, now.unix_ms(), random_bits())
    }

    fn next(&self, tenant: u64, now_ms: i64, random: u64) -> Id {
        let mut newest = self.0.entry(tenant).or_default();
        let start = |ms| NewestId { ms, bits: random >> (64 - START_BITS) };
        *newest = match newest.bits + 1 + (random >> (64 - STEP_BITS)) {
            _ if now_ms > newest.ms => start(now_ms),
            bits if bits >> RANDOM_BITS == 0 => NewestId { bits, ..*newest },
            // The millisecond is full, or the clock stands still.
            _ => start(newest.ms + 1),
        };
        Id::random(newest.ms, newest.bits)
    }
}

/// 64 random bits, from the process's generator.
fn random_bits() -> u64 {
    // The bits in which a version and a variant stand are among the others.
    let (high, low) = Uuid::new_v4().as_u64_pair();
    high.rotate_left(32) ^ low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::services::system_now;

    #[test]
    fn fresh_ids_are_in_order_and_name_an_entity() {
        let ids = Ids::default();
        let made: Vec<Id> = (0..10_000).map(|_| ids.fresh(2, system_now())).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(
            made.iter()
                .all(|id| id.entity_and_operation() == (*id, 0) && Uuid::from(*id).get_version_num() == 7)
        );
    }

    #[test]
    fn a_full_millisecond_and_a_clock_that_goes_back_keep_the_order() {
        let ids = Ids::default();
        let largest: Vec<Id> = (0..100_000).map(|_| ids.next(2, 7, u64::MAX)).collect();
        assert!(largest.is_sorted_by(|a, b| a < b));
        assert!(ids.next(2, 1, 0) > largest[99_999]);
    }

    #[test]
    fn the_ids_of_a_tenant_say_nothing_of_the_others() {
        let ids = Ids::default();
        let (one, start) = (ids.next(2, 7, 1 << 60), 1 << 60 >> (64 - START_BITS));
        for _ in 0..1_000 {
            ids.next(3, 7, u64::MAX);
        }
        assert_eq!(ids.next(2, 7, 1 << 60), Id::random(7, start + 1 + (1 << 60 >> (64 - STEP_BITS))));
        assert_eq!(one, Id::random(7, start));
    }

    #[test]
    fn a_random_id_says_nothing() {
        let (one, other) = (Uuid::from(random_id()), Uuid::from(random_id()));
        assert!(one != other && one.get_version_num() == 4 && other.get_version_num() == 4);
    }
}
