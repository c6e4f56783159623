//! Reading rows column by column, and the statements that every module runs the same way.

use std::str::FromStr;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};
use sayso_model::canon::commit;
use sayso_model::{Digest, SaidAt, Salt};
use sayso_store::ForkPoint;

use crate::fault::Fault;

/// The columns of a row, read in order.
pub(crate) struct Cells<'r> {
    table: &'static str,
    row: &'r Row<'r>,
    at: usize,
}

impl<'r> Cells<'r> {
    pub(crate) fn new(table: &'static str, row: &'r Row<'r>) -> Self {
        Self { table, row, at: 0 }
    }

    /// Goes on at another column.
    pub(crate) fn skip_to(&mut self, column: usize) {
        self.at = column;
    }

    fn next(&mut self) -> Result<ValueRef<'r>, Fault> {
        let value = self.row.get_ref(self.at)?;
        self.at += 1;
        Ok(value)
    }

    /// A value is not what this backend ever writes there.
    fn wrong(&self, expected: &str) -> Fault {
        Fault::Damaged(format!("column {} of a row of {} holds no {expected}", self.at, self.table))
    }

    pub(crate) fn int_opt(&mut self) -> Result<Option<i64>, Fault> {
        match self.next()? {
            ValueRef::Integer(value) => Ok(Some(value)),
            ValueRef::Null => Ok(None),
            _ => Err(self.wrong("number")),
        }
    }

    pub(crate) fn int(&mut self) -> Result<i64, Fault> {
        self.int_opt()?.ok_or_else(|| self.wrong("number"))
    }

    /// A number of another type.
    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> Result<T, Fault> {
        T::try_from(self.int()?).map_err(|_| self.wrong("number in range"))
    }

    pub(crate) fn number_opt<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, Fault> {
        let value = self.int_opt()?.map(T::try_from).transpose();
        value.map_err(|_| self.wrong("number in range"))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Fault> {
        Ok(self.int()? != 0)
    }

    fn str_opt(&mut self) -> Result<Option<&'r str>, Fault> {
        match self.next()? {
            ValueRef::Text(bytes) => std::str::from_utf8(bytes).map(Some).map_err(|_| self.wrong("UTF-8")),
            ValueRef::Null => Ok(None),
            _ => Err(self.wrong("text")),
        }
    }

    pub(crate) fn text_opt(&mut self) -> Result<Option<String>, Fault> {
        Ok(self.str_opt()?.map(str::to_owned))
    }

    pub(crate) fn text(&mut self) -> Result<String, Fault> {
        self.text_opt()?.ok_or_else(|| self.wrong("text"))
    }

    /// A word of a closed list.
    pub(crate) fn word<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<T, Fault> {
        let word = self.str_opt()?.and_then(read);
        word.ok_or_else(|| self.wrong("known word"))
    }

    /// The same where there may be none.
    pub(crate) fn word_opt<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Fault> {
        match self.str_opt()? {
            Some(word) => read(word).map(Some).ok_or_else(|| self.wrong("known word")),
            None => Ok(None),
        }
    }

    /// A value that has a canonical text: an id, an address, a word of a closed list.
    pub(crate) fn parse_opt<T: FromStr>(&mut self) -> Result<Option<T>, Fault> {
        match self.str_opt()? {
            Some(text) => text.parse().map(Some).map_err(|_| self.wrong("known value")),
            None => Ok(None),
        }
    }

    pub(crate) fn parse<T: FromStr>(&mut self) -> Result<T, Fault> {
        self.parse_opt()?.ok_or_else(|| self.wrong("known value"))
    }

    pub(crate) fn bytes_opt(&mut self) -> Result<Option<&'r [u8]>, Fault> {
        match self.next()? {
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            ValueRef::Null => Ok(None),
            _ => Err(self.wrong("bytes")),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'r [u8], Fault> {
        self.bytes_opt()?.ok_or_else(|| self.wrong("bytes"))
    }

    fn array_opt<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Fault> {
        let bytes = self.bytes_opt()?.map(<[u8; N]>::try_from).transpose();
        bytes.map_err(|_| self.wrong("bytes of the right length"))
    }

    pub(crate) fn digest_opt(&mut self) -> Result<Option<Digest>, Fault> {
        Ok(self.array_opt()?.map(Digest))
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, Fault> {
        self.digest_opt()?.ok_or_else(|| self.wrong("hash"))
    }

    pub(crate) fn salt_opt(&mut self) -> Result<Option<Salt>, Fault> {
        Ok(self.array_opt()?.map(Salt))
    }

    /// Two columns: milliseconds and offset.
    pub(crate) fn said_at(&mut self) -> Result<Option<SaidAt>, Fault> {
        match (self.int_opt()?, self.number_opt::<i16>()?) {
            (Some(ms), Some(offset)) => {
                SaidAt::new(ms, offset).map(Some).ok_or_else(|| self.wrong("time in range"))
            }
            (None, None) => Ok(None),
            _ => Err(self.wrong("whole time")),
        }
    }

    /// Two columns: the session and the place where another one was forked off.
    pub(crate) fn fork(&mut self) -> Result<Option<ForkPoint>, Fault> {
        let (session, seq) = (self.parse_opt()?, self.number_opt()?);
        Ok(session.zip(seq).map(|(session, seq)| ForkPoint { session, seq }))
    }

    /// The same where rows in a row often have the same value.
    pub(crate) fn parse_again<T: FromStr + Copy>(
        &mut self,
        before: &mut Before<T>,
    ) -> Result<Option<T>, Fault> {
        match self.str_opt()? {
            Some(text) => before.parse(text).map(Some).ok_or_else(|| self.wrong("known value")),
            None => Ok(None),
        }
    }

    /// Three columns: salt, commitment, text; checked where it stands, so that only what is right is copied.
    pub(crate) fn opened(&mut self) -> Result<Opened, Fault> {
        let salt = self.salt_opt()?;
        let commitment = self.digest()?;
        let text = match (self.bytes_opt()?, salt) {
            (Some(bytes), Some(salt)) if commit(&salt, bytes) == commitment => {
                simdutf8::basic::from_utf8(bytes).map(|text| Some(text.to_owned())).map_err(|_| Broken)
            }
            (None, None) => Ok(None),
            _ => Err(Broken),
        };
        Ok(Opened { salt, commitment, text })
    }

    /// Three columns: salt, commitment, text.
    pub(crate) fn sealed(&mut self) -> Result<Sealed, Fault> {
        let salt = self.salt_opt()?;
        let commitment = self.digest()?;
        Ok(Sealed { text: self.bytes_opt()?.map(<[u8]>::to_vec), salt, commitment })
    }

    /// Three columns: salt, commitment, text; absent where there is no commitment.
    pub(crate) fn sealed_opt(&mut self) -> Result<Option<Sealed>, Fault> {
        let salt = self.salt_opt()?;
        let commitment = self.digest_opt()?;
        let text = self.bytes_opt()?.map(<[u8]>::to_vec);
        Ok(commitment.map(|commitment| Sealed { text, salt, commitment }))
    }
}

