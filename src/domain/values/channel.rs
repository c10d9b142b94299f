//! The way in which a buyer pays pesos.

use crate::codec::stored;
use crate::values::buyer::DocumentType;
use crate::values::time::MINUTE_MS;

stored! {
    /// The way in which the buyer pays.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Channel {
        /// The buyer scans a QR code, or pastes the transfer key that it shows.
        0 Qr "qr",
        1 Push "push",
        /// The buyer types a code that came by SMS.
        2 Sms "sms",
    }
}

impl Channel {
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
            (Channel::Sms, true) => &[DocumentType::Cc],
            (Channel::Sms, false) => &[DocumentType::Cc, DocumentType::Ce, DocumentType::Ti],
            (Channel::Qr | Channel::Push, _) => &DocumentType::ALL,
        }
    }
}
