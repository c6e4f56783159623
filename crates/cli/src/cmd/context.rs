//! `sayso context`

use sayso::view::context::Provider;

use crate::args::{Context, Global};
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

pub(crate) fn run(args: &Context, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let provider: Provider = args
        .provider
        .parse()
        .map_err(|e: sayso::view::context::UnknownProvider| Failure::request(e.to_string()))?;
    let reader = open::reader(global)?;
    let session = reader.find_session(&args.session)?;
    let context = reader.context(session.id, provider, args.budget)?;
    out.object(&context.input)
}
