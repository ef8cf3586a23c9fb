#include "app/processes/drivers.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "app/processes/runner.hpp"
#include "core/text.hpp"
#include "device/platforms.hpp"
#include "inspect/tools/tool.hpp"

namespace cllab::app {

namespace fs = std::filesystem;

std::vector<Driver> registered_drivers() {
    const char* named = std::getenv("OCL_ICD_VENDORS");
    const fs::path where = named && *named ? named : "/etc/OpenCL/vendors";
    std::vector<fs::path> files;
    std::error_code trouble;
    if (fs::is_directory(where, trouble)) {
        for (fs::directory_iterator at(where, trouble), end; !trouble && at != end; at.increment(trouble))
            if (at->path().extension() == ".icd") files.push_back(at->path());
    } else if (fs::exists(where, trouble)) {
        files.push_back(where);
    }
    std::ranges::sort(files);
    std::vector<Driver> out;
    for (const auto& file : files) {
        std::ifstream in(file);
        std::string library;
        std::getline(in, library);
        out.push_back({file, trim(library)});
    }
    return out;
}

std::string trouble_of(const Driver& driver, double seconds) {
    const inspect::TempFolder folder;
    try {
        in_child(
            [&](const HandOver& hand_over) {
                use_only({driver}, folder.path());
                try {
                    device::discover();
                } catch (const Error&) {
                    // It has no device: that is no fault of the loading.
                }
                hand_over("loaded");
            },
            "while it was loaded", seconds, seconds);
    } catch (const DeviceLost& e) {
        return e.what();
    }
    return {};
}

void use_only(const std::vector<Driver>& drivers, const fs::path& folder) {
    for (const auto& driver : drivers) std::ofstream(folder / driver.icd.filename()) << driver.library << '\n';
    setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
}

}  // namespace cllab::app
