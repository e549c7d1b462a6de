use super::*;
use crate::incident::IncidentOutcome;

/// A sample of the text: its name, its labels and its value.
type Sample = (String, BTreeMap<String, String>, f64);

/// Reads the text as a scraper does, and fails on anything that the format does not allow.
fn parse(text: &str) -> (BTreeMap<String, String>, Vec<Sample>) {
    assert!(text.ends_with('\n'));
    let (mut kinds, mut samples) = (BTreeMap::new(), Vec::new());
    let mut current = String::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            current = help.split_once(' ').unwrap().0.to_owned();
            assert!(!kinds.contains_key(&current), "{current} begins twice");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, current);
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            kinds.insert(name.to_owned(), kind.to_owned());
        } else {
            let sample = sample(line);
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| sample.0.strip_suffix(suffix));
            let is_part = base == Some(&current) && kinds[&current] == "histogram";
            assert!(sample.0 == current || is_part, "{line} is not part of {current}");
            samples.push(sample);
        }
    }
    (kinds, samples)
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        loop {
            let (label, after) = rest.split_once("=\"").unwrap();
            let (value, after) = quoted(after);
            assert_eq!(labels.insert(label.to_owned(), value), None);
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None => break rest = after.strip_prefix('}').unwrap(),
            }
        }
    }
    (name.to_owned(), labels, rest.strip_prefix(' ').unwrap().parse().unwrap())
}

/// The value of a label up to its closing quote, and the text behind it.
fn quoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.push(match chars.next().unwrap().1 {
                'n' => '\n',
                char @ ('\\' | '"') => char,
                other => panic!("\\{other} is not an escape"),
            }),
            char => value.push(char),
        }
    }
    panic!("no closing quote in {text}")
}

fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let found = samples.iter().find(|sample| sample.0 == name && sample.1 == labels);
    found.map(|sample| sample.2)
}

fn summary(status: u16, ms: u64) -> Summary {
    Summary {
        upstream: "anthropic".to_owned(),
        dialect: Some("anthropic_messages"),
        status,
        body_bytes: Some(10),
        time: Duration::from_millis(ms),
        ..Summary::default()
    }
}

#[test]
fn a_scraper_reads_every_sample() {
    let metrics = Metrics::default();
    for (status, ms) in [(200, 3), (200, 1_000), (201, 1_001), (429, 400_000)] {
        metrics.count_exchange(&summary(status, ms));
    }
    metrics.count_exchange(&Summary { status: 404, ..Summary::default() });
    metrics.count_incident(&ProxyIncident {
        outcome: IncidentOutcome::Stalled,
        findings: BTreeMap::from([("PAIR001".to_owned(), 2)]),
        actions: BTreeMap::from([("PAIR001 synthesize".to_owned(), 2)]),
        ..ProxyIncident::default()
    });
    let gauges = Gauges { connections: 4, conversation_bytes: 5, body_bytes: 7, ..Gauges::default() };
    let store = StoreGauges { dropped: 6, is_available: false };
    let (kinds, samples) = parse(&metrics.render(&gauges, Some(store)));
    assert_eq!(kinds.len(), 17, "{kinds:?}");
    let found = |name: &str, labels: &[(&str, &str)]| value(&samples, name, labels);
    let requests = |upstream, dialect, status| {
        found("seamline_requests_total", &[("upstream", upstream), ("dialect", dialect), ("status", status)])
    };
    assert_eq!(requests("anthropic", "anthropic_messages", "2xx"), Some(3.0));
    assert_eq!(requests("anthropic", "anthropic_messages", "4xx"), Some(1.0));
    assert_eq!(requests("none", "none", "4xx"), Some(1.0));
    let within = |le| found("seamline_request_duration_seconds_bucket", &[("upstream", "anthropic"), ("le", le)]);
    let buckets = ["0.005", "0.5", "1", "2.5", "300", "+Inf"].map(within);
    assert_eq!(buckets, [1.0, 1.0, 2.0, 3.0, 3.0, 4.0].map(Some));
    assert_eq!(found("seamline_request_duration_seconds_sum", &[("upstream", "anthropic")]), Some(402.004));
    assert_eq!(found("seamline_request_body_bytes_total", &[("upstream", "anthropic")]), Some(40.0));
    assert_eq!(found("seamline_findings_total", &[("rule", "PAIR001")]), Some(2.0));
    assert_eq!(found("seamline_repairs_total", &[("rule", "PAIR001"), ("action", "synthesize")]), Some(2.0));
    assert_eq!(found("seamline_incidents_total", &[("outcome", "stalled")]), Some(1.0));
    assert_eq!(found("seamline_stalls_total", &[]), Some(1.0));
    assert_eq!(found("seamline_connections_open", &[]), Some(4.0));
    assert_eq!(found("seamline_ledger_bytes", &[]), Some(5.0));
    assert_eq!(found("seamline_bodies_bytes", &[]), Some(7.0));
    assert_eq!(found("seamline_incidents_dropped_total", &[]), Some(6.0));
    assert_eq!(found("seamline_incident_store_up", &[]), Some(0.0));
}

#[test]
fn a_proxy_without_traffic_has_metrics() {
    let (kinds, samples) = parse(&Metrics::default().render(&Gauges::default(), None));
    assert_eq!((kinds.len(), value(&samples, "seamline_stalls_total", &[])), (15, Some(0.0)));
}

#[test]
fn a_name_with_quotes_breaks_no_line() {
    let metrics = Metrics::default();
    let upstream = "a\"b\\c\nd".to_owned();
    metrics.count_exchange(&Summary { upstream: upstream.clone(), status: 200, ..Summary::default() });
    let (_, samples) = parse(&metrics.render(&Gauges::default(), None));
    assert_eq!(value(&samples, "seamline_request_body_bytes_total", &[("upstream", &upstream)]), Some(0.0));
}

#[test]
fn the_dashboard_shows_metrics_that_exist() {
    let dashboard = include_str!("../../../../deploy/grafana.json");
    let store = StoreGauges { dropped: 0, is_available: true };
    let (kinds, _) = parse(&Metrics::default().render(&Gauges::default(), Some(store)));
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let names: Vec<&str> = dashboard.split(|c| !is_of_name(c)).filter(|word| word.starts_with("seamline_")).collect();
    assert!(names.len() > 10);
    for name in names {
        assert!(kinds.contains_key(name.strip_suffix("_bucket").unwrap_or(name)), "{name}");
    }
}
