//! The tables of the benchmark.

use std::time::Duration;

use crate::load::Load;
use crate::rivals::Rival;

/// A ratio of ours to nginx that is wanted.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// The median time is at most so many times that of nginx.
    P50(f64),
    /// The median time until the first bytes is at most so many times that of nginx.
    First(f64),
    /// The rate is at least this share of that of nginx.
    Rate(f64),
}

/// The most memory of an idle proxy.
const IDLE_BYTES: usize = 64 << 20;

/// The figures of one measurement. The first load is the one without a proxy.
pub(crate) struct Figures {
    pub(crate) title: &'static str,
    pub(crate) names: Vec<&'static str>,
    pub(crate) loads: Vec<Vec<Load>>,
    /// The processor time of each proxy.
    pub(crate) times: Vec<Duration>,
    pub(crate) is_stream: bool,
}

impl Figures {
    pub(crate) fn print(&self, goal: Goal) {
        let first = if self.is_stream { "first µs" } else { "" };
        println!(
            "{:<38}{:>10}{:>8}{first:>10}{:>8}{:>12}{:>8}{:>12}",
            self.title, "p50 µs", "× nginx", "", "rate /s", "× nginx", "CPU µs"
        );
        for (index, name) in self.names.iter().enumerate() {
            let cpu = index.checked_sub(1).map_or(f64::NAN, |proxy| self.processor(proxy));
            let first = |value: f64| if self.is_stream { value } else { f64::NAN };
            println!(
                "  {name:<36}{:>10}{:>8}{:>10}{:>8}{:>12}{:>8}{:>12}",
                number(self.value(index, p50), 0),
                number(self.ratio(index, p50), 2),
                number(first(self.value(index, first_p50)), 0),
                number(first(self.ratio(index, first_p50)), 2),
                number(self.value(index, Load::rate), 0),
                number(self.ratio(index, Load::rate), 2),
                number(cpu, 1),
            );
        }
        self.judge(goal);
        println!();
    }

    fn judge(&self, goal: Goal) {
        let (what, ratio, bound, is_met) = match goal {
            Goal::P50(most) => ("p50", self.ratio(OURS, p50), format!("at most {most}"), self.ratio(OURS, p50) <= most),
            Goal::First(most) => {
                let ratio = self.ratio(OURS, first_p50);
                ("first byte", ratio, format!("at most {most}"), ratio <= most)
            }
            Goal::Rate(least) => {
                let ratio = self.ratio(OURS, Load::rate);
                ("rate", ratio, format!("at least {least}"), ratio >= least)
            }
        };
        let verdict = if is_met { "met" } else { "MISSED" };
        println!("  goal: {what} {ratio:.2} × nginx, {bound}: {verdict}");
        for (name, least) in LEADS {
            let Some(index) = self.names.iter().position(|known| *known == name) else { continue };
            let lead = match goal {
                Goal::P50(_) => self.value(index, p50) / self.value(OURS, p50),
                Goal::First(_) => self.value(index, first_p50) / self.value(OURS, first_p50),
                Goal::Rate(_) => self.value(OURS, Load::rate) / self.value(index, Load::rate),
            };
            if !lead.is_finite() || lead <= 0.0 {
                println!("  goal: {name} gave no figure to compare with");
                continue;
            }
            let verdict = if lead >= least { "met" } else { "MISSED" };
            println!("  goal: {what} {lead:.1} times better than {name}, at least {least}: {verdict}");
        }
    }

    /// The median over all rounds.
    fn value(&self, index: usize, of: impl Fn(&Load) -> f64) -> f64 {
        median(self.loads[index].iter().map(of).collect())
    }

    /// The median over all rounds of the ratio to nginx in the same round.
    fn ratio(&self, index: usize, of: impl Fn(&Load) -> f64) -> f64 {
        let rounds = self.loads[index].iter().zip(&self.loads[NGINX]);
        median(rounds.map(|(load, nginx)| of(load) / of(nginx)).collect())
    }

    /// Microseconds of the processor for each request.
    fn processor(&self, proxy: usize) -> f64 {
        let count: usize = self.loads[proxy + 1].iter().map(Load::count).sum();
        self.times[proxy].as_secs_f64() * 1e6 / count as f64
    }
}

/// The places of the loads.
const NGINX: usize = 1;
const OURS: usize = 2;

/// By how much the proxy is to be ahead of gateways.
const LEADS: [(&str, f64); 3] = [("tensorzero", 5.0), ("portkey", 10.0), ("litellm", 100.0)];

fn p50(load: &Load) -> f64 {
    load.p50().as_secs_f64() * 1e6
}

fn first_p50(load: &Load) -> f64 {
    load.first_p50().as_secs_f64() * 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn number(value: f64, digits: usize) -> String {
    if value.is_finite() { format!("{value:.digits$}") } else { "–".to_owned() }
}

/// Prints the memory of the proxies when they were idle and after all load.
pub(crate) fn print_memory(rivals: &[Rival], idle: &[usize]) {
    let mb = |bytes: usize| format!("{:.1}", bytes as f64 / 1e6);
    println!("{:<38}{:>10}{:>12}", "memory MB", "idle", "after load");
    for (index, rival) in rivals.iter().enumerate() {
        let idle = idle.get(index).map_or_else(|| "–".to_owned(), |bytes| mb(*bytes));
        println!("  {:<36}{idle:>10}{:>12}", rival.target.name, mb(rival.server.memory()));
    }
    let ours = idle.get(OURS - 1).copied().unwrap_or_default();
    let verdict = if ours < IDLE_BYTES { "met" } else { "MISSED" };
    println!("  goal: {} MB idle, less than {}: {verdict}", mb(ours), mb(IDLE_BYTES));
}
