// Small launches in Oclgrind, whose plugin says what they touch. For a child process.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "app/choose/introspection.hpp"
#include "app/processes/local_devices.hpp"
#include "device/program.hpp"
#include "kernelfile/guess/guess.hpp"

namespace cllab::app {

class SmallLauncher {
public:
    /// Files are written into the folder. Throws Error(environment) where Oclgrind or its plugin is missing.
    explicit SmallLauncher(const std::filesystem::path& folder);
    /// From now on this text is launched. One that was built stays so.
    void build(const AskedBuild& asked);
    /// `where`: the file's name for sentences. What fails is the result's trouble.
    kernelfile::SeenLaunch launch(const std::string& where, const kernelfile::SaidOfKernel& said,
                                  const kernelfile::SmallLaunch& small);

private:
    void launch_once(const std::string& where, const kernelfile::SaidOfKernel& said,
                     const kernelfile::SmallLaunch& small);

    std::filesystem::path file_;
    LocalDevices devices_;
    device::Session* session_ = nullptr;
    std::map<std::string, device::Built> built_;
    const device::Built* now_ = nullptr;
    std::string text_;
};

}  // namespace cllab::app
