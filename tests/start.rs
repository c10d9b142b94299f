//! The start and stop of the command: exit codes, the one line on stderr, signals.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn pasarela(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pasarela"));
    command.args(arguments);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PASARELA") {
            command.env_remove(name);
        }
    }
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_bad_configuration_is_one_line_and_exit_2() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("pasarela.toml");
    for (text, variable, name) in [
        ("", ("UNUSED", ""), "admin.token"),
        ("[server]\nlisten = 1\n", ("UNUSED", ""), "server.listen"),
        ("[server]\nlistne = 1\n", ("UNUSED", ""), "server.listne"),
        ("[server\n", ("UNUSED", ""), "line 1"),
        (
            "[admin]\ntoken = \"t\"\n[webhooks]\nextra_ca_file = \"/nowhere.pem\"\n",
            ("UNUSED", ""),
            "webhooks.extra_ca_file: /nowhere.pem",
        ),
        ("", ("PASARELA__SERVER__MAX_CONNECTIONS", "0"), "server.max_connections"),
        ("", ("PASARELA__SERVER__LISTNE", "x"), "PASARELA__SERVER__LISTNE"),
    ] {
        std::fs::write(&file, text).expect("written");
        let path = file.to_str().expect("UTF-8");
        // The test gives no directory of its own: the checkout's `data` may have a token of an
        // earlier `make run`, and would be served.
        let output = pasarela(&["serve", "--config", path])
            .current_dir(directory.path())
            .env(variable.0, variable.1)
            .output()
            .expect("it runs");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(name), "{said}");
        assert!(output.stdout.is_empty());
    }
}

/// The key of a wallet, encrypted, and its password.
const KEYSTORE: &str = r#"{"version":3,"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"09090909090909090909090909090909"},"ciphertext":"44628fe32f4625004bf073758e18a57406480c0f06241f88b968e63c243f8984","kdf":"pbkdf2","kdfparams":{"c":16,"dklen":32,"prf":"hmac-sha256","salt":"0707070707070707070707070707070707070707070707070707070707070707"},"mac":"adcc677d0b8b178e2c9c57b629c3300af70b8805099c47fdf385927bd7a87b95"}}"#;
const PASSWORD: &str = "local chain";
const WORDS: &str = "test test test test test test test test test test test junk";
const CONTRACT: &str = "0xc2132D05D31c914a87C6611C10748AEb04B58e8F";

#[test]
fn a_wallet_that_cannot_be_used_is_one_line_and_exit_2() {
    let directory = tempfile::tempdir().expect("a directory");
    let secret = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, format!("{text}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("its mode");
        path.to_str().expect("UTF-8").to_owned()
    };
    let wrong_case = CONTRACT.replace("D05D", "d05d");
    for (password, words, contract, key) in [
        ("another", WORDS, CONTRACT, "keystore_file"),
        (PASSWORD, "no words of it", CONTRACT, "deposit_seed_file"),
        (PASSWORD, WORDS, wrong_case.as_str(), "usdt_contract"),
    ] {
        let values = [
            ("RPC_URL", "http://127.0.0.1:9".to_owned()),
            ("CHAIN_ID", "137".to_owned()),
            ("USDT_DECIMALS", "6".to_owned()),
            ("MAX_FEE_GWEI", "100".to_owned()),
            ("USDT_CONTRACT", contract.to_owned()),
            ("KEYSTORE_FILE", secret("keystore", KEYSTORE)),
            ("KEYSTORE_PASSWORD_FILE", secret("password", password)),
            ("DEPOSIT_SEED_FILE", secret("seed", words)),
        ];
        let output = pasarela(&["serve", "--data-dir", "data"])
            .current_dir(directory.path())
            .env("PASARELA__ADMIN__TOKEN", "token-of-the-start-test-that-is-long")
            .envs(values.map(|(name, value)| (format!("PASARELA__RAILS__EVM__POLYGON__{name}"), value)))
            .output()
            .expect("it runs");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{key}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(&format!("rails.evm.POLYGON.{key}")), "{said}");
        assert!(!directory.path().join("data/wal").exists(), "nothing was made");
    }
}

#[test]
fn a_bank_that_no_catalogue_has_is_refused_among_those_that_send_a_code() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = pasarela(&["check"])
        .current_dir(directory.path())
        .env("PASARELA__ADMIN__TOKEN", "token-of-the-start-test-that-is-long")
        .env("PASARELA__RAILS__R4__BASE_URL", "http://127.0.0.1:9")
        .env("PASARELA__RAILS__R4__COMMERCE_TOKEN", "commerce-token-that-is-secret")
        .env("PASARELA__RAILS__R4__OTP_BANKS", "0102,9999")
        .output()
        .expect("it runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("rails.r4.otp_banks[1]: "), "{said}");
}

#[test]
fn a_directory_that_cannot_be_made_is_not_told_as_a_full_disk() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut child = pasarela(&["serve", "--data-dir", "/proc/pasarela/data"])
        .current_dir(directory.path())
        .env("PASARELA__ADMIN__TOKEN", "token-of-the-start-test-that-is-long")
        .env("PASARELA__SERVER__LISTEN", "127.0.0.1:0")
        .env("PASARELA__ADMIN__LISTEN", "127.0.0.1:0")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let has_ended = child.try_wait().expect("a child").is_some();
    child.kill().expect("killed, or ended");
    let output = child.wait_with_output().expect("its output");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(has_ended && !said.contains("the disk is full"), "{said}");
    assert!(said.contains("storage.path: /proc/pasarela/data"), "{said}");
}

