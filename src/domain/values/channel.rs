//! The way in which a buyer pays pesos.

use crate::codec::stored;
use crate::values::buyer::DocumentType;
use crate::values::time::MINUTE_MS;

stored! {
    /// The way in which the buyer pays.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Channel {
        /// The buyer scans a QR code, or pastes the transfer key that it shows.
        0 Qr,
        1 Push,
        /// The buyer types a code that came by SMS.
        2 Sms,
    }
}

impl Channel {
    pub const ALL: [Channel; 3] = [Channel::Qr, Channel::Push, Channel::Sms];

    pub const fn name(self) -> &'static str {
        match self {
            Channel::Qr => "qr",
            Channel::Push => "push",
            Channel::Sms => "sms",
        }
    }

    /// The time that the buyer has, in milliseconds (`docs/contract.md, 11.3`).
    pub const fn lifetime_ms(self) -> i64 {
        match self {
            Channel::Qr => 15 * MINUTE_MS,
            Channel::Push | Channel::Sms => 5 * MINUTE_MS,
        }
    }

    /// The documents by which its buyer may be known. The processor of live mode sends codes to
    /// holders of a cédula alone (`docs/contract.md, 18.4, 21.10`).
    pub const fn documents(self, livemode: bool) -> &'static [DocumentType] {
        match (self, livemode) {
            (Channel::Sms, true) => &DocumentType::FOR_LIVE_SMS,
            (Channel::Sms, false) => &DocumentType::FOR_SMS,
            (Channel::Qr | Channel::Push, _) => &DocumentType::ALL,
        }
    }
}
