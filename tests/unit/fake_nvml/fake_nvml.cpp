// A stand-in for libnvidia-ml.so.1 with one device, and one at af:00.0 that is part of a GPU, for machines without
// NVIDIA's driver.
#include <cstring>

static const void* partial = nullptr;

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    static int only;
    *device = &only;
    return std::strcmp(uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff") == 0 ? 0 : 6;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
    static int only, part;
    const bool is_part = std::strcmp(address, "0000:af:00.0") == 0;
    *device = is_part ? &part : &only;
    partial = is_part ? &part : partial;
    return is_part || std::strcmp(address, "0000:3b:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* mhz) {
    *mhz = type == 2 ? 3201 : 1980;
    return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 699500;
    return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
    static unsigned long long total = 5'000'000'000;
    *millijoules = total += 350'000;
    return device == partial ? 3 : 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
    *celsius = 61;
    return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = 0x4 | 0x1;  // at the power cap; idle is no limit
    return 0;
}
}
