//! A page over the partitions of a list, of pages of each. What is shown is made of whole pages that partitions gave,
//! each with the cursor behind it. So a cursor over all is no more than one of each, and nothing is lost or comes twice
//! when new items arrive on top between two pages, or when others leave the list.
//!
//! How a partition is asked, and what an item is, belongs elsewhere.

use futures_util::future::join_all;
use serde_json::value::RawValue;
use std::collections::{BTreeSet, VecDeque};

/// The asks of one partition for one page. Its own pages may be short; the merged one is short then.
const ROUNDS_MAX: usize = 4;
/// Lengths of a cursor in the bytes of [`to_bytes`] that mean something else.
const START: u8 = 0;
const END: u8 = u8::MAX;

/// Where a partition goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    #[default]
    Start,
    /// Behind the page that had this cursor, without its base64.
    After(Vec<u8>),
    End,
}

#[derive(Clone, Debug)]
pub struct Item {
    /// Larger ones are newer.
    pub order: String,
    pub json: Box<RawValue>,
}

/// A page of one partition.
#[derive(Debug)]
pub struct Part {
    pub items: Vec<Item>,
    pub next: Place,
}

#[derive(Debug, Default)]
pub struct Page {
    pub items: Vec<Item>,
    pub places: Vec<Place>,
    /// The partitions that were not asked, or gave no answer.
    pub missing: BTreeSet<usize>,
    /// Whether any gave one.
    pub is_answered: bool,
}

#[derive(Default)]
struct Source {
    /// Behind `shown`.
    place: Place,
    shown: Vec<Item>,
    /// What follows there, and how many of it belong on the page.
    ahead: VecDeque<Item>,
    used: usize,
    next: Place,
    is_missing: bool,
}

impl Source {
    fn must_be_asked(&self) -> bool {
        self.ahead.is_empty() && self.place != Place::End && !self.is_missing
    }

    fn head(&self) -> Option<&Item> {
        self.ahead.get(self.used)
    }

    /// Shows the page that is ahead whole.
    fn show(&mut self) {
        self.shown.extend(self.ahead.drain(..));
        self.place = std::mem::take(&mut self.next);
        self.used = 0;
    }
}

/// The page of at most `limit` items from these places on. `ask` gives the page of a partition behind a place, with at
/// most so many items; none where it cannot be asked. Who shows more than it was asked for has it on one page.
pub async fn merged<E, F>(
    places: Vec<Place>,
    limit: usize,
    ask: impl Fn(usize, Place, usize) -> F,
) -> Result<Page, E>
where
    F: Future<Output = Result<Option<Part>, E>>,
{
    let mut sources: Vec<Source> =
        places.into_iter().map(|place| Source { place, ..Source::default() }).collect();
    let (mut count, mut is_answered) = (0, false);
    for _ in 0..ROUNDS_MAX {
        let (due, asked): (Vec<usize>, Vec<F>) = (0..sources.len())
            .filter(|partition| sources[*partition].must_be_asked())
            .map(|partition| (partition, ask(partition, sources[partition].place.clone(), limit - count)))
            .unzip();
        for (partition, part) in due.into_iter().zip(join_all(asked).await) {
            let source = &mut sources[partition];
            match part? {
                None => source.is_missing = true,
                Some(part) => {
                    is_answered = true;
                    (source.ahead, source.next) = (part.items.into(), part.next);
                    if source.ahead.is_empty() {
                        source.show();
                    }
                }
            }
        }
        // The next item of one that was not read on may be the newest.
        while count < limit && !sources.iter().any(Source::must_be_asked) {
            let newest = newest(sources.iter().map(Source::head));
            let Some(newest) = newest.map(|newest| &mut sources[newest]) else { break };
            newest.used += 1;
            count += 1;
            if newest.used == newest.ahead.len() {
                newest.show();
            }
        }
        if count == limit || !sources.iter().any(Source::must_be_asked) {
            break;
        }
    }
    // Only a whole page has a cursor behind it.
    let (cut, asked): (Vec<usize>, Vec<F>) = (0..sources.len())
        .filter(|partition| sources[*partition].used > 0)
        .map(|partition| {
            (partition, ask(partition, sources[partition].place.clone(), sources[partition].used))
        })
        .unzip();
    for (partition, part) in cut.into_iter().zip(join_all(asked).await) {
        let source = &mut sources[partition];
        match part? {
            None => source.is_missing = true,
            Some(part) => {
                (source.ahead, source.next) = (part.items.into(), part.next);
                source.show();
            }
        }
    }
    Ok(page(sources, is_answered))
}

