//! Names of things: UUIDv7 ids, and the ids that are derived from them so that nothing needs to be
//! stored for them.
//!
//! The lowest 16 bits of an id are a number: 0 for an entity itself, 1 and up for its operations
//! with a bank; the n-th row of a record bears n. An event bears its own number.

use crate::codec::stored;
use std::fmt;
use uuid::Uuid;

stored! {
    /// A UUIDv7.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Id(pub(crate) [u8; 16]);
}

impl Id {
    /// None sorts before it.
    pub const FIRST: Id = Id([0; 16]);

    /// The `n`-th id of what happened at `time_ms` (milliseconds since 1970) with the random bits
    /// `seed`.
    pub fn derived(time_ms: i64, seed: u64, n: u16) -> Id {
        let mut bytes = [0; 16];
        let ms = u64::try_from(time_ms).unwrap_or(0).to_be_bytes();
        bytes[..6].copy_from_slice(&ms[2..]);
        let seed = seed.to_be_bytes();
        bytes[6] = 0x70 | (seed[0] & 0x0F);
        bytes[7] = seed[1];
        bytes[8] = 0x80 | (seed[2] & 0x3F);
        bytes[9..14].copy_from_slice(&seed[3..8]);
        bytes[14..].copy_from_slice(&n.to_be_bytes());
        Id(bytes)
    }

    /// The id of an entity made at `time_ms`, with 58 random bits, by which ids of one millisecond
    /// sort.
    pub fn random(time_ms: i64, bits: u64) -> Id {
        let seed = (bits >> 54 & 0x0F) << 56
            | (bits >> 46 & 0xFF) << 48
            | (bits >> 40 & 0x3F) << 40
            | bits & 0xFF_FFFF_FFFF;
        Id::derived(time_ms, seed, 0)
    }

    /// The id of what happened at `time_ms` with the random bits `seed` and has a number of its
    /// own, such as an event: the lowest 48 bits are the number.
    pub fn numbered(time_ms: i64, seed: u64, number: u64) -> Id {
        let mut bytes = Id::derived(time_ms, seed, 0).0;
        bytes[10..].copy_from_slice(&number.to_be_bytes()[2..]);
        Id(bytes)
    }

    /// The number of an id made by [`Id::numbered`].
    pub fn number(self) -> u64 {
        let mut bytes = [0; 8];
        bytes[2..].copy_from_slice(&self.0[10..]);
        u64::from_be_bytes(bytes)
    }

    /// The id of the `n`-th operation with a bank (1 and up) of the entity with this id.
    pub fn operation(self, n: u16) -> Id {
        let mut bytes = self.0;
        bytes[14..].copy_from_slice(&n.to_be_bytes());
        Id(bytes)
    }

    /// The instant in the id, in milliseconds since 1970.
    pub fn unix_ms(self) -> i64 {
        self.0[..6].iter().fold(0, |ms, byte| ms << 8 | i64::from(*byte))
    }

    /// The entity that an operation belongs to, and the number of the operation.
    pub fn entity_and_operation(self) -> (Id, u16) {
        (self.operation(0), u16::from_be_bytes([self.0[14], self.0[15]]))
    }

    /// Reads the hyphenated form, in either case; `None` for any other text.
    pub fn parse(text: &str) -> Option<Id> {
        if text.len() != 36 {
            return None;
        }
        Uuid::try_parse(text).ok().map(Id::from)
    }

    /// The id with these 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Id {
        Id(bytes)
    }

    /// The 16 bytes of the id, which sort by time.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl From<Uuid> for Id {
    fn from(uuid: Uuid) -> Id {
        Id(uuid.into_bytes())
    }
}

impl From<Id> for Uuid {
    fn from(id: Id) -> Uuid {
        Uuid::from_bytes(id.0)
    }
}

/// The hyphenated form, in lower case.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 36];
        f.write_str(Uuid::from_bytes(self.0).hyphenated().encode_lower(&mut text))
    }
}

