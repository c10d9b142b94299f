//! The words of receipts, in Spanish and English.

use crate::language::Language;
use domain::resources::payments::Method;

/// The labels of a receipt's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The price in dollars.
    Price,
    /// The price of a dollar.
    Rate,
    /// The method of payment.
    Method,
    /// The payer's bank.
    Bank,
    /// The payer's document, masked.
    Payer,
    /// The payer's phone, masked.
    Phone,
    /// The card's brand and last digits.
    Card,
    /// The transaction of a network.
    Transaction,
    /// The bank's reference.
    Reference,
    /// The shop's reference.
    Order,
    /// The thing that was paid for.
    About,
    /// The payment's id.
    Payment,
    /// The instant of the payment.
    Date,
    /// The instant of the reversal.
    ReversedAt,
    /// The USDT that came for the same purchase beside the payment.
    AlsoUsdt,
}

impl Label {
    /// The name of the line, for programs that read the page.
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

    /// The words before its value.
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

/// The words around the lines.
pub struct Words {
    pub title: &'static str,
    /// The words before the shop's number at the tax office.
    pub rif: &'static str,
    /// The words over the amount.
    pub amount: &'static str,
    /// The status of a payment that stands.
    pub completed: &'static str,
    /// The status of one that went back.
    pub reversed: &'static str,
    /// The line over a receipt of test mode.
    pub test_mode: &'static str,
}

/// The words around the lines in a language.
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

/// The name of a method, for people.
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
