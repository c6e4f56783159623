//! Tool output: two layers, two recipients.
//!
//! - [`execute`] runs a command and passes on what it produces, raw; [`present()`] makes of a [`Capture`] the [`View`] that a model is shown.
//! - [`envelope`] is a result for two recipients, [`wire`] carries it from a tool to whoever runs it, [`thresholds`] tells when it is worth it.
//!
//! Nothing here knows a store: bytes and values in, values and text out.

mod capture;
mod collect;
pub mod envelope;
#[cfg(unix)]
pub mod execute;
#[doc(hidden)]
pub mod fuzzing;
pub mod limits;
mod present;
mod profile;
mod salient;
mod text;
pub mod thresholds;
mod view;
pub mod wire;

#[cfg(unix)]
pub use capture::FileSource;
pub use capture::{Capture, Ending, Kept, Source, Stream, StreamName};
pub use present::{Unreadable, present};
pub use profile::{Actions, Limits, Profile};
pub use salient::says_what_failed;
pub use text::{Basis, Binary, Charset, Cleaned, LineSink, as_shown};
pub use view::{Footer, Line, View};
