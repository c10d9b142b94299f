//! SQL over the state as it was after a record: tables in a database of SQLite, loaded from the log, and one query. The
//! database is in a file without a name, so nothing stays of it, however the program ends; where it is to be kept, its
//! file gets its name when everything is in it. Memory is bounded: SQLite's by a limit, the rest is the tenants' books.

mod keep;
mod load;
mod room;
mod tables;

pub use room::Room;
pub use tables::page;

use super::{Failed, Progress};
use keep::Kept;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
pub use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Statement};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tables::Table;

/// Sorts and joins that need more go to files without a name.
const HEAP_BYTES: u64 = 512 << 20;
const CACHE_KIB: u64 = 64 << 10;
/// The longest text that SQL can make, such as `printf('%999999999d', 1)`.
const TEXT_BYTES: i32 = 64 << 20;
const STEPS_PER_LOOK: i32 = 1_000_000;

pub struct Database {
    connection: Connection,
    kept: Option<Kept>,
    tables: Vec<Table>,
    room: Room,
}

/// The tables that a query reads, by name; all if the database is to be kept.
pub struct Wanted(HashSet<String>);

/// Who takes the answer to a query.
pub trait Answer {
    fn columns(&mut self, names: Vec<String>);
    /// A value for each column; false when there are enough rows.
    fn row(&mut self, values: &[ValueRef<'_>]) -> Result<bool, Failed>;
}

impl Database {
    /// With empty tables; to be kept as a new file at `out`.
    pub fn new(out: Option<&Path>, room: Room) -> Result<Database, Failed> {
        let (connection, kept) = match out {
            Some(path) => {
                let (connection, kept) = Kept::begin(path)?;
                (connection, Some(kept))
            }
            // SQLite's own file of this kind.
            None => {
                (Connection::open_with_flags("", OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(failed)?, None)
            }
        };
        let settings = format!(
            "PRAGMA hard_heap_limit = {HEAP_BYTES}; PRAGMA cache_size = -{CACHE_KIB}; \
             PRAGMA temp.cache_size = -{CACHE_KIB}; PRAGMA temp_store = FILE; PRAGMA journal_mode = OFF; \
             PRAGMA temp.journal_mode = OFF; \
             PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
        );
        connection.execute_batch(&settings).map_err(failed)?;
        let tables = tables::all();
        let made: Vec<String> = tables.iter().map(|table| table.make() + &table.make_view()).collect();
        connection.execute_batch(&made.concat()).map_err(failed)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, TEXT_BYTES).map_err(failed)?;
        for (config, is_on) in [
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        ] {
            connection.set_db_config(config, is_on).map_err(failed)?;
        }
        Ok(Database { connection, kept, tables, room })
    }

    /// Refuses what is no query, before anything is loaded for it.
    pub fn check(&mut self, sql: &str) -> Result<Wanted, Failed> {
        let guard = Guard::default();
        prepared(&mut self.connection, sql, &guard)?;
        self.connection.authorizer(None::<Allow>).map_err(failed)?;
        let read = std::mem::take(&mut *guard.read.lock().unwrap_or_else(|error| error.into_inner()));
        Ok(Wanted(match self.kept {
            Some(_) => self.tables.iter().map(|table| table.name.to_owned()).collect(),
            None => read,
        }))
    }

    /// `tell` hears of the steps before the first row.
    pub fn query(
        &mut self,
        sql: &str,
        tell: impl FnMut(u64) + Send + 'static,
        answer: &mut dyn Answer,
    ) -> Result<(), Failed> {
        let (guard, has_rows) = (Guard::default(), Arc::new(AtomicBool::new(false)));
        let (mut steps, mut tell, is_answered) = (0, Some(tell), Arc::clone(&has_rows));
        let (room, room_for_sorting) = (self.room.clone(), self.room.clone());
        let look = move || {
            steps += u64::from(STEPS_PER_LOOK.unsigned_abs());
            match &mut tell {
                Some(tell) if !is_answered.load(Ordering::Relaxed) => tell(steps),
                _ => tell = None,
            }
            room_for_sorting.check().is_err()
        };
        let failing = |error| room.check().err().unwrap_or_else(|| said(sql, error, &guard));
        self.connection.progress_handler(STEPS_PER_LOOK, Some(look)).map_err(failed)?;
        let mut statement = prepared(&mut self.connection, sql, &guard)?;
        answer.columns(statement.column_names().map(str::to_owned).collect());
        let count = statement.column_count();
        let mut rows = statement.query([]).map_err(failing)?;
        while let Some(row) = rows.next().map_err(failing)? {
            has_rows.store(true, Ordering::Relaxed);
            let values = (0..count).map(|n| row.get_ref(n)).collect::<Result<Vec<_>, _>>().map_err(failed)?;
            if !answer.row(&values)? {
                break;
            }
        }
        Ok(())
    }

    /// Gives the file its name, if it is to be kept.
    pub fn finish(self, progress: Progress<'_>) -> Result<(), Failed> {
        let Database { connection, kept, room, .. } = self;
        connection.close().map_err(|(_, error)| failed(error))?;
        kept.map_or(Ok(()), |kept| kept.finish(&room, progress))
    }
}

fn prepared<'c>(connection: &'c mut Connection, sql: &str, guard: &Guard) -> Result<Statement<'c>, Failed> {
    connection.authorizer(Some(guard.allow())).map_err(failed)?;
    let statement = connection.prepare(sql).map_err(|error| said(sql, error, guard))?;
    if statement.column_count() == 0 {
        return Err(Failed::NotDone("the SQL is no SELECT".to_owned()));
    }
    Ok(statement)
}

