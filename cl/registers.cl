// registers: how many values a work-item can keep at once. COUNT vectors of 8 chains x <- x * x + c are carried through a
// loop of unknown length and all needed at its end, so each value must be kept: in a register or, past the limit, in
// memory. Vectors only shorten the text: on GPUs every element is a register of its own.

#if defined(REGISTERS_LIVE)
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
// M(k) for k below n.
#define UNITS1(M) M(0)
#define UNITS2(M) UNITS1(M) M(1)
#define UNITS3(M) UNITS2(M) M(2)
#define UNITS4(M) UNITS3(M) M(3)
#define UNITS5(M) UNITS4(M) M(4)
#define UNITS6(M) UNITS5(M) M(5)
#define UNITS7(M) UNITS6(M) M(6)
#define UNITS8(M) UNITS7(M) M(7)
#define UNITS9(M) UNITS8(M) M(8)
#define UNITS10(M) UNITS9(M) M(9)
#define UNITS11(M) UNITS10(M) M(10)
#define UNITS12(M) UNITS11(M) M(11)
#define UNITS13(M) UNITS12(M) M(12)
#define UNITS14(M) UNITS13(M) M(13)
#define UNITS15(M) UNITS14(M) M(14)
#define UNITS16(M) UNITS15(M) M(15)
#define UNITS17(M) UNITS16(M) M(16)
#define UNITS18(M) UNITS17(M) M(17)
#define UNITS19(M) UNITS18(M) M(18)
#define UNITS20(M) UNITS19(M) M(19)
#define UNITS21(M) UNITS20(M) M(20)
#define UNITS22(M) UNITS21(M) M(21)
#define UNITS23(M) UNITS22(M) M(22)
#define UNITS24(M) UNITS23(M) M(23)
#define UNITS25(M) UNITS24(M) M(24)
#define UNITS26(M) UNITS25(M) M(25)
#define UNITS27(M) UNITS26(M) M(26)
#define UNITS28(M) UNITS27(M) M(27)
#define UNITS29(M) UNITS28(M) M(28)
#define UNITS30(M) UNITS29(M) M(29)
#define UNITS31(M) UNITS30(M) M(30)
#define UNITS32(M) UNITS31(M) M(31)
#define UNITS33(M) UNITS32(M) M(32)
#define UNITS34(M) UNITS33(M) M(33)
#define UNITS35(M) UNITS34(M) M(34)
#define UNITS36(M) UNITS35(M) M(35)
#define UNITS37(M) UNITS36(M) M(36)
#define UNITS38(M) UNITS37(M) M(37)
#define UNITS39(M) UNITS38(M) M(38)
#define UNITS40(M) UNITS39(M) M(39)
#define UNITS41(M) UNITS40(M) M(40)
#define UNITS42(M) UNITS41(M) M(41)
#define UNITS43(M) UNITS42(M) M(42)
#define UNITS44(M) UNITS43(M) M(43)
#define UNITS45(M) UNITS44(M) M(44)
#define UNITS46(M) UNITS45(M) M(45)
#define UNITS47(M) UNITS46(M) M(46)
#define UNITS48(M) UNITS47(M) M(47)
#define UNITS49(M) UNITS48(M) M(48)
#define UNITS50(M) UNITS49(M) M(49)
#define UNITS51(M) UNITS50(M) M(50)
#define UNITS52(M) UNITS51(M) M(51)
#define UNITS53(M) UNITS52(M) M(52)
#define UNITS54(M) UNITS53(M) M(53)
#define UNITS55(M) UNITS54(M) M(54)
#define UNITS56(M) UNITS55(M) M(55)
#define UNITS57(M) UNITS56(M) M(56)
#define UNITS58(M) UNITS57(M) M(57)
#define UNITS59(M) UNITS58(M) M(58)
#define UNITS60(M) UNITS59(M) M(59)
#define UNITS61(M) UNITS60(M) M(60)
#define UNITS62(M) UNITS61(M) M(61)
#define UNITS63(M) UNITS62(M) M(62)
#define UNITS64(M) UNITS63(M) M(63)

// REPEAT times the steps, so that the branch costs little at any COUNT.
#define R1(X) X
#define R2(X) X X
#define R4(X) R2(X) R2(X)
#define R8(X) R4(X) R4(X)
#define R16(X) R8(X) R8(X)

// Element e of unit k starts at its own value, so that no two chains can be merged.
#define BEGIN(k) float8 x##k = vload8(0, start + get_global_id(0) % 4 + 8 * k);
#define STEP(k) x##k = fma(x##k, x##k, c);
#define ADD(k) sum += x##k;

kernel void KERNEL(global const float* restrict start, global float* restrict out, float constant_c, int trips) {
    const float8 c = (float8)(constant_c);
    PASTE(UNITS, COUNT)(BEGIN)
#pragma unroll 1
    for (int i = 0; i < trips; ++i) {
        PASTE(R, REPEAT)(PASTE(UNITS, COUNT)(STEP))
    }
    float8 sum = (float8)(0.0f);
    PASTE(UNITS, COUNT)(ADD)
    vstore8(sum, get_global_id(0), out);
}
#endif

// Does the assembler take this register's name? That tests an encoding, not a chip: the last vector register of GCN and
// CDNA is v255, the last scalar one s101 (gfx8 and gfx9); v256 and s102 must be refused, so their cells are
// build_failed.
// The clobber lists tell the compiler, so that the wave is launched with the registers it names.
#ifdef REGISTERS_V255
kernel void registers_v255(global uint* restrict out) {
    __asm volatile("v_mov_b32 v255, 0" : : : "v255");
    out[0] = 255;
}
#endif
#ifdef REGISTERS_V256
kernel void registers_v256(global uint* restrict out) {
    __asm volatile("v_mov_b32 v256, 0" : : : "v256");
    out[0] = 256;
}
#endif
#ifdef REGISTERS_S101
kernel void registers_s101(global uint* restrict out) {
    __asm volatile("s_mov_b32 s101, 0" : : : "s101");
    out[0] = 101;
}
#endif
#ifdef REGISTERS_S102
kernel void registers_s102(global uint* restrict out) {
    __asm volatile("s_mov_b32 s102, 0" : : : "s102");
    out[0] = 102;
}
#endif

/* family
question: How many values can a work-item keep in registers, and what happens beyond?
over: live

axis live: 32-bit values alive at once
  unit: value
  whole: 8 to 512, multiples of 8
  usual: 64
  only: live
axis items: work-items per group
  unit: work-item
  whole: 1 to 4Ki
  usual: 256
  only: live

variant live: Chains carried round a loop, all needed at its end.
  with live: 8,16,32,48,64,96,128,160,192,208,224,232,240,248,256,288,320
variant v255: Encoding test: names vector register 255, which GCN and CDNA have.
  needs: amd
variant v256: Encoding test: names vector register 256, which must be refused (build_failed is the answer).
  needs: amd
variant s101: Encoding test: names scalar register 101, the last one of gfx8 and gfx9.
  needs: amd
variant s102: Encoding test: names scalar register 102, refused on gfx8 and gfx9 (build_failed is the answer).
  needs: amd
*/
