//! Every numeric bound of this crate, in one place. Characters are Unicode scalar values.

/// Lines that a view shows at most.
pub const VIEW_LINES: usize = 200;
/// Bytes that a view shows at most.
pub const VIEW_BYTES: usize = 51_200;
/// Lines that a view is never bounded below: the footer and what tells how to go on.
pub const VIEW_LINES_LEAST: usize = 8;
/// Bytes that a view is never bounded below: the footer always has room.
pub const VIEW_BYTES_LEAST: usize = 1_000;
/// The part of a model's free window that one view takes at most: one of this many.
pub const WINDOW_PARTS: usize = 8;
/// Bytes to which a giant line is cut only when there are so many lines that this is their fair part.
pub const LINE_BYTES: usize = 2_000;
/// Bytes below which the rest of a line is not worth showing.
pub const LINE_BYTES_LEAST: usize = 48;
/// Lines of stderr shown when the command succeeded, at most.
pub const STDERR_SHORT_LINES: usize = 10;
/// Bytes of stderr shown when the command succeeded, at most.
pub const STDERR_SHORT_BYTES: usize = 1_024;
/// Salient lines of the middle that are kept, at most.
pub const SALIENT_LINES: usize = 60;
/// Bytes of a salient line around what makes it salient, at most.
pub const SALIENT_BYTES: usize = 400;
/// Different shapes of salient lines that are told apart, at most.
pub const SALIENT_SHAPES: usize = 4_096;
/// Bytes that are read at once.
pub const READ_BYTES: usize = 128 * 1024;
/// Bytes at the beginning of a stream by which a format or charset is told.
pub const HEAD_BYTES: usize = 64 * 1024;
/// Bytes with other than ASCII from which an old charset is told, at most.
pub const CHARSET_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a line within which a carriage return goes back; a longer line is replaced as a whole.
pub const LINE_EDIT_BYTES: usize = 16 * 1024;
/// Bytes of an escape string (a title, a link) at most; a longer one is text.
pub const ESCAPE_BYTES: usize = 4_096;
/// Entries of the read order that are noted, at most.
pub const READ_ORDER: usize = 4_096;
/// Bytes of both texts of an envelope on the wire, at most.
pub const WIRE_BYTES: u64 = 16 * 1024 * 1024;
/// Files that are read from one spool folder, at most.
pub const SPOOL_FILES: usize = 1_024;
/// Bytes of a frame's first line, at most.
pub const FRAME_HEADER_BYTES: usize = 256;
