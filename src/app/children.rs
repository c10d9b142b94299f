//! The processes of a node with several partitions: each is this program with `--partition`, is started again when it
//! ends, and ends with the front.

use crate::cluster::reports::{Partition, Report};
use rustix::process::{Pid, Signal, getpid, kill_process, set_parent_process_death_signal};
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Between an end and the next start: doubled, as long as no process has lived for `STABLE`.
const AGAIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(10);
const STABLE: Duration = Duration::from_secs(20);
/// After a start that was refused, which an operator has to mend.
const REFUSED_AGAIN: Duration = Duration::from_secs(30);
const EXIT_REFUSED: i32 = 2;

pub(super) struct Children {
    supervisors: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
    refused: watch::Receiver<Option<u8>>,
}

impl Children {
    /// A process that is told to stop has so long. `front` is where this one listens for them.
    pub(super) fn start(
        partitions: &Arc<[Partition]>,
        front: SocketAddr,
        patience: Duration,
    ) -> io::Result<Children> {
        let is_over = Arc::<AtomicBool>::default();
        let (refuse, refused) = watch::channel(None);
        let mut supervisors = Vec::new();
        for partition in 0..partitions.len() {
            let supervisor = Supervisor {
                partition,
                partitions: Arc::clone(partitions),
                is_over: Arc::clone(&is_over),
                refuse: refuse.clone(),
                front,
                patience,
            };
            let thread = std::thread::Builder::new().name(format!("partition-{partition}"));
            supervisors.push(thread.spawn(move || supervisor.run())?);
        }
        Ok(Children { supervisors, is_over, refused })
    }

    /// Returns when the first partition's process may not start: neither may this node.
    pub(super) async fn refused(&mut self) -> u8 {
        match self.refused.wait_for(Option::is_some).await.map(|code| *code) {
            Ok(Some(code)) => code,
            Ok(None) | Err(_) => std::future::pending().await,
        }
    }

    /// Tells all to stop, and waits for it.
    pub(super) fn stop(self) {
        self.is_over.store(true, Ordering::Release);
        self.supervisors.iter().for_each(|supervisor| supervisor.thread().unpark());
        for supervisor in self.supervisors {
            let _ = supervisor.join();
        }
    }
}

/// Its thread lives for as long as the front: the kernel tells a process of the end of the thread that started it.
struct Supervisor {
    partition: usize,
    partitions: Arc<[Partition]>,
    is_over: Arc<AtomicBool>,
    refuse: watch::Sender<Option<u8>>,
    front: SocketAddr,
    patience: Duration,
}

impl Supervisor {
    fn run(&self) {
        let (partition, heard) = (self.partition, &self.partitions[self.partition]);
        let mut pause = AGAIN;
        while !self.is_over() {
            let began = Instant::now();
            let ended = self.run_once();
            heard.has_ended();
            if self.is_over() {
                return;
            }
            let code = ended.as_ref().ok().and_then(ExitStatus::code);
            if began.elapsed() >= STABLE {
                pause = AGAIN;
            }
            let wait = match code {
                Some(EXIT_REFUSED) if partition == 0 => {
                    self.refuse.send_replace(Some(2));
                    return;
                }
                Some(EXIT_REFUSED) => REFUSED_AGAIN,
                _ => pause,
            };
            match &ended {
                Ok(status) => {
                    tracing::error!(partition, %status, "the process of a partition has ended: it is started again")
                }
                Err(error) => {
                    tracing::error!(partition, %error, "the process of a partition did not start: it is tried again")
                }
            }
            pause = AGAIN_MAX.min(2 * pause);
            let until = Instant::now() + wait;
            while !self.is_over() && Instant::now() < until {
                std::thread::park_timeout(LOOK_EVERY);
                heard.look_for_silence();
            }
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    fn run_once(&self) -> io::Result<ExitStatus> {
        let mut child = self.start()?;
        let told = child.stdout.take();
        let (partition, partitions) = (self.partition, Arc::clone(&self.partitions));
        let listening = std::thread::Builder::new().name("listening".to_owned());
        let listening = listening.spawn(move || {
            for line in told.into_iter().flat_map(|told| BufReader::new(told).lines()).map_while(Result::ok) {
                match serde_json::from_str::<Report>(&line) {
                    Ok(told) => partitions[partition].hear(told),
                    Err(error) => tracing::error!(partition, %error, "a process told what is not understood"),
                }
            }
        });
        if let Err(error) = listening {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        let mut told_to_stop: Option<Instant> = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            match told_to_stop {
                None if self.is_over() => {
                    // It may have ended just now.
                    let _ = kill_process(Pid::from_child(&child), Signal::TERM);
                    told_to_stop = Some(Instant::now());
                }
                Some(at) if at.elapsed() > self.patience => child.kill()?,
                _ => {}
            }
            self.partitions[self.partition].look_for_silence();
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Of the program that runs here, whatever is on the disk by now. The end of its standard input is the front's.
    fn start(&self) -> io::Result<Child> {
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_else(|| "pasarela".into());
        Command::new("/proc/self/exe")
            .arg0(name)
            .args(arguments)
            .args(["--front", &self.front.to_string()])
            .args(["--partitions", &self.partitions.len().to_string()])
            .args(["--partition", &self.partition.to_string()])
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
    }
}

/// Has this process, which a front started, stop in good order once that is gone.
pub(super) fn end_with_the_front() -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    let watch = || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = kill_process(getpid(), Signal::TERM);
    };
    std::thread::Builder::new().name("front".to_owned()).spawn(watch).map(drop)
}
