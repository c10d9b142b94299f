//! The words of receipts, in Spanish and English.

use crate::language::Language;

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

    pub const TITLE: Label = Label("title", "Comprobante de pago", "Payment receipt");
    pub const AMOUNT: Label = Label("amount", "Monto pagado", "Amount paid");
    pub const COMPLETED: Label = Label("completed", "Pago recibido", "Payment received");
    pub const REVERSED: Label = Label("reversed", "Pago devuelto", "Payment returned");
    pub const TEST_MODE: Label =
        Label("testMode", "Modo de prueba: no se movió dinero real", "Test mode: no real money moved");

    pub const fn field(self) -> &'static str {
        self.0
    }

    pub const fn words(self, language: Language) -> &'static str {
        language.say(self.1, self.2)
    }
}
