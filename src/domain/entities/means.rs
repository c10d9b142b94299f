//! The methods of payment in bolívares and dollars, and the data that only payments by one of them
//! have. A new method is a variant here; every match over them is exhaustive, so that nothing is
//! forgotten.

use crate::bank_names::without_zeros;
use crate::codec::{named, stored};
use crate::entities::notice::Traits;
use crate::rail;
use crate::resources::banks::Service;
use crate::values::address::Network;
use crate::values::card::Brand;
use crate::values::money::Usdt;
use crate::values::money::Ves;
use crate::values::time::Date;
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};

named! {
    /// A method of payment. The number is part of list facets.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Method {
        /// A charge at the payer's bank with a one-time code.
        C2p = 0 "C2P",
        Vpos = 1 "VPOS",
        Debit = 2 "DEBIT",
        PagoMovil = 3 "PAGO_MOVIL",
        Cop = 4 "COP",
        Usdt = 5 "USDT",
    }
}

/// The way in which a method is offered to tenants who collect bolívares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The method is offered through banks that have this service.
    ByBanks(Service),
    Always,
    Never,
}

impl Method {
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
    pub const fn service(self) -> rail::Service {
        match self {
            Method::C2p => rail::Service::C2p,
            Method::Vpos => rail::Service::Card,
            Method::Debit => rail::Service::Debit,
            Method::PagoMovil => rail::Service::PagoMovil,
            Method::Cop => rail::Service::Cop,
            // Any network will do, so one stands for all.
            Method::Usdt => rail::Service::Usdt(Network::Polygon),
        }
    }
}

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Debtor {
        0 pub bank: BankCode,
        1 pub id: IdentityDocument,
        /// The phone that the bank knows the payer by.
        2 pub phone: MobilePhone,
    }

    /// The means of a payment, with the data that only payments by it have.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Means {
        /// A charge at the payer's bank with a code.
        0 C2p {
            0 debtor: Debtor,
            /// Whether the bank was told to send the payer a code.
            1 otp_requested: bool,
            /// A keyed hash of the code that was used, which tells a repeat from another try.
            2 token_mark: Option<[u8; 16]>,
        },
        /// A card, of which only these data are kept.
        1 Card {
            0 brand: Brand,
            1 last_four: u16,
            /// A keyed hash of number and expiry, which tells a repeat from another card.
            2 mark: [u8; 16],
        },
        2 Debit {
            0 debtor: Debtor,
            1 name: String,
            /// A keyed hash of the code, which tells a repeat from another try.
            2 code_mark: [u8; 16],
        },
        /// A transfer that the payer made, which is searched for.
        3 Transfer {
            0 debtor: Debtor,
            1 date: Date,
            /// The last digits of its reference, as the payer gave them.
            2 reference: String,
        },
        /// USDT that came to an address of a checkout session.
        4 Usdt {
            0 amount: Usdt,
            1 seller_net: Option<Usdt>,
            2 tx_hash: String,
        },
    }
}

impl Means {
    /// The USDT that it is made of; none of other methods.
    pub const fn in_usdt(&self) -> Usdt {
        match self {
            Means::Usdt { amount, .. } => *amount,
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } => {
                Usdt::ZERO
            }
        }
    }

    pub const fn method(&self) -> Method {
        match self {
            Means::C2p { .. } => Method::C2p,
            Means::Card { .. } => Method::Vpos,
            Means::Debit { .. } => Method::Debit,
            Means::Transfer { .. } => Method::PagoMovil,
            Means::Usdt { .. } => Method::Usdt,
        }
    }

    pub const fn service(&self) -> rail::Service {
        self.method().service()
    }

    pub(crate) const fn description_field(&self) -> &'static str {
        match self {
            Means::Debit { .. } => "concepto",
            Means::C2p { .. } | Means::Card { .. } | Means::Transfer { .. } | Means::Usdt { .. } => {
                "description"
            }
        }
    }

    /// Whether a bank is ordered to collect: a transfer is only searched for, and USDT come without
    /// an order.
    pub(crate) const fn is_ordered(&self) -> bool {
        match self {
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } => true,
            Means::Transfer { .. } | Means::Usdt { .. } => false,
        }
    }

    pub const fn can_be_charged_back(&self) -> bool {
        match self {
            Means::Card { .. } => true,
            Means::C2p { .. } | Means::Debit { .. } | Means::Transfer { .. } | Means::Usdt { .. } => false,
        }
    }

    pub const fn otp_requested(&self) -> bool {
        match self {
            Means::C2p { otp_requested, .. } => *otp_requested,
            Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } | Means::Usdt { .. } => false,
        }
    }

    /// Whether the reference of such a payment is a name of the tenant's. Not for USDT: they are a
    /// payment once they have come, and no request named it.
    pub(crate) const fn is_named(&self) -> bool {
        match self {
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Transfer { .. } => true,
            Means::Usdt { .. } => false,
        }
    }
}

impl Means {
    /// The name under which a transfer is searched for: its bank, its day and the digits that the
    /// payer gave; `None` for means that are no transfer.
    pub fn transfer(&self) -> Option<String> {
        match self {
            Means::Transfer { debtor, date, reference } => {
                Some(transfer_name(debtor.bank, *date, without_zeros(reference)))
            }
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Usdt { .. } => None,
        }
    }

    /// The data that the notice of a transfer of this amount must share with it.
    pub(crate) fn notice_traits(&self, amount: Ves) -> Option<Traits> {
        match self {
            Means::Transfer { debtor, date, .. } => {
                Some(Traits { bank: debtor.bank, day: *date, phone: debtor.phone, amount })
            }
            Means::C2p { .. } | Means::Card { .. } | Means::Debit { .. } | Means::Usdt { .. } => None,
        }
    }
}

pub fn transfer_name(bank: BankCode, date: Date, reference: &str) -> String {
    format!("{bank} {} {reference}", date.days())
}
