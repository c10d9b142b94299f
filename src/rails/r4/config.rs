//! Settings of R4, as the client needs them; where the sources of the bank's documents disagree, a
//! setting decides (`docs/contract.md, 18.1`). It must not know how keys are read.

use crate::rails::http::BaseUrl;
use crate::rails::secret::ApiSecret;
use std::time::Duration;

/// The names of the calls that have two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathFamily {
    /// MBbcv, MBvuelto, MBc2p, MBanulacionC2P.
    #[default]
    Mb,
    /// R4bcv, R4vuelto, R4c2p, R4anulacionC2P.
    R4,
}

impl PathFamily {
    /// All of them, with their names.
    pub const ALL: [(&'static str, PathFamily); 2] = [("MB", PathFamily::Mb), ("R4", PathFamily::R4)];
}

/// The form of the hexadecimal digits of a signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureCase {
    /// With small letters.
    #[default]
    Lower,
    /// With capitals.
    Upper,
}

impl SignatureCase {
    /// All of them, with their names.
    pub const ALL: [(&'static str, SignatureCase); 2] =
        [("lower", SignatureCase::Lower), ("upper", SignatureCase::Upper)];
}

/// The way of money to a phone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CreditBy {
    /// The call MBvuelto, which can't be asked about.
    #[default]
    Vuelto,
    /// The call CreditoInmediato.
    CreditoInmediato,
}

impl CreditBy {
    /// All of them, with their names.
    pub const ALL: [(&'static str, CreditBy); 2] =
        [("vuelto", CreditBy::Vuelto), ("credito_inmediato", CreditBy::CreditoInmediato)];
}

/// The settings that the client is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address of the bank's API.
    pub base_url: BaseUrl,
    /// The value of the header `Commerce`, and the key of the signature.
    pub commerce_token: ApiSecret,
    /// The names that the calls have.
    pub path_family: PathFamily,
    /// The form of the signature.
    pub signature_case: SignatureCase,
    /// Whether one space stands before the signed message of C2P.
    pub c2p_leading_space: bool,
    /// The way of money to a phone.
    pub credit_by: CreditBy,
    /// The time after which a call is given up.
    pub timeout: Duration,
    /// The time for which a connection is used again.
    pub idle: Duration,
}
