//! The line of a report about the order of its commands.

use serde::Serialize;
use visa_ir::diag::counted;

/// An order of commands that is not the text's.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "order", content = "file")]
pub(crate) enum OrderName {
    /// The vendor's scheduler's.
    Vendor,
    /// That of a schedule or a trace, by the name of its file.
    File(String),
}

/// The order of a report's commands, if it is not that of the text.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OrderLine {
    #[serde(flatten)]
    pub(crate) order: OrderName,
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
        let order = match &self.order {
            OrderName::Vendor => {
                "the vendor's scheduler's; `--schedule=written` preserves the kernel's".to_owned()
            }
            OrderName::File(file) => format!("that of `{file}`"),
        };
        format!("order     {order}{}\n", self.gain().unwrap_or_default())
    }

    /// After the total of a report that has one line.
    pub(crate) fn words(&self) -> String {
        match &self.order {
            OrderName::Vendor => ", in the vendor's order".to_owned(),
            OrderName::File(file) => format!(", in the order of `{file}`"),
        }
    }

    /// Effect of `--schedule`.
    fn gain(&self) -> Option<String> {
        let optimised = self.optimised?;
        let time = counted(optimised, self.unit);
        Some(match self.total.checked_sub(optimised).filter(|&gain| gain > 0) {
            Some(gain) => {
                let share = 100.0 * gain as f64 / self.total.max(1) as f64;
                format!("; with `--schedule` {time}, {share:.1}% less")
            }
            None => format!("; `--schedule` gains nothing ({time})"),
        })
    }
}
