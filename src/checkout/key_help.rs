//! The way in which a buyer gets the key for a C2P payment at each bank, in a sentence. Banks of
//! which nothing sure is known have the general one.

use crate::checkout::words::Language;
use domain::values::venezuela::BankCode;

#[rustfmt::skip]
const HELP: [(u16, &str, &str); 20] = [
    (102, "El banco te envía la clave por SMS cuando continúas.", "The bank sends you the code by SMS when you continue."),
    (104, "Genera la clave de confirmación en Venezolano Online.", "Create the confirmation code (“clave”) in Venezolano Online."),
    (105, "Genera la clave en la app o la web de Tpago, o envía SCP por SMS al 24024.",
        "Create the code in the Tpago app or website, or text SCP to 24024."),
    (108, "En la app Dinero Rápido pide una «clave de compra». Debes escribir allí el monto exacto en bolívares.",
        "In the Dinero Rápido app ask for a “clave de compra”. You must type the exact amount in bolívares there."),
    (114, "Genera la clave dinámica en la app de Bancaribe.", "Create the dynamic code (“clave dinámica”) in the Bancaribe app."),
    (115, "Genera la clave en Exterior NEXO.", "Create the code in Exterior NEXO."),
    (128, "Genera la clave en Clic Caroní.", "Create the code in Clic Caroní."),
    (134, "Genera la clave en la web de Banesco, o envía por SMS al 2846: «clave dinamica V 00000000», con tu cédula.",
        "Create the code on Banesco's website, or text “clave dinamica V 00000000”, with your own ID number, to 2846."),
    (137, "Genera la clave en Sofimóvil.", "Create the code in Sofimóvil."),
    (138, "Genera la clave en Tu DineroYa, o envía CLAVE y tu cédula por SMS al 1470.",
        "Create the code in Tu DineroYa, or text CLAVE and your ID number to 1470."),
    (151, "Genera la clave en la app Pago Móvil BFC.", "Create the code in the Pago Móvil BFC app."),
    (156, "Envía por SMS al 100102: «C2P pago», el monto y tu clave de 4 dígitos; o genérala en la web del banco.",
        "Text “C2P pago”, the amount and your 4-digit code (“clave”) to 100102; or create it on the bank's website."),
    (163, "Pide la clave por SMS o en la app del banco.", "Ask for the code by SMS or in the bank's app."),
    (168, "Genera la clave en Pag@Ya, o pídela por SMS.", "Create the code in Pag@Ya, or ask for it by SMS."),
    (169, "Genera la clave en la app del banco, o envía «Pagar» por SMS al 22622.", "Create the code in the bank's app, or text “Pagar” to 22622."),
    (171, "Genera la clave en Móvil Activo.", "Create the code in Móvil Activo."),
    (172, "Genera la clave (OTP) en Bancamiga, en AdminPagos.", "Create the code (OTP) at Bancamiga, in AdminPagos."),
    (174, "Genera la clave en Pago Plus. Vale 5 minutos.", "Create the code in Pago Plus. It is good for 5 minutes."),
    (175, "Genera la clave en Tu Banca Móvil.", "Create the code in Tu Banca Móvil."),
    (191, "Genera la clave en BNCNET: una por cada pago, válida hasta el final del día.",
        "Create the code in BNCNET: one for each payment, good until the end of the day."),
];

pub fn key_help(bank: BankCode, language: Language) -> &'static str {
    let known = HELP.iter().find(|(code, _, _)| *code == bank.number());
    match (known, language) {
        (Some((_, spanish, _)), Language::Spanish) => spanish,
        (Some((_, _, english)), Language::English) => english,
        (None, Language::Spanish) => "Genera la clave de pago C2P en la app o la web de tu banco.",
        (None, Language::English) => "Create the C2P payment code in your bank's app or on its website.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::resources::banks::{Catalogue, Service};

    #[test]
    fn every_help_is_of_a_bank_that_takes_c2p() {
        let banks = Catalogue::embedded();
        assert!(HELP.is_sorted_by_key(|(code, _, _)| *code));
        for (code, _, _) in HELP {
            let code = BankCode::from_number(i64::from(code)).expect("a code");
            assert!(banks.offers(code, Service::C2p), "{code}");
        }
    }
}
