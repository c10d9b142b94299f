//! The shop in a tenant's settings: what buyers see of it on checkout pages and receipts.

use super::settings;
use crate::endpoint::shown;
use crate::fields::{Fields, Invalid, Kind, kind, read};
use crate::openapi::kinds::is_email;
use crate::openapi::{kinds, schema};
use crate::value::{Lines, Value};
use domain::platform::settings::{Receiver, Shop};
use domain::values::venezuela::BankCode;
use std::borrow::Cow;

const NAME_CHARACTERS_MAX: usize = 120;
/// Characters of a logo: every page of the checkout carries it.
const LOGO_CHARACTERS_MAX: usize = 12_288;
/// The kinds of pictures that a logo can be. None of them can hold a script.
const LOGO_KINDS: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];
const PHONE_CHARACTERS: std::ops::RangeInclusive<usize> = 7..=24;

const NAME: &str = "On checkout pages and receipts; null: the account's name.";
const EMAIL: &str = "Where buyers write to.";
const RIF: &str = "On checkout pages and receipts, such as `J-12345678-9`; null: none.";
const LOGO: &str =
    "On checkout pages: a data URI of a PNG, JPEG or WebP in base64, of at most 12288 characters.";
const PHONE: &str = "Where buyers call, such as `+58 212 555 0101`.";
const PAGO_MOVIL: &str =
    "Where checkout pages have buyers send a Pago Móvil; null: that is not offered in live mode.";

settings! {
    show, schema, merge(shop: Shop), 512 {
        maybe text "name" = shop.name.as_deref(), text().chars(1..=NAME_CHARACTERS_MAX).about(NAME) => nullable name(), shop.name;
        maybe text "rif" = shop.rif.as_deref(), text().about(RIF) => nullable of_text(rif).about(RIF), shop.rif;
        maybe text "logo" = shop.logo.as_deref(), text().about(LOGO) => nullable of_text(logo).about(LOGO), shop.logo;
        maybe text "email" = shop.email.as_deref(), text().about(EMAIL) => nullable of_text(email).about(EMAIL), shop.email;
        maybe text "phone" = shop.phone.as_deref(), text().about(PHONE) => nullable of_text(phone).about(PHONE), shop.phone;
        maybe json "pagoMovil" = shop.pago_movil.as_ref().map(show_receiver), receiver_schema().closed().about(PAGO_MOVIL)
            => nullable kinds::object(receiver).about(PAGO_MOVIL), shop.pago_movil;
    }
}

shown! {
    fn show_receiver(receiver: &Receiver), receiver_schema, 128 {
        plain "bankCode" = receiver.bank, text().pattern("^[0-9]{4}$");
        plain "phone" = receiver.phone.clear(), text();
        plain "identification" = receiver.id.clear(), text();
    }
}

fn name<'a>() -> impl Kind<'a, String> {
    kind(
        |value: Value<'a>| value.prose(1..=NAME_CHARACTERS_MAX, Lines::One).map(Cow::into_owned),
        || schema::text().chars(1..=NAME_CHARACTERS_MAX).about(NAME),
    )
}

type Parse = fn(&str) -> Result<String, &'static str>;

fn of_text<'a>(parse: Parse) -> impl Kind<'a, String> {
    kind(move |value: Value<'a>| value.text_as(parse), schema::text)
}

fn receiver(mut fields: Fields<'_>) -> Result<Receiver, Invalid> {
    let bank_code =
        kind(|value: Value<'_>| value.text_as(BankCode::parse), || schema::text().pattern("^[0-9]{4}$"));
    Ok(read!(fields {
        required bank = "bankCode", bank_code;
        required phone = "phone", kinds::phone().described(|_| schema::text());
        required id = "identification", kinds::identity().described(|_| schema::text());
    } => Receiver { bank, phone, id }))
}

/// A picture inside its own address: pages ask no other host for anything.
fn logo(text: &str) -> Result<String, &'static str> {
    const WANTED: &str = "must be a data URI of a PNG, JPEG or WebP in base64, of at most 12288 characters";
    let data = text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let fits = data.is_some_and(|(kind, data)| {
        let body = data.trim_end_matches('=');
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        LOGO_KINDS.contains(&kind)
            && !body.is_empty()
            && data.len().is_multiple_of(4)
            && data.len() - body.len() <= 2
            && body.bytes().all(is_base64)
    });
    if fits && text.len() <= LOGO_CHARACTERS_MAX { Ok(text.to_owned()) } else { Err(WANTED) }
}

fn email(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    // The text becomes part of an address that mail programs open.
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"?&<>\"'`".contains(&byte));
    if is_email(text) && plain {
        Ok(text.to_owned())
    } else {
        Err("must be an e-mail address such as ventas@tienda.example")
    }
}

fn phone(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    let fine = |byte: u8| byte.is_ascii_digit() || b" -()".contains(&byte);
    let number = text.strip_prefix('+').unwrap_or(text);
    let fits = PHONE_CHARACTERS.contains(&text.len())
        && number.bytes().all(fine)
        && number.bytes().filter(u8::is_ascii_digit).count() >= *PHONE_CHARACTERS.start();
    if fits { Ok(text.to_owned()) } else { Err("must be a phone such as +58 212 555 0101") }
}

/// A number of the tax office, as it is written: a letter, up to nine digits, and dashes between.
fn rif(text: &str) -> Result<String, &'static str> {
    const WANTED: &str = "must be a RIF such as J-12345678-9";
    let text = text.trim().to_ascii_uppercase();
    let letter = text.strip_prefix(['J', 'G', 'V', 'E', 'P', 'C']).ok_or(WANTED)?;
    let digits = letter.strip_prefix('-').unwrap_or(letter);
    let (body, check) = digits.split_once('-').unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_number(body)
        && is_number(check)
        && check.len() <= 1
        && (6..=9).contains(&(body.len() + check.len()));
    if fits && !digits.ends_with('-') { Ok(text) } else { Err(WANTED) }
}
