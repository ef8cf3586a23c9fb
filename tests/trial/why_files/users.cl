// What users' programs do, none of it doubled: judged by Nsight Compute alone. Sizes are those of a large GPU.
/*cllab
axis n = 16Mi
axis w = 4096
arg x = rand:n
arg y = out:n
arg w = w
global n
local 256
differ five_points, naive_transpose, conflicting_transpose, scan_of_groups, few_of_many, black_scholes
differ layer_norm, row_softmax
differ banked_reads, chain_of_products
differ byte_histogram, local_histogram, sixteen_counters
kernel layer_norm
global n / 4
arg x = rand:n / 4
arg y = out:n / 4
kernel row_softmax
global n / 4
arg x = rand:n / 4
arg y = out:n / 4
kernel bilateral
global w, w / 4
local 16, 16
arg y = out:w*w / 4
kernel one_field
arg p = fields:n / 4:{m:rand, u:rand, v:rand, w:rand, a:rand, b:rand, c:rand, d:rand}
arg y = out:n / 4
global n / 4
kernel random_reads
arg at = rand:uint:n:0:n - 1
kernel random_rows
arg at = rand:uint:n / 32:0:n / 32 - 1
kernel five_points
global w, n / w
local 64, 4
kernel naive_transpose
global w, n / w
local 16, 16
kernel banked_reads
global n / 16
arg y = out:n / 16
kernel conflicting_transpose
global w, n / w
local 32, 8
kernel separable_filter
arg taps = rand:33
global w, n / w
local 64, 4
kernel mandelbrot
global 2048, 2048
local 16, 16
arg y = out:4Mi
kernel bodies
arg p = rand:4*16Ki
arg y = out:16Ki
global 16Ki
kernel byte_histogram
arg b = rand:uchar:n
arg bins = zero:uint:256
kernel local_histogram
arg b = rand:uchar:n
arg bins = zero:uint:256
global n / 16
kernel sixteen_counters
arg b = rand:uchar:4Mi
arg bins = zero:uint:16
global 4Mi
kernel double_series
arg d = rand:double:4Mi
arg e = out:4Mi
global 4Mi
kernel modulo_powers
arg u = rand:ulong:1Mi:3:4000000000
arg v = out:1Mi
global 1Mi
kernel chain_of_products
arg y = out:64Ki
global 64Ki
kernel csr_product
arg row, column, value = csr:1Mi:1Mi:16Mi
arg y = out:1Mi
global 1Mi
kernel scan_of_groups
local 1024
kernel quantised_dot
arg q = rand:char:64Mi:-127:127
arg r = rand:char:4096:-127:127
arg s = out:int:16Ki
global 16Ki * 64
local 64
kernel few_of_many
arg y = out:n
kernel black_scholes
arg y = out:n
*/

// A group of 256 normalises a row of 1024.
// twice:
kernel void layer_norm(global const float4* restrict x, global float4* restrict y) {
    local float sums[256], squares[256];
    const uint l = get_local_id(0), i = get_global_id(0);
    const float4 v = x[i];
    sums[l] = v.x + v.y + v.z + v.w;
    squares[l] = dot(v, v);
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) {
            sums[l] += sums[l + half_size];
            squares[l] += squares[l + half_size];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float mean = sums[0] / 1024, variance = squares[0] / 1024 - mean * mean;
    y[i] = (v - mean) * rsqrt(variance + 1e-5f);
}

// A group of 256 takes a row of 1024.
// twice:
kernel void row_softmax(global const float4* restrict x, global float4* restrict y) {
    local float part[256];
    const uint l = get_local_id(0), i = get_global_id(0);
    const float4 v = x[i], e = exp(v);
    part[l] = e.x + e.y + e.z + e.w;
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_size) part[l] += part[l + half_size];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = e / part[0];
}

