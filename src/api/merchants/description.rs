//! Sellers and their payout methods, as the description tells of them.

use super::CHAPTER;
use super::{read_method, read_registration, read_update};
use crate::fields::body;
use crate::openapi::document::Chapter;
use crate::openapi::schema::Schema;
use crate::openapi::values::{items, page};
use domain::resources::banks::Catalogue;
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    let banks = Catalogue::embedded();
    let id = Id::from_bytes([0; 16]);
    Chapter {
        tag: CHAPTER,
        about: "The sellers of a marketplace and how they are paid. A payout method is verified by two \
            micro-deposits, whose amounts the seller reads from the account.",
        schemas: vec![
            ("NewMerchant", body(|fields| read_registration(fields, &banks, id))),
            ("MerchantUpdate", body(read_update)),
            ("Merchant", merchant()),
            ("MerchantPage", page("Merchant")),
            ("DeletedMerchant", super::deleted_schema()),
            ("NewPayoutMethod", body(|fields| read_method(fields, &banks))),
            ("PayoutMethod", super::method_schema()),
            ("PayoutMethodList", items("PayoutMethod")),
            ("MerchantBalance", crate::balance::description::of_a_merchant()),
        ],
        ..Chapter::default()
    }
}

pub fn merchant() -> Schema {
    super::schema().example(
        r#"{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa","object":"merchant",
        "externalRef":"seller-1","name":"Bodega La Esquina","identification":"V87654321",
        "contactEmail":"bodega@example.com","contactPhone":"04147654321","status":"verified",
        "isActive":true,"payoutMethods":[{"payoutMethodId":"01975a2e-7c00-7000-8000-0000000000ac",
        "identifier":"01975a2e-7c00-7000-8000-0000000000ac","bankCode":"0134","phone":"04147654321",
        "status":"verified","isDefault":true,"createdAt":"2026-11-21T02:13:00.000Z",
        "verifiedAt":"2026-11-21T02:15:00.000Z"}],"message":null,"livemode":false,
        "createdAt":"2026-11-21T02:13:00.000Z","updatedAt":"2026-11-21T02:15:00.000Z"}"#,
    )
}
