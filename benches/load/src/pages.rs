//! The pages for people while the server is busy: each page of the menus of portal and console, in turns, beside
//! payouts at a fixed rate.

use crate::cleanup::{self, Scratch};
use crate::connection::Connection;
use crate::load::{histogram, microseconds};
use crate::open_loop::{OpenLoop, Phase, PhaseFigures};
use crate::prepare::{self, Extent, Tenant};
use crate::report::{Bar, Report, Unit};
use crate::requests::{Requests, Workload};
use crate::server::{ADMIN_TOKEN, Server, Setting};
use crate::table::{Table, decimal, grouped, milliseconds, per_second};
use crate::{Outcome, Place, machine, progress};
use clap::Args;
use hdrhistogram::Histogram;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const READY: Duration = Duration::from_secs(30);
const CONNECTIONS: usize = 256;
/// None is given up.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// Somebody who works with pages, or several of them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const P95_US_MAX: u64 = 100_000;

/// The pages of portal and console beside payouts at a fixed rate
#[derive(Args, Clone, Debug)]
pub struct Pages {
    #[command(flatten)]
    place: Place,
    /// Payouts per second
    #[arg(long, default_value_t = 5_000)]
    rate: u64,
    /// Seconds of payouts before the first look, so that lists are long
    #[arg(long, default_value_t = 10)]
    before: u64,
    /// Seconds that count
    #[arg(long, default_value_t = 30)]
    seconds: u64,
}

/// A page, and how long it took to be there in whole.
struct Looked {
    path: String,
    bytes: usize,
    took_us: Histogram<u64>,
}

impl Pages {
    pub fn run(self) -> Outcome<()> {
        if self.rate == 0 || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(Duration::from_secs(3 * (self.before + self.seconds) + 120));
        let place = self.place.made()?;
        let machine = machine::describe(&place);
        let scratch = Scratch::new(&place, "pages")?;
        let server = Server::gateway_in(scratch.path(), READY, &Setting::default())?;
        let tenants = prepare::tenants(&server, 1, Extent::Payable)?;
        let requests: Arc<dyn Workload> = Arc::new(Requests::payouts(server.api, &tenants));
        let phase = |seconds| Phase { rate: self.rate, time: Duration::from_secs(seconds) };
        let load = |phases: &[Phase]| {
            let (server, requests) = (&server, &requests);
            OpenLoop { server, requests, connections: CONNECTIONS, phases, patience: PATIENCE, cores: &[] }
                .run()
        };
        progress(&format!("{} payouts first", grouped(self.rate * self.before)));
        load(&[phase(self.before)])?;
        let is_over = AtomicBool::new(false);
        let (figures, looked) = std::thread::scope(|scope| {
            let people = scope.spawn(|| look(&server, &tenants[0], &is_over));
            let figures = load(&[phase(self.seconds)]);
            is_over.store(true, Ordering::Relaxed);
            (figures, people.join().map_err(|_| "whoever looked panicked".to_owned()))
        });
        let figures = figures?.pop().ok_or("there was no phase")?;
        self.report(&figures, &looked??, machine)?.print();
        Ok(())
    }

    fn report(&self, figures: &PhaseFigures, looked: &[Looked], machine: String) -> Outcome<Report> {
        let columns = ["page", "looks", "KB", "p50 ms", "p95 ms", "longest ms"];
        let mut table = Table::new("Pages for people beside payouts", &columns);
        table.remark(format!(
            "Each page of the menus in turns, {} ms between two looks, read to its last byte; payouts of the same account at {}/s meanwhile ({}/s answered, p99 {} ms). {} s, after {} s of payouts.",
            BETWEEN_LOOKS.as_millis(),
            grouped(self.rate),
            grouped(per_second(figures.answers, Duration::from_secs(self.seconds))),
            milliseconds(figures.done.value_at_quantile(0.99)),
            self.seconds,
            self.before
        ));
        table.remark(machine);
        let mut all = histogram();
        let row = |name: &str, bytes: String, took: &Histogram<u64>| {
            let quantile = |q| milliseconds(took.value_at_quantile(q));
            [
                name.to_owned(),
                grouped(took.len()),
                bytes,
                quantile(0.5),
                quantile(0.95),
                milliseconds(took.max()),
            ]
        };
        for page in looked {
            all.add(&page.took_us).map_err(|error| error.to_string())?;
            table.row(row(&page.path, decimal(page.bytes as u64 / 100, 1), &page.took_us));
        }
        table.row(row("all of them", "–".to_owned(), &all));
        // A page that is slow is not made up for by others that are not.
        let slowest = looked
            .iter()
            .map(|page| (page.took_us.value_at_quantile(0.95), page))
            .max_by_key(|found| found.0);
        let (p95, page) = slowest.ok_or("there was no page")?;
        let name = format!("p95 of the slowest page beside {} payouts/s", grouped(self.rate));
        let about = format!("{}, {} looks", page.path, grouped(page.took_us.len()));
        let bar = Bar::at_most(&name, Unit::Time, p95, P95_US_MAX, about);
        Ok(Report { tables: vec![table], bars: vec![bar], ..Report::default() })
    }
}

