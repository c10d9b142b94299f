//! Payouts by file: what a file may look like, what the preview says, and that it is paid once.

use crate::harness::check::{list, text};
use crate::harness::client::Answer;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use crate::visitor::{Visitor, page_of, token};
use serde_json::{Value, json};

const HEADER: &str = "externalRef,merchantId,monto,concepto";

struct Shop {
    tenant: Tenant,
    visitor: Visitor,
    merchant: String,
    csrf: String,
}

fn shop(server: &Server) -> Shop {
    let shop = poor_shop(server);
    shop.tenant.test.fund("1000.00");
    shop
}

/// A shop with nothing in its balance.
fn poor_shop(server: &Server) -> Shop {
    let tenant = server.tenant();
    let merchant = text(&tenant.test.merchant(), "merchantId").to_owned();
    let visitor = Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"));
    let csrf = token(&visitor.get("/portal/payouts"));
    Shop { tenant, visitor, merchant, csrf }
}

impl Shop {
    #[track_caller]
    fn preview(&self, file: &[u8]) -> Answer {
        self.visitor.upload("/portal/payouts/preview", &[("csrf", &self.csrf)], file)
    }

    fn payouts(&self) -> Vec<Value> {
        list(&self.tenant.test.get("/v1/payouts").expect(200), "items").to_vec()
    }
}

/// The numbers of the lines of a preview with this state.
fn lines(page: &str, state: &str) -> Vec<u64> {
    let start = format!("<tr data-status=\"{state}\"><td class=\"figure\" data-label=\"Renglón\">");
    let rows = page.split(start.as_str()).skip(1);
    rows.map(|row| row.split('<').next().and_then(|number| number.parse().ok()).expect("a number")).collect()
}

#[test]
fn the_preview_pays_nothing_and_the_good_lines_are_paid_once() {
    let server = Server::shared();
    let shop = shop(&server);
    let (one, two) = (fresh("a"), fresh("b"));
    let file = format!(
        "{HEADER}\n{one},{m},10.00,semana\n{one},{m},11.00,otra vez\nx,{m},1.250,mal monto\ny,no-such,1.00,nadie\n{two},{m},20.00,\"coma, y comillas\"\nz,{m}\n,{m},1.00,sin referencia\nw,{m},1.00,\n",
        m = shop.merchant
    );
    let preview = shop.preview(file.as_bytes());
    assert_eq!((preview.status, page_of(&preview).as_str()), (200, "payouts"), "{}", preview.text());
    assert!(preview.text().contains("data-field=\"preview\""));
    assert_eq!(lines(preview.text(), "ok"), [2, 6]);
    assert_eq!(lines(preview.text(), "bad"), [3, 4, 5, 7, 8, 9]);
    assert!(shop.payouts().is_empty(), "a preview pays nothing");
    for words in [
        "1.000,00",
        "970,00",
        "Órdenes al banco",
        "data-label=\"Cuántas\">2</td>",
        "href=\"/portal/payouts\"",
    ] {
        assert!(preview.text().contains(words), "{words}: {}", preview.text());
    }
    let paid = shop.visitor.press(&preview, "confirm", &[]);
    assert_eq!(paid.status, 303, "{}", paid.text());
    let again = shop.visitor.press(&preview, "confirm", &[]);
    assert_eq!(again.header("location"), paid.header("location"));
    let payouts = shop.payouts();
    assert_eq!(payouts.len(), 2);
    assert!(payouts.iter().all(|payout| payout["batchId"] == payouts[0]["batchId"]));
    assert_eq!(shop.tenant.test.balance()["availableVes"], "970.00");
    let shown = shop.visitor.get(paid.header("location").expect("an address"));
    assert!(shown.text().contains(&one) && shown.text().contains(&two), "{}", shown.text());
    // The same file again names what was paid, and pays nothing.
    let preview = shop.preview(file.as_bytes());
    assert_eq!(lines(preview.text(), "ok"), [0_u64; 0]);
    assert!(!preview.text().contains("data-action=\"confirm\""));
}

/// The note on the page to which a confirmation led.
#[track_caller]
fn note(shop: &Shop, confirmed: &Answer) -> String {
    let page = shop.visitor.get(confirmed.header("location").expect("an address"));
    let note = page.text().split("<div class=\"note ").nth(1).and_then(|rest| rest.split("</div>").next());
    note.unwrap_or_else(|| panic!("no note: {}", page.text())).to_owned()
}

