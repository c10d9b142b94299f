//! Every file of a data directory, damaged and missing in turn: a start refuses and names the file
//! or the sequence, or everything that was ever acknowledged is served as it was. A wrong answer is
//! what must not be.

use crate::harness::check::text;
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, vpos_body};
use crate::harness::server::Server;
use crate::shown;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tempfile::TempDir;

/// Servers that are started at the same time.
const AT_ONCE: usize = 3;

/// The answers that were acknowledged: what is read, and what is done again under its key.
struct Acknowledged {
    key: String,
    read: Vec<(String, String)>,
    repeated: Vec<(String, String, Value, String)>,
}

impl Acknowledged {
    /// Reads and repeats all of it.
    fn by(api: &Api, key: &str, reads: &[String], repeats: &[(&str, &str, Value)]) -> Acknowledged {
        let told = |answer: Answer| format!("{} {}", answer.status, answer.text());
        Acknowledged {
            key: key.to_owned(),
            read: reads.iter().map(|path| (path.clone(), told(api.get(path)))).collect(),
            repeated: repeats
                .iter()
                .map(|(name, path, body)| {
                    let answer = told(api.keyed(name).post(path, body));
                    ((*name).to_owned(), (*path).to_owned(), body.clone(), answer)
                })
                .collect(),
        }
    }

    /// The calls that a server answers otherwise than it did, or not at all. `card` is whether
    /// cards are recognised again.
    fn differences(&self, server: &Server, card: bool) -> Vec<String> {
        let api = server.api(&self.key);
        let told = |answer: Result<Answer, String>| match answer {
            Ok(answer) => format!("{} {}", answer.status, answer.text()),
            Err(why) => why,
        };
        let mut found = Vec::new();
        // The repeats first: if one of them did something, what is read shows it.
        for (name, path, body, expected) in &self.repeated {
            let now = told(api.keyed(name).try_post(path, body));
            let is_refused = !card && path.ends_with("/vpos") && now.starts_with("422 ");
            if now != *expected && !is_refused {
                found.push(format!("POST {path} again: {now}, not {expected}"));
            }
        }
        for (path, expected) in &self.read {
            let now = told(api.try_get(path));
            if now != *expected {
                found.push(format!("GET {path}: {now}, not {expected}"));
            }
        }
        found
    }
}

/// A directory with something in tables and something in the newest log of each store, as a killed
/// server leaves it.
fn killed() -> (TempDir, Acknowledged) {
    let mut server = Server::start();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key").to_owned();
    let api = &tenant.test;
    let merchant = api.merchant();
    api.fund("100.00");
    let payment = api.pay(5);
    let hook = json!({ "url": "https://shop.example.com/hook", "events": ["merchant.verified"] });
    let card = vpos_body(3, json!({ "externalRef": fresh("card") }));
    let fund = json!({ "currency": "VES", "amount": "7.00" });
    let repeats = [
        ("hook", "/v1/webhooks", hook),
        ("card", "/v1/payments/vpos", card),
        ("fund", "/v1/test/fund", fund),
    ];
    for (name, path, body) in &repeats {
        api.keyed(name).post(path, body).expect(201);
    }
    server.admin().act("/admin/snapshot").expect(200);
    assert!(server.terminate().success());
    server.restart();
    let payout = api.payout(&merchant, "1.00", json!({})).expect(201);
    for _ in 0..30 {
        api.fund("1.00");
    }
    let reads = [
        "/v1/balance".to_owned(),
        "/v1/balance/transactions?limit=100".to_owned(),
        "/v1/events?limit=100".to_owned(),
        "/v1/webhooks".to_owned(),
        format!("/v1/payments/{}", text(&payment, "paymentId")),
        format!("/v1/payouts/{}", text(&payout, "payoutId")),
        format!("/v1/payouts/by-ref/{}", text(&payout, "externalRef")),
        format!("/v1/merchants/{}", text(&merchant, "merchantId")),
    ];
    let acknowledged = Acknowledged::by(api, &key, &reads, &repeats);
    server.kill();
    let kept = tempfile::tempdir().expect("a directory");
    copy(&server.data(), kept.path());
    (kept, acknowledged)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("readable").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// Every file, by its path inside the directory.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("readable").flatten() {
            let inside = folder.join(entry.file_name());
            if entry.path().is_dir() { folders.push(inside) } else { found.push(inside) }
        }
    }
    found.sort();
    found
}

