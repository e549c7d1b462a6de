//! `seamline host`

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use seamline_host::{HostLimits, Service};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::runtime::Handle;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Serve a program in any language over standard input and output
///
/// A program starts this command and writes JSON-RPC 2.0 to its standard input, one message per line; responses come on
/// standard output. The methods are those of the library: check, repair, convert and classify, streamed responses, sessions
/// with their hooks and tool cycles, and guards. `docs/host.md` describes the protocol, and `examples/host` has clients in
/// Python, Go and Elixir.
///
/// The command ends when its input ends. It closes the sessions that are open then.
///
/// Exit status: 0 the input has ended, 2 the command failed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Host {
    /// The longest line of the input, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = HostLimits::default().line_bytes_max)]
    line_bytes_max: usize,
    /// The most open sessions, streams and guards
    #[arg(long, value_name = "COUNT", default_value_t = HostLimits::default().objects_max)]
    objects_max: usize,
    /// Print the JSON schema of the requests
    #[arg(long, exclusive = true)]
    print_schema: bool,
}

const EXAMPLES: &str = r#"Examples:
  echo '{"jsonrpc":"2.0","id":1,"method":"initialize"}' | seamline host
  seamline host --print-schema"#;

impl Host {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        if self.print_schema {
            let mut output = Output::new();
            let schema = serde_json::to_string_pretty(&seamline_host::schema()).unwrap_or_default();
            output.text(&(schema + "\n"));
            return Ok(output.finish(Exit::Clean));
        }
        let Self { line_bytes_max, objects_max, .. } = *self;
        let limits = HostLimits { line_bytes_max, objects_max, ..HostLimits::default() };
        serve(seamline_host::Host::new(limits))
    }
}

/// The time that a computation may take on after the input has ended.
const PATIENCE: Duration = Duration::from_secs(5);
/// The bytes between this process and its pipes.
const PIPE_BYTES: usize = 64 * 1024;

/// Serves a client over standard input and output.
pub(super) fn serve(service: impl Service) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io("start", &error))?;
    let (input, far_input) = tokio::io::duplex(PIPE_BYTES);
    let (output, far_output) = tokio::io::duplex(PIPE_BYTES);
    // Standard input blocks, so a thread reads it. The process may end before the thread does.
    let handle = runtime.handle().clone();
    thread::spawn(move || copy_input(&handle, far_input));
    let handle = runtime.handle().clone();
    let writing = thread::spawn(move || copy_output(&handle, far_output));
    let done = runtime.block_on(seamline_host::serve(Arc::new(service), input, output));
    let written = writing.join().unwrap_or_else(|_| Err(io::Error::other("the writer has ended")));
    runtime.shutdown_timeout(PATIENCE);
    match done.and(written) {
        // The client may end without reading everything.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::io("serve the client", &error)),
        _ => Ok(Exit::Clean),
    }
}

fn copy_input(handle: &Handle, mut to: DuplexStream) {
    let mut piece = vec![0; PIPE_BYTES];
    let mut input = io::stdin().lock();
    loop {
        match input.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {
                if handle.block_on(to.write_all(&piece[..count])).is_err() {
                    return;
                }
            }
            // The end of the input, as its writer or the system gives it.
            Ok(_) | Err(_) => return,
        }
    }
}

fn copy_output(handle: &Handle, mut from: DuplexStream) -> io::Result<()> {
    let mut piece = vec![0; PIPE_BYTES];
    let mut output = io::stdout().lock();
    loop {
        let count = handle.block_on(from.read(&mut piece))?;
        if count == 0 {
            return Ok(());
        }
        output.write_all(&piece[..count])?;
        output.flush()?;
    }
}
