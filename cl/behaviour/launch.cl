// What a launch became: the group of the first item, the number of groups, the group of the last item.
kernel void shape(global uint* out) {
    const size_t x = get_global_id(0), y = get_global_id(1);
    if (x + y == 0) {
        out[0] = get_local_size(0);
        out[1] = get_local_size(1);
        out[2] = get_num_groups(0) * get_num_groups(1);
    }
    if (x == get_global_size(0) - 1 && y == get_global_size(1) - 1) out[3] = get_local_size(0);
}

kernel void add_one(global uint* out) { out[0] += 1; }

kernel void empty(global uint* out) {}

kernel void store(global uint* out) { out[get_global_id(0)] = (uint)get_global_id(0); }

// One group that is busy for a while: two of them fit beside each other on any device with two units.
kernel void chain(global uint* out) {
    uint x = get_global_id(0);
    for (uint i = 0; i < TRIPS; ++i) x = x * 1664525u + 1013904223u;
    out[get_global_id(0)] = x;
}

// Which group came first: each takes a ticket.
kernel void ticket(global uint* out) {
    if (get_local_id(0) == 0 && atomic_inc(&out[0]) == 0) out[1] = get_group_id(0);
}

typedef struct {
    uint word[240];
} Large;
kernel void large(global uint* out, global const uint* in, uint one, Large argument) {
    if (get_global_id(0) == 0) out[0] = argument.word[one];
}
