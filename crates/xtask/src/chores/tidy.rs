//! `cargo xtask tidy`: every check, then one line for the lot.

use anyhow::{Result, bail};

use crate::tidy::{CHECKS, Complaint, Subject, Weight};
use crate::tree::Tree;
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let subject = Subject::read(Tree::read(workspace.root())?)?;
    let mut error_count = 0;
    let mut warning_count = 0;
    for (question, check) in CHECKS {
        let complaints = check(&subject);
        let errors = of_weight(&complaints, Weight::Error);
        let warnings = of_weight(&complaints, Weight::Warning);
        let verdict = if errors.is_empty() { "ok" } else { "no" };
        println!("{verdict:>4}  {question}");
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

fn of_weight(complaints: &[Complaint], weight: Weight) -> Vec<&Complaint> {
    complaints.iter().filter(|complaint| complaint.weight() == weight).collect()
}
