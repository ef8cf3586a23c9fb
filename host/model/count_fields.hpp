// The fields of counts in the order of their JSON form. The writer and tools/record.schema.json come from this list.
#pragma once

#include "model/counts.hpp"
#include "model/fields.hpp"

namespace cllab::model {

template <class V, Maybe_const<Amount> T>
void fields(V& v, T& a) {
    v.when(a.known, "mean", a.mean, {"Per work-item, over the launch. Absent: it is not known."});
    v.when(a.known && a.margin > 0, "margin", a.margin,
           {"Where groups were drawn: the mean's 95 % interval is this much to each side."});
    v.when(a.known && a.open, "open", a.open,
           {"That interval has no upper end: a group that was not counted may repeat a loop any number of times."});
    v.when(!a.known && a.at_least > 0, "at_least", a.at_least,
           {"Where the counted groups were alike and the others may not be: the mean's 95 % interval begins here and "
            "has no upper end."});
    v.always("low", a.low, {"Of the counted group with the least."});
    v.always("high", a.high, {"Of the counted group with the most."});
}

template <class V, Maybe_const<OperationCount> T>
void fields(V& v, T& o) {
    v.needed("kind", o.kind);
    v.always("bits", o.bits, {"Of an element; of a conversion, of its result."});
    v.if_set("function", o.function, {"Of float_function: which one."});
    v.needed("per_item", o.per_item, {"Elements: an addition of two float4 is four."});
}

template <class V, Maybe_const<Accesses> T>
void fields(V& v, T& a) {
    v.always("loads", a.loads);
    v.always("stores", a.stores);
    v.always("load_bytes", a.load_bytes);
    v.always("store_bytes", a.store_bytes);
}

template <class V, Maybe_const<SectorRequests> T>
void fields(V& v, T& r) {
    v.always("requests", r.requests, {"Of waves, shared out to work-items."});
    v.always("sectors", r.sectors, {"32-byte sectors that the requests touch."});
    v.always("least_sectors", r.least_sectors, {"For as many bytes side by side."});
    v.always("worst_sectors", r.worst_sectors, {"Of one request."});
}

template <class V, Maybe_const<BankRequests> T>
void fields(V& v, T& r) {
    v.always("requests", r.requests, {"Of waves, shared out to work-items."});
    v.always("ways", r.ways, {"Turns of 32 banks of 4 bytes."});
    v.always("least_ways", r.least_ways, {"Without bank conflicts."});
    v.always("worst_ways", r.worst_ways, {"Of one request."});
}

template <class V, Maybe_const<Atomics> T>
void fields(V& v, T& a) {
    v.always("number", a.number);
    v.always("requests", a.requests, {"Of waves, shared out to work-items."});
    v.always("turns", a.turns, {"A request takes as many as lanes meet on one address."});
    v.always("addresses", a.addresses, {"Different ones, in all counted groups; of local memory, in one of them."});
    v.always("most_in_wave", a.most_in_wave, {"Of one request on one address."});
    v.always("most_in_group", a.most_in_group, {"Of one group on one address."});
    v.always("most_on_address", a.most_on_address, {"Of all counted groups on one address."});
}

template <class V, Maybe_const<Footprint> T>
void fields(V& v, T& f) {
    v.needed("groups", f.groups,
             {"Counted ones, from the first. Nothing here is of the launch while groups are left."});
    v.always("bytes", f.bytes, {"Different bytes of global memory."});
    v.always("sectors", f.sectors, {"Different 32-byte sectors of global memory."});
    v.always("read_sectors", f.read_sectors);
    v.always("written_sectors", f.written_sectors);
    v.always("lines", f.lines, {"Of 128 bytes."});
}

template <class V, Maybe_const<Chain> T>
void fields(V& v, T& c) {
    v.always("loads", c.loads, {"Of global and constant memory."});
    v.always("local_loads", c.local_loads);
    v.always("arithmetic", c.arithmetic);
    v.always("atomics", c.atomics);
}

template <class V, Maybe_const<CountedLine> T>
void fields(V& v, T& l) {
    v.needed("line", l.line);
    v.always("file", l.file);
    v.if_set("text", l.text);
    v.always("instructions", l.instructions,
             {"Issued by waves, per work-item of the counted groups, as all numbers of a line are."});
    v.if_set("bytes", l.bytes, {"Of global memory, asked."});
    v.if_set("sectors", l.sectors);
    v.if_set("least_sectors", l.least_sectors);
    v.if_set("ways", l.ways, {"Of local memory."});
    v.if_set("least_ways", l.least_ways);
    v.if_set("atomic_turns", l.atomic_turns);
}

template <class V, Maybe_const<NotCounted> T>
void fields(V& v, T& n) {
    v.needed("what", n.what);
    v.needed("why", n.why);
}

template <class V, Maybe_const<CountGrowth> T>
void fields(V& v, T& g) {
    v.needed("point", g.point);
    v.always("instructions", g.instructions, {"Per work-item, as all numbers here are."});
    v.always("flops", g.flops);
    v.always("bytes", g.bytes, {"Read and written in global and constant memory."});
}

template <class V, Maybe_const<Counts> T>
void fields(V& v, T& c) {
    v.needed("source", c.source, {"Who counted."});
    v.needed("id", c.id);
    v.needed("kernel", c.kernel, {"The entry point."});
    v.needed("point", c.point, {"That was counted."});
    v.if_set("asked_point", c.asked_point, {"Where a smaller one was counted instead."});
    v.if_set("launch", c.launch, {"Of an operation with several."});
    v.when(c.launches != 1, "launches", c.launches, {"Of the operation that execute the same; 1 where absent."});
    v.needed("items", c.items, {"Of the launch."});
    v.needed("groups", c.groups);
    v.always("group_items", c.group_items);
    v.needed("counted_groups", c.counted_groups);
    v.always("counted_items", c.counted_items);
    v.always("seconds", c.seconds, {"Of the processor, that the count took."});
    v.if_set("by_place", c.by_place, {"A work-item's place in the launch decides what it executes or accesses."});
    v.if_set("by_data", c.by_data, {"Something loaded decides what work-items execute or access."});
    v.if_set("unlike_groups", c.unlike_groups,
             {"At most this share of the groups executes something else than the counted ones, at 95 % confidence."});
    v.needed("operations", c.operations);
    v.always("global", c.global);
    v.always("constant", c.constant);
    v.always("local", c.local);
    v.always("private", c.private_memory, {"Arrays and spilled values of the text; registers are no accesses."});
    v.when(c.image_accesses.high > 0 || !c.image_accesses.known, "image_accesses", c.image_accesses,
           {"Their bytes are not counted."});
    v.always("instructions", c.instructions, {"Executed by work-items; of a vector, as many as it has elements."});
    v.always("wave", c.wave, {"Work-items that execute together."});
    v.always("issued", c.issued, {"By waves, shared out to work-items."});
    v.when(c.issued.known, "lanes_active", c.lanes_active, {"Mean share of a wave's lanes in what it issues."});
    v.always("reads", c.reads, {"Of global memory."});
    v.always("writes", c.writes);
    v.always("footprint", c.footprint, {"After one group, two, four, ... all that were counted."});
    v.always("local_reads", c.local_reads);
    v.always("local_writes", c.local_writes);
    v.always("global_atomics", c.global_atomics);
    v.always("local_atomics", c.local_atomics);
    v.always("barriers", c.barriers);
    v.always("longest", c.longest, {"The largest of each, in any work-item; not necessarily of one path."});
    v.always("path", c.path, {"Of the path that takes longest where a load costs 100, a local one 8, arithmetic 1."});
    v.always("lines", c.lines, {"Of the source, the costliest first."});
    v.if_set("assumed", c.assumed, {"What nobody stated, in words."});
    v.if_set("not_counted", c.not_counted);
    v.if_set("growth", c.growth, {"At smaller points, where the asked one takes too long."});
}

}  // namespace cllab::model
