//! A PostgreSQL server for the tests: from the machine's packages, with its own folder and port, as a user without
//! privileges. It stops when the chore ends, even if the chore fails.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::tally::Tally;
use super::test::Outcome;
use crate::workspace::{self, Workspace};

/// The variable with the URL of the database.
const URL_VARIABLE: &str = "SEAMLINE_TEST_POSTGRES";
/// The variable with the certificate to trust, if the server can encrypt.
const ROOTS_VARIABLE: &str = "SEAMLINE_TEST_POSTGRES_ROOTS";
/// The variables with the URL of a second server, which is stopped, and with the program that starts it. Tests may
/// stop the second server.
const SPARE_URL_VARIABLE: &str = "SEAMLINE_TEST_POSTGRES_SPARE";
const SPARE_START_VARIABLE: &str = "SEAMLINE_TEST_POSTGRES_SPARE_START";

/// The variable that says that the machine has no server, so that tests without its URL are not a mistake.
const MISSING_VARIABLE: &str = "SEAMLINE_NO_POSTGRES";

/// The programs that the chore uses, all from one folder.
const PROGRAMS: [&str; 3] = ["initdb", "pg_isready", "postgres"];

/// The prefix of the server's folder; the id of the process that created it follows.
const HOME: &str = "postgres-";

/// Tests kill processes and connections, never the machine, so the server need not sync to disk.
const SETTINGS: [&str; 4] =
    ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200", "fsync=off"];

const START_TIMEOUT: Duration = Duration::from_secs(30);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const HINT: &str = "install the package `postgresql` (its initdb is looked for in PATH and /usr/lib/postgresql)";

/// Runs a command with the variables of a running server.
pub(crate) fn run(workspace: &Workspace, program: &str, args: &[&str]) -> Result<()> {
    match Server::start(workspace)? {
        Found::Running(server) => {
            let mut command = Command::new(program);
            server.set_variables(command.args(args));
            workspace::run(&mut command)
        }
        Found::Missing(why) => bail!("PostgreSQL is not available: {why}"),
    }
}

/// Runs tests with the variables of a running server, or without them where the machine has none.
pub(super) fn watched(workspace: &Workspace, mut tests: Command, tally: &mut Tally) -> Result<Outcome> {
    let database = Server::start(workspace)?;
    match &database {
        Found::Running(server) => server.set_variables(&mut tests),
        Found::Missing(_) => {
            tests.env(MISSING_VARIABLE, "1");
        }
    }
    workspace::run_watched(&mut tests, |line| tally.see(line))?;
    Ok(match database {
        Found::Running(_) => Outcome::Passed,
        Found::Missing(why) => Outcome::Partly(format!("PostgreSQL tests are skipped: {why}")),
    })
}

pub(super) enum Found {
    Running(Server),
    /// The server cannot start; the text says what is missing and how to install it.
    Missing(String),
}

/// A server that runs until this is dropped.
pub(super) struct Server {
    process: Child,
    home: PathBuf,
    port: u16,
    spare_port: u16,
}

impl Server {
    pub(super) fn start(workspace: &Workspace) -> Result<Found> {
        let missing = |why: &str| Ok(Found::Missing(format!("{why}; {HINT}")));
        let Some(binaries) = binaries().or_else(install) else { return missing("PostgreSQL is not installed") };
        let Some(user) = User::find() else {
            return missing("`setpriv` is not installed, and PostgreSQL refuses to run as root");
        };
        let cluster = Cluster { binaries, user, home: home(workspace, user)? };
        cluster.make()?;
        let (port, spare_port) = (free_port()?, free_port()?);
        cluster.write_spare_start(spare_port)?;
        let log = std::fs::File::create(cluster.home.join("log"))?;
        let mut command = cluster.server("data", port);
        let process = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        let process = process.with_context(|| format!("cannot start `{}`", workspace::command_line(&command)))?;
        let server = Self { process, home: cluster.home.clone(), port, spare_port };
        cluster.wait_for(port)?;
        println!("PostgreSQL runs on port {port}, in {}", server.home.display());
        Ok(Found::Running(server))
    }

