//! The table of R4's calls: both families of paths, fields, what is signed
//! (docs/contract.md, 21.3).

use super::fields::Format;

/// A call of R4.
pub struct Call {
    /// The call's name in the family MB, or its only name.
    pub name: &'static str,
    /// The call's name in the family R4, if it has another.
    pub other: Option<&'static str>,
    /// The call's fields: name, format, whether it has to be there.
    pub fields: &'static [(&'static str, Format, bool)],
    /// Fields whose values are signed, in this order.
    pub signed: &'static [&'static str],
    /// Whether it speaks SIMF codes, not R4's own numbers.
    pub simf: bool,
}

const REQUIRED: bool = true;
const OPTIONAL: bool = false;

/// The calls that Pasarela makes.
static CALLS: [Call; 9] = [
    Call {
        name: "MBbcv",
        other: Some("R4bcv"),
        fields: &[("Moneda", Format::Currency, REQUIRED), ("Fechavalor", Format::Day, REQUIRED)],
        signed: &["Fechavalor", "Moneda"],
        simf: false,
    },
    Call {
        name: "MBc2p",
        other: Some("R4c2p"),
        fields: &[
            ("TelefonoDestino", Format::Phone, REQUIRED),
            ("Cedula", Format::Document, REQUIRED),
            ("Banco", Format::Bank, REQUIRED),
            ("Monto", Format::Amount, REQUIRED),
            ("Otp", Format::Otp, REQUIRED),
            ("Concepto", Format::Concept, OPTIONAL),
            ("Ip", Format::Ip, OPTIONAL),
        ],
        signed: &["TelefonoDestino", "Monto", "Banco", "Cedula"],
        simf: false,
    },
    Call {
        name: "MBanulacionC2P",
        other: Some("R4anulacionC2P"),
        fields: &[
            ("Cedula", Format::Document, REQUIRED),
            ("Banco", Format::Bank, REQUIRED),
            ("Referencia", Format::Reference, REQUIRED),
        ],
        signed: &["Banco"],
        simf: false,
    },
    Call {
        name: "MBvuelto",
        other: Some("R4vuelto"),
        fields: &[
            ("TelefonoDestino", Format::Phone, REQUIRED),
            ("Cedula", Format::Document, REQUIRED),
            ("Banco", Format::Bank, REQUIRED),
            ("Monto", Format::Amount, REQUIRED),
            ("Concepto", Format::Concept, OPTIONAL),
            ("Ip", Format::Ip, OPTIONAL),
        ],
        signed: &["TelefonoDestino", "Monto", "Banco", "Cedula"],
        simf: false,
    },
    Call {
        name: "GenerarOtp",
        other: None,
        fields: &[
            ("Banco", Format::Bank, REQUIRED),
            ("Monto", Format::Amount, REQUIRED),
            ("Telefono", Format::Phone, REQUIRED),
            ("Cedula", Format::Document, REQUIRED),
        ],
        signed: &["Banco", "Monto", "Telefono", "Cedula"],
        simf: false,
    },
    Call {
        name: "DebitoInmediato",
        other: None,
        fields: &[
            ("Banco", Format::Bank, REQUIRED),
            ("Monto", Format::Amount, REQUIRED),
            ("Telefono", Format::Phone, REQUIRED),
            ("Cedula", Format::Document, REQUIRED),
            ("Nombre", Format::Name, REQUIRED),
            ("OTP", Format::Otp, REQUIRED),
            ("Concepto", Format::Concept, REQUIRED),
        ],
        signed: &["Banco", "Cedula", "Telefono", "Monto", "OTP"],
        simf: true,
    },
    Call {
        name: "CreditoInmediato",
        other: None,
        fields: &[
            ("Banco", Format::Bank, REQUIRED),
            ("Cedula", Format::Document, REQUIRED),
            ("Telefono", Format::Phone, REQUIRED),
            ("Monto", Format::Amount, REQUIRED),
            ("Concepto", Format::Concept, REQUIRED),
        ],
        signed: &["Banco", "Cedula", "Telefono", "Monto"],
        simf: true,
    },
    Call {
        name: "CICuentas",
        other: None,
        fields: &[
            ("Cedula", Format::Document, REQUIRED),
            ("Cuenta", Format::Account, REQUIRED),
            ("Monto", Format::Amount, REQUIRED),
            ("Concepto", Format::Concept, REQUIRED),
        ],
        signed: &["Cedula", "Cuenta", "Monto"],
        simf: true,
    },
    Call {
        name: "ConsultarOperaciones",
        other: None,
        fields: &[("Id", Format::OperationId, REQUIRED)],
        signed: &["Id"],
        simf: true,
    },
];

/// The call of a name in either family.
pub fn find(name: &str) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.name == name || call.other == Some(name))
}
