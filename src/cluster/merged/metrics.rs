//! The metrics of the processes of a node as one page: each family once, and each sample with its partition.

use std::collections::HashMap;
use std::fmt::Write as _;

#[derive(Default)]
struct Family {
    head: String,
    samples: String,
}

/// Pages of Prometheus' text format, each with its partition.
pub fn together<'t>(pages: impl IntoIterator<Item = (usize, &'t str)>) -> String {
    let mut families: Vec<Family> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (partition, page) in pages {
        let mut family = None;
        let mut is_new = false;
        for line in page.lines() {
            if let Some(about) = line.strip_prefix("# HELP ") {
                let name = about.split(' ').next().unwrap_or_default();
                let place = *places.entry(name).or_insert(families.len());
                is_new = place == families.len();
                if is_new {
                    families.push(Family::default());
                }
                family = Some(place);
            }
            let Some(family) = family.and_then(|place| families.get_mut(place)) else { continue };
            if !line.starts_with('#') {
                label(&mut family.samples, line, partition);
            } else if is_new {
                let _ = writeln!(family.head, "{line}");
            }
        }
    }
    families.into_iter().map(|family| family.head + &family.samples).collect()
}

/// A process takes itself for partition 0 where a sample has a partition already, which is its first label.
fn label(out: &mut String, sample: &str, partition: usize) {
    let name = sample.find(['{', ' ']).unwrap_or(sample.len());
    let (name, rest) = sample.split_at(name);
    let labels = rest.strip_prefix('{');
    let others = labels.map(|labels| match labels.strip_prefix("partition=\"0\"") {
        Some(others) => others.trim_start_matches(','),
        None => labels,
    });
    let _ = match others {
        None => writeln!(out, "{name}{{partition=\"{partition}\"}}{rest}"),
        Some(others) if others.starts_with('}') => {
            writeln!(out, "{name}{{partition=\"{partition}\"{others}")
        }
        Some(others) => writeln!(out, "{name}{{partition=\"{partition}\",{others}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_is_there_once_with_the_samples_of_all() {
        let first = "# HELP a_total What.\n# TYPE a_total counter\na_total{route=\"/x} \\\"\"} 3\n\
                     # HELP b Up.\n# TYPE b gauge\nb 1\n\
                     # HELP c_seconds Long.\n# TYPE c_seconds histogram\nc_seconds_bucket{le=\"+Inf\"} 2\n\
                     c_seconds_count 2\n";
        let second = "# HELP b Up.\n# TYPE b gauge\nb 0\n\
                      # HELP role Part.\n# TYPE role gauge\nrole{partition=\"0\",role=\"leader\"} 1\n\
                      # HELP epoch Newest.\n# TYPE epoch gauge\nepoch{partition=\"0\"} 7\n";
        let expected = "# HELP a_total What.\n# TYPE a_total counter\n\
                        a_total{partition=\"0\",route=\"/x} \\\"\"} 3\n\
                        # HELP b Up.\n# TYPE b gauge\nb{partition=\"0\"} 1\nb{partition=\"2\"} 0\n\
                        # HELP c_seconds Long.\n# TYPE c_seconds histogram\n\
                        c_seconds_bucket{partition=\"0\",le=\"+Inf\"} 2\nc_seconds_count{partition=\"0\"} 2\n\
                        # HELP role Part.\n# TYPE role gauge\nrole{partition=\"2\",role=\"leader\"} 1\n\
                        # HELP epoch Newest.\n# TYPE epoch gauge\nepoch{partition=\"2\"} 7\n";
        assert_eq!(together([(0, first), (2, second)]), expected);
        assert_eq!(together([]), "");
    }
}
