//! Servers in child processes: their memory and the time that the processor spends on them.

use std::io::{BufRead, BufReader, Error, Result};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take until it listens.
const START: Duration = Duration::from_mins(2);

/// Ticks of processor time per second, as the kernel reports them to every program.
const TICKS: u64 = 100;

/// A running server. It ends with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts a server that prints a line that ends with its URL.
    pub(crate) fn start_printing(command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or_else(|| Error::other("no output"))?);
        let mut line = String::new();
        let address = loop {
            line.clear();
            if output.read_line(&mut line)? == 0 {
                return Err(Error::other("it ended before it listened"));
            }
            if let Some(address) = line.trim().rsplit("http://").next().and_then(|address| address.parse().ok()) {
                break address;
            }
        };
        // Its output must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Ok(Self { child, address })
    }

    /// Starts a server that listens on a port of the caller's choice.
    pub(crate) fn start_at(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let mut server = Self { child, address };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = server.child.try_wait()? {
                return Err(Error::other(format!("it ended before it listened ({status})")));
            }
            if start.elapsed() > START {
                return Err(Error::other("it does not listen"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// The memory of the server and its workers, in bytes.
    pub(crate) fn memory(&self) -> usize {
        processes(self.child.id()).into_iter().filter_map(resident).sum()
    }

    /// The processor time of the server and its workers.
    pub(crate) fn processor_time(&self) -> Duration {
        let ticks: u64 = processes(self.child.id()).into_iter().filter_map(ticks).sum();
        Duration::from_millis(ticks * 1000 / TICKS)
    }

    /// The number of open files and sockets.
    pub(crate) fn files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count)
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.child.id())).map_or(0, Iterator::count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server ends its workers on SIGTERM, and leaves them behind when it is killed.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > Duration::from_secs(5) {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A loopback port that was free a moment ago.
pub(crate) fn free_address() -> Result<SocketAddr> {
    TcpListener::bind(("127.0.0.1", 0))?.local_addr()
}

/// A process and the processes that it started.
fn processes(process: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    std::iter::once(process).chain(children.flat_map(processes)).collect()
}

fn resident(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? * 1024)
}

fn ticks(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}
