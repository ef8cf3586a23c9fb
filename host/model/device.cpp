#include "model/device.hpp"

#include "core/table.hpp"

namespace cllab::model {
namespace {

constexpr Entry<DeviceType, const char*> type_names[] = {{DeviceType::cpu, "cpu"},
                                                         {DeviceType::gpu, "gpu"},
                                                         {DeviceType::accelerator, "accelerator"},
                                                         {DeviceType::other, "other"}};
constexpr Entry<Implementation, const char*> implementation_names[] = {{Implementation::pocl, "pocl"},
                                                                       {Implementation::nvidia, "nvidia"},
                                                                       {Implementation::amd, "amd"},
                                                                       {Implementation::intel_cpu, "intel-cpu"},
                                                                       {Implementation::intel_gpu, "intel-gpu"},
                                                                       {Implementation::rusticl, "rusticl"},
                                                                       {Implementation::clover, "clover"},
                                                                       {Implementation::oclgrind, "oclgrind"},
                                                                       {Implementation::other, "other"}};

}  // namespace

const char* name(DeviceType type) { return value_of(type_names, type); }
const char* name(Implementation implementation) { return value_of(implementation_names, implementation); }

}  // namespace cllab::model