// twice:
kernel void bilateral(global const float* restrict x, global float* restrict y, int w) {
    const int c = get_global_id(0), r = get_global_id(1), h = get_global_size(1);
    const float own = x[r * w + c];
    float sum = 0, weights = 0;
    for (int dy = -4; dy <= 4; ++dy)
        for (int dx = -4; dx <= 4; ++dx) {
            const float v = x[clamp(r + dy, 0, h - 1) * w + clamp(c + dx, 0, w - 1)];
            const float weight = native_exp(-0.05f * (dx * dx + dy * dy) - 8 * (v - own) * (v - own));
            sum += weight * v;
            weights += weight;
        }
    y[r * w + c] = sum / weights;
}

typedef struct {
    float m, u, v, w, a, b, c, d;
} Particle;

// twice:
kernel void one_field(global const Particle* restrict p, global float* restrict y) {
    const uint i = get_global_id(0);
    y[i] = p[i].m * 0.5f;
}

// twice:
kernel void random_reads(global const float* restrict x, global const uint* restrict at, global float* restrict y) {
    const uint i = get_global_id(0);
    y[i] = x[at[i]];
}

// 32 neighbours read a line of 128 bytes each time.
// twice:
kernel void random_rows(global const float* restrict x, global const uint* restrict at, global float* restrict y) {
    const uint i = get_global_id(0);
    y[i] = x[at[i / 32] * 32 + i % 32];
}

// twice:
kernel void five_points(global const float* restrict x, global float* restrict y, uint w) {
    const uint c = get_global_id(0), r = get_global_id(1), h = get_global_size(1), i = r * w + c;
    if (c == 0 || r == 0 || c == w - 1 || r == h - 1)
        y[i] = x[i];
    else
        y[i] = 0.2f * (x[i] + x[i - 1] + x[i + 1] + x[i - w] + x[i + w]);
}

// twice:
kernel void naive_transpose(global const float* restrict x, global float* restrict y, uint w) {
    const uint c = get_global_id(0), r = get_global_id(1), h = get_global_size(1);
    y[c * h + r] = x[r * w + c];
}