#[test]
fn the_note_of_a_batch_tells_what_the_bank_said() {
    let server = Server::shared();
    let shop = shop(&server);
    // The bank pays the first, refuses the second and answers later about the third.
    for (amounts, tone, words) in [
        (&["1.00", "1.05"][..], "plain", "2 de 2 renglones, y 1 ya con respuesta del banco"),
        (&["1.00", "1.04"], "bad", "Se pagó 1 de 2 renglones"),
        (&["1.04", "1.05"], "bad", "1 de 2 renglones, y 0 ya con respuesta"),
    ] {
        let rows: String =
            amounts.iter().map(|amount| format!("{},{},{amount},x\n", fresh("n"), shop.merchant)).collect();
        let preview = shop.preview(format!("{HEADER}\n{rows}").as_bytes());
        let is_foreseen = preview.text().contains("el banco lo rechazaría");
        assert_eq!(is_foreseen, amounts.contains(&"1.04"), "{}", preview.text());
        let said = note(&shop, &shop.visitor.press(&preview, "confirm", &[]));
        assert!(said.starts_with(tone) && said.contains(words), "{words}: {said}");
        let has = |words: &str| said.contains(words);
        assert_eq!(has("dale otra referencia"), amounts.contains(&"1.04"), "{said}");
        assert_eq!(has("No lo pagues de nuevo"), amounts.contains(&"1.05"), "{said}");
        assert!(!has("sube otra vez"), "no reference is free: {said}");
    }
}

#[test]
fn lines_that_were_refused_are_paid_when_the_file_comes_again() {
    let server = Server::shared();
    let shop = poor_shop(&server);
    let (one, two) = (fresh("a"), fresh("b"));
    let file = format!("{HEADER}\n{one},{m},10.00,semana\n{two},{m},20.00,semana\n", m = shop.merchant);
    let note = |answer| note(&shop, answer);
    let spend = |amount: &str| {
        let merchant = json!({ "merchantId": shop.merchant });
        shop.tenant.test.payout(&merchant, amount, json!({})).expect(201);
    };
    let poor = shop.preview(file.as_bytes());
    assert_eq!(lines(poor.text(), "bad"), [2, 3], "{}", poor.text());
    assert!(poor.text().contains("El saldo disponible no alcanza."), "{}", poor.text());
    assert!(!poor.text().contains("data-action=\"confirm\""));
    // The balance is spent between the preview and its confirmation.
    shop.tenant.test.fund("30.00");
    let poor = shop.preview(file.as_bytes());
    spend("30.00");
    let refused = shop.visitor.press(&poor, "confirm", &[]);
    assert_eq!(refused.status, 303, "{}", refused.text());
    let said = note(&refused);
    assert!(said.starts_with("bad") && said.contains("No se pagó nada: 0 de 2 renglones"), "{said}");
    assert_eq!(shop.payouts().len(), 1);
    // For one of both the balance is enough.
    shop.tenant.test.fund("15.00");
    let preview = shop.preview(file.as_bytes());
    assert_eq!((lines(preview.text(), "ok"), lines(preview.text(), "bad")), (vec![2], vec![3]));
    shop.tenant.test.fund("15.00");
    let preview = shop.preview(file.as_bytes());
    assert_eq!(lines(preview.text(), "ok"), [2, 3]);
    spend("15.00");
    let half = shop.visitor.press(&preview, "confirm", &[]);
    assert_ne!(half.header("location"), refused.header("location"), "a batch of its own");
    let said = note(&half);
    assert!(said.starts_with("bad") && said.contains("Se pagó 1 de 2 renglones"), "{said}");
    assert_eq!((shop.payouts().len(), &shop.tenant.test.balance()["availableVes"]), (3, &json!("5.00")));
    shop.tenant.test.fund("5000.00");
    let preview = shop.preview(file.as_bytes());
    assert_eq!((lines(preview.text(), "bad"), lines(preview.text(), "ok")), (vec![2], vec![3]));
    let paid = shop.visitor.press(&preview, "confirm", &[]);
    let said = note(&paid);
    assert!(said.starts_with("good") && said.contains("El lote se pagó una sola vez"), "{said}");
    // Neither a double click nor a page that is still open pays twice.
    for open in [&preview, &preview, &poor] {
        assert_eq!(shop.visitor.press(open, "confirm", &[]).status, 303);
    }
    assert_eq!((shop.payouts().len(), &shop.tenant.test.balance()["availableVes"]), (4, &json!("4985.00")));
}