    /// Sets the variables by which the tests find the server.
    pub(super) fn set_variables(&self, command: &mut Command) {
        command.env(URL_VARIABLE, url(self.port));
        command.env(SPARE_URL_VARIABLE, url(self.spare_port));
        command.env(SPARE_START_VARIABLE, self.home.join("start-spare.sh"));
        let roots = self.home.join("root.crt");
        if roots.is_file() {
            command.env(ROOTS_VARIABLE, roots);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGINT is PostgreSQL's fast shutdown: it closes all connections and stops.
        let _ = Command::new("kill").arg("-INT").arg(self.process.id().to_string()).status();
        let start = Instant::now();
        while start.elapsed() < STOP_TIMEOUT && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

fn url(port: u16) -> String {
    format!("postgres://seamline@127.0.0.1:{port}/seamline?sslmode=disable")
}

/// A port that is free now. If another process takes it before the server starts, the start fails.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The folder with PostgreSQL's programs. Debian keeps them outside of PATH, by version.
fn binaries() -> Option<PathBuf> {
    let in_path = std::env::var_os("PATH")?;
    let mut folders: Vec<PathBuf> = std::env::split_paths(&in_path).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|(_, folder)| folder));
    folders.into_iter().find(|folder| PROGRAMS.iter().all(|program| folder.join(program).is_file()))
}

/// Installs the package if no question has to be answered for it, and returns the folder with its programs.
fn install() -> Option<PathBuf> {
    if !is_root() || !succeeds(Command::new("apt-get").arg("--version")) {
        return None;
    }
    let apt = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        // Without a network the command fails soon.
        command.args(["-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1"]).args(args);
        workspace::run(command.env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let is_installed =
        apt(&["update", "-qq"]).and_then(|()| apt(&["install", "-y", "-qq", "--no-install-recommends", "postgresql"]));
    if let Err(error) = is_installed {
        println!("{error:#}");
    }
    binaries()
}

/// The user that runs the server. PostgreSQL refuses to run as root.
#[derive(Clone, Copy)]
enum User {
    Ourselves,
    Other(&'static str),
}

impl User {
    fn find() -> Option<Self> {
        if !is_root() {
            return Some(Self::Ourselves);
        }
        let others =
            ["postgres", concat!("no", "body")].into_iter().find(|name| succeeds(Command::new("id").arg(name)));
        others.filter(|_| succeeds(Command::new("setpriv").arg("--version"))).map(Self::Other)
    }

    /// A command that runs a program as this user.
    fn command(self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let Self::Other(name) = self else { return Command::new(program) };
        let mut command = Command::new("setpriv");
        command.args(["--reuid", name, "--regid", &group(name), "--clear-groups"]);
        // The system stops a server that outlives the chore.
        command.args(["--pdeathsig", "INT"]).arg(program);
        command
    }
}

fn group(user: &str) -> String {
    let id = workspace::output(Command::new("id").args(["-g", user]));
    id.map_or_else(|_| user.to_owned(), |id| id.trim().to_owned())
}

fn is_root() -> bool {
    workspace::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// Creates an empty folder that the user can write: under target/, or in the temporary folder if the user cannot
/// reach target/.
fn home(workspace: &Workspace, user: User) -> Result<PathBuf> {
    let name = format!("{HOME}{}", std::process::id());
    remove_leftovers(&workspace.root().join("target"));
    for parent in [workspace.root().join("target"), std::env::temp_dir()] {
        let home = parent.join(&name);
        // A folder that another process created is not used.
        if std::fs::create_dir_all(&parent).and_then(|()| std::fs::create_dir(&home)).is_err() {
            continue;
        }
        if let User::Other(name) = user {
            workspace::output(Command::new("chown").arg(format!("{name}:{}", group(name))).arg(&home))?;
        }
        if succeeds(user.command("test").arg("-w").arg(&home)) {
            return Ok(home);
        }
        std::fs::remove_dir_all(&home)?;
    }
    bail!("cannot create a folder that PostgreSQL can write")
}

/// Removes the folders of chores that were killed.
fn remove_leftovers(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let owner = entry.file_name().to_str().and_then(|name| name.strip_prefix(HOME)?.parse::<u32>().ok());
        if owner.is_some_and(|pid| !succeeds(Command::new("kill").args(["-0", &pid.to_string()]))) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The files of a database server.
struct Cluster {
    binaries: PathBuf,
    user: User,
    home: PathBuf,
}

impl Cluster {
    /// Creates the files, and a copy of them for the second server.
    fn make(&self) -> Result<()> {
        let data = self.home.join("data");
        let mut init = self.program("initdb");
        init.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync", "--pgdata"])
            .arg(&data);
        workspace::output(&mut init)?;
        // Row-level security does not apply to a superuser, so the tests use their own role.
        self.run_statements(&data, "CREATE ROLE seamline LOGIN;\nCREATE DATABASE seamline OWNER seamline;\n")?;
        workspace::output(self.user.command("cp").arg("-a").arg(&data).arg(self.home.join("spare")))?;
        if succeeds(Command::new("openssl").arg("version")) { self.make_certificates() } else { Ok(()) }
    }

    /// Runs statements, one per line, in PostgreSQL's single-user mode.
    fn run_statements(&self, data: &Path, statements: &str) -> Result<()> {
        let script = self.home.join("setup.sql");
        std::fs::write(&script, statements)?;
        let mut alone = self.program("postgres");
        alone.args(["--single", "-D"]).arg(data).arg("postgres").stdin(std::fs::File::open(script)?);
        let output = alone.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || said.contains("ERROR:") {
            bail!("`{}` failed\n{}", workspace::command_line(&alone), said.trim_end());
        }
        Ok(())
    }

    fn make_certificates(&self) -> Result<()> {
        std::fs::write(self.home.join("server.ext"), "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")?;
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        let openssl = |args: &[&str], more: &[&str]| {
            let mut command = self.user.command("openssl");
            workspace::output(command.args(args).args(more).current_dir(&self.home))
        };
        let root = ["req", "-x509", "-days", "2", "-subj", "/CN=seamline tests", "-keyout", "root.key", "-out"];
        openssl(&root, &[&["root.crt"][..], &key].concat())?;
        let asked = ["req", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"];
        openssl(&asked, &key)?;
        let signed = ["x509", "-req", "-days", "2", "-in", "server.csr", "-CA", "root.crt", "-CAkey", "root.key"];
        openssl(&signed, &["-CAcreateserial", "-extfile", "server.ext", "-out", "server.crt"])?;
        Ok(())
    }

    /// The command that starts the server on one of the two folders.
    fn server(&self, data: &str, port: u16) -> Command {
        let mut command = self.program("postgres");
        command.arg("-D").arg(self.home.join(data)).args(["-p", &port.to_string()]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let [certificate, key] = ["server.crt", "server.key"].map(|name| self.home.join(name));
        if certificate.is_file() {
            command.args(["-c", "ssl=on", "-c"]).arg(format!("ssl_cert_file={}", certificate.display()));
            command.arg("-c").arg(format!("ssl_key_file={}", key.display()));
        }
        command
    }

    fn write_spare_start(&self, port: u16) -> Result<()> {
        let command = self.server("spare", port);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let quoted: Vec<String> =
            words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"))).collect();
        std::fs::write(self.home.join("start-spare.sh"), format!("exec {}\n", quoted.join(" ")))?;
        Ok(())
    }

    fn wait_for(&self, port: u16) -> Result<()> {
        let start = Instant::now();
        let port = port.to_string();
        while !succeeds(Command::new(self.binaries.join("pg_isready")).args(["-h", "127.0.0.1", "-p", &port])) {
            if start.elapsed() > START_TIMEOUT {
                let log = std::fs::read_to_string(self.home.join("log")).unwrap_or_default();
                bail!("PostgreSQL did not start within {START_TIMEOUT:?}\n{}", log.trim_end());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// A command that runs one of PostgreSQL's programs as the user.
    fn program(&self, name: &str) -> Command {
        let mut command = self.user.command(self.binaries.join(name));
        // The user may not be able to read the current folder.
        command.current_dir(&self.home);
        command
    }
}
