//! The methods of payment in bolívares and dollars, and what only payments by one of them have. A new
//! method is a variant here; every match over them names all, so that nothing is forgotten.

use crate::rail;
use crate::resources::banks::{BankCode, Service};
use crate::resources::crypto::address::Network;
use crate::values::card::Brand;
use crate::values::date::Date;
use crate::values::identity::IdentityDocument;
use crate::values::money::Usdt;
use crate::values::phone::MobilePhone;

/// A method of payment. The number is part of list facets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Method {
    /// Pull from the payer's bank with a one-time code.
    C2p = 0,
    /// Card.
    Vpos = 1,
    /// Immediate debit.
    Debit = 2,
    /// A transfer that the payer made.
    PagoMovil = 3,
    /// Pesos.
    Cop = 4,
    /// USDT.
    Usdt = 5,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 6] =
        [Method::C2p, Method::Vpos, Method::Debit, Method::PagoMovil, Method::Cop, Method::Usdt];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Method::C2p => "C2P",
            Method::Vpos => "VPOS",
            Method::Debit => "DEBIT",
            Method::PagoMovil => "PAGO_MOVIL",
            Method::Cop => "COP",
            Method::Usdt => "USDT",
        }
    }
}

/// The way in which a method is offered to tenants who collect bolívares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Through banks that have this service.
    ByBanks(Service),
    /// Whatever the payer's bank is.
    Always,
    /// Not in bolívares.
    Never,
}

impl Method {
    /// The way in which it is offered.
    pub const fn offer(self) -> Offer {
        match self {
            Method::C2p => Offer::ByBanks(Service::C2p),
            Method::Debit => Offer::ByBanks(Service::Debit),
            Method::PagoMovil => Offer::ByBanks(Service::PagoMovil),
            Method::Vpos => Offer::Always,
            Method::Cop | Method::Usdt => Offer::Never,
        }
    }
}

impl Method {
    /// What of the rails it takes.
    pub const fn service(self) -> rail::Service {
        match self {
            Method::C2p => rail::Service::C2p,
            Method::Vpos => rail::Service::Card,
            Method::Debit => rail::Service::Debit,
            Method::PagoMovil => rail::Service::PagoMovil,
            Method::Cop => rail::Service::Cop,
            // It comes over whichever network there is.
            Method::Usdt => rail::Service::Usdt(Network::Polygon),
        }
    }
}

/// The payer, as their bank knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Debtor {
    /// The bank.
    pub bank: BankCode,
    /// The payer.
    pub id: IdentityDocument,
    /// The phone that the bank knows.
    pub phone: MobilePhone,
}

/// By what a payment is made, and what only payments by it have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// A pull from the payer's bank with a code.
    C2p {
        /// The payer.
        debtor: Debtor,
        /// Whether the bank was told to send the payer a code.
        otp_requested: bool,
        /// A keyed hash of the code that was used: tells a repeat from another try.
        token_mark: Option<[u8; 16]>,
    },
    /// A card, of which nothing more is kept.
    Card {
        /// The card's brand.
        brand: Brand,
        /// The last four digits.
        last_four: u16,
        /// A keyed hash of number and expiry: tells a repeat from another card.
        mark: [u8; 16],
    },
    /// An immediate debit with a code.
    Debit {
        /// The payer.
        debtor: Debtor,
        /// The payer's name.
        name: String,
    },
    /// A transfer that the payer made, and that is looked for.
    Transfer {
        /// The payer.
        debtor: Debtor,
        /// The day of the transfer.
        date: Date,
        /// The digits of its reference that the payer gave, without leading zeros.
        reference: String,
    },
    /// USDT that came to an address of a checkout session.
    Usdt {
        /// How much came.
        amount: Usdt,
        /// What of it the seller got, for a marketplace sale.
        seller_net: Option<Usdt>,
        /// The network's name for the transfer that completed it.
        tx_hash: String,
    },
}

impl Means {
    /// The method that it is.
    pub const fn method(&self) -> Method {
        match self {
            Means::C2p { .. } => Method::C2p,
            Means::Card { .. } => Method::Vpos,
            Means::Debit { .. } => Method::Debit,
            Means::Transfer { .. } => Method::PagoMovil,
            Means::Usdt { .. } => Method::Usdt,
        }
    }

    /// What of the rails it takes.
    pub const fn service(&self) -> rail::Service {
        self.method().service()
    }

    /// The name of the member that says how much.
    pub(super) const fn amount_field(&self) -> &'static str {
        match self {
            Means::Debit { .. } => "monto",
            Means::C2p { .. } | Means::Card { .. } | Means::Transfer { .. } | Means::Usdt { .. } => {
                "usdAmount"
            }
        }
    }

    /// The name of the member that describes a payment by it.
    pub(super) const fn description_field(&self) -> &'static str {
        match self {
            Means::Debit { .. } => "concepto",
            Means::C2p { .. } | Means::Card { .. } | Means::Transfer { .. } | Means::Usdt { .. } => {
                "description"
            }
        }
    }

    /// Whether a bank is ordered to collect: a transfer is only looked for, and USDT come by
    /// themselves.
    pub(super) const fn is_ordered(&self) -> bool {
        match self {
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } => true,
            Means::Transfer { .. } | Means::Usdt { .. } => false,
        }
    }

    /// Whether the bank of the payer can take it back.
    pub const fn can_be_charged_back(&self) -> bool {
        match self {
            Means::Card { .. } => true,
            Means::C2p { .. } | Means::Debit { .. } | Means::Transfer { .. } | Means::Usdt { .. } => false,
        }
    }

    /// Whether the bank was told to send the payer a code.
    pub const fn otp_requested(&self) -> bool {
        match self {
            Means::C2p { otp_requested, .. } => *otp_requested,
            Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } | Means::Usdt { .. } => false,
        }
    }

    /// Whether the reference of a payment by it is a name of the tenant's: USDT are a payment when
    /// they have come, and nobody asked for it.
    pub(super) const fn is_named(&self) -> bool {
        match self {
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } => true,
            Means::Usdt { .. } => false,
        }
    }
}
