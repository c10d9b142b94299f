//! The two modes of a tenant, and the key of each of its books.

use crate::codec::stored;

/// The tenant key of the platform itself.
pub const PLATFORM: u64 = 0;

stored! {
    /// The mode of a tenant, live or test: each has a book of its own, and neither sees the other.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Mode {
        0 Live "live",
        1 Test "test",
    }
}

impl Mode {
    pub fn of(tenant_key: u64) -> Mode {
        if is_live(tenant_key) { Mode::Live } else { Mode::Test }
    }
}

/// The tenant key of a tenant in a mode: its number twice, plus one for test.
pub fn tenant_key(number: u32, mode: Mode) -> u64 {
    u64::from(number) * 2 + u64::from(mode == Mode::Test)
}

/// Whether real money moves under a tenant key: even keys are live ones, and the platform's.
pub const fn is_live(tenant: u64) -> bool {
    tenant.is_multiple_of(2)
}
