// Particles fall and bounce, each a struct whose fields have data of their own. Padding of float3 is nobody's result.
/*cllab
axis n = 4Ki
arg before = fields:n:{position:rand:0:1, velocity:normal:0:1, id:iota}
arg after = out:n
arg dt = 0.01
global n
same whole, by_field
tolerance absolute=1e-6
*/
typedef struct {
    float3 position, velocity;
    int id;
} Particle;

__kernel void whole(__global const Particle* before, __global Particle* after, float dt) {
    const Particle p = before[get_global_id(0)];
    const float3 fallen = p.velocity - (float3)(0, 9.81f * dt, 0), at = p.position + dt * fallen;
    const Particle moved = {at, at.y < 0 ? fallen * (float3)(1, -1, 1) : fallen, p.id};
    after[get_global_id(0)] = moved;
}

__kernel void by_field(__global const Particle* before, __global Particle* after, float dt) {
    const int i = get_global_id(0);
    const float3 fallen = before[i].velocity - (float3)(0, 9.81f * dt, 0);
    const float3 at = before[i].position + dt * fallen;
    after[i].position = at;
    after[i].velocity = at.y < 0 ? (float3)(fallen.x, -fallen.y, fallen.z) : fallen;
    after[i].id = before[i].id;
}
