//! The proxies that are compared: nginx as a plain reverse proxy, ours, and gateways of other projects.

use std::io::Result;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::load::Target;
use crate::server::{Server, free_address};

/// A running proxy and the way to it.
pub(crate) struct Rival {
    pub(crate) server: Server,
    pub(crate) target: Target,
}

const PATH: &str = "/v1/chat/completions";
const MODEL: &str = "gpt-5";

fn target(name: &'static str, address: SocketAddr) -> Target {
    Target { name, address, path: PATH.to_owned(), model: MODEL.to_owned(), lines: String::new() }
}

/// The way to the upstream without a proxy.
pub(crate) fn direct(upstream: SocketAddr) -> Target {
    target("direct", upstream)
}

/// nginx with connections to the upstream that stay open, and bodies in memory.
pub(crate) fn nginx(folder: &Path, upstream: SocketAddr) -> Result<Rival> {
    let address = free_address()?;
    // An event stream is useless behind a proxy that collects it, so nothing is collected.
    let text = format!(
        "daemon off;\nworker_processes auto;\nworker_rlimit_nofile 8192;\npid nginx.pid;\nerror_log stderr crit;\n\
         events {{ worker_connections 4096; }}\n\
         http {{\n  access_log off;\n  client_body_temp_path body;\n  proxy_temp_path proxy;\n  fastcgi_temp_path fastcgi;\n  \
         uwsgi_temp_path uwsgi;\n  scgi_temp_path scgi;\n  client_max_body_size 64m;\n  client_body_buffer_size 4m;\n  \
         tcp_nodelay on;\n  keepalive_requests 100000000;\n  \
         upstream provider {{ server {upstream}; keepalive 64; keepalive_requests 100000000; }}\n  \
         server {{\n    listen {address};\n    location / {{\n      proxy_pass http://provider;\n      proxy_http_version 1.1;\n      \
         proxy_set_header Connection \"\";\n      proxy_buffering off;\n    }}\n  }}\n}}\n"
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, text)?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(&file).args(["-e", "stderr"]);
    Ok(Rival { server: Server::start_at(&mut command, address)?, target: target("nginx", address) })
}

/// The command under test: the one that `SEAMLINE` names, or the one of this build.
pub(crate) fn seamline(folder: &Path, upstream: SocketAddr) -> Result<Rival> {
    let program =
        std::env::var_os("SEAMLINE").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_seamline")), PathBuf::from);
    start("seamline", &program, folder, upstream)
}

/// Another build of the command to compare with, if `SEAMLINE_BEFORE` names one.
pub(crate) fn before(folder: &Path, upstream: SocketAddr) -> Result<Option<Rival>> {
    let program = std::env::var_os("SEAMLINE_BEFORE");
    program.map(|program| start("seamline before", Path::new(&program), folder, upstream)).transpose()
}

fn start(name: &'static str, program: &Path, folder: &Path, upstream: SocketAddr) -> Result<Rival> {
    let mut command = Command::new(program);
    command.args(["proxy", "--listen", "127.0.0.1:0", "--upstream", &format!("openai=http://{upstream}")]);
    command.env("HOME", folder).env("XDG_DATA_HOME", folder.join("data")).env("XDG_STATE_HOME", folder.join("state"));
    let server = Server::start_printing(&mut command)?;
    let target = target(name, server.address);
    Ok(Rival { server, target })
}

/// Starts a gateway: its program, a folder for its files, and the upstream.
type Start = fn(&Path, &Path, SocketAddr) -> Result<Rival>;

/// The gateways of other projects that are installed; the others are named with the reason why not.
pub(crate) fn gateways(folder: &Path, upstream: SocketAddr) -> Vec<Rival> {
    let known: [(&str, Start); 3] =
        [("SEAMLINE_TENSORZERO", tensorzero), ("SEAMLINE_PORTKEY", portkey), ("SEAMLINE_LITELLM", litellm)];
    let mut running = Vec::new();
    for (variable, start) in known {
        let Some(program) = std::env::var_os(variable) else {
            println!("{variable} is not set, so that gateway is left out");
            continue;
        };
        match start(Path::new(&program), folder, upstream) {
            Ok(rival) => running.push(rival),
            Err(error) => println!("{variable} is left out: {error}"),
        }
    }
    running
}

/// `TensorZero`'s gateway, which its Python package has inside. The variable names the Python.
fn tensorzero(python: &Path, folder: &Path, upstream: SocketAddr) -> Result<Rival> {
    let config = folder.join("tensorzero.toml");
    let text = format!(
        "[gateway]\nobservability.enabled = false\n[models.gpt-5]\nrouting = [\"openai\"]\n[models.gpt-5.providers.openai]\n\
         type = \"openai\"\nmodel_name = \"gpt-5\"\napi_base = \"http://{upstream}/v1\"\napi_key_location = \"none\"\n"
    );
    std::fs::write(&config, text)?;
    let script = "import sys, time, openai, tensorzero\n\
        client = tensorzero.patch_openai_client(openai.OpenAI(api_key='dummy'), config_file=sys.argv[1], async_setup=False)\n\
        url = str(client.base_url)\nprint('listening on', url.split('/openai')[0], flush=True)\ntime.sleep(1e9)\n";
    let server = Server::start_printing(Command::new(python).args(["-c", script]).arg(config))?;
    let target = Target {
        path: "/openai/v1/chat/completions".to_owned(),
        model: "tensorzero::model_name::gpt-5".to_owned(),
        ..target("tensorzero", server.address)
    };
    Ok(Rival { server, target })
}

/// Portkey's gateway. The variable names the folder of its package.
fn portkey(package: &Path, folder: &Path, upstream: SocketAddr) -> Result<Rival> {
    let address = free_address()?;
    let mut command = Command::new("node");
    command.arg(package.join("build/start-server.js")).arg(format!("--port={}", address.port())).arg("--headless");
    command.env("NODE_ENV", "production").env("TRUSTED_CUSTOM_HOSTS", "127.0.0.1,localhost").current_dir(folder);
    let server = Server::start_at(&mut command, address)?;
    let lines = format!("x-portkey-provider: openai\r\nx-portkey-custom-host: http://{upstream}/v1\r\n");
    Ok(Rival { server, target: Target { lines, ..target("portkey", address) } })
}

/// `LiteLLM`'s proxy. The variable names the Python.
fn litellm(python: &Path, folder: &Path, upstream: SocketAddr) -> Result<Rival> {
    let address = free_address()?;
    let config = folder.join("litellm.yaml");
    let text = format!(
        "model_list:\n  - model_name: gpt-5\n    litellm_params:\n      model: openai/gpt-5\n      api_base: http://{upstream}/v1\n      \
         api_key: dummy\n"
    );
    std::fs::write(&config, text)?;
    let mut command = Command::new(python.with_file_name("litellm"));
    command.arg("--config").arg(config).args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
    command.env("LITELLM_MASTER_KEY", "dummy").env("LITELLM_LOCAL_MODEL_COST_MAP", "True").current_dir(folder);
    let server = Server::start_at(&mut command, address)?;
    Ok(Rival { server, target: target("litellm", address) })
}
