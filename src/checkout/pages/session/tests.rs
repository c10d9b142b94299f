//! Tests that text which somebody wrote (a shop, a product, a buyer, a bank) is escaped on every
//! page of a session.

use super::super::skeleton_tests::{harmless, shell, skeleton, texts};
use super::panels::InBolivares;
use super::receipt::PaidPage;
use super::waiting::{Again, KeyPage, PesosPage, UsdtPage};
use super::*;
use proptest::prelude::*;

fn bill(text: &[String]) -> Bill {
    let [amount, description, reference, came] = [0, 1, 2, 3].map(|at: usize| text[at].clone());
    Bill { amount, description: Some(description), reference: Some(reference), came: Some(came) }
}

fn handle(text: &[String]) -> Handle {
    let id = Id::derived(1, 1, 0);
    Handle {
        session: id.to_string(),
        secret: text[0].clone(),
        status: "open",
        base: text[1].clone(),
        parent: text[2].clone(),
        cause: "",
        attempt: Some(id),
        newest: Some(id),
        received: text[0].clone(),
    }
}

fn choosable(text: &[String]) -> Vec<Choosable> {
    vec![Choosable { code: text[0].clone(), name: text[1].clone(), help: "", sends: true, chosen: true }]
}

/// The pages of a session in which all texts are these.
fn pages(text: &[String]) -> Vec<String> {
    let one = || text[3].clone();
    let shell = || Shell { bill: bill(text), handle: handle(text), ..shell(&text[4]) };
    let usdt = || UsdtPanel { networks: choosable(text), assets: choosable(text) };
    let price = || InBolivares { total: one(), rate: one(), of: Some(one()) };
    let again = || Again { to: "cop", of: Id::derived(1, 1, 0), cop: Some(("sms", 1)), wait: 60 };
    let typed = || Typed {
        values: [
            "debtorId",
            "debtorCellPhone",
            "email",
            "phone",
            "documentNumber",
            "reference",
            "date",
            "cardName",
        ]
        .map(|name| (name, text[5].clone()))
        .into(),
        wrong: vec!["debtorId", "email"],
    };
    let pesos = |channel| PesosPanel {
        total: one(),
        minor: 1,
        rate: Some(one()),
        channel,
        channels: [("push", "", ""), ("sms", "", "")],
        documents: choosable(text),
        other: one(),
    };
    let details = |channel| DetailsPage {
        shell: shell(),
        choices: vec![Choice {
            code: "c2p",
            name: "",
            hint: "",
            why: None,
            total: Some(one()),
            least: None,
            chosen: true,
        }],
        quote: one(),
        c2p: Some(C2pPanel { price: Some(price()), banks: choosable(text) }),
        card: Some(CardPanel { price: Some(price()), quote: Some(one()) }),
        transfer: Some(TransferPanel {
            price: price(),
            plain: one(),
            bank: one(),
            bank_code: one(),
            phone: one(),
            identification: one(),
            quote: one(),
            is_sent: false,
            banks: choosable(text),
            oldest: one(),
            today: one(),
            between: (one(), one()),
        }),
        pesos: Some(pesos(channel)),
        usdt: Some(usdt()),
        usdt_network: "TRC20",
        typed: typed(),
        failure: None,
        notice: Some(one()),
        valid_until: one(),
        cancel_url: Some(one()),
    };
    let waiting = |channel, waits, picture| PesosPage {
        shell: shell(),
        channel,
        waits,
        picture,
        total: one(),
        rate: Some(one()),
        key: one(),
        qr: drawing("key"),
        phone: one(),
        wrong: true,
        until: one(),
        again: again(),
        other: one(),
        home: one(),
    };
    let key = KeyPage {
        shell: shell(),
        intent: Id::derived(1, 1, 0),
        ves: one(),
        rate: one(),
        of: Some(one()),
        bank: one(),
        payer: one(),
        help: "",
        sent_sms: true,
        again: again(),
        wrong: true,
        back: one(),
    };
    let address = UsdtPage {
        shell: shell(),
        amount: one(),
        address: one(),
        qr: drawing("address"),
        network: "",
        asset: "",
        panel: usdt(),
        received: Some(one()),
        left: one(),
        of: 2,
        came: 1,
        until: one(),
        home: one(),
    };
    let lines = vec![("", one()), ("", text[5].clone())];
    let paid = PaidPage {
        shell: shell(),
        lines,
        receipt: one(),
        receipt_pdf: one(),
        receipt_text: one(),
        mail: one(),
        success_url: Some(one()),
        is_returned: false,
        also: Some(one()),
    };
    let fields = FieldsPage { shell: shell(), typed: typed(), unscripted: true };
    let expired = ExpiredPage { shell: shell(), cancel_url: Some(one()) };
    let processing = ProcessingPage { shell: shell() };
    [
        details(None).render(),
        details(Some(Channel::Sms)).render(),
        waiting(Channel::Qr, false, None).render(),
        waiting(Channel::Qr, false, Some(one())).render(),
        waiting(Channel::Push, false, None).render(),
        waiting(Channel::Sms, false, None).render(),
        waiting(Channel::Sms, true, None).render(),
        key.render(),
        address.render(),
        paid.render(),
        fields.render(),
        expired.render(),
        processing.render(),
    ]
    .map(|page| page.expect("a page is made"))
    .into()
}

proptest! {
    #[test]
    fn no_text_changes_the_skeleton_of_a_page(text in texts(6)) {
        for (page, plain) in pages(&text).iter().zip(pages(&harmless(&text))) {
            prop_assert_eq!(skeleton(page), skeleton(&plain));
        }
    }
}
