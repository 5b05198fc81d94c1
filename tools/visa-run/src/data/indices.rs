//! Default data of indices: rows that exist, and different ones where a scatter writes them.
//!
//! Default data are random, and random numbers choose no rows. So a run whose indices are noted tells which values it
//! read as indices, and the elements of the arguments that have those values get valid ones. However an index comes to
//! its transfer, it is found if it comes there unchanged.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use visa_interpreter::IndexUse;
use visa_numerics::{DType, store};

use super::DataError;

/// Bytes of an index.
const BYTES: usize = 4;

/// An element of an argument: its name and its number in C order.
type Element = (String, usize);

/// The elements that have got a value as an index.
#[derive(Debug, Default)]
pub struct ChosenIndices(BTreeSet<Element>);

/// The values that an element may have: the multiples of `step` below `end`.
#[derive(Clone, Debug)]
struct Choices {
    step: u64,
    end: u64,
    /// The indices of scatters that it must differ from.
    groups: BTreeSet<u64>,
}

impl Choices {
    fn count(&self) -> u64 {
        self.end.div_ceil(self.step)
    }

    /// Leaves the values that another use allows, too.
    fn narrow(&mut self, used: &IndexUse) {
        self.step = visa_loops::lcm(self.step, used.step);
        self.end = self.end.min(used.count.saturating_mul(used.step));
        self.groups.extend(used.group);
    }
}

impl ChosenIndices {
    /// Gives valid values to the elements of `defaults`, arguments of `i32`, that `uses` has read as indices. Returns
    /// how many elements got one; each gets one once.
    ///
    /// # Errors
    /// Indices of a scatter that cannot all be different.
    pub fn choose(
        &mut self,
        tensors: &mut BTreeMap<String, Vec<u8>>,
        defaults: &[String],
        uses: &[IndexUse],
    ) -> Result<usize, DataError> {
        let elements = self.elements(tensors, defaults, uses);
        let mut taken: HashMap<u64, HashSet<u64>> = HashMap::new();
        for used in uses.iter().filter(|used| used.is_valid() && !elements.contains_key(&used.value)) {
            if let Some(group) = used.group {
                taken.entry(group).or_default().insert(used.value as u64);
            }
        }
        let mut choices: Vec<(Element, i32, Choices)> = Vec::new();
        for (value, elements) in &elements {
            let mut all = Choices { step: 1, end: 1 << 31, groups: BTreeSet::new() };
            uses.iter().filter(|used| used.value == *value).for_each(|used| all.narrow(used));
            choices.extend(elements.iter().map(|element| (element.clone(), *value, all.clone())));
        }
        // Those with few choices first, so that others do not take theirs.
        choices.sort_by(|own, other| (own.2.count(), &own.0).cmp(&(other.2.count(), &other.0)));
        let count = choices.len();
        for (element, value, choices) in choices {
            let chosen = pick(value, &choices, &mut taken).ok_or_else(|| crowded(&element, &choices))?;
            if let Some(bytes) = tensors.get_mut(&element.0) {
                store(DType::I32, bytes, element.1, chosen as u32);
            }
            self.0.insert(element);
        }
        Ok(count)
    }

    /// The elements with values that were read as indices, but for those that have been chosen.
    fn elements(
        &self,
        tensors: &BTreeMap<String, Vec<u8>>,
        defaults: &[String],
        uses: &[IndexUse],
    ) -> BTreeMap<i32, Vec<Element>> {
        let values: HashSet<i32> = uses.iter().map(|used| used.value).collect();
        let mut elements: BTreeMap<i32, Vec<Element>> = BTreeMap::new();
        for name in defaults {
            let bytes = tensors.get(name).map_or(&[][..], Vec::as_slice);
            for (number, value) in numbers(bytes).enumerate() {
                let element = || (name.clone(), number);
                if values.contains(&value) && !self.0.contains(&element()) {
                    elements.entry(value).or_default().push(element());
                }
            }
        }
        elements
    }
}

/// The elements of an array of `i32`.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes.as_chunks::<BYTES>().0.iter().map(|word| i32::from_le_bytes(*word))
}

/// Returns true if an array of `i32` has the element.
pub fn holds(bytes: &[u8], value: i32) -> bool {
    numbers(bytes).any(|number| number == value)
}

