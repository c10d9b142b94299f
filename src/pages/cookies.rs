//! The cookie of a session: 256 random bits that no script and no other site's page can send.

use api::problem::Problem;
use hyper::header::{COOKIE, HeaderMap, HeaderValue};

#[derive(Clone, Copy)]
pub struct Cookie {
    pub name: &'static str,
    /// Travels over TLS alone. Then its name has the prefix that keeps other hosts from setting it.
    pub is_secure: bool,
}

impl Cookie {
    fn full_name(self) -> String {
        format!("{}{}", if self.is_secure { "__Host-" } else { "" }, self.name)
    }

    /// The first one, if a request brings more.
    pub fn find(self, headers: &HeaderMap) -> Option<String> {
        let name = self.full_name();
        let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
    }

    pub fn set(self, value: &str) -> HeaderValue {
        self.header(value, "")
    }

    pub fn cleared(self) -> HeaderValue {
        self.header("", "; Max-Age=0")
    }

    fn header(self, value: &str, more: &str) -> HeaderValue {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}", self.full_name());
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
    }
}

/// Of several partitions, the session is in one, which its cookie names.
pub fn fresh(partition: u8) -> Result<String, Problem> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Problem::internal_error(format!("the system gave no randomness for a session: {error}"))
    })?;
    let random = hex::encode(random);
    Ok(if partition == 0 { random } else { format!("{partition}.{random}") })
}

pub fn partition_of(cookie: &str) -> usize {
    cookie.split_once('.').and_then(|(partition, _)| partition.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; xsession=2;session=3"));
        headers.append(COOKIE, HeaderValue::from_static("session=4; __Host-session=5"));
        let find = |is_secure| Cookie { name: "session", is_secure }.find(&headers);
        assert_eq!((find(false).as_deref(), find(true).as_deref()), (Some("3"), Some("5")));
    }

    #[test]
    fn a_cookie_names_its_partition() {
        for partition in [0, 1, 63] {
            let cookie = fresh(partition).expect("randomness");
            assert_eq!(partition_of(&cookie), usize::from(partition));
            assert_eq!(cookie.contains('.'), partition != 0, "as it was, where there is one partition");
        }
        for other in ["", ".", "x.y", "-1.y"] {
            assert_eq!(partition_of(other), 0, "{other}");
        }
    }

    #[test]
    fn the_cookie_is_for_this_host_alone() {
        let set = |is_secure| Cookie { name: "session", is_secure }.set("x");
        assert_eq!(set(false), "session=x; Path=/; HttpOnly; SameSite=Strict");
        assert_eq!(set(true), "__Host-session=x; Path=/; HttpOnly; SameSite=Strict; Secure");
    }
}
