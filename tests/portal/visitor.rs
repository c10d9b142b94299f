//! A visitor who keeps cookies, reads forms and sends them, as a browser without scripts does.

use crate::harness::client::{Answer, Api};
use regex::Regex;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A visitor of a site.
pub struct Visitor {
    api: Api,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl Visitor {
    /// A visitor who was never here before.
    pub fn new(api: Api) -> Visitor {
        Visitor { api, cookies: RefCell::default() }
    }

    /// A visitor who logged in to the portal with a key.
    #[track_caller]
    pub fn of_portal(api: Api, key: &str) -> Visitor {
        let visitor = Visitor::new(api);
        let answer = visitor.log_in("/portal/login", "key", key);
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some("/portal/home")),
            "{}",
            answer.text()
        );
        visitor
    }

    /// Sends the login's form.
    #[track_caller]
    pub fn log_in(&self, path: &str, field: &str, secret: &str) -> Answer {
        let form = self.get(path);
        self.send(path, &[("csrf", &token(&form)), (field, secret)])
    }

    fn client(&self) -> Api {
        let cookies: Vec<String> =
            self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        if cookies.is_empty() { self.api.clone() } else { self.api.with("cookie", &cookies.join("; ")) }
    }

    fn keep(&self, answer: Answer) -> Answer {
        if let Some(set) = answer.header("set-cookie") {
            let (name, rest) = set.split_once('=').expect("a cookie");
            let value = rest.split(';').next().expect("a value");
            self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    /// The cookies that are kept.
    pub fn cookies(&self) -> BTreeMap<String, String> {
        self.cookies.borrow().clone()
    }

    /// Keeps a cookie that somebody else made.
    pub fn plant(&self, name: &str, value: &str) {
        self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
    }

    /// Opens a page.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.keep(self.client().get(path))
    }

    /// Sends a form.
    #[track_caller]
    pub fn send(&self, path: &str, members: &[(&str, &str)]) -> Answer {
        self.keep(self.client().post_as(path, "application/x-www-form-urlencoded", encoded(members)))
    }

    /// Sends a form with a file.
    #[track_caller]
    pub fn upload(&self, path: &str, members: &[(&str, &str)], file: &[u8]) -> Answer {
        let mut body = Vec::new();
        for (name, value) in members {
            body.extend_from_slice(
                format!("--xyz\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
                    .as_bytes(),
            );
        }
        body.extend_from_slice(b"--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"pagos.csv\"\r\nContent-Type: text/csv\r\n\r\n");
        body.extend_from_slice(file);
        body.extend_from_slice(b"\r\n--xyz--\r\n");
        self.client().post_as(path, "multipart/form-data; boundary=xyz", body)
    }

    /// Presses the button with this `data-action` on a page, with these fields filled in.
    #[track_caller]
    pub fn press(&self, page: &Answer, action: &str, filled: &[(&str, &str)]) -> Answer {
        let form = Form::with_action(page, action);
        let mut members: Vec<(&str, &str)> =
            form.hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        members.extend(filled);
        self.send(&form.to, &members)
    }
}

/// A form of a page.
pub struct Form {
    /// The address that it is sent to.
    pub to: String,
    /// The values that nobody types.
    pub hidden: Vec<(String, String)>,
}

impl Form {
    /// The form whose button has this `data-action`.
    #[track_caller]
    pub fn with_action(page: &Answer, action: &str) -> Form {
        let forms = Regex::new(r"(?s)<form .*?</form>").expect("a pattern");
        let button = format!("data-action=\"{action}\"");
        let text = page.text();
        let form = forms.find_iter(text).map(|form| form.as_str()).find(|form| form.contains(&button));
        let form = form.unwrap_or_else(|| panic!("no form with {action}: {text}"));
        let own = Regex::new(r#"action="([^"]*)""#).expect("a pattern");
        let hidden =
            Regex::new(r#"<input type="hidden" name="([^"]*)" value="([^"]*)">"#).expect("a pattern");
        Form {
            to: own.captures(form).expect("an address")[1].to_owned(),
            hidden: hidden.captures_iter(form).map(|found| (found[1].to_owned(), plain(&found[2]))).collect(),
        }
    }
}

/// A text without the escapes of HTML.
pub fn plain(html: &str) -> String {
    html.replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
}

/// The token of the forms of a page.
#[track_caller]
pub fn token(page: &Answer) -> String {
    let csrf = Regex::new(r#"name="csrf" value="([^"]*)""#).expect("a pattern");
    csrf.captures(page.text()).unwrap_or_else(|| panic!("no token: {}", page.text()))[1].to_owned()
}

/// The name of a page.
#[track_caller]
pub fn page_of(answer: &Answer) -> String {
    let page = Regex::new(r#"data-page="([^"]*)""#).expect("a pattern");
    page.captures(answer.text()).unwrap_or_else(|| panic!("no page: {}", answer.text()))[1].to_owned()
}

/// Members of a form, percent-encoded.
pub fn encoded(members: &[(&str, &str)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(members);
    form.finish()
}
