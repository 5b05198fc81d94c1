//! Prices hw programs in cycles.
//!
//! [`price`] asks every stage for its cost, places the commands on the machine's resources in program order (book 28)
//! and returns a [`Report`]: as text for the kernel's author, as JSON by serde for programs.

mod anatomy;
mod banks;
mod bound;
mod command;
mod components;
mod fit;
mod footprint;
mod held;
mod indexed;
mod indices;
mod known;
mod memory;
mod model;
mod parallel;
mod pipeline;
mod ports;
mod price;
mod prices;
mod queues;
mod report;
mod rows;
mod schedule;
mod table_loads;
mod tables;
mod text;
mod ticks;
mod timeline;
mod traffic;
mod transfer;
mod walks;

pub use anatomy::Anatomy;
pub use components::{Component, Components};
pub use fit::{FitError, Sample, Start, fit};
pub use held::Held;
pub use indices::KnownIndices;
pub use known::KnownPrices;
pub use model::MemoryModel;
pub use pipeline::PipelineTime;
pub use price::{Each, Priced, price, price_knowing, priced};
pub use prices::MAX_SAMPLED;
pub use queues::Queues;
pub use report::{
    Assumed, Bound, BoundPart, Busy, ChannelReport, CommandReport, ContractionReport, EngineCycles,
    MemoryReport, NoiseReport, Report, Resource, Stalls, TimeUnit, Totals, Wait, Why,
};
pub use rows::{AssumedRows, Rows};
pub use schedule::runs::MAX_RUNS;
pub use table_loads::with_table_loads;
pub use text::NAME_WIDTH;
pub use timeline::{Occurrence, Timeline, WaitsFor};
pub use traffic::{Moved, Traffic};
pub use transfer::{TransferCost, measured_ticks, transfer_cost};
