//! `cargo xtask tidy`: runs every check and prints a summary.

use anyhow::{Result, bail};

use crate::tidy::{CHECKS, Complaint, History, Subject, Weight};
use crate::tree::Tree;
use crate::workspace::Workspace;

/// Runs all checks and prints their complaints.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let subject = Subject::read(Tree::read(workspace.root())?, History::read(workspace.root()))?;
    let mut error_count = 0;
    let mut warning_count = 0;
    for (sentence, check) in CHECKS {
        let complaints = check(&subject);
        let errors = with_weight(&complaints, Weight::Error);
        let warnings = with_weight(&complaints, Weight::Warning);
        let verdict = if errors.is_empty() { "ok" } else { "no" };
        println!("{verdict:>4}  {sentence}");
        for complaint in warnings.iter().chain(&errors) {
            println!("      {complaint}");
        }
        error_count += errors.len();
        warning_count += warnings.len();
    }
    println!("tidy: {error_count} errors, {warning_count} warnings");
    if error_count > 0 {
        bail!("the tree is not tidy");
    }
    Ok(())
}

fn with_weight(complaints: &[Complaint], weight: Weight) -> Vec<&Complaint> {
    complaints.iter().filter(|complaint| complaint.weight() == weight).collect()
}
