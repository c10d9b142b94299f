//! The processes of a node with several partitions: each is this program with `--partition`, is started again when it
//! ends, and ends with the front.

use crate::cluster::reports::{Partition, Report};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, getpid, kill_process, set_parent_process_death_signal};
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
const HANDED_LOOK: Duration = Duration::from_millis(5);
/// Of a hand-over at the stop: then the next process is told to stop all the same.
const HAND_OVER: Duration = Duration::from_secs(1);

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
        let turn = Arc::<Mutex<()>>::default();
        let (refuse, refused) = watch::channel(None);
        let mut supervisors = Vec::new();
        for partition in 0..partitions.len() {
            let supervisor = Supervisor {
                partition,
                partitions: Arc::clone(partitions),
                is_over: Arc::clone(&is_over),
                turn: Arc::clone(&turn),
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
    /// One log after the other is handed over: what a node has to do that takes several at once, each waits for.
    turn: Arc<Mutex<()>>,
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
        let (told, mut to_tell) = (child.stdout.take(), child.stdin.take());
        // A process that is stopped reads nothing.
        let set = to_tell.iter().try_for_each(|pipe| fcntl_setfl(pipe, OFlags::NONBLOCK));
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
        if let Err(error) = listening.and(set.map_err(io::Error::from)) {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        let mut told_to_stop: Option<Instant> = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            let heard = &self.partitions[self.partition];
            heard.tell_successors(|order| to_tell.as_mut().is_some_and(|pipe| tell(pipe, order)));
            match told_to_stop {
                None if self.is_over() => {
                    self.stop(&mut child)?;
                    told_to_stop = Some(Instant::now());
                }
                Some(at) if at.elapsed() > self.patience => child.kill()?,
                _ => {}
            }
            heard.look_for_silence();
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Returns when another node leads in its place, if there is one that can.
    fn stop(&self, child: &mut Child) -> io::Result<()> {
        let heard = &self.partitions[self.partition];
        let turn = heard.hands_over().then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        // It may have ended just now.
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
        let began = Instant::now();
        while turn.is_some() && began.elapsed() < HAND_OVER && !heard.is_led_elsewhere() {
            if child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(HANDED_LOOK);
        }
        Ok(())
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

/// A line that fits into the pipe whole, or is tried again.
fn tell(pipe: &mut ChildStdin, order: &[String]) -> bool {
    let line = serde_json::to_vec(order).map(|line| [line, b"\n".to_vec()].concat());
    line.is_ok_and(|line| pipe.write_all(&line).is_ok())
}

/// Has this process, which a front started, stop in good order once that is gone. What comes from the front: the nodes
/// that are to lead when this one stops, in their order.
pub(super) fn end_with_the_front() -> io::Result<watch::Receiver<Vec<String>>> {
    set_parent_process_death_signal(Some(Signal::TERM))?;
    let (name, named) = watch::channel(Vec::new());
    let watch = move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if let Ok(order) = serde_json::from_str(&line) {
                name.send_replace(order);
            }
        }
        let _ = kill_process(getpid(), Signal::TERM);
    };
    std::thread::Builder::new().name("front".to_owned()).spawn(watch)?;
    Ok(named)
}
