//! Names of axes: dimensions that an operation counts alike get one name, throughout a module.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The name of an axis.
pub(crate) type Axis = Arc<str>;

/// A dimension of a value, or a loop of an operation. One of a single coordinate has none.
pub(crate) type Dim = Option<usize>;

/// Dimensions that are the same axis. Two dimensions of one value never are.
#[derive(Default)]
pub(crate) struct Classes {
    parent: Vec<usize>,
    size: Vec<u64>,
    /// The values and operations with a dimension in the class, at its representative.
    owners: Vec<HashSet<usize>>,
    hint: Vec<Option<&'static str>>,
    groups: usize,
}

impl Classes {
    /// The dimensions of a new value, or the loops of a new operation.
    pub(crate) fn group(&mut self, sizes: &[u64]) -> Vec<Dim> {
        self.groups += 1;
        let owner = self.groups;
        let mut dim = |size: u64| {
            self.parent.push(self.parent.len());
            self.size.push(size);
            self.owners.push(HashSet::from([owner]));
            self.hint.push(None);
            self.parent.len() - 1
        };
        sizes.iter().map(|&size| (size > 1).then(|| dim(size))).collect()
    }

    fn find(&mut self, mut dim: usize) -> usize {
        while self.parent[dim] != dim {
            self.parent[dim] = self.parent[self.parent[dim]];
            dim = self.parent[dim];
        }
        dim
    }

    /// Makes two dimensions one axis, unless a value would then have the axis twice.
    pub(crate) fn unite(&mut self, left: Dim, right: Dim) {
        let (Some(left), Some(right)) = (left, right) else { return };
        let (left, right) = (self.find(left), self.find(right));
        if left == right || self.size[left] != self.size[right] {
            return;
        }
        let (small, large) =
            if self.owners[left].len() < self.owners[right].len() { (left, right) } else { (right, left) };
        if self.owners[small].iter().any(|owner| self.owners[large].contains(owner)) {
            return;
        }
        let owners = std::mem::take(&mut self.owners[small]);
        self.owners[large].extend(owners);
        self.hint[large] = self.hint[large].or(self.hint[small]);
        self.parent[small] = large;
    }

    /// Returns true if two dimensions have one size.
    pub(crate) fn same_size(&self, left: usize, right: usize) -> bool {
        self.size[left] == self.size[right]
    }

    /// Proposes a name for an axis. The first proposal wins.
    pub(crate) fn hint(&mut self, dim: Dim, name: &'static str) {
        if let Some(dim) = dim {
            let dim = self.find(dim);
            self.hint[dim] = self.hint[dim].or(Some(name));
        }
    }
}

/// The axes of a module so far.
pub(crate) struct Axes {
    classes: Classes,
    names: HashMap<usize, Axis>,
    /// Number of axes with each letter.
    taken: HashMap<&'static str, usize>,
    /// The axes with their sizes, in order.
    pub(crate) sizes: Vec<(Axis, u64)>,
    by_name: HashMap<Axis, u64>,
}

/// The name of an axis without a hint.
const PLAIN: &str = "D";

impl Axes {
    pub(crate) fn new(classes: Classes) -> Self {
        let (names, taken, by_name) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { classes, names, taken, sizes: Vec::new(), by_name }
    }

    /// The axis of a dimension.
    pub(crate) fn name(&mut self, dim: usize) -> Axis {
        let class = self.classes.find(dim);
        if let Some(name) = self.names.get(&class) {
            return Arc::clone(name);
        }
        let name = self.fresh(self.classes.hint[class].unwrap_or(PLAIN), self.classes.size[class]);
        self.names.insert(class, Arc::clone(&name));
        name
    }

    /// A new axis.
    pub(crate) fn fresh(&mut self, letter: &'static str, size: u64) -> Axis {
        let count = self.taken.entry(letter).or_default();
        *count += 1;
        let name: Axis = if *count == 1 { letter.into() } else { format!("{letter}{count}").into() };
        self.sizes.push((Arc::clone(&name), size));
        self.by_name.insert(Arc::clone(&name), size);
        name
    }

    /// The size of an axis; `None` if it is none of the module.
    pub(crate) fn size(&self, axis: &str) -> Option<u64> {
        self.by_name.get(axis).copied()
    }

    /// Axes of one coordinate, for arrays that have such dimensions.
    pub(crate) fn units(&mut self, count: usize) -> Vec<Axis> {
        while self.taken.get("U").copied().unwrap_or(0) < count {
            self.fresh("U", 1);
        }
        let units = self.sizes.iter().filter(|(_, size)| *size == 1).map(|(name, _)| Arc::clone(name));
        units.take(count).collect()
    }
}
