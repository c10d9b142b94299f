//! The description of the calls that the page of a checkout session makes.

use super::{bolivares, read_network, read_pesos, read_quantity};
use crate::fields::body;
use crate::openapi::document::Chapter;
use crate::openapi::schema::text;
use crate::openapi::values::page;
use domain::resources::banks::Catalogue;

pub fn sessions() -> Chapter {
    Chapter {
        tag: super::sessions::CHAPTER,
        about: "A page on which a buyer pays once, priced in US dollars: send the buyer to `url`, or embed \
            it with `clientSecret` and `/checkout.js`.",
        schemas: vec![
            ("NewCheckoutSession", body(|fields| super::sessions::read_new(fields, false))),
            (
                "CheckoutSession",
                super::sessions::schema().member(
                    "clientSecret",
                    text().about("Opens this session for a buyer's page, and nothing else."),
                ),
            ),
            ("ListedCheckoutSession", super::sessions::schema()),
            ("ListedCheckoutSessionPage", page("ListedCheckoutSession")),
        ],
        ..Chapter::default()
    }
}

pub fn chapter() -> Chapter {
    let banks = Catalogue::embedded();
    Chapter {
        tag: super::CHAPTER,
        about: "The calls of a buyer's page, for those who build their own. `Authorization: Bearer \
            <clientSecret>` opens one session and nothing else. One attempt at a time: a new one supersedes \
            what is pending. A body has at most 16 KiB.",
        schemas: vec![
            ("CheckoutState", super::state_schema()),
            ("CheckoutDebtor", body(|fields| bolivares::read_request(fields, &banks))),
            ("CheckoutC2p", body(|fields| bolivares::read_execution(fields, &banks))),
            ("CheckoutPagoMovil", body(|fields| bolivares::read_transfer(fields, &banks))),
            ("CheckoutCard", body(bolivares::read_card_call)),
            ("MadeCardToken", bolivares::token_schema()),
            ("CheckoutCop", body(|fields| read_pesos(fields, false))),
            ("CheckoutUsdt", body(read_network)),
            ("CheckoutAddress", super::address_schema()),
            ("LinkQuantity", body(read_quantity)),
        ],
        ..Chapter::default()
    }
}
