// Feeds DRAMsim3 a trace as the raw stream of our detailed model is fed: requests in their order, each as soon as the
// 64 entries of its channel's queue have room for its four commands. DRAMsim3's own main feeds one command a cycle of
// all channels together, and does not say when the last is done.
//
// usage: driver CONFIG OUTPUT-DIRECTORY QUEUE < TRACE
// Prints the cycle in which the last data are there, and the totals of all channels.

// The length of a queue and the counts of commands are private.
#include <fstream>
#include <iostream>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <map>
#include <vector>
#include <functional>
#define private public
#define protected public
#include "memory_system.h"
#undef private
#undef protected

using namespace dramsim3;

struct Request {
    int channel = 0;
    uint64_t address = 0;
    bool write = false;
};

// The field order of the configuration file: channel, row, slice, bank, bank group, column.
static bool Next(Request& request) {
    uint64_t channel, slice, group, bank, row, unit;
    char kind;
    if (!(std::cin >> channel >> slice >> group >> bank >> row >> unit >> kind)) return false;
    uint64_t address = channel;
    address = address << 14 | row;
    address = address << 2 | slice;
    address = address << 2 | bank;
    address = address << 2 | group;
    request.channel = channel;
    request.address = (address << 3 | unit) << 8;
    request.write = kind == 'W';
    return true;
}

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: driver CONFIG OUTPUT-DIRECTORY QUEUE < TRACE\n";
        return 2;
    }
    std::ios::sync_with_stdio(false);
    const size_t queue = std::stoul(argv[3]);
    auto nothing = [](uint64_t) {};
    MemorySystem memory(argv[1], argv[2], nothing, nothing);
    auto& channels = memory.dram_system_->ctrls_;
    auto usage = [&](int channel) {
        return channels[channel]->QueueUsage() + channels[channel]->unified_queue_.size();
    };
    Request request;
    bool more = Next(request);
    uint64_t clock = 0, last = 0;
    bool busy = true;
    while (more || busy) {
        while (more && usage(request.channel) + 4 <= queue) {
            for (int command = 0; command < 4; command++) {
                memory.AddTransaction(request.address + 64 * command, request.write);
                // From the queue of transactions to that of commands, which it else does one a cycle.
                channels[request.channel]->ScheduleTransaction();
            }
            more = Next(request);
        }
        memory.ClockTick();
        busy = false;
        for (size_t channel = 0; channel < channels.size(); channel++) busy |= usage(channel) > 0;
        last = clock++;
    }
    std::map<std::string, uint64_t> totals;
    for (auto channel : channels) {
        for (auto name : {"num_read_cmds", "num_write_cmds", "num_act_cmds", "num_pre_cmds"}) {
            totals[name] += channel->simple_stats_.epoch_counters_.at(name);
        }
    }
    // The last command was sent in cycle `last`; its data are on the bus for two cycles.
    std::cout << last + 2;
    for (auto name : {"num_read_cmds", "num_write_cmds", "num_act_cmds", "num_pre_cmds"}) {
        std::cout << ' ' << totals[name];
    }
    std::cout << std::endl;
}
