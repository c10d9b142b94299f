//! A browser with an empty profile of its own, driven through chromedriver; every wait is bounded.
//! One at a time: they are large.

use serde_json::{Value, json};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use thirtyfour::cdp::domains::network::NetworkConditions;
use thirtyfour::prelude::*;
use thirtyfour::{ChromiumLikeCapabilities, TypingData};
use tokio::runtime::Runtime;

/// The time that anything in the browser may take.
const PATIENCE: Duration = Duration::from_secs(90);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Ends these tests where there is no browser. `.ci/prerequisites` installs chromium and
/// chromium-driver, and warns where it cannot. There nothing here can be tried: the rest of these
/// tests is left out, and said to be, unless `PASARELA_BROWSER=required`, as `.ci/run` has it where
/// there is one. A driver that is there and does not start is a failure.
fn without_browser(error: &std::io::Error) -> ! {
    let is_absent = error.kind() == std::io::ErrorKind::NotFound;
    assert!(
        is_absent && std::env::var_os("PASARELA_BROWSER").is_none(),
        "chromedriver does not start: {error}"
    );
    let _ = writeln!(
        std::io::stderr(),
        "skipped: the pages of the checkout need chromium and chromium-driver, and chromedriver does not start: {error}"
    );
    // The process exits without dropping anything, so the servers that were started end here.
    let children = std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<String> =
        children.flat_map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    let _ = Command::new("kill").args(&children).status();
    std::process::exit(0)
}

/// The settings of a browser.
#[derive(Clone, Copy)]
pub struct Setup {
    /// A telephone of this width, in CSS pixels; a desktop without.
    pub phone: Option<u32>,
    /// Whether the browser prefers dark colours.
    pub dark: bool,
    /// Whether the browser runs scripts.
    pub scripts: bool,
}

/// A desktop in daylight.
pub const DESKTOP: Setup = Setup { phone: None, dark: false, scripts: true };