fn page(sources: Vec<Source>, is_answered: bool) -> Page {
    let mut page = Page { is_answered, ..Page::default() };
    let mut shown: Vec<VecDeque<Item>> = Vec::with_capacity(sources.len());
    for (partition, source) in sources.into_iter().enumerate() {
        page.missing.extend(source.is_missing.then_some(partition));
        page.places.push(source.place);
        shown.push(source.shown.into());
    }
    while let Some(newest) = newest(shown.iter().map(VecDeque::front)) {
        page.items.extend(shown[newest].pop_front());
    }
    page
}

/// The first of those that have the newest item.
fn newest<'i>(heads: impl DoubleEndedIterator<Item = Option<&'i Item>> + ExactSizeIterator) -> Option<usize> {
    let heads = heads.enumerate().rev().filter_map(|(place, head)| Some((place, &head?.order)));
    heads.max_by(|(_, one), (_, other)| one.cmp(other)).map(|(place, _)| place)
}

/// `None` if a cursor is longer than any of ours.
pub fn to_bytes(places: &[Place]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for place in places {
        match place {
            Place::Start => bytes.push(START),
            Place::End => bytes.push(END),
            Place::After(cursor) => {
                let length = u8::try_from(cursor.len()).ok();
                bytes.push(length.filter(|length| ![START, END].contains(length))?);
                bytes.extend_from_slice(cursor);
            }
        }
    }
    Some(bytes)
}

