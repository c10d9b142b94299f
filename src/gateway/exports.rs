//! Lists as CSV: the pages of a list, one after the other, as one body.
//!
//! A page is read when the caller has taken the one before, by the way of any page: its own place
//! among the tenant's reads, nothing held in between. So an export is no moment of the list: what
//! is made after its beginning is not in it, what changes on the way is in it as its page found it,
//! and nothing comes twice.

use crate::http::accept;
use crate::http::body::unexpected_parameters;
use crate::http::respond::{self, CSV, JSON, Reply, RequestId};
use crate::http::respond::{Broken, Piece, Rest};
use api::csv::{CsvQuery, MEDIA_TYPE, Separator, Table};
use api::endpoint::Later;
use api::problem::{BadField, Problem};
use bytes::Bytes;
use hyper::header::{CONTENT_DISPOSITION, HeaderMap, HeaderValue};
use std::sync::Arc;
use std::time::Duration;

const RETRIES_MAX: u32 = 30;

#[derive(Clone)]
pub struct Export {
    table: Arc<Table>,
    asked: CsvQuery,
    name: String,
}

pub type Pages = Arc<dyn Fn(String) -> Later<'static, Bytes> + Send + Sync>;

impl Export {
    /// The list if it is wanted as CSV, and what is bad about its parameters beside its filters, which it
    /// may not take.
    pub fn wanted(
        table: Option<&Arc<Table>>,
        takes_query: bool,
        headers: &HeaderMap,
        path: &str,
        query: Option<&str>,
    ) -> Option<(Export, Vec<BadField>)> {
        let table = table?;
        if accept::wanted(headers, &[JSON, MEDIA_TYPE]) != Some(MEDIA_TYPE) {
            return None;
        }
        let (asked, bad) = CsvQuery::read(query);
        let export = Export { table: Arc::clone(table), asked, name: file_name(path) };
        let mut unexpected =
            if takes_query { Vec::new() } else { unexpected_parameters(Some(&export.query(None))) };
        unexpected.extend(bad);
        Some((export, unexpected))
    }

    /// A list of a site's pages, which no operation describes.
    pub fn of(table: Table, separator: Separator, name: &str) -> Export {
        Export { table: Arc::new(table), asked: CsvQuery::of(separator), name: format!("{name}.csv") }
    }

    pub fn query(&self, cursor: Option<&str>) -> String {
        self.asked.query(self.table.pages, cursor)
    }

    pub fn reply(self, first: &[u8], pages: Pages, request_id: RequestId) -> Result<Reply, Problem> {
        let header = self.table.header(self.asked.separator);
        let (rows, next) = self.rows(first)?;
        let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", self.name));
        let rest = self.rest(next, pages, request_id);
        let reply = Reply::pieces(CSV, header + rows.as_str(), rest);
        Ok(match disposition {
            Ok(disposition) => reply.header(CONTENT_DISPOSITION, disposition),
            Err(_) => reply,
        })
    }

    fn rows(&self, page: &[u8]) -> Result<(String, Option<String>), Problem> {
        let rows = self.table.rows(page, self.asked.separator).map_err(Problem::internal_error)?;
        Ok((rows.text, rows.next))
    }

    fn rest(self, next: Option<String>, pages: Pages, request_id: RequestId) -> Rest {
        match next {
            None => Rest::nothing(),
            Some(cursor) => Rest::new(self.piece(cursor, pages, request_id)),
        }
    }

    async fn piece(self, cursor: String, pages: Pages, request_id: RequestId) -> Piece {
        let read = async {
            let page = patiently(&pages, self.query(Some(&cursor))).await?;
            self.rows(&page)
        };
        match read.await {
            Ok((rows, next)) => Ok(Some((rows.into(), self.rest(next, pages, request_id)))),
            Err(problem) => {
                respond::log(&problem, &request_id);
                Err(Broken)
            }
        }
    }
}

/// A page, which waits while there is no room for it: most of the list is with the caller already.
async fn patiently(pages: &Pages, query: String) -> Result<Bytes, Problem> {
    let mut tries = 0;
    loop {
        match pages(query.clone()).await {
            Err(problem) if tries < RETRIES_MAX && problem.retry_after.is_some() => {
                tries += 1;
                let seconds = problem.retry_after.map_or(1, |seconds| u64::from(seconds.get()));
                tokio::time::sleep(Duration::from_secs(seconds)).await;
            }
            page => return page,
        }
    }
}

fn file_name(path: &str) -> String {
    let words: Vec<&str> =
        path.split('/').skip(2).filter(|segment| !segment.is_empty() && !segment.starts_with(':')).collect();
    format!("{}.csv", words.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_its_list() {
        assert_eq!(file_name("/v1/payments"), "payments.csv");
        assert_eq!(file_name("/v1/merchants/:id/balance/transactions"), "merchants-balance-transactions.csv");
        assert_eq!(file_name("/admin/cop-payouts"), "cop-payouts.csv");
    }
}
