// Products of four warps at once, which Hopper has beside those of one: the factors are read from local memory while the warps
// go on, the sums are in their registers. The instructions are those of sm_90a, for which NVIDIA's driver does not compile
// OpenCL C, but whose PTX it takes as a binary: they stand in the text as PTX comments, which the host takes off
// (device/cuda.hpp).
#ifndef LAB_WGMMA_H
#define LAB_WGMMA_H

#define SM_90A "//sm_90a: "

// What the matrix units need to know of a factor in local memory: its address, and the bytes from eight rows to the next eight
// and from 128 bytes of a row to the next 128 (PTX ISA, "matrix descriptor"). Its rows are parts of 128 bytes, of which eight
// lie in 1024 bytes; the chunks of 16 bytes change places by the row, so that the same chunk of eight rows is in all banks.
#define WGMMA_PLACE(row, chunk) (128 * (row) + 16 * ((chunk) ^ (row) % 8))
static inline ulong wgmma_factor(uint address, uint to_next_rows, uint to_next_part) {
    return (ulong)1 << 62 | (ulong)(to_next_rows / 16) << 32 | to_next_part / 16 << 16 | (address & 0x3ffff) / 16;
}

// Before the first product, and after others have written its registers.
#define WGMMA_BEGIN asm volatile(SM_90A "wgmma.fence.sync.aligned;" : : : "memory");
#define WGMMA_END asm volatile(SM_90A "wgmma.commit_group.sync.aligned;" : : : "memory");
// Waits until all ended rows of products but the `most` latest are done.
#define WGMMA_WAIT(most) asm volatile(SM_90A "wgmma.wait_group.sync.aligned " #most ";" : : : "memory");
// What this work-item wrote to local memory is seen by products that begin behind the next barrier.
#define WGMMA_SHOW asm volatile("fence.proxy.async.shared::cta;" : : : "memory");

#define WGMMA_TEN(d) "%" d "0,%" d "1,%" d "2,%" d "3,%" d "4,%" d "5,%" d "6,%" d "7,%" d "8,%" d "9,"
#define WGMMA_FOUR(c, s, i) c(s[i]), c(s[i + 1]), c(s[i + 2]), c(s[i + 3])
#define WGMMA_16(c, s, i) WGMMA_FOUR(c, s, i), WGMMA_FOUR(c, s, i + 4), WGMMA_FOUR(c, s, i + 8), WGMMA_FOUR(c, s, i + 12)
#define WGMMA_64(c, s, i) WGMMA_16(c, s, i), WGMMA_16(c, s, i + 16), WGMMA_16(c, s, i + 32), WGMMA_16(c, s, i + 48)
// Adds to the 128 sums of each lane, `s`, the product of 64 rows of a and 256 columns of b. FORM begins with the sizes and ends
// with the types; SIGNS is what stands behind the factors: their signs, and which lie across their rows.
#define WGMMA(s, c, FORM, a, b, SIGNS)                                                                                  \
    asm volatile(SM_90A "{.reg .pred p;\n" SM_90A "setp.eq.u32 p, 0, 0;\n" SM_90A "wgmma.mma_async.sync.aligned." FORM " {" \
                 WGMMA_TEN("") WGMMA_TEN("1") WGMMA_TEN("2") WGMMA_TEN("3") WGMMA_TEN("4") WGMMA_TEN("5") WGMMA_TEN("6") \
                 WGMMA_TEN("7") WGMMA_TEN("8") WGMMA_TEN("9") WGMMA_TEN("10") WGMMA_TEN("11")                            \
                 "%120,%121,%122,%123,%124,%125,%126,%127}, %128, %129, p" SIGNS ";\n" SM_90A "}"                                    \
                 : WGMMA_64(c, s, 0), WGMMA_64(c, s, 64)                                                                 \
                 : "l"(a), "l"(b));
#endif
