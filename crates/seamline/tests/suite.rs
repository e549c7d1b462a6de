//! Everything that is tested through the front door, in one binary.

#[path = "suite/convert.rs"]
mod convert;
#[path = "suite/convert_fixtures.rs"]
mod convert_fixtures;
#[path = "suite/convert_settings.rs"]
mod convert_settings;
#[path = "suite/corpus.rs"]
mod corpus;
#[path = "suite/detection.rs"]
mod detection;
#[path = "suite/entries.rs"]
mod entries;
#[path = "suite/errors.rs"]
mod errors;
#[path = "suite/exhaustive.rs"]
mod exhaustive;
#[path = "suite/fences.rs"]
mod fences;
#[path = "suite/fixtures.rs"]
mod fixtures;
#[path = "suite/harmless.rs"]
mod harmless;
#[path = "suite/hostile.rs"]
mod hostile;
#[path = "suite/knobs.rs"]
mod knobs;
#[path = "suite/laws.rs"]
mod laws;
#[path = "suite/logs.rs"]
mod logs;
#[path = "suite/mixed_ids.rs"]
mod mixed_ids;
#[path = "suite/native/histories.rs"]
mod native;
#[path = "suite/oracles.rs"]
mod oracles;
#[path = "suite/peers.rs"]
mod peers;
#[path = "suite/policies.rs"]
mod policies;
#[path = "suite/presets.rs"]
mod presets;
#[path = "suite/presets_strict.rs"]
mod presets_strict;
#[path = "suite/properties.rs"]
mod properties;
#[path = "suite/protocols.rs"]
mod protocols;
#[path = "suite/reading.rs"]
mod reading;
#[path = "suite/rejected.rs"]
mod rejected;
#[path = "suite/sessions/mod.rs"]
mod sessions;
#[path = "suite/shortened.rs"]
mod shortened;
#[path = "suite/stalls.rs"]
mod stalls;
#[path = "suite/streams.rs"]
mod streams;
#[path = "suite/streams_damaged.rs"]
mod streams_damaged;
#[path = "suite/streams_kept.rs"]
mod streams_kept;
#[path = "suite/streams_named.rs"]
mod streams_named;
#[path = "suite/streams_recorded.rs"]
mod streams_recorded;
#[path = "suite/supervise.rs"]
mod supervise;
#[path = "suite/wire.rs"]
mod wire;