/// The kinds of entities: the stored number, the name, the state, the byte in keys of the index (of a new one the next),
/// the name that people read in the log; `Rules {}` of what waits for nothing, and has no rules but those for its
/// commands; and the version of the stored format that it came with. `$with` is a macro that takes them.
macro_rules! each_kind {
    ($with:ident) => {
        $with! {
            0 Payment payment::Payment = 1 "payment",
            1 Payout payout::Payout = 2 "payout",
            2 Merchant merchant::Merchant = 3 "merchant",
            3 Batch batch::Batch = 4 "batch" Rules {},
            4 Chargeback chargeback::Chargeback = 16 "chargeback" Rules {},
            5 Otp otp::Otp = 17 "otp",
            6 OwnAccount own_account::OwnAccount = 5 "own account",
            7 Product product::Product = 12 "product" Rules {},
            8 Session session::Session = 14 "checkout session" Rules {},
            9 Conversion conversion::Conversion = 6 "conversion",
            10 CryptoPayout crypto_payout::CryptoPayout = 7 "crypto payout",
            11 DepositAddress deposit_address::DepositAddress = 8 "deposit address" Rules {},
            12 CopPayment cop_payment::CopPayment = 9 "cop payment",
            13 CopPayout cop_payout::CopPayout = 10 "cop payout" Rules {},
            14 Webhook webhook::Webhook = 11 "webhook",
            15 Notice notice::Notice = 18 "notice" Rules {},
            16 Approval approval::Approval = 19 "approval" Rules {},
            17 MandateApproval mandate_approval::MandateApproval = 20 "mandate approval" Rules {} since 8,
        }
    };
}

pub(crate) use each_kind;

macro_rules! kinds {
    ($($number:literal $Kind:ident $file:ident::$State:ident = $byte:literal $name:literal $(Rules $rules:tt)?
        $(since $since:literal)?,)+) => {
        stored! {
            /// The kinds of entities, each with a list, a file and actors of its own.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            #[repr(u8)]
            pub enum Kind {
                $($number $Kind = $byte $name $(since $since)?),+
            }
        }

        impl EntityId {
            $(pub const fn $file(id: Id) -> EntityId {
                EntityId { kind: Kind::$Kind, id }
            })+
        }
    };
}

each_kind!(kinds);

impl Kind {
    /// The kind that index entries name by this byte.
    pub fn from_byte(byte: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }
}

stored! {
    /// The kind and id of an entity: its name within one tenant key.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct EntityId {
        0 pub kind: Kind,
        /// The id, unique within its kind.
        1 pub id: Id,
    }
}

impl EntityId {
    /// The tenant's own payout account: there is one per mode.
    pub const OWN_ACCOUNT: EntityId = EntityId::own_account(Id::from_bytes([0; 16]));
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.id)
    }
}

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

debug_as! { Id: it => it }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_version_7_and_carry_their_time() {
        let id = Id::derived(1_795_226_000_123, u64::MAX, 7);
        let uuid = Uuid::from(id);
        assert_eq!((uuid.get_version_num(), uuid.get_variant()), (7, uuid::Variant::RFC4122));
        assert_eq!(uuid.get_timestamp().map(|at| at.to_unix().0), Some(1_795_226_000));
        assert_eq!(Id::parse(&id.to_string()), Some(id));
    }

    #[test]
    fn random_bits_are_in_order() {
        let mut before = Id::random(7, 0);
        for bit in 0..58 {
            let id = Id::random(7, 1 << bit);
            assert!(
                id > before && Uuid::from(id).get_version_num() == 7 && id.operation(0) == id,
                "bit {bit}"
            );
            before = id;
        }
        assert!(Id::random(8, 0) > Id::random(7, (1 << 58) - 1));
        assert_ne!(Id::random(7, (1 << 58) - 1), before);
    }

    #[test]
    fn a_numbered_id_leads_back_to_its_number() {
        for number in [1, 77, 0xFFFF_FFFF_FFFF] {
            let id = Id::numbered(1_795_226_000_123, u64::MAX, number);
            assert_eq!((id.number(), Uuid::from(id).get_version_num()), (number, 7));
        }
    }

    #[test]
    fn an_operation_leads_back_to_its_entity() {
        let entity = Id::derived(1, 2, 0);
        assert_eq!(entity.operation(2).entity_and_operation(), (entity, 2));
        assert_ne!(entity.operation(1), entity);
    }
}
