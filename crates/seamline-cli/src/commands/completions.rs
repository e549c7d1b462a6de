//! `seamline completions`

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::Output;

/// Print the completions of a shell
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell that reads the completions
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  seamline completions bash \\
    > ~/.local/share/bash-completion/completions/seamline

  mkdir -p ~/.zfunc                      # a folder of zsh's fpath
  seamline completions zsh > ~/.zfunc/_seamline

  mkdir -p ~/.config/fish/completions
  seamline completions fish > ~/.config/fish/completions/seamline.fish";

impl Completions {
    pub(crate) fn run(&self) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "seamline", &mut script);
        let mut output = Output::new();
        output.text(&String::from_utf8_lossy(&script));
        output.finish(Exit::Clean)
    }
}
