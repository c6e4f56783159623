//! `sayso emit`

use sayso_output::envelope::Envelope;
use sayso_output::wire::{EmitError, Route, emit};

use crate::args::Emit;
use crate::fail::Failure;
use crate::io::{Out, read_input};

pub(crate) fn run(args: &Emit, out: &mut Out<'_>) -> Result<(), Failure> {
    let input = read_input()?;
    let length = args.model_bytes.unwrap_or(input.len());
    let parts = input.split_at_checked(length).ok_or_else(|| {
        Failure::request(format!(
            "--model-bytes is {length} and standard input has {} bytes: count bytes, not characters",
            input.len()
        ))
    })?;
    let (model, user) = (text(parts.0, "the model")?, text(parts.1, "the person")?);
    let envelope =
        Envelope::received(model, user, args.purpose).map_err(|e| Failure::request(e.to_string()))?;
    let route = Route::of(|name| std::env::var(name).ok());
    match emit(&envelope, &route, out.raw()) {
        Ok(()) => Ok(()),
        Err(EmitError::Output(cause)) => Err(Failure::io("standard output cannot be written", cause)),
        Err(other) => Err(Failure::Emit(other)),
    }
}

fn text<'b>(bytes: &'b [u8], of: &str) -> Result<&'b str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| {
        Failure::request(format!(
            "the text for {of} is not UTF-8: check --model-bytes, and convert the text before it is handed over"
        ))
    })
}
