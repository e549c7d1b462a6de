//! The cost of `seamline proxy` beside nginx as a plain reverse proxy, and beside gateways of other projects.
//!
//! All proxies run at the same time and take turns of a second, so that the ratios hold on a busy machine too; each figure
//! is the median of nine rounds, and each ratio the median of the ratios of each round.
//!
//! - **The same work.** nginx and ours have one worker for each processor, keep connections to clients and to the upstream
//!   open, read the whole body of a request into memory before they send it on, collect no response, log no request, and
//!   send small pieces at once. nginx is a plain reverse proxy: it does not look into the body. Ours checks it.
//! - **The load and the upstream** are threads of this process, one for each connection, and share the processors with the
//!   proxy under test, as they do with nginx. The row `direct` is what they need without a proxy, and shows that they are
//!   not the bottleneck. The load sends bytes that are ready. The upstream reads the JSON text once and has its response
//!   ready. It sends the chunks of a stream with one write each, as providers do.
//! - **The bodies.** 2 KB is a chat with one tool call. 1 MB has about 960 messages, a third of them tool calls and a
//!   third results with line breaks. Every request is a conversation that was never sent before, unless the line says that
//!   requests extend it: then each conversation grows 40 times by three messages, and the first request is not measured.
//! - **Median times** are those of few connections, where requests do not wait for each other: 4 for small bodies, 1 for
//!   large ones and streams. **Rates** are those of many: 32 for small bodies, 4 for large ones, 8 for streams.
//!
//! Nothing here passes or fails; `cargo xtask bench proxy` prints it. `--quick` takes a fifth of the time, `--only TEXT`
//! measures only what has this in its title. `SEAMLINE` names another binary than the one of this build, and
//! `SEAMLINE_BEFORE` one that is measured beside it. `--soak N` sends N requests and holds thousands of streams instead;
//! `cargo xtask soak proxy` runs it.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::cast_precision_loss, reason = "figures are printed with few digits")]

mod bodies;
mod http;
mod load;
mod rivals;
mod server;
mod soak;
mod table;
mod upstream;

use std::io::Result;
use std::time::Duration;

use load::{Load, Shape, Target};
use rivals::Rival;
use table::{Figures, Goal};
use upstream::Upstream;

/// The number of rounds; the median counts.
const ROUNDS: usize = 9;
/// The time of one proxy in one round.
const TIME: Duration = Duration::from_secs(1);

const SMALL: Shape = Shape { connections: 4, body_bytes: 1_500, result_bytes: 300, growth: 0, is_stream: false };
const LARGE: Shape = Shape { connections: 1, body_bytes: 1_000_000, result_bytes: 2_700, growth: 0, is_stream: false };
const STREAM: Shape = Shape { connections: 1, is_stream: true, ..SMALL };

/// The number of proxies that must take every load: nginx and ours.
const COMPARED: usize = 2;

/// One row of the table: a title, the load, and the wanted ratio to nginx.
const MEASURED: [(&str, Shape, Goal); 7] = [
    ("2 KB, 4 connections", SMALL, Goal::P50(1.3)),
    ("2 KB, 32 connections", Shape { connections: 32, ..SMALL }, Goal::Rate(0.75)),
    ("1 MB, 1 connection", LARGE, Goal::P50(2.5)),
    ("1 MB, 4 connections", Shape { connections: 4, ..LARGE }, Goal::Rate(0.8)),
    ("1 MB that extend a request", Shape { growth: 40, ..LARGE }, Goal::P50(1.5)),
    ("stream of 200 chunks, 1 connection", STREAM, Goal::First(1.3)),
    ("stream of 200 chunks, 8 connections", Shape { connections: 8, ..STREAM }, Goal::Rate(0.5)),
];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value_of = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let folder = tempfile::tempdir()?;
    let upstream = Upstream::start()?;
    if let Some(count) = value_of("--soak") {
        let count = count.parse().unwrap_or(soak::REQUESTS);
        return soak::run(&rivals::seamline(folder.path(), upstream.address)?, &upstream, count);
    }
    let share = if args.iter().any(|arg| arg == "--quick") { 5 } else { 1 };
    let rounds = Rounds { time: TIME / share, count: ROUNDS };
    let nginx = rivals::nginx(folder.path(), upstream.address)?;
    let ours = rivals::seamline(folder.path(), upstream.address)?;
    let mut rivals = vec![nginx, ours];
    rivals.extend(rivals::before(folder.path(), upstream.address)?);
    let idle: Vec<usize> = rivals.iter().map(|rival| rival.server.memory()).collect();
    rivals.extend(rivals::gateways(folder.path(), upstream.address));
    println!("median of {ROUNDS} interleaved rounds of {:?} for each proxy\n", rounds.time);
    let direct = rivals::direct(upstream.address);
    for (title, shape, goal) in MEASURED {
        if value_of("--only").is_none_or(|wanted| title.contains(wanted.as_str())) {
            rounds.measure(title, &direct, &rivals, shape)?.print(goal);
        }
    }
    table::print_memory(&rivals, &idle);
    Ok(())
}

/// How long is measured.
struct Rounds {
    time: Duration,
    count: usize,
}

impl Rounds {
    /// Measures all proxies in turn. A gateway that cannot take the load is left out of the round.
    fn measure(&self, title: &'static str, direct: &Target, rivals: &[Rival], shape: Shape) -> Result<Figures> {
        let mut loads: Vec<Vec<Load>> = vec![Vec::new(); rivals.len() + 1];
        let mut times = vec![Duration::ZERO; rivals.len()];
        for _ in 0..self.count {
            loads[0].push(load::run(direct, shape, self.time)?);
            for (index, rival) in rivals.iter().enumerate() {
                let before = rival.server.processor_time();
                match load::run(&rival.target, shape, self.time) {
                    Ok(load) => loads[index + 1].push(load),
                    Err(error) if index < COMPARED => return Err(error),
                    Err(error) => println!("{} failed: {error}", rival.target.name),
                }
                times[index] += rival.server.processor_time().saturating_sub(before);
            }
        }
        let names = std::iter::once(direct.name).chain(rivals.iter().map(|rival| rival.target.name)).collect();
        Ok(Figures { title, names, loads, times, is_stream: shape.is_stream })
    }
}
