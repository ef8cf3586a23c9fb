// Counting sort in three kernels. `bins` is counted into, so each operation begins with zeros in it; the scatter then
// moves each place on.
/*cllab
axis n = 4096
axis bins = 256
arg keys = rand:n:0:bins - 1
arg counts = zero:bins
arg sorted = out:n
arg bins = bins
global n
kernel scan
global 1
local 1
kernel slow_sort
global 1
local 1
arg n = n
sequence sort = count, scan, scatter
reset counts
reference slow_sort
*/
__kernel void count(__global const uint* keys, __global uint* counts) {
    atomic_inc(&counts[keys[get_global_id(0)]]);
}

__kernel void scan(__global uint* counts, uint bins) {
    uint sum = 0;
    for (uint b = 0; b < bins; ++b) {
        const uint here = counts[b];
        counts[b] = sum;
        sum += here;
    }
}

__kernel void scatter(__global const uint* keys, __global uint* counts, __global uint* sorted) {
    const uint key = keys[get_global_id(0)];
    const uint place = atomic_inc(&counts[key]);
    if (place < get_global_size(0)) sorted[place] = key;
}

__kernel void slow_sort(__global const uint* keys, __global uint* counts, __global uint* sorted, uint bins, uint n) {
    uint place = 0;
    for (uint b = 0; b < bins; ++b) {
        for (uint i = 0; i < n; ++i)
            if (keys[i] == b) sorted[place++] = b;
        counts[b] = place;
    }
}