#[test]
fn sellers_who_cannot_be_paid_are_marked() {
    let server = Server::shared();
    let shop = shop(&server);
    let api = &shop.tenant.test;
    let unproved = api.create_merchant(json!({})).expect(201);
    let idle = api.merchant();
    let path = format!("/v1/merchants/{}", text(&idle, "merchantId"));
    api.patch(&path, &json!({ "isActive": false })).expect(200);
    let line = |merchant: &Value| format!("{},{},1.00,pago", fresh("f"), text(merchant, "merchantId"));
    let good = format!("{},{},1.00,pago", fresh("f"), shop.merchant);
    let preview =
        shop.preview(format!("{HEADER}\n{}\n{}\n{good}\n", line(&unproved), line(&idle)).as_bytes());
    assert_eq!((lines(preview.text(), "bad"), lines(preview.text(), "ok")), (vec![2, 3], vec![4]));
    let paid = shop.visitor.press(&preview, "confirm", &[]);
    assert_eq!((paid.status, shop.payouts().len()), (303, 1), "{}", paid.text());
}

#[test]
fn files_come_from_many_programs() {
    let server = Server::shared();
    let shop = shop(&server);
    let m = &shop.merchant;
    let line = |separator: &str, n: u32| {
        [fresh("f"), m.clone(), format!("{n}.00"), "pago".to_owned()].join(separator)
    };
    let semicolons = HEADER.replace(',', ";");
    for (name, file) in [
        ("a byte order mark", format!("\u{feff}{HEADER}\n{}\n", line(",", 1))),
        ("semicolons", format!("{semicolons}\n{}\n", line(";", 1))),
        ("line ends of Windows", format!("{HEADER}\r\n{}\r\n", line(",", 1))),
        ("no line end", format!("{HEADER}\n{}", line(",", 1))),
        (
            "another order of columns",
            format!("monto,concepto,merchantId,externalRef\n1.00,pago,{m},{}\n", fresh("f")),
        ),
        ("names in capitals", format!("{}\n{}\n", HEADER.to_uppercase(), line(",", 1))),
        ("empty lines", format!("{HEADER}\n\n{}\n\n", line(",", 1))),
    ] {
        let preview = shop.preview(file.as_bytes());
        assert_eq!(
            (preview.status, lines(preview.text(), "ok").len()),
            (200, 1),
            "{name}: {}",
            preview.text()
        );
    }
    assert!(shop.payouts().is_empty());
}

#[test]
fn a_file_says_what_it_is_written_in_and_how_its_columns_are_called() {
    let server = Server::shared();
    let shop = shop(&server);
    let row = |name: &str| format!("{name};{};1.00;ca\u{f1}a", shop.merchant);
    let file = format!("EXTERNALREF;MerchantId;Monto;CONCEPTO\r\n{}\r\n{}\r\n", row("w1"), row("w1"));
    let windows: Vec<u8> = file
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)).expect("a letter of Windows-1252"))
        .collect();
    for bytes in [file.replace(';', "\t").into_bytes(), windows] {
        let preview = shop.preview(&bytes);
        assert_eq!((lines(preview.text(), "ok"), lines(preview.text(), "bad")), (vec![2], vec![3]));
        assert!(preview.text().contains("EXTERNALREF: está dos veces en el archivo"), "{}", preview.text());
        assert!(preview.text().contains("caña"), "{}", preview.text());
    }
}

#[test]
fn lines_have_the_numbers_that_an_editor_shows() {
    let server = Server::shared();
    let shop = shop(&server);
    let row = |concept: &str| format!("{},{},1.00,{concept}", fresh("n"), shop.merchant);
    for (name, end) in [("LF", "\n"), ("CRLF", "\r\n"), ("CR", "\r")] {
        let two_lines = format!("\"dos{end}renglones\"");
        let file = [
            HEADER.to_owned(),
            row("uno"),
            String::new(),
            row(&two_lines),
            row("tres"),
            String::new(),
            String::new(),
            row("cuatro"),
            "z,corto".to_owned(),
            String::new(),
        ]
        .join(end);
        let preview = shop.preview(file.as_bytes());
        // Of two lines in quotes the first one counts; a concept is one line, so they are refused.
        assert_eq!(lines(preview.text(), "ok"), [2, 6, 9], "{name}");
        assert_eq!(lines(preview.text(), "bad"), [4, 10], "{name}");
        let late_header =
            format!("{end}{end}{}{end}{}{end}", HEADER.replace(',', ";"), row("uno").replace(',', ";"));
        assert_eq!(lines(shop.preview(late_header.as_bytes()).text(), "ok"), [4], "{name}, header in line 3");
    }
}

