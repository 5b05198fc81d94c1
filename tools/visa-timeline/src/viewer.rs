//! The timeline as the vendor's schedule viewer reads it
//! (<https://github.com/furiosa-ai/furiosa-schedule-viewer>, 0.3): a schedule of instructions and tensors.
//!
//! Addresses cover all slices of a chip together: those of a slice times their count. Values in HBM have no tensor.
//! The compared file's times are in rows that our commands leave free: transfers in that of PCIe, runs of the Tensor
//! Unit in that of the core.

use serde::Serialize;
use visa_cost::Resource;
use visa_engine::{Engine, Space};

use crate::document::{Command, Document, Range, Run};
use crate::limits::{drawn, inexact};

/// Slices that its addresses count.
const SLICES: u64 = 512;
/// Bytes of a page of its memory.
const PAGE: u64 = 16 << 20;

#[derive(Serialize)]
struct Schedule {
    title: &'static str,
    total_memory: u64,
    page_size: u64,
    instructions: Vec<Instruction>,
    tensors: Vec<Tensor>,
}

#[derive(Serialize)]
struct Instruction {
    index: String,
    history: Nothing,
    tpe: &'static str,
    contexts: Vec<&'static str>,
    lifetime: Lifetime,
    input_tensors: Vec<usize>,
    output_tensors: Vec<usize>,
    description: String,
    util: Util,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Lifetime {
    begin: u64,
    end: u64,
}

/// Parts of the possible work meanwhile, 0 to 1.
#[derive(Serialize)]
struct Util {
    total_util: f64,
    base_util: f64,
    efficiency: f64,
}

#[derive(Serialize)]
struct Tensor {
    name: String,
    index: String,
    buffer_type: &'static str,
    lifetime: Lifetime,
    address: u64,
    size: u64,
    physical_pages: Vec<u64>,
    shape: String,
    fingerprint: Option<String>,
}

/// The timeline as a schedule, in JSON.
///
/// # Errors
/// Times that a browser would round.
pub fn schedule(document: &Document) -> Result<String, String> {
    if let Some(why) = inexact(document) {
        return Err(why);
    }
    let document = &*drawn(document);
    let mut touched: Vec<[Vec<usize>; 2]> = vec![Default::default(); document.runs.len()];
    for (tensor, range) in document.memory.iter().enumerate() {
        range.readers.iter().for_each(|&run| touched[run][0].push(tensor));
        touched[range.writer][1].push(tensor);
    }
    let runs = document.runs.iter().zip(touched).enumerate();
    let ours = runs.map(|(number, (run, touched))| instruction(document, number, run, touched));
    let schedule = Schedule {
        title: "Schedule",
        total_memory: document.capacity.dm.saturating_mul(SLICES),
        page_size: PAGE,
        instructions: ours.chain(theirs(document)).collect(),
        tensors: document.memory.iter().enumerate().map(|(number, range)| tensor(number, range)).collect(),
    };
    serde_json::to_string(&schedule).map(|text| text + "\n").map_err(|why| why.to_string())
}

fn instruction(
    document: &Document,
    number: usize,
    run: &Run,
    [read, written]: [Vec<usize>; 2],
) -> Instruction {
    let command = &document.commands[run.command];
    let share = command.least as f64 / (run.end - run.start).max(1) as f64;
    Instruction {
        index: number.to_string(),
        history: Nothing {},
        tpe: kind(command),
        contexts: contexts(command),
        lifetime: Lifetime { begin: run.start, end: run.end },
        input_tensors: read,
        output_tensors: written,
        description: description(document, command, run),
        util: Util { total_util: share.min(1.0), base_util: share.min(1.0), efficiency: 1.0 },
    }
}

/// The times of each run in a compared file, on each cluster.
fn theirs(document: &Document) -> impl Iterator<Item = Instruction> + '_ {
    let with = document.compared.as_ref().map_or("", |compared| compared.with);
    document.runs.iter().enumerate().flat_map(move |(number, run)| {
        let command = &document.commands[run.command];
        let context = match command.kind {
            Resource::Main | Resource::Sub | Resource::Dual => "PeCore",
            Resource::Dma | Resource::Pcie => "PcieDmaEngine",
        };
        run.theirs.iter().enumerate().map(move |(cluster, &[begin, end])| Instruction {
            index: format!("{number} by {with}, cluster {cluster}"),
            history: Nothing {},
            tpe: "Core",
            contexts: vec![context],
            lifetime: Lifetime { begin, end },
            input_tensors: Vec::new(),
            output_tensors: Vec::new(),
            description: format!("{} by {with}, cluster {cluster}", command.title()),
            util: Util { total_util: 0.0, base_util: 0.0, efficiency: 0.0 },
        })
    })
}

/// The toolchain's name of such a command.
fn kind(command: &Command) -> &'static str {
    let [hbm_read, hbm_written, ..] = command.bytes;
    match command.kind {
        Resource::Main | Resource::Dual => "Main",
        Resource::Sub => "Sub",
        Resource::Dma | Resource::Pcie if hbm_written > 0 => "DmaStore",
        Resource::Dma | Resource::Pcie if hbm_read > 0 => "DmaLoad",
        Resource::Dma | Resource::Pcie => "DmaStos",
    }
}

/// The rows that it is drawn in.
fn contexts(command: &Command) -> Vec<&'static str> {
    let mut all = match command.kind {
        Resource::Main => vec!["MainContext"],
        Resource::Sub => vec!["SubContext"],
        Resource::Dual => vec!["MainContext", "SubContext"],
        Resource::Pcie => vec!["PcieDmaEngine"],
        Resource::Dma => vec!["DmaEngine"],
    };
    if command.engines.iter().any(|(engine, _)| *engine == Engine::VECTOR.0) {
        all.push("VectorEngine");
    }
    all
}

fn description(document: &Document, command: &Command, run: &Run) -> String {
    let place = command.text.zip(command.line).and_then(|(text, line)| {
        document.texts.get(text).map(|text| format!("--> {}:{line}\n\n", text.name))
    });
    let waits: Vec<String> = run.waits.iter().map(|wait| format!("{} ({})", wait.0, wait.1.name())).collect();
    let waits = if waits.is_empty() { String::new() } else { format!("\n\nwaits for {}", waits.join(", ")) };
    let name = command.name.as_ref().map_or_else(String::new, |name| format!("{name}\n\n"));
    let (place, label) = (place.unwrap_or_default(), &command.label);
    format!("{name}{place}{label}\n\nbottleneck {}{waits}", command.bottleneck)
}

fn tensor(number: usize, range: &Range) -> Tensor {
    let [first, end] = range.bytes;
    let [first_slice, end_slice] = range.slices;
    let buffer_type = match range.space {
        Space::Trf => "Trf",
        Space::Vrf => "Vrf",
        Space::Memory(medium) => medium.decl().viewer,
    };
    Tensor {
        name: range.name.clone(),
        index: number.to_string(),
        buffer_type,
        lifetime: Lifetime { begin: range.start, end: range.end },
        address: first.saturating_mul(SLICES),
        size: (end - first).saturating_mul(SLICES),
        physical_pages: Vec::new(),
        shape: format!("bytes {first} to {end} of slices {first_slice} to {end_slice}"),
        fingerprint: None,
    }
}
