//! Accesses in the order of their addresses, so that the contents of an address are prepared once for all of them.

/// The accesses of each distinct address. Addresses are in the order of their first use.
#[derive(Debug)]
pub(crate) struct ByAddress {
    /// Each address, and where its accesses end in `accesses`; they begin where those before end.
    ends: Vec<(u32, usize)>,
    /// Numbers of accesses, in ascending order for each address.
    accesses: Vec<u32>,
}

impl ByAddress {
    /// Sorts accesses by address.
    pub(crate) fn new(addresses: &[u32]) -> Self {
        const NONE: u32 = u32::MAX;
        let mut number = vec![NONE; addresses.iter().max().map_or(0, |&highest| highest as usize + 1)];
        let mut ends: Vec<(u32, usize)> = Vec::new();
        for &address in addresses {
            let number = &mut number[address as usize];
            if *number == NONE {
                *number = ends.len() as u32;
                ends.push((address, 0));
            }
            ends[*number as usize].1 += 1;
        }
        // Counts become starts, and each access moves its address's start on: the remaining values are the ends.
        let mut next = 0;
        for (_, count) in &mut ends {
            next += std::mem::replace(count, next);
        }
        let mut accesses = vec![0; addresses.len()];
        for (access, &address) in (0..).zip(addresses) {
            let place = &mut ends[number[address as usize] as usize].1;
            accesses[*place] = access;
            *place += 1;
        }
        Self { ends, accesses }
    }

    /// Each address with its accesses.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(address, end))| (address, &self.accesses[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_grouped_by_address_in_order() {
        let by_address = ByAddress::new(&[64, 0, 64, 7, 0, 64]);
        let found: Vec<_> = by_address.iter().collect();
        assert_eq!(found, [(64, &[0, 2, 5][..]), (0, &[1, 4]), (7, &[3])]);
        assert_eq!(ByAddress::new(&[]).iter().count(), 0);
    }
}
