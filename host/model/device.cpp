#include "model/device.hpp"

namespace cllab::model {

const char* name(DeviceType type) {
    switch (type) {
        case DeviceType::cpu:
            return "cpu";
        case DeviceType::gpu:
            return "gpu";
        case DeviceType::accelerator:
            return "accelerator";
        case DeviceType::other:
            break;
    }
    return "other";
}

const char* name(Implementation implementation) {
    switch (implementation) {
        case Implementation::pocl:
            return "pocl";
        case Implementation::nvidia:
            return "nvidia";
        case Implementation::amd:
            return "amd";
        case Implementation::intel_cpu:
            return "intel-cpu";
        case Implementation::intel_gpu:
            return "intel-gpu";
        case Implementation::rusticl:
            return "rusticl";
        case Implementation::clover:
            return "clover";
        case Implementation::oclgrind:
            return "oclgrind";
        case Implementation::other:
            break;
    }
    return "other";
}

}  // namespace cllab::model
