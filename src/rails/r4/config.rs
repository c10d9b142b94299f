//! Where the sources of the bank's documents disagree, a setting decides (`docs/contract.md, 18.1`).

use crate::rails::http::BaseUrl;
use crate::rails::secret::ApiSecret;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathFamily {
    /// MBbcv, MBvuelto, MBc2p, MBanulacionC2P.
    #[default]
    Mb,
    /// R4bcv, R4vuelto, R4c2p, R4anulacionC2P.
    R4,
}

impl PathFamily {
    pub const ALL: [(&'static str, PathFamily); 2] = [("MB", PathFamily::Mb), ("R4", PathFamily::R4)];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignatureCase {
    #[default]
    Lower,
    Upper,
}

impl SignatureCase {
    pub const ALL: [(&'static str, SignatureCase); 2] =
        [("lower", SignatureCase::Lower), ("upper", SignatureCase::Upper)];
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CreditBy {
    #[default]
    Vuelto,
    CreditoInmediato,
}

impl CreditBy {
    pub const ALL: [(&'static str, CreditBy); 2] =
        [("vuelto", CreditBy::Vuelto), ("credito_inmediato", CreditBy::CreditoInmediato)];
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub base_url: BaseUrl,
    pub commerce_token: ApiSecret,
    pub path_family: PathFamily,
    pub signature_case: SignatureCase,
    pub c2p_leading_space: bool,
    pub credit_by: CreditBy,
    pub timeout: Duration,
    pub idle: Duration,
}