// 32 words of one bank at a time.
// twice:
kernel void banked_reads(global const float* restrict x, global float* restrict y) {
    local float tile[32 * 33];
    const uint l = get_local_id(0), lane = l % 32, i = get_global_id(0);
    for (uint k = l; k < 32 * 32; k += 256) tile[k] = x[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    float v = 0;
    for (uint k = 0; k < 64; ++k) v += tile[lane * 32 + ((k + l / 32) & 31)];
    y[i] = v;
}

// twice:
kernel void conflicting_transpose(global const float* restrict x, global float* restrict y, uint w) {
    local float tile[32][32];
    const uint lx = get_local_id(0), ly = get_local_id(1), h = w;
    const uint c = get_group_id(0) * 32, r = get_group_id(1) * 8;
    for (uint k = 0; k < 8; k += 8) tile[ly + k][lx] = x[(r + ly + k) * w + c + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint t = ly * 32 + lx;
    y[(c + t / 8) * h + r + t % 8] = tile[t % 8][t / 8];
}

// twice:
kernel void separable_filter(global const float* restrict x, constant float* taps, global float* restrict y, int w) {
    const int c = get_global_id(0), r = get_global_id(1);
    float v = 0;
    for (int k = 0; k < 33; ++k) v += taps[k] * x[r * w + clamp(c + k - 16, 0, w - 1)];
    y[r * w + c] = v;
}

// twice:
kernel void mandelbrot(global float* restrict y) {
    const float cx = get_global_id(0) * (3.0f / 2048) - 2, cy = get_global_id(1) * (2.4f / 2048) - 1.2f;
    float a = 0, b = 0;
    uint k = 0;
    for (; k < 1000 && a * a + b * b < 4; ++k) {
        const float t = a * a - b * b + cx;
        b = 2 * a * b + cy;
        a = t;
    }
    y[get_global_id(1) * 2048 + get_global_id(0)] = k;
}

// All pairs of 16384 bodies, read by every item.
// twice:
kernel void bodies(global const float4* restrict p, global float* restrict y) {
    const uint i = get_global_id(0);
    const float4 own = p[i];
    float3 force = 0;
    for (uint k = 0; k < 16384; ++k) {
        const float4 other = p[k];
        const float3 d = other.xyz - own.xyz;
        const float s = rsqrt(dot(d, d) + 0.01f);
        force += d * (other.w * s * s * s);
    }
    y[i] = force.x + force.y + force.z;
}

// twice:
kernel void byte_histogram(global const uchar* restrict b, global uint* restrict bins) {
    atomic_inc(bins + b[get_global_id(0)]);
}

// twice:
kernel void local_histogram(global const uchar* restrict b, global uint* restrict bins) {
    local uint own[256];
    const uint l = get_local_id(0);
    own[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; ++k) atomic_inc(own + b[k * get_global_size(0) + get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(bins + l, own[l]);
}

// twice:
kernel void sixteen_counters(global const uchar* restrict b, global uint* restrict bins) {
    atomic_inc(bins + (b[get_global_id(0)] & 15));
}

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
// twice:
kernel void double_series(global const double* restrict d, global double* restrict e) {
    const uint i = get_global_id(0);
    const double x = d[i];
    double v = x;
    for (int k = 0; k < 200; ++k) v = fma(v, x, 0.5);
    e[i] = v;
}

// twice:
kernel void modulo_powers(global const ulong* restrict u, global ulong* restrict v) {
    const uint i = get_global_id(0);
    const ulong m = u[i];
    ulong r = 1, base = i % m;
    for (uint e = 65537; e; e >>= 1) {
        if (e & 1) r = r * base % m;
        base = base * base % m;
    }
    v[i] = r;
}

// twice:
kernel void chain_of_products(global const float* restrict x, global float* restrict y) {
    const uint i = get_global_id(0);
    float v = x[i];
    for (int k = 0; k < 4000; ++k) v = fma(v, 0.999f, 0.001f);
    y[i] = v;
}

// An item a row of about 16.
// twice:
kernel void csr_product(global const uint* restrict row, global const uint* restrict column,
                        global const float* restrict value, global const float* restrict x, global float* restrict y) {
    const uint i = get_global_id(0);
    float v = 0;
    for (uint k = row[i]; k < row[i + 1]; ++k) v += value[k] * x[column[k]];
    y[i] = v;
}

// twice:
kernel void scan_of_groups(global const float* restrict x, global float* restrict y) {
    local float part[1024];
    const uint l = get_local_id(0), i = get_global_id(0);
    part[l] = x[i];
    for (uint step = 1; step < 1024; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const float add = l >= step ? part[l - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        part[l] += add;
    }
    y[i] = part[l];
}

// A group of 64 takes a row of 4096 bytes.
// twice:
kernel void quantised_dot(global const char4* restrict q, global const char4* restrict r, global int* restrict s) {
    local int part[64];
    const uint l = get_local_id(0), g = get_group_id(0);
    int v = 0;
    for (uint k = l; k < 1024; k += 64) {
        const int4 p = convert_int4(q[g * 1024 + k]) * convert_int4(r[k]);
        v += p.x + p.y + p.z + p.w;
    }
    part[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        for (uint k = 1; k < 64; ++k) v += part[k];
        s[g] = v;
    }
}

// One lane of 32 works long.
// twice:
kernel void few_of_many(global const float* restrict x, global float* restrict y) {
    const uint i = get_global_id(0);
    float v = x[i];
    if (i % 32 == 0)
        for (int k = 0; k < 400; ++k) v = fma(v, v, -0.25f);
    y[i] = v;
}

// twice:
kernel void black_scholes(global const float* restrict x, global float* restrict y) {
    const uint i = get_global_id(0);
    const float s = 50 + 50 * x[i], k = 80, t = 0.5f, rate = 0.03f, sigma = 0.2f;
    const float d = (log(s / k) + (rate + 0.5f * sigma * sigma) * t) / (sigma * sqrt(t));
    y[i] = s * 0.5f * erfc(-d * M_SQRT1_2_F) - k * exp(-rate * t) * 0.5f * erfc(-(d - sigma * sqrt(t)) * M_SQRT1_2_F);
}