/// The damage that is done to a file.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Missing,
    Flipped(usize),
    Empty,
}

/// A file and what is done to it.
fn faults(root: &Path) -> Vec<(PathBuf, Fault)> {
    let of = |file: PathBuf| {
        let length = usize::try_from(fs::metadata(root.join(&file)).expect("its size").len()).expect("small");
        let mut places = vec![length / 7, length / 2, length.saturating_sub(length.min(60))];
        places.dedup();
        places.retain(|at| *at < length);
        let flips = places.into_iter().map(Fault::Flipped);
        let cut = (length > 0).then_some(Fault::Empty);
        [Fault::Missing].into_iter().chain(cut).chain(flips).map(move |fault| (file.clone(), fault)).collect()
    };
    files(root).into_iter().flat_map(|file| -> Vec<_> { of(file) }).collect()
}

fn apply(path: &Path, fault: Fault) {
    match fault {
        Fault::Missing => fs::remove_file(path).expect("removed"),
        Fault::Empty => fs::write(path, b"").expect("written"),
        Fault::Flipped(at) => {
            let mut bytes = fs::read(path).expect("readable");
            bytes[at] ^= 0x10;
            fs::write(path, bytes).expect("written");
        }
    }
}

/// Whether a line says where to look: the file, its folder, or a sequence.
fn names_the_place(why: &str, file: &Path) -> bool {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let in_folder = folder.is_some_and(|folder| why.contains(&format!("/{}", folder.display())));
    why.contains(shown(file)) || in_folder || why.contains("damaged at sequence")
}

/// The outcome of a start on a directory with one fault; `Err` is what must not be.
fn outcome(original: &Path, file: &Path, fault: Fault, told: &Acknowledged) -> Result<&'static str, String> {
    let copied = tempfile::tempdir().expect("a directory");
    copy(original, copied.path());
    apply(&copied.path().join(file), fault);
    let server = match Server::try_on(copied.path()) {
        Ok(server) => server,
        Err(why) if names_the_place(&why, file) => return Ok("refused"),
        Err(why) => return Err(format!("the start does not say where: {why}")),
    };
    // A missing key means that no card is recognised again; the repeat is refused and charges
    // nobody.
    let differences = told.differences(&server, file != Path::new("card.key"));
    match differences.is_empty() {
        true => Ok("served"),
        false => Err(format!("{}\n{}", differences.join("\n"), server.log_tail())),
    }
}

#[test]
fn whatever_file_is_damaged_or_gone_nothing_wrong_is_served() {
    let (original, told) = killed();
    let all = faults(original.path());
    assert!(all.len() > 60, "only {} faults", all.len());
    // The directory that was not touched has nothing wrong.
    let whole = tempfile::tempdir().expect("a directory");
    copy(original.path(), whole.path());
    assert_eq!(told.differences(&Server::on(whole.path()), true), Vec::<String>::new());
    let (next, wrong, counted) =
        (Mutex::new(all.iter()), Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((file, fault)) = next.lock().expect("nobody panics with it").next() else {
                        return;
                    };
                    match outcome(original.path(), file, *fault, &told) {
                        Ok(how) => {
                            let mut counted = counted.lock().expect("nobody panics with it");
                            let kind = match fault {
                                Fault::Missing => "missing",
                                Fault::Empty => "empty",
                                Fault::Flipped(_) => "a byte flipped",
                            };
                            *counted.entry((shown(file).to_owned(), kind, how)).or_insert(0) += 1;
                        }
                        Err(why) => {
                            let mut wrong = wrong.lock().expect("nobody panics with it");
                            wrong.push(format!("{} {fault:?}: {why}", file.display()));
                        }
                    }
                }
            });
        }
    });
    for ((file, kind, how), times) in counted.into_inner().expect("nobody panics with it") {
        println!("{file}, {kind}: {how} ({times})");
    }
    let wrong = wrong.into_inner().expect("nobody panics with it");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n\n"));
}

