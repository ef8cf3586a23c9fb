// The fields of counts in the order of their JSON form. The writer and tools/record.schema.json come from this list.
#pragma once

#include "model/counts.hpp"
#include "model/fields.hpp"

namespace cllab::model {

template <class V, Maybe_const<Amount> T>
void fields(V& v, T& a) {
    v.when(a.known, "mean", a.mean, {"Per work-item, over the launch. Absent if unknown."});
    v.when(a.known && a.margin > 0, "margin", a.margin, {"If groups were drawn: half of the mean's 95 % interval."});
    v.always("low", a.low, {"Minimum over the counted groups."});
    v.always("high", a.high, {"Maximum over the counted groups."});
}

template <class V, Maybe_const<OperationCount> T>
void fields(V& v, T& o) {
    v.needed("kind", o.kind);
    v.always("bits", o.bits, {"Bits per element; for a conversion, of the result."});
    v.if_set("function", o.function, {"Name of the float_function."});
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
    v.always("requests", r.requests, {"Wave requests, divided by work-items."});
    v.always("sectors", r.sectors, {"32-byte sectors that the requests touch."});
    v.always("least_sectors", r.least_sectors, {"Minimum for as many adjacent bytes."});
    v.always("worst_sectors", r.worst_sectors, {"Maximum of one request."});
}

template <class V, Maybe_const<BankRequests> T>
void fields(V& v, T& r) {
    v.always("requests", r.requests, {"Wave requests, divided by work-items."});
    v.always("ways", r.ways, {"Turns of 32 banks of 4 bytes."});
    v.always("least_ways", r.least_ways, {"Without bank conflicts."});
    v.always("worst_ways", r.worst_ways, {"Maximum of one request."});
}

template <class V, Maybe_const<Atomics> T>
void fields(V& v, T& a) {
    v.always("number", a.number);
    v.always("requests", a.requests, {"Wave requests, divided by work-items."});
    v.always("turns", a.turns, {"A request takes one turn per lane on the same address."});
    v.always("addresses", a.addresses, {"Distinct addresses in all counted groups; for local memory, in one group."});
    v.always("most_in_wave", a.most_in_wave, {"Maximum of one request on one address."});
    v.always("most_in_group", a.most_in_group, {"Maximum of one group on one address."});
    v.always("most_on_address", a.most_on_address, {"Maximum of all counted groups on one address."});
}

template <class V, Maybe_const<Footprint> T>
void fields(V& v, T& f) {
    v.needed("groups", f.groups, {"Number of counted groups. The amounts cover these groups, not the launch."});
    v.always("bytes", f.bytes, {"Distinct bytes of global memory."});
    v.always("sectors", f.sectors, {"Distinct 32-byte sectors of global memory."});
    v.always("read_sectors", f.read_sectors);
    v.always("written_sectors", f.written_sectors);
    v.always("lines", f.lines, {"Distinct lines of 128 bytes."});
}

template <class V, Maybe_const<Chain> T>
void fields(V& v, T& c) {
    v.always("loads", c.loads, {"Loads from global and constant memory."});
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
             {"Wave instructions per work-item of the counted groups, like all numbers of a line."});
    v.if_set("bytes", l.bytes, {"Bytes of global memory that were requested."});
    v.if_set("sectors", l.sectors);
    v.if_set("least_sectors", l.least_sectors);
    v.if_set("ways", l.ways, {"Turns of local memory banks."});
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
    v.always("instructions", g.instructions, {"Per work-item, like all numbers here."});
    v.always("flops", g.flops);
    v.always("bytes", g.bytes, {"Read and written in global and constant memory."});
}

template <class V, Maybe_const<Counts> T>
void fields(V& v, T& c) {
    v.needed("source", c.source, {"The program that counted."});
    v.needed("id", c.id);
    v.needed("kernel", c.kernel, {"The entry point."});
    v.needed("point", c.point, {"The counted point."});
    v.if_set("asked_point", c.asked_point, {"The requested point, if a smaller one was counted instead."});
    v.if_set("launch", c.launch, {"Number of the launch, if the operation has several."});
    v.when(c.launches != 1, "launches", c.launches, {"Launches of the operation that execute the same; 1 if absent."});
    v.needed("items", c.items, {"Work-items of the launch."});
    v.needed("groups", c.groups);
    v.always("group_items", c.group_items);
    v.needed("counted_groups", c.counted_groups);
    v.always("counted_items", c.counted_items);
    v.always("seconds", c.seconds, {"Processor seconds of the count."});
    v.if_set("by_place", c.by_place, {"A work-item's place in the launch decides what it executes or accesses."});
    v.if_set("by_data", c.by_data, {"Loaded data decides what work-items execute or access."});
    v.if_set("unlike_groups", c.unlike_groups,
             {"Maximum share of groups that may execute something else than the counted ones, at 95 % confidence."});
    v.needed("operations", c.operations);
    v.always("global", c.global);
    v.always("constant", c.constant);
    v.always("local", c.local);
    v.always("private", c.private_memory, {"Private arrays and spilled values; registers do not count."});
    v.when(c.image_accesses.high > 0 || !c.image_accesses.known, "image_accesses", c.image_accesses,
           {"Their bytes are not counted."});
    v.always("instructions", c.instructions, {"Executed by work-items; a vector instruction counts once per element."});
    v.always("wave", c.wave, {"Work-items that execute together."});
    v.always("issued", c.issued, {"Wave instructions, divided by work-items."});
    v.when(c.issued.known, "lanes_active", c.lanes_active, {"Mean share of active lanes per wave instruction."});
    v.always("reads", c.reads, {"Accesses to global memory."});
    v.always("writes", c.writes);
    v.always("footprint", c.footprint, {"After one, two, four, ... all counted groups."});
    v.always("local_reads", c.local_reads);
    v.always("local_writes", c.local_writes);
    v.always("global_atomics", c.global_atomics);
    v.always("local_atomics", c.local_atomics);
    v.always("barriers", c.barriers);
    v.always("longest", c.longest, {"The maximum of each amount over work-items; not necessarily on one path."});
    v.always("path", c.path, {"Amounts of the longest path, if a load costs 100, a local load 8, arithmetic 1."});
    v.always("lines", c.lines, {"Source lines, costliest first."});
    v.if_set("assumed", c.assumed, {"Assumptions about undeclared values."});
    v.if_set("not_counted", c.not_counted);
    v.if_set("growth", c.growth, {"Amounts at smaller points, if the requested one takes too long."});
}

}  // namespace cllab::model