pub fn of_bytes(mut bytes: &[u8]) -> Option<Vec<Place>> {
    let mut places = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (place, rest) = match *length {
            START => (Place::Start, rest),
            END => (Place::End, rest),
            length => {
                let (cursor, rest) = rest.split_at_checked(usize::from(length))?;
                (Place::After(cursor.to_vec()), rest)
            }
        };
        places.push(place);
        bytes = rest;
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use proptest::prelude::*;
    use std::cell::{Cell, RefCell};
    use std::convert::Infallible;

    fn item(number: u32) -> Item {
        let json = RawValue::from_string(number.to_string()).expect("JSON");
        Item { order: format!("{number:010}"), json }
    }

    fn numbers(items: &[Item]) -> Vec<u32> {
        items.iter().map(|item| item.json.get().parse().expect("a number")).collect()
    }

    /// Partitions as they are: sorted items, newest first, a cursor for the last one shown.
    #[derive(Default)]
    struct Fake {
        partitions: RefCell<Vec<BTreeSet<u32>>>,
        silent: RefCell<BTreeSet<usize>>,
        /// What happens before an answer.
        events: RefCell<VecDeque<Event>>,
        newest: Cell<u32>,
        looks_max: usize,
        asks: Cell<usize>,
    }

    #[derive(Clone, Debug)]
    enum Event {
        Nothing,
        Arrives(usize),
        /// A payment that is not pending any more leaves the list of those.
        Leaves(usize),
        Silent(usize),
        Speaks,
    }

    impl Fake {
        fn with(partitions: &[&[u32]]) -> Fake {
            let partitions: Vec<BTreeSet<u32>> =
                partitions.iter().map(|items| items.iter().copied().collect()).collect();
            let newest = partitions.iter().flatten().copied().max().unwrap_or(0);
            Fake {
                partitions: RefCell::new(partitions),
                newest: Cell::new(newest),
                looks_max: usize::MAX,
                ..Fake::default()
            }
        }

        fn happen(&self, event: Event) {
            let mut partitions = self.partitions.borrow_mut();
            let count = partitions.len();
            match event {
                Event::Nothing => {}
                Event::Arrives(partition) => {
                    self.newest.set(self.newest.get() + 1);
                    partitions[partition % count].insert(self.newest.get());
                }
                Event::Leaves(nth) => {
                    let all: Vec<u32> = partitions.iter().flatten().copied().collect();
                    if !all.is_empty() {
                        let gone = all[nth % all.len()];
                        partitions.iter_mut().for_each(|items| items.retain(|number| *number != gone));
                    }
                }
                Event::Silent(partition) => drop(self.silent.borrow_mut().insert(partition % count)),
                Event::Speaks => self.silent.borrow_mut().clear(),
            }
        }

        fn ask(&self, partition: usize, place: &Place, limit: usize) -> Option<Part> {
            self.asks.set(self.asks.get() + 1);
            if let Some(event) = self.events.borrow_mut().pop_front() {
                self.happen(event);
            }
            if self.silent.borrow().contains(&partition) {
                return None;
            }
            let before = match place {
                Place::Start => u32::MAX,
                Place::After(cursor) => u32::from_be_bytes(cursor.as_slice().try_into().expect("a cursor")),
                Place::End => panic!("nothing is there"),
            };
            let (mut shown, mut next, mut last) = (Vec::new(), Place::End, before);
            let partitions = self.partitions.borrow();
            for (looks, number) in partitions[partition].iter().rev().filter(|one| **one < before).enumerate()
            {
                if shown.len() == limit || looks == self.looks_max {
                    next = Place::After(last.to_be_bytes().to_vec());
                    break;
                }
                last = *number;
                // Some are looked at and are not meant.
                if self.looks_max == usize::MAX || !number.is_multiple_of(3) {
                    shown.push(item(*number));
                }
            }
            Some(Part { items: shown, next })
        }

        fn page(&self, places: &[Place], limit: usize) -> Page {
            let asked = |partition, place, limit| {
                let part = self.ask(partition, &place, limit);
                async move { Ok::<_, Infallible>(part) }
            };
            let page = merged(places.to_vec(), limit, asked).now_or_never().expect("nobody waits");
            page.expect("nobody refuses")
        }
    }

    fn is_over(page: &Page) -> bool {
        page.places.iter().all(|place| *place == Place::End)
    }

    #[test]
    fn a_page_has_the_newest_of_all_and_the_next_goes_on_behind_it() {
        let fake = Fake::with(&[&[9, 4, 1], &[8, 7, 3], &[]]);
        let mut places = vec![Place::Start; 3];
        let mut walked = Vec::new();
        for _ in 0..3 {
            let page = fake.page(&places, 2);
            walked.push(numbers(&page.items));
            assert_eq!((is_over(&page), page.is_answered), (walked.len() == 3, true));
            // A cursor is what comes back.
            places = of_bytes(&to_bytes(&page.places).expect("it is short")).expect("it is sound");
        }
        assert_eq!(walked, [[9, 8], [7, 4], [3, 1]]);
    }

    #[test]
    fn what_arrives_on_top_while_a_page_is_made_shifts_nothing() {
        let fake = Fake::with(&[&[40, 20, 10], &[30, 5]]);
        // Between the first asks and that for the part of a page.
        fake.events.borrow_mut().extend([Event::Nothing, Event::Nothing, Event::Arrives(0), Event::Nothing]);
        let page = fake.page(&[Place::Start, Place::Start], 3);
        assert_eq!(numbers(&page.items), [41, 40, 30]);
        let page = fake.page(&page.places, 9);
        assert_eq!((numbers(&page.items), is_over(&page)), (vec![20, 10, 5], true));
    }

    #[test]
    fn a_partition_that_is_silent_goes_on_where_it_was() {
        let fake = Fake::with(&[&[9, 7, 5], &[8, 6, 4]]);
        let page = fake.page(&[Place::Start, Place::Start], 2);
        assert_eq!(numbers(&page.items), [9, 8]);
        fake.happen(Event::Silent(1));
        let page = fake.page(&page.places, 2);
        assert_eq!((numbers(&page.items), page.missing.clone()), (vec![7, 5], BTreeSet::from([1])));
        assert!(page.is_answered && !is_over(&page));
        // Only the silent one is left.
        let page = fake.page(&page.places, 2);
        assert!(page.items.is_empty() && !page.is_answered);
        fake.happen(Event::Speaks);
        let page = fake.page(&page.places, 2);
        assert_eq!((numbers(&page.items), page.missing.len(), is_over(&page)), (vec![6, 4], 0, true));
    }

    #[test]
    fn places_come_back_from_bytes() {
        let places = vec![Place::End, Place::After(vec![7; 60]), Place::Start, Place::After(vec![0])];
        assert_eq!(of_bytes(&to_bytes(&places).expect("short")), Some(places));
        assert_eq!(of_bytes(&[]), Some(Vec::new()));
        for bad in [&[3, 1][..], &[254]] {
            assert_eq!(of_bytes(bad), None);
        }
        for length in [0, 255, 256] {
            assert_eq!(to_bytes(&[Place::After(vec![1; length])]), None, "{length}");
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            6 => Just(Event::Nothing),
            3 => (0..8_usize).prop_map(Event::Arrives),
            1 => (0..64_usize).prop_map(Event::Leaves),
            1 => (0..8_usize).prop_map(Event::Silent),
            2 => Just(Event::Speaks),
        ]
    }

    proptest! {
        #[test]
        fn whoever_walks_sees_what_stays_once_and_nothing_twice(
            spread in prop::collection::vec(0..4_usize, 0..60),
            partitions in 1..5_usize,
            limit in 1..7_usize,
            looks_max in prop_oneof![Just(usize::MAX), 1..9_usize],
            events in prop::collection::vec(event(), 0..80),
        ) {
            let mut fake = Fake::with(&vec![&[][..]; partitions]);
            fake.looks_max = looks_max;
            spread.into_iter().for_each(|partition| fake.happen(Event::Arrives(partition)));
            let begun_with: BTreeSet<u32> = fake.partitions.borrow().iter().flatten().copied().collect();
            fake.events.borrow_mut().extend(events);
            let (mut seen, mut places) = (Vec::new(), vec![Place::Start; partitions]);
            for turn in 0.. {
                prop_assert!(turn < 1_000, "it does not end");
                if fake.events.borrow().is_empty() {
                    fake.happen(Event::Speaks);
                }
                let asks_before = fake.asks.get();
                let page = fake.page(&places, limit);
                prop_assert!(page.items.len() <= limit);
                prop_assert!(fake.asks.get() - asks_before <= partitions * (ROUNDS_MAX + 1));
                let shown = numbers(&page.items);
                prop_assert!(shown.is_sorted_by(|one, next| one > next), "{shown:?}");
                seen.extend(shown);
                places = page.places;
                if places.iter().all(|place| *place == Place::End) {
                    break;
                }
            }
            let once: BTreeSet<u32> = seen.iter().copied().collect();
            prop_assert_eq!(once.len(), seen.len(), "something came twice");
            let are_meant = |number: &u32| looks_max == usize::MAX || !number.is_multiple_of(3);
            let still_there: BTreeSet<u32> = fake.partitions.borrow().iter().flatten().copied().collect();
            let stayed = begun_with.intersection(&still_there).copied().filter(are_meant);
            prop_assert!(stayed.clone().all(|number| once.contains(&number)), "something is lost");
        }

        #[test]
        fn undisturbed_pages_are_the_list_in_its_order(
            spread in prop::collection::vec(0..4_usize, 0..60),
            limit in 1..7_usize,
        ) {
            let fake = Fake::with(&[&[], &[], &[], &[]]);
            let count = spread.len();
            spread.into_iter().for_each(|partition| fake.happen(Event::Arrives(partition)));
            let (mut seen, mut places) = (Vec::new(), vec![Place::Start; 4]);
            while places.iter().any(|place| *place != Place::End) {
                let page = fake.page(&places, limit);
                seen.extend(numbers(&page.items));
                places = page.places;
                let is_over = places.iter().all(|place| *place == Place::End);
                // A next page is there exactly when something follows, and a page is full before it.
                prop_assert_eq!(is_over, seen.len() == count);
                prop_assert!(is_over || seen.len() % limit == 0);
            }
            let all: Vec<u32> = (1..=u32::try_from(count).expect("few")).rev().collect();
            prop_assert_eq!(seen, all);
        }
    }
}
