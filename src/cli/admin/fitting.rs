//! The widths of a table's columns on a terminal: the widest are cut first, and what does not fit
//! even so is left out.

const LEAST: usize = 8;
const BESIDE: usize = 3;

pub fn fit(natural: &[usize], room: usize) -> Vec<usize> {
    for shown in (1..=natural.len()).rev() {
        let columns = &natural[..shown];
        let room = room.saturating_sub(BESIDE * shown + 1);
        let cut = |most: usize| columns.iter().map(|width| (*width).min(most)).sum::<usize>();
        let widest = columns.iter().copied().max().unwrap_or(0);
        let least = if shown == 1 { 1 } else { LEAST.min(widest) };
        if let Some(most) = (least..=widest).rev().find(|most| cut(*most) <= room) {
            return columns.iter().map(|width| (*width).min(most)).collect();
        }
    }
    natural.first().map(|_| vec![1]).unwrap_or_default()
}

/// One that is cut says so.
pub fn elide(text: &str, most: usize) -> String {
    let line = text.replace(['\n', '\r', '\t'], " ");
    if line.chars().count() <= most {
        return line;
    }
    let mut cut: String = line.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_are_cut_first_and_the_last_left_out() {
        assert_eq!(fit(&[5, 10, 3], 80), [5, 10, 3]);
        assert_eq!(fit(&[36, 10, 36], 60), [20, 10, 20]);
        assert_eq!(fit(&[36, 36, 36, 36], 40), [10, 10, 10]);
        assert_eq!(fit(&[36, 36], 12), [8]);
        assert_eq!((fit(&[36], 3), fit(&[], 3)), (vec![1], vec![]));
        for room in 10..200 {
            let widths = fit(&[36, 12, 8, 40, 22, 5], room);
            assert!(widths.iter().sum::<usize>() + BESIDE * widths.len() < room, "{room}");
        }
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!((elide("abc", 3), elide("abcd", 3)), ("abc".to_owned(), "ab…".to_owned()));
        assert_eq!(elide("ñandú\nx", 9), "ñandú x");
    }
}