type Allow = fn(AuthContext<'_>) -> Authorization;

/// What a statement does, as it is prepared: it may read, and nothing else.
#[derive(Clone, Default)]
struct Guard {
    read: Arc<Mutex<HashSet<String>>>,
    refused: Arc<Mutex<Option<String>>>,
}

impl Guard {
    fn allow(&self) -> impl FnMut(AuthContext<'_>) -> Authorization + Send + 'static {
        let Guard { read, refused } = self.clone();
        move |context| {
            let refuse = |what: String| {
                let mut first = refused.lock().unwrap_or_else(|error| error.into_inner());
                first.get_or_insert(what);
                Authorization::Deny
            };
            match context.action {
                AuthAction::Select | AuthAction::Recursive => Authorization::Allow,
                AuthAction::Read { table_name, .. } => {
                    let mut read = read.lock().unwrap_or_else(|error| error.into_inner());
                    if !read.contains(table_name) {
                        read.insert(table_name.to_owned());
                    }
                    Authorization::Allow
                }
                AuthAction::Function { function_name: "load_extension" } => {
                    refuse("load_extension is not allowed: the SQL only reads".to_owned())
                }
                AuthAction::Function { .. } => Authorization::Allow,
                _ => refuse("the SQL is no SELECT, and nothing else is allowed".to_owned()),
            }
        }
    }
}

/// In the words of SQLite, with the place in the SQL where it knows one.
fn said(sql: &str, error: Error, guard: &Guard) -> Failed {
    let refused = guard.refused.lock().unwrap_or_else(|error| error.into_inner()).take();
    if let Some(why) = refused {
        return Failed::NotDone(why);
    }
    let (words, offset) = match &error {
        Error::SqlInputError { msg, sql: rest, offset, .. } => {
            (msg, usize::try_from(*offset).ok().map(|offset| sql.len() - rest.len() + offset))
        }
        // Of what is not there it says the name alone.
        Error::SqliteFailure(code, Some(words)) if code.code == ErrorCode::Unknown => {
            (words, words.rsplit_once(": ").and_then(|(_, name)| sql.find(name)))
        }
        Error::MultipleStatement => {
            return Failed::NotDone("the SQL is more than one statement; ask with one SELECT".to_owned());
        }
        Error::Empty => return Failed::NotDone("the SQL is empty".to_owned()),
        _ => return failed(error),
    };
    let before = offset.and_then(|offset| sql.get(..offset));
    let place = before.map(|before| format!(", at position {}", before.chars().count() + 1));
    Failed::NotDone(format!("SQL: {words}{}", place.unwrap_or_default()))
}

fn failed(error: Error) -> Failed {
    Failed::NotDone(match error {
        Error::SqliteFailure(_, Some(words)) => format!("SQLite: {words}"),
        error => format!("SQLite: {error}"),
    })
}
