__kernel void nbody(__global const float4* position, __global float4* velocity, int bodies, float dt, float eps) {
    const int i = get_global_id(0);
    const float4 mine = position[i];
    float3 sum = 0.0f;
    for (int j = 0; j < bodies; ++j) {
        const float3 d = position[j].xyz - mine.xyz;
        const float r = rsqrt(dot(d, d) + eps);
        sum += d * (position[j].w * r * r * r);
    }
    velocity[i].xyz += dt * sum;
}
