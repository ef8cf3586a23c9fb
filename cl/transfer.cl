// transfer: bytes go to the device, are computed with, and come back. The kernel only gives the device something to do for a
// time that can be chosen: each word goes through `rounds` dependent steps of a linear congruential generator, modulo 2^32, so
// that every bit of what comes back can be checked.
#if defined(TRANSFER_BLOCKING) || defined(TRANSFER_EVENTS) || defined(TRANSFER_QUEUES)
kernel void KERNEL(global const uint* restrict src, global uint* restrict dst, uint count, int rounds) {
    const size_t i = get_global_id(0);
    if (i >= count) return;
    uint v = src[i];
    for (int r = 0; r < rounds; ++r) v = v * 1664525u + 1013904223u;
    dst[i] = v;
}
#endif

/* family
question: By which way do bytes get to the device and back fastest, and what of that can a kernel hide?
over: size

axis size: bytes that go up, and come back, in all; auto is 16 MiB, on a GPU 256 MiB
  unit: byte
  whole: 4 to 1e15, multiples of 4
axis memory: memory on the host's side. pageable: memory of the process. pinned: memory that the driver allocated.
    mapped: the buffer itself, mapped for the host. host_pointer: a mapped buffer in memory of the process
  choice: pageable, pinned, mapped, host_pointer
axis pieces: parts that go up, through the kernel and back one by one
  whole: 1 to 64
  usual: 8
axis queues: in-order queues that the pieces take in turn
  whole: 2 to 16
  usual: 2
  tune: 2, 3, 4
  only: queues
axis rounds: multiply-adds per word in the kernel: how long it takes; auto is 16, on a GPU 2048
  whole: 0 to 16Mi

variant blocking: Each transfer is a blocking call, and each kernel is waited for.
variant events: No call waits but for the host's own copying; the queue keeps the order.
variant queues: The pieces take turns on several queues: one may be copied while another is computed.
*/
