//! The methods of payment in bolívares and dollars, and the data that only payments by one of them
//! have. A new method is a variant here; every match over them is exhaustive, so that nothing is
//! forgotten.

use crate::bank_names::without_zeros;
use crate::codec::{named, stored};
use crate::entities::notice::Traits;
use crate::platform::settings::{Fee, Fees};
use crate::rail::{self, OperationKind};
use crate::resources::banks::Service;
use crate::values::address::Network;
use crate::values::card::Brand;
use crate::values::money::{Currency, Usdt, Ves};
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

    pub const fn currency(self) -> Currency {
        match self {
            Method::C2p | Method::Vpos | Method::Debit | Method::PagoMovil => Currency::Ves,
            Method::Cop => Currency::Cop,
            Method::Usdt => Currency::Usdt,
        }
    }

    /// The fee of a payment by it; those in pesos and USDT have prices of their own.
    pub const fn fee(self, fees: &Fees) -> Option<&Fee> {
        match self {
            Method::C2p => Some(&fees.c2p),
            Method::Vpos => Some(&fees.vpos),
            Method::Debit => Some(&fees.debit),
            Method::PagoMovil => Some(&fees.pago_movil),
            Method::Cop | Method::Usdt => None,
        }
    }

    /// What payers call it, in Spanish and English.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Method::C2p => ("Pago móvil C2P", "C2P mobile payment"),
            Method::Vpos => ("Tarjeta", "Card"),
            Method::Debit => ("Débito inmediato", "Immediate debit"),
            Method::PagoMovil => ("Pago Móvil", "Pago Móvil transfer"),
            Method::Cop => ("Pesos colombianos", "Colombian pesos"),
            Method::Usdt => ("USDT", "USDT"),
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
    pub const fn method(&self) -> Method {
        match self {
            Means::C2p { .. } => Method::C2p,
            Means::Card { .. } => Method::Vpos,
            Means::Debit { .. } => Method::Debit,
            Means::Transfer { .. } => Method::PagoMovil,
            Means::Usdt { .. } => Method::Usdt,
        }
    }

    /// The kind of the operation by which its bank is ordered to collect, and of the one that gives it back. A
    /// transfer is only searched for, and USDT come without an order.
    pub const fn operation_kinds(&self) -> (Option<OperationKind>, Option<OperationKind>) {
        match self {
            Means::C2p { .. } => (Some(OperationKind::C2p), Some(OperationKind::C2pReversal)),
            Means::Debit { .. } => (Some(OperationKind::Debit), None),
            Means::Card { .. } => (Some(OperationKind::Card), None),
            Means::Transfer { .. } | Means::Usdt { .. } => (None, None),
        }
    }

    /// The kinds of the orders that a live bank gives names of its own: to collect, and to give back. No live bank
    /// charges cards; transfers and deposits are found, not ordered.
    pub const fn named_orders(&self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Means::C2p { .. } => (Some("charge_c2p"), Some("reverse_c2p")),
            Means::Debit { .. } => (Some("debit"), None),
            Means::Card { .. } | Means::Transfer { .. } | Means::Usdt { .. } => (None, None),
        }
    }

    /// What the API calls the operation that collects by it.
    pub const fn operation_name(&self) -> &'static str {
        match self {
            Means::C2p { .. } | Means::Card { .. } => "charge",
            Means::Debit { .. } => "debit",
            Means::Transfer { .. } => "verification",
            Means::Usdt { .. } => "deposit",
        }
    }

    pub const fn debtor(&self) -> Option<&Debtor> {
        match self {
            Means::C2p { debtor, .. } | Means::Debit { debtor, .. } | Means::Transfer { debtor, .. } => {
                Some(debtor)
            }
            Means::Card { .. } | Means::Usdt { .. } => None,
        }
    }

    /// The members in which a request that asks for it once more differs (`docs/contract.md, 1.7`). C2P and USDT are
    /// not asked for in this way: one has an intent, and the others come without a request.
    pub(crate) fn differs(&self, again: &Means) -> Vec<(&'static str, bool)> {
        let debtors = |one: &Debtor, other: &Debtor, [bank, phone, id]: [&'static str; 3]| {
            [(bank, one.bank != other.bank), (phone, one.phone != other.phone), (id, one.id != other.id)]
        };
        match (self, again) {
            (Means::Card { mark, .. }, Means::Card { mark: other, .. }) => vec![("card", mark != other)],
            (Means::Debit { debtor, name, .. }, Means::Debit { debtor: other, name: other_name, .. }) => {
                let mut fields = debtors(debtor, other, ["banco", "telefono", "cedula"]).to_vec();
                fields.push(("nombre", name != other_name));
                fields
            }
            (
                Means::Transfer { debtor, date, reference },
                Means::Transfer { debtor: other, date: other_date, reference: given },
            ) => {
                let mut fields = vec![("reference", without_zeros(reference) != without_zeros(given))];
                fields.extend(debtors(debtor, other, ["bankCode", "phone", "debtorId"]));
                fields.push(("date", date != other_date));
                fields
            }
            // Payments by different means differ in the method.
            (
                Means::Card { .. }
                | Means::Debit { .. }
                | Means::Transfer { .. }
                | Means::C2p { .. }
                | Means::Usdt { .. },
                _,
            ) => Vec::new(),
        }
    }

    /// Whether a request with the same data, sent again without a key, has the secret that failed: a transfer has none,
    /// and is looked for at each call.
    pub(crate) fn has_same_secret(&self, again: &Means) -> bool {
        match (self, again) {
            (Means::Card { .. }, _) => true,
            (Means::Debit { code_mark, .. }, Means::Debit { code_mark: other, .. }) => code_mark == other,
            (Means::Debit { .. } | Means::C2p { .. } | Means::Transfer { .. } | Means::Usdt { .. }, _) => {
                false
            }
        }
    }

    /// The USDT that it is made of; none of other methods.
    pub const fn in_usdt(&self) -> Usdt {
        if let Means::Usdt { amount, .. } = self { *amount } else { Usdt::ZERO }
    }

    pub(crate) const fn description_field(&self) -> &'static str {
        match self {
            Means::Debit { .. } => "concepto",
            Means::C2p { .. } | Means::Card { .. } | Means::Transfer { .. } | Means::Usdt { .. } => {
                "description"
            }
        }
    }

    pub const fn otp_requested(&self) -> bool {
        matches!(self, Means::C2p { otp_requested: true, .. })
    }

    /// The name under which a transfer is searched for: its bank, its day and the digits that the
    /// payer gave; `None` for means that are no transfer.
    pub fn transfer(&self) -> Option<String> {
        let Means::Transfer { debtor, date, reference } = self else { return None };
        Some(transfer_name(debtor.bank, *date, without_zeros(reference)))
    }

    /// The data that the notice of a transfer of this amount must share with it.
    pub(crate) fn notice_traits(&self, amount: Ves) -> Option<Traits> {
        let Means::Transfer { debtor, date, .. } = self else { return None };
        Some(Traits { bank: debtor.bank, day: *date, phone: debtor.phone, amount })
    }
}

pub fn transfer_name(bank: BankCode, date: Date, reference: &str) -> String {
    format!("{bank} {} {reference}", date.days())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_know_a_method_and_its_service_by_one_name() {
        // USDT have a service per network.
        for method in Method::ALL.into_iter().filter(|method| *method != Method::Usdt) {
            assert_eq!(method.service().name(), method.name());
        }
    }
}
