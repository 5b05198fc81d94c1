//! The line of a report about the order of its commands.

use serde::Serialize;
use visa_ir::diag::counted;

/// The order of a report's commands, if it is not that of the text.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OrderLine {
    /// `vendor`.
    pub(crate) order: &'static str,
    /// The total with `--schedule`, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) optimised: Option<u64>,
    /// The total in this order.
    #[serde(skip)]
    pub(crate) total: u64,
    /// The name of its unit.
    #[serde(skip)]
    pub(crate) unit: &'static str,
}

impl OrderLine {
    /// As a line of text.
    pub(crate) fn text(&self) -> String {
        let gain = self.optimised.map(|optimised| {
            let time = counted(optimised, self.unit);
            match self.total.checked_sub(optimised).filter(|&gain| gain > 0) {
                Some(gain) => {
                    let share = 100.0 * gain as f64 / self.total.max(1) as f64;
                    format!("; with `--schedule` {time}, {share:.1}% less")
                }
                None => format!("; `--schedule` gains nothing ({time})"),
            }
        });
        let gain = gain.unwrap_or_default();
        format!("order     the vendor's scheduler's; `--schedule=written` preserves the kernel's{gain}\n")
    }
}