#[test]
fn what_is_no_such_file_is_refused_whole() {
    let server = Server::shared();
    let shop = shop(&server);
    for (name, file) in [
        ("nothing", &b""[..]),
        ("a header alone", HEADER.as_bytes()),
        ("no header", b"a,b,10.00,x\n"),
        ("a column twice", b"externalRef,externalRef,merchantId,monto,concepto\n"),
        ("a workbook", b"PK\x03\x04\x00\x00\x00\x00"),
        ("a quote that is never closed", b"externalRef,merchantId,monto,concepto\nx,y,1.00,\"cana\n"),
    ] {
        let answer = shop.preview(file);
        assert_eq!((answer.status, page_of(&answer).as_str()), (400, "payouts"), "{name}");
        assert!(answer.text().contains("data-status=\"error\""), "{name}");
    }
    let large = vec![b'x'; 5 << 20];
    assert_eq!(shop.preview(&large).status, 413);
    let no_file = shop.visitor.send("/portal/payouts/preview", &[("csrf", &shop.csrf)]);
    assert_eq!(no_file.status, 400);
    assert_eq!(
        shop.visitor.upload("/portal/payouts/preview", &[], HEADER.as_bytes()).status,
        403,
        "without the token"
    );
}

#[test]
fn a_batch_takes_a_thousand() {
    let server = Server::shared();
    let shop = shop(&server);
    let rows: String = (0..1_002).map(|n| format!("k{n},{},0.01,x\n", shop.merchant)).collect();
    let preview = shop.preview(format!("{HEADER}\n{rows}").as_bytes());
    assert_eq!(preview.status, 200);
    assert_eq!(lines(preview.text(), "ok").len(), 1_000);
    assert_eq!(lines(preview.text(), "bad"), [1_002, 1_003]);
    let paid = shop.visitor.press(&preview, "confirm", &[]);
    assert_eq!(paid.status, 303, "{}", paid.text());
}

#[test]
fn a_key_that_may_only_pay_is_told_nothing_of_sellers_and_references() {
    let server = Server::shared();
    let shop = shop(&server);
    let used = fresh("u");
    let file = format!(
        "{HEADER}\n{used},{m},10.00,semana\ny,00000000-0000-7000-8000-000000000000,1.00,nadie\nx,{m},1.250,mal\n",
        m = shop.merchant
    );
    let name = text(&shop.tenant.test.get(&format!("/v1/merchants/{}", shop.merchant)).expect(200), "name")
        .to_owned();
    let preview = shop.preview(file.as_bytes());
    assert!(preview.text().contains(&name) && lines(preview.text(), "bad") == [3, 4], "{}", preview.text());
    assert_eq!(shop.visitor.press(&preview, "confirm", &[]).status, 303);
    let path = format!("/admin/tenants/{}/keys", shop.tenant.id);
    let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": ["payout"] })).expect(201);
    let visitor = Visitor::of_portal(server.nobody(), text(&made, "key"));
    let csrf = token(&visitor.get("/portal/live"));
    let preview = visitor.upload("/portal/payouts/preview", &[("csrf", &csrf)], file.as_bytes());
    assert_eq!(preview.status, 200, "{}", preview.text());
    assert_eq!((lines(preview.text(), "ok"), lines(preview.text(), "bad")), (vec![2, 3], vec![4]));
    assert!(!preview.text().contains(&name), "{}", preview.text());
}

#[test]
fn amounts_are_taken_as_a_spreadsheet_of_either_language_writes_them() {
    let server = Server::shared();
    let shop = shop(&server);
    let amounts = ["250,75", "1.250,75", "10,5", "10", "7.00", "1.250", "-5.00", "mucho"];
    let rows: String =
        amounts.iter().map(|amount| format!("{};{};{amount};pago\n", fresh("f"), shop.merchant)).collect();
    shop.tenant.test.fund("1000.00");
    let preview = shop.preview(format!("{}\n{rows}", HEADER.replace(',', ";")).as_bytes());
    assert_eq!(lines(preview.text(), "ok"), [2, 3, 4, 5, 6], "{}", preview.text());
    // `1.250` is another amount in another language, so nobody guesses.
    assert_eq!(lines(preview.text(), "bad"), [7, 8, 9]);
    for words in ["Bs 1.529,00", "1.250,75", "mayor que cero"] {
        assert!(preview.text().contains(words), "{words}: {}", preview.text());
    }
    let paid = shop.visitor.press(&preview, "confirm", &[]);
    assert_eq!(paid.status, 303, "{}", paid.text());
    let mut paid: Vec<String> =
        shop.payouts().iter().map(|payout| text(payout, "monto").to_owned()).collect();
    paid.sort();
    assert_eq!(paid, ["10.00", "10.50", "1250.75", "250.75", "7.00"]);
}
