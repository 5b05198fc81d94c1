//! The reasons of a plan, as comments of the operations that it writes.

use crate::array::Array;
use crate::contraction::emit::Planned;
use crate::contraction::layout::{Layout, PACKET_BYTES, elements};
use crate::contraction::{Gather, Mode, Move, Promotion, Role};
use crate::cut::Cut;
use visa_ir::diag::counted;
use visa_machine::Unit;
use visa_mapping::expression::Expression;

/// An expression of values with these names.
pub fn formula(expression: &Expression, names: &[String]) -> String {
    let names = names.iter().map(|name| name.as_str().into()).collect();
    let text = Expression { names, term: expression.term.clone() }.to_string();
    // Without the list of names: the formula has them.
    let body = text.strip_suffix(']').and_then(|text| text.split_once(": "));
    body.map_or_else(|| text.clone(), |(_, body)| body.to_owned())
}

impl Planned<'_> {
    /// The name of an operand.
    fn operand(&self, operand: usize) -> &str {
        &self.problem.operands[operand].name
    }

    /// The parts of the machine that divide each group: `[M] over 2 clusters and 32 slices`.
    #[must_use]
    pub fn division(&self) -> Vec<String> {
        let (choice, layout) = (self.choice, self.layout);
        let parts = [
            (Some(Role::Batch), choice.batch, &layout.batch),
            (Some(Role::Rows), choice.rows, &layout.rows),
            (Some(Role::Stream), choice.stream, &layout.stream),
            (None, choice.sum, &layout.sum),
        ];
        let divided = |(role, slices, cut): (Option<Role>, u64, &Cut)| {
            let clusters = role.map_or(1, |role| choice.clusters(role));
            let all = [(clusters, "cluster"), (slices, "slice")];
            let named = all.iter().filter(|(count, _)| *count > 1).map(|&(count, name)| counted(count, name));
            let named: Vec<String> = named.collect();
            (!named.is_empty()).then(|| format!("{} over {}", cut.group().text(), named.join(" and ")))
        };
        parts.into_iter().filter_map(divided).collect()
    }

    /// The reason why an operand is loaded before a loop.
    #[must_use]
    pub fn why_before_loop(&self, operand: usize) -> String {
        let name = self.operand(operand);
        format!("Each iteration reads the same of %{name}: it is loaded before the loop.")
    }

    /// The reason why an operand is not loaded.
    #[must_use]
    pub fn why_here(&self, operand: usize) -> String {
        if self.layout.loads_stream_once() {
            return format!("%{} is in data memory since before the loop.", self.operand(operand));
        }
        format!(
            "%{} is in data memory: the slices that computed it hold what they read.",
            self.operand(operand)
        )
    }

    /// The reason of the distribution of an operand when it is loaded.
    #[must_use]
    pub fn why_load(&self, operand: usize) -> String {
        let (choice, name) = (self.choice, self.operand(operand));
        if operand != choice.stationary {
            return self.why_stream(name);
        }
        let division = self.division();
        if division.is_empty() {
            return format!("One slice computes: it loads all of %{name}.");
        }
        format!("Divided: {}. Each slice loads its part of %{name}.", division.join(", "))
    }

    /// The reason of the distribution of the streamed operand.
    fn why_stream(&self, name: &str) -> String {
        let (choice, layout) = (self.choice, self.layout);
        if choice.share > 1 {
            let parts = [
                (choice.share_batch, &layout.batch),
                (choice.share_stream(), &layout.stream),
                (choice.share_sum, &layout.sum),
            ];
            let divided = parts.iter().filter(|(count, _)| *count > 1);
            let divided = divided.map(|(count, cut)| format!("1/{count} of its {}", cut.group().text()));
            return format!(
                "{} need the same part of %{name}: each loads {}, the switch exchanges them.",
                counted(choice.share, "slice"),
                divided.collect::<Vec<_>>().join(" and ")
            );
        }
        if choice.rows > 1 {
            return format!(
                "{} need the same part of %{name}: each loads a copy.",
                counted(choice.rows, "slice")
            );
        }
        format!("Each slice loads the part of %{name} that meets its rows.")
    }

    /// The reason of the exchange of whole rows of the streamed operand.
    #[must_use]
    pub fn why_rows_exchanged(&self, operand: usize) -> String {
        format!(
            "The loads of %{} have whole rows, which are longer contiguous runs; the switch exchanges their parts.",
            self.operand(operand)
        )
    }

    /// The reason of the zeros beyond the end of the sum.
    #[must_use]
    pub fn why_filled(&self, operand: usize) -> String {
        let (sum, padded) = (self.layout.sum.group(), self.layout.sum.padded());
        let name = self.operand(operand);
        format!(
            "Slices divide {padded} positions of {}: %{name} is zero beyond the {}.",
            sum.text(),
            sum.size
        )
    }

    /// The reason of the engines of a transfer, if the plan assigns them.
    #[must_use]
    pub fn why_queue(&self, transfer: Move) -> Option<String> {
        let cluster = self.choice.queue(transfer)?;
        Some(format!(
            "The DMA engines of cluster {cluster} load it, in parallel with transfers by those of the other."
        ))
    }

    /// The reason of the content of the register file.
    #[must_use]
    pub fn why_rows(&self) -> String {
        let choice = self.choice;
        let [held, streamed] =
            [choice.stationary, 1 - choice.stationary].map(|operand| self.operand(operand));
        let rows = counted(choice.row, "row");
        format!("The register file holds {rows} of %{held}: each packet of %{streamed} meets all of them.")
    }

    /// The reason of the content of a packet and of the context.
    #[must_use]
    pub fn why_packets(&self) -> String {
        let (layout, choice) = (self.layout, self.choice);
        let (columns, sum) = (layout.stream.group().text(), layout.sum.group().text());
        let context = match choice.unit {
            Unit::Dual => format!(
                "\nDual context: a fetch brings a whole packet of {}.",
                counted(elements(PACKET_BYTES, self.problem.dtype()), "element")
            ),
            Unit::Main | Unit::Sub => String::new(),
        };
        match choice.mode {
            Mode::Columns => {
                format!("Packets hold {columns}: products stay apart, {sum} is summed in time.{context}")
            }
            Mode::Tree => format!("Packets hold {sum}: the tree sums their products.{context}"),
            Mode::Blocks => {
                format!(
                    "Packets hold {columns} and {sum}: the tree sums 8 products for each column.{context}"
                )
            }
        }
    }

    /// The reason of the sum between slices.
    #[must_use]
    pub fn why_added(&self) -> String {
        let (choice, layout) = (self.choice, self.layout);
        let (slices, sum) = (counted(choice.sum, "slice"), layout.sum.group().text());
        let kept = match choice.promotion {
            Promotion::None => "the first of them has the results".to_owned(),
            Promotion::Stream => {
                format!("each keeps 1/{} of the columns, {}", choice.sum, layout.stream.group().text())
            }
            Promotion::Reuse | Promotion::Row => {
                format!("each keeps 1/{} of the rows, {}", choice.sum, layout.rows.group().text())
            }
        };
        format!("The sum over {sum} is divided among {slices}. Here they are added: {kept}.")
    }

    /// The reason of an operand of the map in the pipeline.
    #[must_use]
    pub fn why_operand(&self, array: &Array) -> String {
        format!(
            "The map of the sums reads %{} in the vector register file: each slice loads its part.",
            array.name
        )
    }

    /// The reason of the map in the pipeline.
    #[must_use]
    pub fn why_map(&self, expression: &Expression) -> String {
        let operands = self.problem.epilogue.operands.iter().map(|array| format!("%{}", array.name));
        let names: Vec<String> = std::iter::once("sums".to_owned()).chain(operands).collect();
        let map = formula(expression, &names);
        let memory = if self.choice.sum > 1 {
            "a pipeline adds between slices or computes a map, so the sums are read again"
        } else {
            "the sums are in no memory before it"
        };
        format!("%{} = {map}: {memory}.", self.problem.out.name)
    }

    /// The reason of the sum along the batch.
    #[must_use]
    pub fn why_batch_added(&self, axis: &str) -> String {
        let slices = match self.choice.batch {
            1 => String::new(),
            count => format!(" {} divide it: here their results are added, too.", counted(count, "slice")),
        };
        format!("The results along [{axis}] stay in data memory, and are added there.{slices}")
    }

    /// The reason of the exchange of rows and columns.
    #[must_use]
    pub fn why_transposed(&self) -> String {
        let columns = self.layout.stream.group().text();
        format!(
            "{columns} is innermost in %{}: rows and columns are exchanged before the store.",
            self.problem.out.name
        )
    }

    /// The reason of a loop over tiles.
    #[must_use]
    pub fn why_tiles(&self, cut: &Cut) -> String {
        format!(
            "{} of {}: one is loaded and stored while another is computed.",
            counted(cut.tiles(), "tile"),
            cut.group().text()
        )
    }

    /// The reason of an exchange before the store.
    #[must_use]
    pub fn why_gather(&self) -> Option<String> {
        let (count, _) = Layout::gathered(self.choice);
        match self.choice.gather {
            Gather::None => None,
            Gather::Own => Some(format!(
                "The results are put in the order of %{}: the store writes longer contiguous runs.",
                self.problem.out.name
            )),
            Gather::Rows | Gather::Stream | Gather::Promoted => Some(format!(
                "A slice collects the results of {}: the store writes longer contiguous runs.",
                counted(count, "slice")
            )),
        }
    }
}
