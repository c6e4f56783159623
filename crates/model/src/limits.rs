//! Every numeric bound of the model, in one place. Characters are Unicode scalar values.

/// Characters one quote keeps at most.
pub const QUOTE_CHARS: usize = 4_000;
/// Characters that the quotes of one forward of several turns keep together at most.
pub const FORWARD_CHARS: usize = 12_000;
/// Turns that one forward names at most.
pub const FORWARD_TURNS: usize = 50;
/// Sessions a quote has passed at most; one more forward is refused.
pub const QUOTE_HOPS: usize = 16;
/// Characters of a name or title shown in a rendering at most.
pub const NAME_CHARS: usize = 200;
/// Characters of a project's, session's or speaker's name at most, as stored.
pub const NAME_LENGTH: usize = 1_000;
/// Characters of a path or another alias at most (a path of Linux has at most 4,096 bytes).
pub const ALIAS_LENGTH: usize = 4_096;
/// Characters of the note beside a forward at most; longer words are a turn of their own.
pub const NOTE_CHARS: usize = 12_000;
/// Bytes of an idempotency key at most.
pub const KEY_BYTES: usize = 512;
/// Parts of one turn at most.
pub const TURN_PARTS: usize = 4_096;
/// Bytes of text of one turn at most (1 GiB is refused by the database itself; this leaves room).
pub const TURN_BYTES: usize = 256 * 1024 * 1024;
/// Characters of an id's end that a person may type instead of the whole, at least.
pub const SUFFIX_CHARS: usize = 6;
/// Bytes of a chunk of a stored blob.
pub const CHUNK_BYTES: usize = 64 * 1024;
/// Candidates that an ambiguous name lists at most.
pub const CANDIDATES: usize = 10;
/// Entries before a compaction's boundary in which a context looks for the other half of a call and its result, at most.
pub const LOOK_BACK_ENTRIES: u64 = 4_096;
/// Entries that a result may stand before its call, where it was stored too early.
pub const EARLY_ENTRIES: u64 = 64;
/// Characters of an output's command line at most; a longer one is cut by whoever runs it.
pub const COMMAND_CHARS: usize = 65_536;
/// Runs of the order in which an output's streams were read, at most; what came later is in no known order.
pub const READ_ORDER: usize = 4_096;
/// Bytes at the beginning of each stream of an output that are searched.
pub const SEARCHED_BYTES: usize = 1024 * 1024;
/// Lines of what a tool printed that an exported page shows at most: three quarters from the beginning, the rest from the end.
pub const SHOWN_LINES: usize = 200;
/// Bytes of it at most, shared out in the same way.
pub const SHOWN_BYTES: usize = 51_200;
/// Ranges that one re-injection holds at most.
pub const REINJECTED_ITEMS: usize = 5;
/// Tokens that the ranges of one re-injection take together at most.
pub const REINJECTED_TOKENS: u64 = 20_000;
/// Percent of the free part of a model's window that they take together at most.
pub const REINJECTED_PERCENT: u64 = 15;
/// Milliseconds after its injection at which a person is told that no answer came.
pub const ANSWER_MS: i64 = 90_000;
/// Milliseconds that a reply waits for word of a direct delivery.
pub const HELD_MS: i64 = 15_000;
/// Milliseconds after which a person is told that the message still waits for the agent.
pub const QUEUED_MS: i64 = 90_000;
/// Milliseconds that whoever puts a request into a session has time.
pub const INJECTING_MS: i64 = 60_000;
/// Milliseconds that whoever sends one part has time; longer than any sink takes to answer.
pub const SENDING_MS: i64 = 120_000;
/// Attempts to put a request in that surely failed, after which it is dead.
pub const INJECTION_ATTEMPTS: u32 = 6;
/// Milliseconds for which nobody can tell whether a request is in, after which it is dead.
pub const INJECTION_UNKNOWN_MS: i64 = 90_000;
/// Milliseconds before the second attempt; each later one waits twice as long as the one before.
pub const RETRY_FIRST_MS: i64 = 1_000;
/// Milliseconds that an attempt waits at most.
pub const RETRY_MOST_MS: i64 = 300_000;
/// Copies of one part at most where nobody ever says whether it arrived: the first, and repeats that say what they are. Then a
/// person decides.
pub const MARKED_COPIES: u32 = 3;
/// Milliseconds after which a delivery that surely never arrived is not tried again by itself.
pub const RETRY_FOR_MS: i64 = 86_400_000;
/// Bytes of what a source or sink gives to be kept unread (destination, ids, cursor, receipt) at most, and of a reason.
pub const RELAY_BYTES: usize = 4_096;
/// Parts of one message to a person at most.
pub const DELIVERY_PARTS: usize = 1_000;
