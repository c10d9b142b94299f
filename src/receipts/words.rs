//! The words of receipts, in Spanish and English.

use crate::language::Language;

/// A line of a receipt: its field, as programs know it, and its words in Spanish and English.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label(&'static str, &'static str, &'static str);

impl Label {
    pub const PRICE: Label = Label("usdAmount", "Precio", "Price");
    pub const RATE: Label = Label("rate", "Tasa", "Rate");
    pub const METHOD: Label = Label("method", "Método", "Method");
    pub const BANK: Label = Label("bank", "Banco del pagador", "Payer's bank");
    pub const PAYER: Label = Label("payer", "Documento del pagador", "Payer's document");
    pub const PHONE: Label = Label("phone", "Teléfono del pagador", "Payer's phone");
    pub const CARD: Label = Label("card", "Tarjeta", "Card");
    pub const TRANSACTION: Label = Label("txHash", "Transacción", "Transaction");
    pub const REFERENCE: Label = Label("bankReference", "Referencia del banco", "Bank reference");
    pub const ORDER: Label = Label("reference", "Referencia de la tienda", "Shop's reference");
    pub const ABOUT: Label = Label("description", "Concepto", "Description");
    pub const PAYMENT: Label = Label("paymentId", "Número de pago", "Payment number");
    pub const DATE: Label = Label("completedAt", "Fecha", "Date");
    pub const REVERSED_AT: Label = Label("reversedAt", "Devuelto", "Returned");
    pub const ALSO_USDT: Label =
        Label("alsoUsdt", "También llegaron, para esta compra", "Also received, for this purchase");

    pub const fn field(self) -> &'static str {
        self.0
    }

    pub const fn words(self, language: &Language) -> &'static str {
        language.say(self.1, self.2)
    }
}

pub struct Words {
    pub title: &'static str,
    pub amount: &'static str,
    pub completed: &'static str,
    pub reversed: &'static str,
    pub test_mode: &'static str,
}

pub const fn words(language: Language) -> Words {
    Words {
        title: language.say("Comprobante de pago", "Payment receipt"),
        amount: language.say("Monto pagado", "Amount paid"),
        completed: language.say("Pago recibido", "Payment received"),
        reversed: language.say("Pago devuelto", "Payment returned"),
        test_mode: language.say("Modo de prueba: no se movió dinero real", "Test mode: no real money moved"),
    }
}
