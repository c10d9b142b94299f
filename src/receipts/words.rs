//! The words of receipts, in Spanish and English.

use crate::language::Language;
use domain::entities::means::Method;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    Price,
    Rate,
    Method,
    Bank,
    Payer,
    Phone,
    Card,
    Transaction,
    Reference,
    Order,
    About,
    Payment,
    Date,
    ReversedAt,
    /// The USDT that came for the same purchase beside the payment.
    AlsoUsdt,
}

impl Label {
    pub const fn field(self) -> &'static str {
        match self {
            Label::Price => "usdAmount",
            Label::Rate => "rate",
            Label::Method => "method",
            Label::Bank => "bank",
            Label::Payer => "payer",
            Label::Phone => "phone",
            Label::Card => "card",
            Label::Transaction => "txHash",
            Label::Reference => "bankReference",
            Label::Order => "reference",
            Label::About => "description",
            Label::Payment => "paymentId",
            Label::Date => "completedAt",
            Label::ReversedAt => "reversedAt",
            Label::AlsoUsdt => "alsoUsdt",
        }
    }

    pub const fn words(self, language: Language) -> &'static str {
        let (spanish, english) = match self {
            Label::Price => ("Precio", "Price"),
            Label::Rate => ("Tasa", "Rate"),
            Label::Method => ("Método", "Method"),
            Label::Bank => ("Banco del pagador", "Payer's bank"),
            Label::Payer => ("Documento del pagador", "Payer's document"),
            Label::Phone => ("Teléfono del pagador", "Payer's phone"),
            Label::Card => ("Tarjeta", "Card"),
            Label::Transaction => ("Transacción", "Transaction"),
            Label::Reference => ("Referencia del banco", "Bank reference"),
            Label::Order => ("Referencia de la tienda", "Shop's reference"),
            Label::About => ("Concepto", "Description"),
            Label::Payment => ("Número de pago", "Payment number"),
            Label::Date => ("Fecha", "Date"),
            Label::ReversedAt => ("Devuelto", "Returned"),
            Label::AlsoUsdt => ("También llegaron, para esta compra", "Also received, for this purchase"),
        };
        said(language, spanish, english)
    }
}

pub struct Words {
    pub title: &'static str,
    pub rif: &'static str,
    pub amount: &'static str,
    pub completed: &'static str,
    pub reversed: &'static str,
    /// Over a receipt of test mode.
    pub test_mode: &'static str,
}

pub const fn words(language: Language) -> Words {
    Words {
        title: said(language, "Comprobante de pago", "Payment receipt"),
        rif: said(language, "RIF", "RIF"),
        amount: said(language, "Monto pagado", "Amount paid"),
        completed: said(language, "Pago recibido", "Payment received"),
        reversed: said(language, "Pago devuelto", "Payment returned"),
        test_mode: said(
            language,
            "Modo de prueba: no se movió dinero real",
            "Test mode: no real money moved",
        ),
    }
}

pub const fn method_name(method: Method, language: Language) -> &'static str {
    match method {
        Method::C2p => said(language, "Pago móvil C2P", "C2P mobile payment"),
        Method::Vpos => said(language, "Tarjeta", "Card"),
        Method::Debit => said(language, "Débito inmediato", "Immediate debit"),
        Method::PagoMovil => said(language, "Pago Móvil", "Pago Móvil transfer"),
        Method::Cop => said(language, "Pesos colombianos", "Colombian pesos"),
        Method::Usdt => said(language, "USDT", "USDT"),
    }
}

const fn said(language: Language, spanish: &'static str, english: &'static str) -> &'static str {
    match language {
        Language::Spanish => spanish,
        Language::English => english,
    }
}
