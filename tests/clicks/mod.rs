//! Tasks of people in a browser, in the clicks that docs/pages.md says: from the first page, typing and choosing a file
//! aside.

use crate::browser::Browser;

pub struct Task<'b> {
    browser: &'b Browser,
    name: &'static str,
    clicks: u32,
}

impl Task<'_> {
    #[track_caller]
    pub fn from_home<'b>(browser: &'b Browser, home: &str, name: &'static str) -> Task<'b> {
        browser.goto(home);
        browser.find("main[data-page=home]");
        Task { browser, name, clicks: 0 }
    }

    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        self.browser.click(selector);
        self.clicks += 1;
    }

    /// Types into the search and clicks on what it finds meanwhile.
    #[track_caller]
    pub fn search(&mut self, typed: &str, found: &str) {
        self.browser.tab_to("#q");
        self.browser.press(typed);
        self.click(&format!("#found a[href*='{found}']"));
    }

    /// Of the payment with this reference and id, as merchants and operators do it.
    #[track_caller]
    pub fn resends(mut self, reference: &str, id: &str) {
        self.search(reference, id);
        self.click("[data-action=resend]");
        self.took(2, "main[data-page=payment] .note.good");
    }

    /// Asserts that the page is there, and how many clicks led to it.
    #[track_caller]
    pub fn took(self, clicks: u32, shown: &str) {
        self.browser.find(shown);
        assert_eq!(self.clicks, clicks, "{}", self.name);
    }
}