fn look(server: &Server, tenant: &Tenant, is_over: &AtomicBool) -> Outcome<Vec<Looked>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut portal = Visitor::log_in(server.api, "portal", "key", &tenant.key).await?;
        let mut console = Visitor::log_in(server.admin, "console", "token", ADMIN_TOKEN).await?;
        let mut looked: Vec<(bool, Looked)> = Vec::new();
        for (is_console, visitor) in [(false, &mut portal), (true, &mut console)] {
            let found = visitor.menu().await?.into_iter();
            looked.extend(found.map(|path| (is_console, Looked { path, bytes: 0, took_us: histogram() })));
        }
        for at in (0..looked.len()).cycle() {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let (is_console, page) = &mut looked[at];
            let visitor = if *is_console { &mut console } else { &mut portal };
            let began = Instant::now();
            page.bytes = visitor.get(&page.path).await?.len();
            page.took_us.saturating_record(microseconds(began.elapsed()));
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        Ok(looked.into_iter().map(|(_, page)| page).collect())
    })
}

/// Somebody who is logged in.
struct Visitor {
    connection: Connection,
    address: SocketAddr,
    site: &'static str,
    cookies: Vec<(String, String)>,
}

impl Visitor {
    async fn log_in(address: SocketAddr, site: &'static str, field: &str, secret: &str) -> Outcome<Visitor> {
        let connection = Connection::open(address).await?;
        let mut visitor = Visitor { connection, address, site, cookies: Vec::new() };
        let path = format!("/{site}/login");
        let form = visitor.get(&path).await?;
        let csrf = between(&form, "name=\"csrf\" value=\"", "\"").next().ok_or("no form to log in by")?;
        // None of them has a character that would have to be escaped.
        let body = format!("csrf={csrf}&{field}={secret}");
        visitor.send("POST", &path, Some(&body), 303).await?;
        Ok(visitor)
    }

    /// The pages of its menu.
    async fn menu(&mut self) -> Outcome<Vec<String>> {
        let home = self.get(&format!("/{}/home", self.site)).await?;
        let menu = between(&home, "<nav", "</nav>").next().unwrap_or_default();
        let pages: Vec<String> = between(menu, "href=\"", "\"").map(str::to_owned).collect();
        if pages.is_empty() { Err(format!("no menu: {home}")) } else { Ok(pages) }
    }

    async fn get(&mut self, path: &str) -> Outcome<String> {
        self.send("GET", path, None, 200).await
    }

    async fn send(&mut self, method: &str, path: &str, body: Option<&str>, status: u16) -> Outcome<String> {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let form = body.map_or(String::new(), |body| {
            format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n", body.len())
        });
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n{form}\r\n{}",
            self.address,
            cookies.join("; "),
            body.unwrap_or_default()
        );
        let answer =
            self.connection.exchange(request.as_bytes()).await.map_err(|why| format!("{path}: {why}"))?;
        let text = String::from_utf8_lossy(answer.body).into_owned();
        if answer.status != status {
            return Err(format!("{path}: {} instead of {status}: {text}", answer.status));
        }
        if let Some((name, rest)) = answer.header("set-cookie").and_then(|set| set.split_once('=')) {
            let (name, value) = (name.to_owned(), rest.split(';').next().unwrap_or_default().to_owned());
            self.cookies.retain(|(kept, _)| *kept != name);
            self.cookies.push((name, value));
        }
        Ok(text)
    }
}

/// The texts between these two.
fn between<'t>(text: &'t str, before: &'t str, after: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(before).skip(1).filter_map(move |rest| Some(rest.split_once(after)?.0))
}
