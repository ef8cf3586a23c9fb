// Inclusive prefix sums by doubling distances: the distance of each repetition follows from its number.
/*cllab
axis log2n = 10
arg from = rand:1 << log2n:0:100
arg to = out:1 << log2n
global 1 << log2n
kernel serial
global 1
local 1
arg n = 1 << log2n
sequence sums = step
arg distance = 1 << rep
repeat log2n
swap from to
reset from
reference serial
*/
__kernel void step(__global const int* from, __global int* to, int distance) {
    const int i = get_global_id(0);
    to[i] = from[i] + (i < distance ? 0 : from[i - distance]);
}

// Leaves the sums where the sequence does, and what was there before the last step in the other.
__kernel void serial(__global int* from, __global int* to, int n) {
    for (int i = 0; i < n; ++i) {
        int sum = 0;
        for (int k = 0; k < n / 2; ++k) sum += k <= i ? from[i - k] : 0;
        to[i] = sum;
    }
    for (int i = 1; i < n; ++i) from[i] += from[i - 1];
}
