//! The DMA queue of each cluster (books 10, 28), and HBM, which they share.

use visa_cost::{MemoryModel, Report, Wait, Why};
use visa_engine::Space;
use visa_hw::program::{CommandKind, Dma};

use crate::doubles::{report, report_by};

/// A load by `engines` from number `first` on, each of `blocks` times 16 KiB, 256 bytes for each slice of its PE. Its
/// networks take turns, so that it moves 256 bytes a cycle. The bytes of slices are different ones for each `number`.
fn load(number: u64, first: u64, engines: u64, blocks: u64) -> CommandKind {
    let (read, write) = (first << 28, (first << 25) + (number << 16));
    let loops = format!(
        "[{engines} : 268435456 -> 33554432, {blocks} : 16384 -> 256, 32 : 512 -> 524288, 2 : 256 -> 16777216, 256 \
         : 1 -> 1] : 256 @ {read} -> {write}"
    );
    let mut dma = Dma::homogeneous(false, [Space::HBM, Space::DM], loops.parse().expect("loops"), 1);
    dma.parts[0].first = first;
    CommandKind::Dma(dma)
}

fn book(kinds: Vec<CommandKind>) -> Report {
    report_by(MemoryModel::Book, 1, kinds)
}

fn waits(report: &Report, command: usize) -> Vec<(usize, Why)> {
    report.commands[command].waits.iter().map(|&Wait { command, why }| (command, why)).collect()
}

#[test]
fn transfers_of_different_clusters_run_at_once() {
    // One engine of each cluster; then one of both, the last and the first; then one of the second.
    let found = book(vec![load(0, 0, 1, 4), load(1, 4, 1, 8), load(2, 3, 2, 2), load(3, 7, 1, 1)]);
    let [first, second, both, last] = &found.commands[..] else { panic!("four commands") };
    assert_eq!((first.start, second.start), (0, 0));
    assert!(first.end < second.end);
    assert_eq!((both.start, waits(&found, 2)), (second.end, vec![(1, Why::Busy)]));
    assert_eq!((last.start, waits(&found, 3)), (both.end, vec![(2, Why::Busy)]));
    let clusters: Vec<_> = found.commands.iter().map(|command| &command.clusters[..]).collect();
    assert_eq!(clusters, [&[0][..], &[1], &[], &[1]]);
}

#[test]
fn transfers_of_one_cluster_are_in_order() {
    let found = book(vec![load(0, 0, 1, 4), load(1, 3, 1, 4)]);
    assert_eq!((found.commands[1].start, waits(&found, 1)), (found.commands[0].end, vec![(0, Why::Busy)]));
}

/// Its prices are those of a transfer that all engines share.
#[test]
fn the_flat_model_has_one_queue() {
    let found = report(1, vec![load(0, 0, 1, 4), load(1, 4, 1, 4)]);
    assert_eq!((found.commands[1].start, waits(&found, 1)), (found.commands[0].end, vec![(0, Why::Busy)]));
    assert!(found.commands.iter().all(|command| command.clusters.is_empty()));
}

/// Four engines ask for 1024 bytes a cycle, of 1536 that HBM has.
#[test]
fn a_later_transfer_waits_for_hbm_beside_one_of_another_cluster() {
    let found = book(vec![load(0, 0, 4, 64), load(1, 4, 4, 64)]);
    let [first, second] = &found.commands[..] else { panic!("two commands") };
    assert_eq!((first.start, second.start, first.stalls), (0, 0, 0));
    assert!(second.stalls > 0, "{found:?}");
    assert_eq!((second.stalls_for.hbm, waits(&found, 1)), (second.stalls, vec![(0, Why::Hbm)]));
    assert_eq!((second.end, second.cycles - second.stalls), (second.cycles, first.cycles));
    // No more than HBM gives, and no less than one after the other.
    let (bytes, sum) = (2 * 4 * 64 * 16384, 2 * first.cycles);
    assert!(second.end >= bytes / 1536 && second.end < sum, "{} and {sum}", second.end);
    // Two engines of each do not ask for more than there is.
    let found = book(vec![load(0, 0, 2, 64), load(1, 4, 2, 64)]);
    assert_eq!((found.commands[1].stalls, waits(&found, 1)), (0, vec![]));
}

#[test]
fn reports_name_queues_that_differ() {
    let found = book(vec![load(0, 0, 4, 64), load(1, 4, 4, 64), load(2, 0, 1, 1)]);
    let [first, second, third] = &found.commands[..] else { panic!("three commands") };
    let queues = [first.cycles + third.cycles, second.end];
    assert_eq!(found.totals.dma_queues, queues);
    let text = found.text(|_| None);
    let contexts: Vec<_> =
        text.lines().skip(3).take(3).map(|row| row.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(contexts, ["dma0", "dma1", "dma0"], "{text}");
    let busy = format!("of the dma cluster 0 {} and cluster 1 {}\n", queues[0], queues[1]);
    assert!(text.contains(&busy), "{text}");
    let stalls = "stalls    1: ";
    assert!(
        text.contains(stalls) && text.contains("waiting for HBM that the DMA of another cluster takes\n"),
        "{text}"
    );
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["commands"][1]["clusters"], serde_json::json!([1]));
    assert_eq!(json["totals"]["dma_queues"][1], second.end);
    let even = serde_json::to_value(book(vec![load(0, 0, 8, 1)])).unwrap();
    assert!(even["totals"].get("dma_queues").is_none() && even["commands"][0].get("clusters").is_none());
}
