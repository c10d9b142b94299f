//! Answers of the sources of rates: the first line of an input is the pointer to the price, the
//! second that to the time, the rest is the answer.
//!
//! A price that is found is above nothing and within bounds; a time is not ahead of what is allowed;
//! and finding them takes no more than what the answer holds.

use super::call::NOW;
use crate::bytes::first_line;
use domain::resources::rates::samples::{AHEAD_MS_MAX, price};
use pasarela::json_pointer::Pointer;
use pasarela::rates::reading;

pub fn run(input: &[u8]) {
    let (at_price, rest) = first_line(input);
    let (at_time, answer) = first_line(rest);
    let Ok(answer) = std::str::from_utf8(answer) else { return };
    let pointer = |bytes: &[u8]| Pointer::parse(std::str::from_utf8(bytes).ok()?).ok();
    if let Some(pointer) = pointer(at_price) {
        if let Ok(found) = pointer.find(answer) {
            let within = answer.as_bytes().as_ptr_range();
            assert!(found.iter().all(|text| within.contains(&text.as_ptr())), "a value of nowhere");
        }
        if let Ok(found) = reading::median_price(answer, &pointer) {
            assert!(price(found.0).is_ok(), "{} is no price", found.0);
        }
    }
    if let Some(pointer) = pointer(at_time)
        && let Ok(at) = reading::as_of(answer, &pointer, false, NOW)
    {
        assert!(at.since_ms(NOW) <= AHEAD_MS_MAX, "{at} lies ahead");
    }
}
