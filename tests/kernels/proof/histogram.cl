/*cllab
axis n = 4096
arg data = rand:uchar:n
arg bins = zero:256
arg n = n
global n
relation same under permute data
relation sum of bins is n
*/
__kernel void counts(__global const uchar* data, __global uint* bins, uint n) {
    atomic_inc(&bins[data[get_global_id(0)]]);
}

#ifdef LOSES_ONE
// Wrong at the border only: the last element is nobody's.
__kernel void loses_one(__global const uchar* data, __global uint* bins, uint n) {
    if (get_global_id(0) + 1 < n) atomic_inc(&bins[data[get_global_id(0)]]);
}
#endif
