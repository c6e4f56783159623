//! The integration tests live in `it/`. What the fuzz targets of `fuzz/` run stands here, so that the ordinary tests run it over the
//! committed corpora.

#[cfg(unix)]
mod fail;
#[cfg(unix)]
pub mod fuzzing;
