typedef struct {
    float4 position, velocity;
} Particle;

__kernel void particles(__global Particle* p, float dt) {
    const int i = get_global_id(0);
    p[i].position += dt * p[i].velocity;
}
