//! The contents of requests, where it does not matter what exactly they are.

use crate::steps::To;
use crate::witness::By;
use domain::entities::cop_payout::{AccountType, Beneficiary, ColombianAccount};
use domain::entities::means::{Debtor, Means};
use domain::resources::payments::charge::{NewCharge, Price, Secret};
use domain::resources::payouts::{NewPayout, PhoneHolder, Receiver};
use domain::values::card::{Brand, Card, Cvv, Expiry, Number};
use domain::values::colombia::{Buyer, ColombianPhone, DocumentNumber, DocumentType};
use domain::values::ids::Id;
use domain::values::money::{Rate, Usd, Ves};
use domain::values::text::ExternalRef;
use domain::values::time::Date;
use domain::values::token::Token;
use domain::values::venezuela::{AccountNumber, BankCode, IdentityDocument, MobilePhone};
use rust_decimal::Decimal;
use std::sync::Arc;

/// The keyed hash of the card whose holder disputes what it paid.
pub const DISPUTED_MARK: [u8; 16] = [8; 16];

pub fn marketplace(seller: Option<(Id, u32)>) -> Option<(Id, Rate)> {
    seller.map(|(shop, percent)| (shop, Rate(Decimal::new(i64::from(percent), 4))))
}

pub fn charge(id: Id, by: By, usd_cents: i64, seller: Option<(Id, u32)>, date: Date) -> NewCharge {
    let (mut price, mut secret) = (Price::Usd(Usd::from_minor(usd_cents)), Secret::None);
    let means = match by {
        By::Card => {
            secret = Secret::Card(Arc::new(card("4111111111111111")));
            Means::Card { brand: Brand::Visa, last_four: 1111, mark: [7; 16] }
        }
        By::Disputed => {
            secret = Secret::Card(Arc::new(card("4000000000000259")));
            Means::Card { brand: Brand::Visa, last_four: 259, mark: DISPUTED_MARK }
        }
        By::Debit => {
            price = Price::Ves { amount: Ves::from_minor(usd_cents * 200), field: "monto" };
            secret = Secret::Token(Token::parse_debit("1234").expect("a code"));
            Means::Debit { debtor: debtor(), name: "Ana".to_owned(), code_mark: [3; 16] }
        }
        // A reference has no leading zeros, as the API takes them off.
        By::Transfer => Means::Transfer { debtor: debtor(), date, reference: format!("1{id}") },
        By::C2p => unreachable!("C2P has an intent"),
    };
    NewCharge {
        rate: Some(Rate(Decimal::from(200))),
        marketplace: marketplace(seller),
        ..NewCharge::new(id, named(id), price, means, secret)
    }
}

pub fn receiver(to: To, shop: Option<Id>) -> Receiver {
    match (to, shop) {
        (To::Merchant { from_balance, .. }, Some(merchant)) => {
            Receiver::Merchant { merchant, method: None, from_balance }
        }
        (To::Account, _) => receiver_account(),
        (To::Own, _) => Receiver::Own,
        _ => Receiver::Credit(holder()),
    }
}

pub fn payout(id: Id, cents: i64, receiver: Receiver, external_ref: ExternalRef) -> NewPayout {
    NewPayout { id, external_ref, receiver, amount: Ves::from_minor(cents), concept: "pago".to_owned() }
}

pub fn named(id: Id) -> ExternalRef {
    ExternalRef::parse(&id.to_string()).expect("a reference")
}

pub fn bank_code() -> BankCode {
    BankCode::parse("0134").expect("a bank")
}

pub fn identity() -> IdentityDocument {
    IdentityDocument::parse("V12345678").expect("a document")
}

pub fn holder() -> PhoneHolder {
    PhoneHolder {
        bank: bank_code(),
        phone: MobilePhone::parse("04141234567").expect("a phone"),
        identity: identity(),
    }
}

pub fn debtor() -> Debtor {
    Debtor { bank: bank_code(), id: identity(), phone: holder().phone }
}

pub fn receiver_account() -> Receiver {
    let account = (0..100)
        .find_map(|check| AccountNumber::parse(&format!("01340001{check:02}0123456789"), |_| true).ok());
    Receiver::Account {
        account: account.expect("one of them is right"),
        identity: identity(),
        name: "Ana".to_owned(),
    }
}

pub fn card(number: &str) -> Card {
    Card {
        // The card expires long after every clock here.
        expiry: Expiry { year: 8_999, month: 12 },
        number: Number::parse(number).expect("a number"),
        cvv: Cvv::parse("123").expect("a code"),
        holder_name: "Ana".to_owned(),
        holder_id: identity(),
    }
}

pub fn buyer() -> Buyer {
    Buyer {
        email: None,
        phone: Some(ColombianPhone::parse("3001234567").expect("a phone")),
        document_type: Some(DocumentType::Cc),
        document_number: Some(DocumentNumber::parse("1020304050").expect("a document")),
    }
}

pub fn beneficiary() -> Beneficiary {
    Beneficiary {
        bank: "Bancolombia".to_owned(),
        account: ColombianAccount::parse("12345678901").expect("an account"),
        account_type: AccountType::Savings,
        holder_name: "Ana".to_owned(),
        document_type: DocumentType::Cc,
        document_number: DocumentNumber::parse("1020304050").expect("a document"),
    }
}
