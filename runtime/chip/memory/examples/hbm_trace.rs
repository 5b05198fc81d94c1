//! Streams of HBM requests, for the comparison with another simulator (`test/peers/dram`).
//!
//! `hbm_trace list` prints their names. `hbm_trace trace NAME` writes one, a request of 256 bytes a line: channel,
//! slice, bank group, bank, row, the unit of the row, and R or W. `hbm_trace ours NAME` prints the results of the
//! detailed model for the same stream: HBM cycles, requests, row openings, row switches. `NAME/7` is the part of it
//! for channel 7.

#![expect(clippy::print_stdout, reason = "its output")]

use std::io::{BufWriter, Write};

use visa_loops::Program;
use visa_machine::Machine;
use visa_memory::detailed::{self, ChannelTotals, Direction, Timing};
use visa_memory::{HBM_BYTES, HBM_UNIT, HbmPlace, Request, channel, requests};
use visa_support::Random;

/// Requests of a stream without an explicit number.
const COUNT: u64 = 1 << 16;

type Stream = Box<dyn Iterator<Item = (u64, Direction)>>;

fn reads(addresses: impl Iterator<Item = u64> + 'static) -> Stream {
    Box::new(addresses.map(|address| (address, Direction::Read)))
}

/// Every `stride` bytes through HBM, and from its start again one unit further on.
fn strided(stride: u64) -> Stream {
    let around = HBM_BYTES / stride;
    reads((0..COUNT).map(move |at| at % around * stride + at / around * HBM_UNIT))
}

/// Random units, of which `writes` of 8 are written.
fn random(writes: u64) -> Stream {
    let mut random = Random(0x5eed);
    Box::new((0..COUNT).map(move |_| {
        let address = random.under(HBM_BYTES / HBM_UNIT) * HBM_UNIT;
        (address, if random.under(8) < writes { Direction::Write } else { Direction::Read })
    }))
}

/// Two sequences `apart` bytes apart, which take turns; the second one reads or writes.
fn two(apart: u64, second: Direction) -> Stream {
    Box::new((0..COUNT).map(move |at| match at % 2 {
        0 => (at / 2 * HBM_UNIT, Direction::Read),
        _ => (at / 2 * HBM_UNIT + apart, second),
    }))
}

/// Rows of one bank in no order, none of them twice: a simulator may answer two requests for the same bytes at once.
fn one_bank() -> Stream {
    let place = HbmPlace { stack: 0, channel: 0, slice: 0, bank_group: 0, bank: 0, row: 0, byte: 0 };
    reads((0..COUNT / 8).map(move |at| HbmPlace { row: at * 7919 % (16 << 10), ..place }.address()))
}

/// The reads of one program.
fn engine(text: &str) -> Stream {
    let program: Program = text.parse().expect("a program");
    // The requests borrow the program, and are all that is left of it.
    let program: &'static Program = Box::leak(Box::new(program));
    reads(requests(program, &Machine::rngd()).expect("addresses").map(|request| request.address))
}

/// The reads of eight engines, which take turns.
fn engines(program: impl Fn(u64) -> String) -> Stream {
    let mut engines: Vec<_> = (0..8).map(|number| engine(&program(number))).collect();
    let mut turn = 0;
    Box::new(std::iter::from_fn(move || {
        turn += 1;
        engines[(turn - 1) % 8].next()
    }))
}

/// Another bank than that of the same address without it.
const OTHER_BANK: u64 = 1 << 18;

fn streams() -> Vec<(String, Stream)> {
    let mut all: Vec<_> = (8..=28).map(|bit| (format!("stride-{bit}"), strided(1 << bit))).collect();
    let d4 = "[256 : 65536, 4 : 256, 32 : 1024, 2 : 32768, 256 : 1] : 256";
    let d6 = |engine| {
        format!("[256 : 1024, 4 : 256, 32 : 2097152, 2 : 67108864, 256 : 1] : 256 @ {}", engine << 18)
    };
    let d7 = |engine| format!("[8 : 512, 32 : 4096, 2 : 131072, 256 : 1] : 256 @ {}", engine << 18);
    let more = [
        ("random-rows", random(0)),
        ("random-rows-writes", random(3)),
        ("one-bank-rows", one_bank()),
        ("two-streams", two(1 << 30, Direction::Read)),
        ("two-streams-other-bank", two((1 << 30) + OTHER_BANK, Direction::Read)),
        ("copy", two(1 << 30, Direction::Write)),
        ("copy-other-bank", two((1 << 30) + OTHER_BANK, Direction::Write)),
        ("book-10-example-2", engine(d4)),
        ("book-10-example-4", engines(d6)),
        ("book-10-example-5", engines(d7)),
    ];
    all.extend(more.map(|(name, stream)| (name.to_owned(), stream)));
    all
}

fn trace(stream: Stream) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (address, direction) in stream {
        let place = HbmPlace::of(address).expect("an address of HBM");
        let HbmPlace { stack, channel, slice, bank_group, bank, row, byte } = place;
        let kind = match direction {
            Direction::Read => 'R',
            Direction::Write => 'W',
        };
        let channel = stack * 16 + channel;
        writeln!(out, "{channel} {slice} {bank_group} {bank} {row} {} {kind}", byte / HBM_UNIT)?;
    }
    out.flush()
}

fn ours(stream: Stream) {
    // DRAMsim3 has at least 3 cycles from a read to a write: see `test/peers/dram/hbm.ini`.
    let timing = Timing { read_to_write: 3, ..Timing::of(&Machine::rngd()) };
    let requests = stream.map(|(address, direction)| (Request { address, bytes: HBM_UNIT }, direction));
    let found = detailed::stream(requests, &timing).expect("addresses of HBM");
    let sum = |of: fn(&ChannelTotals) -> u64| found.channels.iter().map(of).sum::<u64>();
    let requests = sum(ChannelTotals::requests);
    let opens = sum(|totals| totals.row_opens);
    println!("{} {requests} {opens} {}", found.hbm_cycles, sum(|totals| totals.row_switches));
}

/// The stream of a name, or the part of it for a channel.
fn find(name: &str) -> Result<Stream, String> {
    let (name, only) = match name.split_once('/') {
        Some((name, channel)) => (name, Some(channel.parse::<u64>().map_err(|error| error.to_string())?)),
        None => (name, None),
    };
    let found = streams().into_iter().find(|(other, _)| other == name);
    let (_, stream) = found.ok_or_else(|| format!("{name} is no stream: `hbm_trace list` names them"))?;
    Ok(Box::new(stream.filter(move |&(address, _)| only.is_none_or(|only| only == channel(address)))))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => streams().iter().for_each(|(name, _)| println!("{name}")),
        ["trace", name] => trace(find(name)?)?,
        ["ours", name] => ours(find(name)?),
        _ => return Err("expected `list`, `trace NAME` or `ours NAME`".into()),
    }
    Ok(())
}
