//! Hands an envelope over: `emit --purpose listing --model-bytes N`, both texts on standard input, the model's first.
//!
//! Tools in any language call it and wait for it: it returns once everything is on disk or through the pipe.

use std::io::{Read, Write, stdin, stdout};
use std::process::ExitCode;

use sayso_output::envelope::{Envelope, Purpose};
use sayso_output::wire::{Route, emit};

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().skip_while(|a| *a != name).nth(1).map(String::as_str);
    let purpose = option("--purpose").and_then(Purpose::parse).unwrap_or_default();
    let mut input = Vec::new();
    stdin().read_to_end(&mut input)?;
    let length = option("--model-bytes").map_or(Ok(input.len()), str::parse::<usize>)?;
    let (model, user) = input.split_at_checked(length).ok_or("--model-bytes is more than there is")?;
    let envelope = Envelope::received(std::str::from_utf8(model)?, std::str::from_utf8(user)?, purpose)?;
    emit(&envelope, &Route::of(|name| std::env::var(name).ok()), &mut stdout().lock())?;
    Ok(())
}

fn main() -> ExitCode {
    run().map_or_else(
        |e| {
            // A closed standard error is no reason to panic.
            drop(writeln!(std::io::stderr(), "emit: {e}"));
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