/// A value that none of the groups has taken, the first one from where `value` points.
fn pick(value: i32, choices: &Choices, taken: &mut HashMap<u64, HashSet<u64>>) -> Option<u64> {
    let count = choices.count();
    let start = u64::from(value.cast_unsigned()) % count;
    let all = (start..count).chain(0..start).map(|number| number * choices.step);
    let is_free = |value: &u64| {
        !choices.groups.iter().any(|group| taken.get(group).is_some_and(|taken| taken.contains(value)))
    };
    let chosen = all.into_iter().find(is_free)?;
    for group in &choices.groups {
        taken.entry(*group).or_default().insert(chosen);
    }
    Some(chosen)
}

fn crowded((name, number): &Element, choices: &Choices) -> DataError {
    DataError::new(format!(
        "`{name}` has no default data: a scatter writes each row once, and element {number} has no row left of {}; \
         give indices with `--arg {name}=FILE.npy`",
        choices.count()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(value: i32, step: u64, count: u64, group: Option<u64>) -> IndexUse {
        IndexUse { value, step, count, group }
    }

    /// The elements of `i` after a choice; they were 1000, 1001, ... before.
    fn chosen(count: i32, uses: &[IndexUse]) -> Result<Vec<i32>, String> {
        let bytes = (0..count).flat_map(|at| (1000 + at).to_le_bytes()).collect();
        let mut tensors = BTreeMap::from([("i".to_owned(), bytes)]);
        let mut all = ChosenIndices::default();
        all.choose(&mut tensors, &["i".to_owned()], uses).map_err(|error| error.message)?;
        assert_eq!(all.choose(&mut tensors, &["i".to_owned()], uses).ok(), Some(0), "each is chosen once");
        Ok(numbers(&tensors["i"]).collect())
    }

    #[test]
    fn every_use_allows_the_value() {
        // Multiples of 12 below 40, of 8 and below 48: 0 or 24.
        let found = chosen(3, &[used(1001, 12, 4, None), used(1001, 8, 6, None)]).expect("0 or 24");
        assert!([0, 24].contains(&found[1]), "{found:?}");
        // Elements that are not read as an index stay.
        assert_eq!((found[0], found[2]), (1000, 1002));
        assert_eq!(chosen(1, &[used(1000, 4, 1, None)]), Ok(vec![0]));
        assert_eq!(chosen(1, &[used(1000, 1 << 40, 1 << 20, None)]), Ok(vec![0]));
    }

    /// Whichever come first: element 0 may be any of 4 rows, element 1 of 2, and element 2 is row 0.
    #[test]
    fn a_group_has_different_rows() {
        let group = Some(1);
        let uses = [
            used(1000, 64, 4, group),
            used(1001, 64, 4, group),
            used(1001, 64, 2, None),
            used(1002, 64, 4, group),
            used(1002, 64, 1, None),
        ];
        let found = chosen(3, &uses).expect("three of four rows");
        assert_eq!((found[2], found[1]), (0, 64));
        assert!([128, 192].contains(&found[0]));
        // A row that given data have chosen is taken.
        let given = [used(0, 64, 2, group), used(1000, 64, 2, group)];
        assert_eq!(chosen(1, &given), Ok(vec![64]));
        // In two groups each row may be twice.
        let two = [used(1000, 1, 1, Some(1)), used(1001, 1, 1, Some(2))];
        assert_eq!(chosen(2, &two), Ok(vec![0, 0]));
    }

    #[test]
    fn more_indices_than_rows_are_refused() {
        let uses = |count| (0..4).map(|at| used(1000 + at, 8, count, Some(7))).collect::<Vec<_>>();
        let mut found = chosen(4, &uses(4)).expect("as many");
        found.sort_unstable();
        assert_eq!(found, [0, 8, 16, 24]);
        let refused = chosen(4, &uses(3)).expect_err("one more");
        assert!(refused.contains("`i` has no default data: a scatter writes each row once"), "{refused}");
        assert!(refused.contains("no row left of 3; give indices with `--arg i=FILE.npy`"), "{refused}");
        let given = [used(0, 8, 1, Some(1)), used(1000, 8, 1, Some(1))];
        assert!(chosen(1, &given).is_err());
    }
}