/// A text that was checked.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) salt: Option<Salt>,
    pub(crate) commitment: Digest,
    /// `None` where it is gone with its salt, as for [`Sealed::open_kept`].
    pub(crate) text: Result<Option<String>, Broken>,
}

/// What a column held in the row before.
#[derive(Debug)]
pub(crate) struct Before<T> {
    text: String,
    value: Option<T>,
}

impl<T> Default for Before<T> {
    fn default() -> Self {
        Self { text: String::new(), value: None }
    }
}

impl<T: FromStr + Copy> Before<T> {
    fn parse(&mut self, text: &str) -> Option<T> {
        if self.value.is_none() || self.text != text {
            self.value = text.parse().ok();
            self.text.clear();
            self.text.push_str(text);
        }
        self.value
    }
}

/// A text with what it is checked against.
#[derive(Debug, Clone)]
pub(crate) struct Sealed {
    pub(crate) text: Option<Vec<u8>>,
    pub(crate) salt: Option<Salt>,
    pub(crate) commitment: Digest,
}

/// A text is not the one that was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Broken;

impl Sealed {
    /// The text; `None` where it is gone with its salt. Whether it was redacted, its reader has to know: else it was taken
    /// out by hand.
    pub(crate) fn open_kept(self) -> Result<Option<String>, Broken> {
        match (self.text, self.salt) {
            (Some(text), Some(salt)) if commit(&salt, &text) == self.commitment => {
                String::from_utf8(text).map(Some).map_err(|_| Broken)
            }
            (None, None) => Ok(None),
            _ => Err(Broken),
        }
    }

    /// A text that is never redacted.
    pub(crate) fn open(self) -> Result<String, Broken> {
        self.open_kept()?.ok_or(Broken)
    }
}

/// The first row of a query.
pub(crate) fn one<T>(
    conn: &Connection,
    (table, sql): (&'static str, &str),
    params: impl Params,
    read: impl FnOnce(&mut Cells<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    match rows.next()? {
        Some(row) => read(&mut Cells::new(table, row)).map(Some),
        None => Ok(None),
    }
}

/// Every row of a query, one after the other; `each` says whether to go on.
pub(crate) fn each(
    conn: &Connection,
    (table, sql): (&'static str, &str),
    params: impl Params,
    mut each: impl FnMut(&mut Cells<'_>) -> Result<Next, Fault>,
) -> Result<(), Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    while let Some(row) = rows.next()? {
        if each(&mut Cells::new(table, row))? == Next::Stop {
            break;
        }
    }
    Ok(())
}

/// Whether a loop over rows goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Row,
    Stop,
}

/// Every row of a query.
pub(crate) fn all<T>(
    conn: &Connection,
    query: (&'static str, &str),
    params: impl Params,
    mut read: impl FnMut(&mut Cells<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut found = Vec::new();
    each(conn, query, params, |cells| {
        found.push(read(cells)?);
        Ok(Next::Row)
    })?;
    Ok(found)
}

/// Runs a statement; the number of rows it changed.
pub(crate) fn run(conn: &Connection, sql: &str, params: impl Params) -> Result<usize, Fault> {
    Ok(conn.prepare_cached(sql)?.execute(params)?)
}
