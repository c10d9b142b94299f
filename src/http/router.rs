//! Finds the row of the route table for a method and a path. Literal segments win over parameters, from left to right.
//! A lookup of a path without parameters allocates nothing. The tables are the program's own: a test holds them
//! all against `faults`, so that nothing in them is ambiguous.

use api::query::percent_decode;
use hyper::Method;
use std::sync::Arc;

#[derive(Debug)]
pub struct Router<T> {
    tree: matchit::Router<End<T>>,
}

#[derive(Debug)]
struct End<T> {
    path: &'static str,
    names: Vec<&'static str>,
    rows: Vec<(Method, T)>,
    allow: Arc<str>,
}

#[derive(Debug)]
pub enum Lookup<'r, T> {
    Found(Found<'r, T>),
    WrongMethod { allow: &'r Arc<str> },
    NotFound,
}

#[derive(Debug)]
pub struct Found<'r, T> {
    pub value: &'r T,
    /// As the table writes it, `/v1/payments/:id`: for metrics and for keys that are scoped by path.
    pub path: &'static str,
    pub parameters: Parameters,
}

/// In their order in the path.
pub type Parameters = Vec<(&'static str, String)>;

pub fn named<'p>(parameters: &'p [(&'static str, String)], name: &str) -> &'p str {
    parameters.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

impl<T> Router<T> {
    /// # Panics
    ///
    /// On a defect that `faults` would find.
    pub fn new(rows: impl IntoIterator<Item = (Method, &'static str, T)>) -> Router<T> {
        let mut ends: Vec<End<T>> = Vec::new();
        for (method, path, value) in rows {
            match ends.iter_mut().find(|end| end.path == path) {
                Some(end) => end.rows.push((method, value)),
                None => {
                    let names = path.split('/').filter_map(|segment| segment.strip_prefix(':')).collect();
                    ends.push(End { path, names, rows: vec![(method, value)], allow: Arc::from("") });
                }
            }
        }
        let mut tree = matchit::Router::new();
        for mut end in ends {
            end.allow = allow(&end.rows).into();
            let path = end.path;
            if let Err(error) = tree.insert(braced(path), end) {
                panic!("the route {path}: {error}");
            }
        }
        Router { tree }
    }

    pub fn lookup(&self, method: &Method, path: &str) -> Lookup<'_, T> {
        let Ok(matchit::Match { value: end, params }) = self.tree.at(path) else {
            return Lookup::NotFound;
        };
        let mut row = None;
        for (known, value) in &end.rows {
            if known == method || (row.is_none() && method == Method::HEAD && known == Method::GET) {
                row = Some(value);
            }
        }
        let Some(value) = row else {
            return Lookup::WrongMethod { allow: &end.allow };
        };
        let mut parameters = Vec::with_capacity(end.names.len());
        for (name, (_, text)) in end.names.iter().zip(params.iter()) {
            let Some(decoded) = percent_decode(text) else { return Lookup::NotFound };
            parameters.push((*name, decoded.into_owned()));
        }
        Lookup::Found(Found { value, path: end.path, parameters })
    }
}

fn braced(path: &str) -> String {
    let braced = path.split('/').map(|segment| match segment.strip_prefix(':') {
        Some(name) => format!("{{{name}}}"),
        None => segment.to_owned(),
    });
    braced.collect::<Vec<_>>().join("/")
}

fn allow<T>(rows: &[(Method, T)]) -> String {
    let mut methods: Vec<&str> = rows.iter().map(|(method, _)| method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    methods.dedup();
    methods.join(", ")
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const PARAMETERS_MAX: usize = 4;

    /// What is ambiguous in a table: a row twice, two names for one parameter, two rows of one method of which neither
    /// is more literal than the other, and malformed paths.
    pub fn faults(rows: &[(Method, &'static str)]) -> Vec<String> {
        let mut faults = Vec::new();
        for (n, (method, path)) in rows.iter().enumerate() {
            let mut fault = |fault: String| faults.push(format!("{method} {path}: {fault}"));
            check_path(path).err().map(&mut fault);
            for (other_method, other) in &rows[..n] {
                check_names(path, other).err().map(&mut fault);
                if other_method == method && path == other {
                    fault("another row has this method and path".to_owned());
                }
                // Some path fits both, and neither has a better right to it.
                if other_method == method && is_ambiguous(path, other) {
                    fault(format!("neither it nor {other} is more literal than the other"));
                }
            }
        }
        faults
    }

    /// Wherever the same segments lead to a parameter it must have one name.
    fn check_names(path: &'static str, other: &'static str) -> Result<(), String> {
        for (here, there) in segments(path).zip(segments(other)) {
            match (here.strip_prefix(':'), there.strip_prefix(':')) {
                (Some(here), Some(there)) if here != there => {
                    return Err(format!(":{here} is called :{there} in another row"));
                }
                _ if here == there => {}
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    fn segments(path: &'static str) -> impl Iterator<Item = &'static str> {
        path.split('/').skip(1).filter(|segment| !segment.is_empty())
    }

    fn check_path(path: &'static str) -> Result<(), String> {
        let Some(rest) = path.strip_prefix('/') else {
            return Err("a path starts with a slash".to_owned());
        };
        if rest.is_empty() {
            return Ok(());
        }
        let mut names: Vec<&str> = Vec::new();
        for segment in rest.split('/') {
            match segment.strip_prefix(':') {
                Some(name) => {
                    let fine = name.starts_with(|first: char| first.is_ascii_lowercase())
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
                    if !fine {
                        return Err(format!("{segment} is no parameter name in camel case"));
                    }
                    if names.contains(&name) {
                        return Err(format!("parameter {segment} occurs twice"));
                    }
                    names.push(name);
                }
                None if segment.is_empty() => return Err("a segment is empty".to_owned()),
                None => {
                    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
                    // Clients may write the others in two ways.
                    if !segment.bytes().all(fine) {
                        return Err(format!("segment {segment} has characters that need escaping"));
                    }
                }
            }
        }
        if names.len() > PARAMETERS_MAX {
            return Err(format!("it has more than {PARAMETERS_MAX} parameters"));
        }
        Ok(())
    }

    /// Some path fits both and each is more literal than the other somewhere. A literal in the place of
    /// an id decides by itself, as the first that differs does in a look-up: no id is a word.
    fn is_ambiguous(one: &'static str, other: &'static str) -> bool {
        if segments(one).count() != segments(other).count() {
            return false;
        }
        let (mut one_wins, mut other_wins) = (false, false);
        for (a, b) in segments(one).zip(segments(other)) {
            let is_first = !one_wins && !other_wins;
            match (a.starts_with(':'), b.starts_with(':')) {
                (false, false) if a != b => return false,
                (false, true) if is_first && is_id(b) => return false,
                (true, false) if is_first && is_id(a) => return false,
                (false, true) => one_wins = true,
                (true, false) => other_wins = true,
                _ => {}
            }
        }
        one_wins && other_wins
    }

    fn is_id(parameter: &str) -> bool {
        parameter == ":id" || parameter.ends_with("Id")
    }

    fn router() -> Router<u32> {
        Router::new([
            (Method::GET, "/healthz", 1),
            (Method::GET, "/v1/payments", 2),
            (Method::GET, "/v1/payments/:id", 3),
            (Method::POST, "/v1/payments/c2p", 4),
            (Method::POST, "/v1/payments/c2p/request", 5),
            (Method::POST, "/v1/payments/:id/reverse", 6),
            (Method::GET, "/v1/payments/by-ref/:externalRef", 7),
            (Method::POST, "/v1/payments", 8),
            (Method::DELETE, "/v1/merchants/:id/payout-methods/:methodId", 9),
            (Method::GET, "/", 10),
        ])
    }

    fn look(router: &Router<u32>, method: Method, path: &str) -> Result<(u32, Vec<String>), String> {
        match router.lookup(&method, path) {
            Lookup::Found(found) => Ok((
                *found.value,
                found.parameters.iter().map(|(name, text)| format!("{name}={text}")).collect(),
            )),
            Lookup::WrongMethod { allow } => Err(allow.to_string()),
            Lookup::NotFound => Err("404".to_owned()),
        }
    }

    #[test]
    fn literals_win_and_parameters_are_decoded() {
        let router = router();
        let table: [(Method, &str, u32, &[&str]); 13] = [
            (Method::GET, "/", 10, &[]),
            (Method::GET, "/healthz", 1, &[]),
            (Method::HEAD, "/healthz", 1, &[]),
            (Method::GET, "/v1/payments", 2, &[]),
            (Method::POST, "/v1/payments", 8, &[]),
            (Method::GET, "/v1/payments/77", 3, &["id=77"]),
            (Method::POST, "/v1/payments/c2p", 4, &[]),
            (Method::POST, "/v1/payments/c2p/request", 5, &[]),
            (Method::POST, "/v1/payments/c2p/reverse", 6, &["id=c2p"]),
            (Method::POST, "/v1/payments/77/reverse", 6, &["id=77"]),
            (Method::GET, "/v1/payments/by-ref/a%2Fb%20%C3%B1", 7, &["externalRef=a/b ñ"]),
            (Method::GET, "/v1/payments/by-ref/reverse", 7, &["externalRef=reverse"]),
            (Method::DELETE, "/v1/merchants/1/payout-methods/2", 9, &["id=1", "methodId=2"]),
        ];
        for (method, path, value, parameters) in table {
            let parameters = parameters.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(look(&router, method, path), Ok((value, parameters)), "{path}");
        }
    }

    #[test]
    fn wrong_methods_name_the_right_ones() {
        let router = router();
        for (method, path, allow) in [
            (Method::DELETE, "/v1/payments", "GET, HEAD, POST"),
            (Method::GET, "/v1/payments/c2p/request", "POST"),
            (Method::GET, "/v1/payments/c2p", "POST"),
            (Method::HEAD, "/v1/payments/c2p", "POST"),
            (Method::OPTIONS, "/healthz", "GET, HEAD"),
        ] {
            assert_eq!(look(&router, method, path), Err(allow.to_owned()), "{path}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let router = router();
        for path in [
            "",
            "*",
            "healthz",
            "/healthz/",
            "/v1",
            "/v1/",
            "/v1/payments/",
            "//v1/payments",
            "/v1//payments",
            "/v1/payments/77/",
            "/v1/payments//reverse",
            "/v1/payments/77/other",
            "/v1/payments/by-ref/%ff",
            "/v1/payments/%",
            "/V1/payments",
            "/v1/payments/a/b/c/d/e/f/g",
        ] {
            assert_eq!(look(&router, Method::GET, path), Err("404".to_owned()), "{path}");
        }
    }

    #[test]
    fn parameters_are_asked_for_by_name() {
        let router = router();
        let Lookup::Found(found) = router.lookup(&Method::DELETE, "/v1/merchants/m/payout-methods/p") else {
            panic!("it is there");
        };
        assert_eq!(found.path, "/v1/merchants/:id/payout-methods/:methodId");
        assert_eq!(["id", "methodId", "x"].map(|name| named(&found.parameters, name)), ["m", "p", ""]);
    }

    #[test]
    fn bad_tables_have_faults() {
        let tables: [(&[(Method, &'static str)], &str); 14] = [
            (&[(Method::GET, "/a"), (Method::GET, "/a")], "another row has this method"),
            (&[(Method::GET, "/a/:id"), (Method::GET, "/a/:id")], "another row has this method"),
            (&[(Method::GET, "/a/:id"), (Method::POST, "/a/:ref")], "is called :id"),
            (&[(Method::GET, "/a/:id/b"), (Method::GET, "/a/:ref")], "is called :id"),
            (&[(Method::GET, "/a/:x/c"), (Method::GET, "/a/b/:y")], "more literal"),
            (&[(Method::GET, "a")], "slash"),
            (&[(Method::GET, "")], "slash"),
            (&[(Method::GET, "/a/")], "empty"),
            (&[(Method::GET, "/a//b")], "empty"),
            (&[(Method::GET, "/a/:")], "parameter name"),
            (&[(Method::GET, "/a/:Id")], "parameter name"),
            (&[(Method::GET, "/a/:id/:id")], "occurs twice"),
            (&[(Method::GET, "/a b")], "need escaping"),
            (&[(Method::GET, "/:a/:b/:c/:d/:e")], "more than 4"),
        ];
        for (rows, reason) in tables {
            let faults = faults(rows);
            assert!(faults.iter().any(|fault| fault.contains(reason)), "{faults:?}");
        }
    }

    #[test]
    fn a_word_in_the_place_of_an_id_is_no_id() {
        let rows = [(Method::GET, "/a/:id/c", 1), (Method::GET, "/a/b/:ref", 2)];
        assert!(faults(&rows.each_ref().map(|(method, path, _)| (method.clone(), *path))).is_empty());
        let router = Router::new(rows);
        let found = |path| match router.lookup(&Method::GET, path) {
            Lookup::Found(found) => Some(*found.value),
            _ => None,
        };
        assert_eq!((found("/a/1/c"), found("/a/b/x"), found("/a/b/c")), (Some(1), Some(2), Some(2)));
    }
}
