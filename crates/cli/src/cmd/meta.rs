//! `sayso completions` and `sayso man`

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::fail::Failure;
use crate::io::{Out, say};

pub(crate) fn completions(shell: Shell, out: &mut Out<'_>) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sayso", &mut text);
    out.bytes(&text)
}

pub(crate) fn man(to: Option<&Path>, out: &mut Out<'_>) -> Result<(), Failure> {
    let Some(folder) = to else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
        rendered.map_err(|e| Failure::io("the manual page cannot be made", e))?;
        return out.bytes(&page);
    };
    let shown = folder.display();
    std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder)).map_err(
        |e| Failure::io(format!("the manual pages cannot be written to {shown}: name another folder"), e),
    )?;
    say(format!("manual pages written to {shown}"));
    Ok(())
}