/// A browser.
pub struct Browser {
    runtime: Runtime,
    driver: Option<WebDriver>,
    process: Child,
    _profile: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser.
    pub fn open(setup: Setup) -> Browser {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // Plain HTTP to loopback is all that is spoken, but the client wants to know how it would
        // encrypt.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let port = TcpListener::bind(("127.0.0.1", 0))
            .expect("a free port")
            .local_addr()
            .expect("an address")
            .port();
        let mut command = Command::new("chromedriver");
        command
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let process = command.spawn().unwrap_or_else(|error| without_browser(&error));
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "chromedriver does not listen");
            sleep(Duration::from_millis(20));
        }
        let profile =
            tempfile::Builder::new().prefix("pasarela-browser-").tempdir().expect("a temporary directory");
        let runtime = Runtime::new().expect("a runtime");
        let mut wanted = DesiredCapabilities::chrome();
        for argument in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--window-size=900,1100",
            // No other host resolves: a page that asked for one would have an error in its log.
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        ] {
            wanted.add_arg(argument).expect("an argument");
        }
        wanted.add_arg(&format!("--user-data-dir={}", profile.path().display())).expect("an argument");
        if setup.dark {
            wanted.add_arg("--force-dark-mode").expect("an argument");
        }
        if let Some(width) = setup.phone {
            let device = json!({ "deviceMetrics": { "width": width, "height": 700, "pixelRatio": 2.0, "touch": true, "mobile": true } });
            wanted.add_experimental_option("mobileEmulation", device).expect("an option");
        }
        if !setup.scripts {
            wanted
                .add_experimental_option(
                    "prefs",
                    json!({ "profile.managed_default_content_settings.javascript": 2 }),
                )
                .expect("an option");
        }
        let driver =
            runtime.block_on(WebDriver::new(format!("http://127.0.0.1:{port}"), wanted)).expect("a browser");
        Browser { runtime, driver: Some(driver), process, _profile: profile, _turn: turn }
    }

    fn driver(&self) -> &WebDriver {
        self.driver.as_ref().expect("it is open")
    }

    /// Takes the network away, or gives it back.
    pub fn offline(&self, is: bool) {
        self.network(NetworkConditions { offline: is, ..NetworkConditions::default() });
    }

    /// A slow third generation: 400 ms to the server and back, 400 kbit/s.
    pub fn slow(&self) {
        self.network(NetworkConditions {
            latency: 400,
            download_throughput: 50_000,
            upload_throughput: 50_000,
            ..NetworkConditions::default()
        });
    }

    fn network(&self, conditions: NetworkConditions) {
        self.runtime.block_on(async {
            let cdp = self.driver().cdp();
            cdp.network().enable().await.expect("the network can be watched");
            cdp.network().emulate_network_conditions(conditions).await.expect("the network can be changed");
        });
    }

    /// Gives the page a screen of this width, in CSS pixels, and of this daytime.
    #[allow(dead_code)] // the guides use it
    pub fn screen(&self, width: u32, dark: bool) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600 });
        let scheme = json!({ "name": "prefers-color-scheme", "value": if dark { "dark" } else { "light" } });
        self.runtime.block_on(async {
            let cdp = self.driver().cdp();
            cdp.send_raw("Emulation.setDeviceMetricsOverride", size).await.expect("a width");
            cdp.send_raw("Emulation.setEmulatedMedia", json!({ "features": [scheme] }))
                .await
                .expect("a daytime");
        });
    }

    /// Opens an address.
    #[track_caller]
    pub fn goto(&self, address: &str) {
        self.runtime.block_on(self.driver().goto(address)).expect("the page loads");
    }

    /// The address that is shown.
    pub fn address(&self) -> String {
        self.runtime.block_on(self.driver().current_url()).expect("an address").to_string()
    }

    /// Runs a script in the page.
    #[track_caller]
    pub fn script(&self, script: &str) -> Value {
        let result = self.runtime.block_on(self.driver().execute(script.to_owned(), Vec::new()));
        result.expect("the script runs").json().clone()
    }

    /// The element, once it is there and shown.
    #[track_caller]
    pub fn find(&self, selector: &str) -> WebElement {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.runtime.block_on(async {
                let element = self.driver().find(By::Css(selector.to_owned())).await?;
                Ok::<_, WebDriverError>((element.is_displayed().await?, element))
            });
            match found {
                Ok((true, element)) => return element,
                _ if Instant::now() < deadline => sleep(Duration::from_millis(30)),
                _ => panic!("there is no {selector} at {}:\n{}", self.address(), self.text("body")),
            }
        }
    }

    /// Whether the element is there now.
    pub fn has(&self, selector: &str) -> bool {
        self.runtime.block_on(self.driver().find(By::Css(selector.to_owned()))).is_ok()
    }

    /// The element's text.
    #[track_caller]
    pub fn text(&self, selector: &str) -> String {
        let element =
            self.runtime.block_on(self.driver().find(By::Css(selector.to_owned()))).expect("it is there");
        self.runtime.block_on(element.text()).expect("its text")
    }

    /// Clicks on an element.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let element = self.find(selector);
        self.runtime.block_on(async {
            element.scroll_into_view().await.expect("it is there");
            element.click().await.expect("it can be clicked");
        });
    }

    /// Opens the menu of the sections where the screen has no room for them.
    #[allow(dead_code)] // the merchants' and operators' pages use it
    #[track_caller]
    pub fn open_sections(&self) {
        let shut = "const menu = document.querySelector('.menu'); return !!menu && !menu.open && menu.checkVisibility()";
        if self.script(shut) == true {
            self.click(".menu summary");
        }
    }

    /// Types into a field, in the place of what was there.
    #[track_caller]
    pub fn fill(&self, name: &str, text: &str) {
        let element = self.find(&format!("[name={name}]"));
        self.runtime.block_on(async {
            if element.tag_name().await.expect("a tag") == "select" {
                let option = element
                    .find(By::Css(format!("option[value=\"{text}\"]")))
                    .await
                    .expect("the option is there");
                option.click().await.expect("it can be chosen");
            } else {
                element.clear().await.expect("it can be cleared");
                element.send_keys(text).await.expect("it takes text");
            }
        });
    }

    /// Presses keys, wherever the focus is.
    #[track_caller]
    pub fn press(&self, keys: impl Into<TypingData>) {
        let keys = keys.into();
        self.runtime.block_on(async {
            let element = self.driver().active_element().await.expect("something has the focus");
            element.send_keys(keys).await.expect("it takes keys");
        });
    }

    /// Presses Tab until the element has the focus, which can be seen.
    #[allow(dead_code)] // the merchants' and operators' pages use it
    #[track_caller]
    pub fn tab_to(&self, selector: &str) {
        for _ in 0..60 {
            self.press(Key::Tab);
            if self.script(&format!("return document.activeElement.matches('{selector}')")) == true {
                let outlined =
                    self.script("return getComputedStyle(document.activeElement).outlineStyle !== 'none'");
                assert_eq!(outlined, true, "the focus on {selector} can't be seen");
                return;
            }
        }
        panic!("Tab never comes to {selector} at {}", self.address());
    }

    /// Gives a file to the field that takes one.
    #[allow(dead_code)] // the operators' pages use it
    #[track_caller]
    pub fn choose_file(&self, name: &str, path: &Path) {
        let field = self.find(&format!("[name={name}]"));
        self.runtime.block_on(field.send_keys(path.display().to_string())).expect("it takes a file");
    }

    /// Waits until the page has this status.
    #[track_caller]
    pub fn wait_for(&self, status: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = self
                .script("const main = document.querySelector('main'); return main && main.dataset.status;");
            if now == status {
                return;
            }
            assert!(Instant::now() < deadline, "the page says {now}, not {status}:\n{}", self.text("body"));
            sleep(Duration::from_millis(30));
        }
    }

    /// Waits until the script gives true.
    #[track_caller]
    pub fn wait_until(&self, script: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.script(script) != true {
            assert!(Instant::now() < deadline, "never true: {script}");
            sleep(Duration::from_millis(30));
        }
    }

    /// Goes into a frame.
    #[track_caller]
    pub fn enter(&self, selector: &str) {
        let frame = self.find(selector);
        self.runtime.block_on(frame.enter_frame()).expect("the frame opens");
    }

    /// Leaves all frames.
    pub fn leave(&self) {
        self.runtime.block_on(self.driver().enter_default_frame()).expect("there is a page around it");
    }

    /// Opens another tab and goes there; returns the tab that it came from.
    pub fn new_tab(&self) -> WindowHandle {
        self.runtime.block_on(async {
            let before = self.driver().window().await.expect("a tab");
            let tab = self.driver().new_tab().await.expect("a new tab");
            self.driver().switch_to_window(tab).await.expect("it is there");
            before
        })
    }

    /// Goes to a tab; returns the one that it came from.
    pub fn switch(&self, to: &WindowHandle) -> WindowHandle {
        self.runtime.block_on(async {
            let before = self.driver().window().await.expect("a tab");
            self.driver().switch_to_window(to.clone()).await.expect("it is there");
            before
        })
    }

    /// Asserts that nothing was asked of another host than `base`, and that the browser had nothing
    /// to complain about.
    #[track_caller]
    pub fn assert_at_home(&self, base: &str) {
        let asked =
            self.script("return [...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')].map((entry) => entry.name);");
        let foreign: Vec<&Value> = asked
            .as_array()
            .expect("a list")
            .iter()
            .filter(|name| !name.as_str().is_some_and(|name| name.starts_with(base)))
            .collect();
        assert!(foreign.is_empty(), "asked of others: {foreign:?}");
        let complaints = self.runtime.block_on(self.driver().browser_log()).unwrap_or_default();
        let bad: Vec<String> = complaints
            .iter()
            .map(|entry| format!("{entry:?}"))
            .filter(|entry| entry.contains("Content Security Policy") || entry.contains("NOT_RESOLVED"))
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }

    /// Keeps a picture, when `PASARELA_SCREENSHOTS` names a directory.
    pub fn picture(&self, name: &str) {
        if let Some(directory) = std::env::var_os("PASARELA_SCREENSHOTS") {
            let path = PathBuf::from(directory).join(format!("{name}.png"));
            self.runtime.block_on(self.driver().screenshot(&path)).expect("a picture");
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            let _ = self.runtime.block_on(driver.quit());
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