/// Bytes that a disk returns wrong, drawn by chance (`make soak DAMAGES=1000`): nothing wrong is served; where the log
/// is refused the exit code is that of damage, and what a salvage makes of it verifies.
#[test]
fn whatever_byte_is_wrong_nothing_wrong_is_served_and_the_rest_is_salvaged() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let (count, first) = (number("DAMAGES", 8), number("DAMAGE_FIRST", 1));
    let (original, told) = killed();
    let files = files(original.path());
    let tools = Server::start();
    let mut wrong = Vec::new();
    for seed in first..first + count {
        // The finaliser of SplitMix64: neighbours among the seeds have nothing in common.
        let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits ^= bits >> 27;
        let file = &files[usize::try_from(bits >> 40).expect("small") % files.len()];
        let length = fs::metadata(original.path().join(file)).expect("its size").len();
        if length == 0 {
            continue;
        }
        let fault = Fault::Flipped(usize::try_from((bits & 0xff_ffff) % length).expect("small"));
        let how = outcome(original.path(), file, fault, &told);
        println!("seed {seed}: {} {fault:?}: {how:?}", file.display());
        match how {
            Err(why) => wrong.push(format!("seed {seed}: {} {fault:?}: {why}", file.display())),
            Ok("refused") if file.starts_with("log") => {
                let parent = tempfile::tempdir().expect("a directory");
                let (data, to) = (parent.path().join("data"), parent.path().join("salvaged"));
                copy(original.path(), &data);
                apply(&data.join(file), fault);
                let salvaged =
                    tools.command(&["wal", "salvage", "--data-dir", shown(&data), "--to", shown(&to)]);
                let verified = tools.command(&["wal", "verify", "--data-dir", shown(&to)]);
                if salvaged.status.success() && !verified.status.success() {
                    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
                    wrong
                        .push(format!("seed {seed}: {} {fault:?}: salvaged wrongly: {said}", file.display()));
                }
            }
            Ok(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn another_directorys_secret_is_refused() {
    let (original, told) = killed();
    let path = original.path().join("mark.key");
    let own = fs::read(&path).expect("the secret");
    fs::write(&path, [7; 32]).expect("written");
    let why = Server::try_on(original.path()).err().expect("it is not served");
    assert!(why.contains("mark.key: is not the one that this log was written with"), "{why}");
    fs::write(&path, own).expect("written");
    assert_eq!(told.differences(&Server::on(original.path()), true), Vec::<String>::new());
}

/// Puts stores of another time or place beside a log; without `from` there are none any more.
fn replace_stores(data: &Path, from: Option<&Path>) {
    for store in ["simulator", "rates"] {
        fs::remove_dir_all(data.join(store)).expect("removed");
        if let Some(from) = from {
            copy(&from.join(store), &data.join(store));
        }
    }
}

#[test]
fn other_stores_beside_the_log_change_nothing_acknowledged() {
    let (stale, _) = killed();
    let mut older = Server::on(stale.path());
    let tenant = older.tenant();
    let key = text(&tenant.created["testKey"], "key").to_owned();
    let api = &tenant.test;
    let merchant = api.merchant();
    api.fund("100.00");
    let asked = api.payout(&merchant, "1.05", json!({})).expect(202);
    older.kill();
    let kept = tempfile::tempdir().expect("a directory");
    copy(stale.path(), kept.path());
    let newer = tempfile::tempdir().expect("a directory");
    copy(stale.path(), newer.path());
    let mut server = Server::on(newer.path());
    let api = server.api(&key);
    let pending = api.payout(&merchant, "2.05", json!({})).expect(202);
    let paid = api.payout(&merchant, "3.00", json!({})).expect(201);
    let path = |payout: &Value| format!("/v1/payouts/{}", text(payout, "payoutId"));
    let reads = ["/v1/balance/transactions?limit=100".to_owned(), path(&paid), path(&pending), path(&asked)];
    let told = Acknowledged::by(&api, &key, &reads, &[]);
    server.kill();
    let (foreign, _) = killed();
    for (what, from) in
        [("older ones", Some(kept.path())), ("another directory's", Some(foreign.path())), ("none", None)]
    {
        let directory = tempfile::tempdir().expect("a directory");
        copy(newer.path(), directory.path());
        replace_stores(directory.path(), from);
        let server = Server::on(directory.path());
        assert_eq!(told.differences(&server, true), Vec::<String>::new(), "{what}");
        // Orders that were at the bank are asked about, and come to an end.
        let api = server.api(&key);
        api.advance(7 * 86_400);
        for payout in [&asked, &pending] {
            let now = api.get(&path(payout)).expect(200);
            assert!(matches!(text(&now, "status"), "completed" | "failed"), "{what}: {now}");
        }
        api.books();
        let verified = server.command(&["wal", "verify"]);
        assert!(verified.status.success(), "{what}: {}", String::from_utf8_lossy(&verified.stderr));
    }
}