#[test]
fn help_lists_the_commands() {
    let output = pasarela(&["--help"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("serve"), "{said}");
    let output = pasarela(&["serve", "--help"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for option in ["--config", "--data-dir", "--take-over"] {
        assert!(said.contains(option), "{said}");
    }
    for command in ["trigger", "listen"] {
        let output = pasarela(&[command, "--help"]).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        for variable in ["PASARELA_URL", "PASARELA_KEY"] {
            assert!(said.contains(variable), "{said}");
        }
    }
    let mut command = pasarela(&["trigger", "payment.completed"]);
    command.envs([("PASARELA_URL", "http://127.0.0.1:9"), ("PASARELA_KEY", "pk_test_x")]);
    let said = stderr(&command.output().expect("it runs"));
    assert!(said.contains("nothing answers at http://127.0.0.1:9"), "{said}");
    let output = pasarela(&["admin", "tenant", "--help"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("Create a tenant")
            && said.contains("Change settings")
            && !said.contains("Where the settings come from"),
        "{said}"
    );
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let output = pasarela(&["completions", "bash"]).output().expect("it runs");
    let script = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && script.contains("pasarela,serve)") && script.contains("--take-over"),
        "{script}"
    );
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let written = pasarela(&["manual", path]).status().expect("it runs");
    let page = std::fs::read_to_string(directory.path().join("pasarela-serve.1")).expect("a page");
    assert!(written.success() && page.contains("take\\-over"), "{page}");
    let nowhere = pasarela(&["manual", "/no/such/folder"]).output().expect("it runs");
    assert!(
        nowhere.status.code() == Some(1) && stderr(&nowhere).lines().count() == 1,
        "{}",
        stderr(&nowhere)
    );
}

#[test]
fn systemd_is_told_when_it_is_ready_and_when_it_stops() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let mut child =
        pasarela(&["serve", "--data-dir", directory.path().join("data").to_str().expect("UTF-8")])
            .current_dir(directory.path())
            .env("PASARELA__SERVER__LISTEN", "127.0.0.1:0")
            .env("PASARELA__ADMIN__LISTEN", "127.0.0.1:0")
            .env("PASARELA__ADMIN__TOKEN", "0123456789abcdef0123456789abcdef")
            .env("NOTIFY_SOCKET", &path)
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
    let heard = || {
        let mut said = [0; 64];
        let length = socket.recv(&mut said).expect("a datagram");
        String::from_utf8_lossy(&said[..length]).trim().to_owned()
    };
    assert_eq!(heard(), "READY=1");
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill runs").success());
    assert_eq!(heard(), "STOPPING=1");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn it_serves_until_it_is_told_to_stop() {
    let directory = tempfile::tempdir().expect("a directory");
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let mut child = pasarela(&["serve", "--data-dir", directory.path().to_str().expect("UTF-8")])
        .current_dir(directory.path())
        .env("PASARELA__SERVER__LISTEN", format!("127.0.0.1:{port}"))
        .env("PASARELA__ADMIN__LISTEN", "127.0.0.1:0")
        .env("PASARELA__ADMIN__TOKEN", "hush-hush")
        // A service's child has the variable, and this stderr of its own.
        .env("JOURNAL_STREAM", "1:1")
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let start = Instant::now();
    let mut stream = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => break stream,
            Err(error) => assert!(start.elapsed() < Duration::from_secs(30), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").expect("sent");
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("an answer");
    assert_eq!(&head, b"HTTP/1.1 200");
    let told = Command::new("kill").arg(child.id().to_string()).status().expect("kill runs");
    assert!(told.success());
    let mut lines = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut lines).expect("UTF-8");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{lines}");
    assert!(!lines.contains("hush-hush"), "{lines}");
    for line in lines.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        assert!(event["timestamp"].is_string() && event["level"].is_string(), "{line}");
    }
}

#[test]
fn lines_for_the_journal_begin_with_their_priority() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal");
    let start = |token: &str| {
        let journal = std::fs::File::create(&path).expect("a file");
        let stream = journal.metadata().expect("it is there");
        pasarela(&["serve", "--data-dir", directory.path().join("data").to_str().expect("UTF-8")])
            .current_dir(directory.path())
            .env("PASARELA__SERVER__LISTEN", "127.0.0.1:0")
            .env("PASARELA__ADMIN__LISTEN", "127.0.0.1:0")
            .env("PASARELA__ADMIN__TOKEN", token)
            .env("JOURNAL_STREAM", format!("{}:{}", stream.dev(), stream.ino()))
            .stderr(journal)
            .spawn()
            .expect("it starts")
    };
    let mut child = start("hush-hush");
    let written = || std::fs::read_to_string(&path).expect("UTF-8");
    let began = Instant::now();
    while !written().contains("\"ready\"") {
        assert!(began.elapsed() < Duration::from_secs(60), "{}", written());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg(child.id().to_string()).status().expect("kill runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let levels: Vec<String> = written()
        .lines()
        .map(|line| {
            let (priority, line) = line.split_at(3);
            let event: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
            format!("{priority}{}", event["level"].as_str().expect("a level"))
        })
        .collect();
    assert!(levels.iter().all(|level| level == "<4>WARN" || level == "<6>INFO"), "{levels:?}");
    assert!(levels.contains(&"<4>WARN".to_owned()), "the short token is warned of: {levels:?}");

    assert_eq!(start("").wait().expect("it ends").code(), Some(2));
    assert!(written().starts_with("<3>pasarela: "), "{}", written());
}
