// Whose a folder below the dumps is: what two devices, two runs and the user leave there is never mixed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"
#include "model/device.hpp"

namespace cllab::inspect {

/// The folder of `device` below `root`: its name, with -2, -3, … where another device of that name came first.
/// device.txt in it says whose it is: platform, name and identity, and the host, which only a GPU's UUID makes
/// needless. Nothing is made.
std::filesystem::path device_folder(const std::filesystem::path& root, const model::Device& device,
                                    const std::string& host);

/// The same folder, made and marked as this device's. Throws Error(environment).
std::filesystem::path claim_device_folder(const std::filesystem::path& root, const model::Device& device,
                                          const std::string& host);

/// A dump folder while it is written, locked against other runs. Its files.txt names what the lab wrote there; only
/// that is ever replaced.
class DumpFolder {
public:
    /// Makes the folder, waits up to 10 s for another run that writes there, removes what an earlier dump left and
    /// writes the list of `files` to come. Throws Error(environment) when it cannot, or when one of `files` is there
    /// and not the lab's.
    DumpFolder(const std::filesystem::path& folder, const std::vector<std::string>& files);
    ~DumpFolder();
    DumpFolder(DumpFolder&& other) noexcept;
    DumpFolder& operator=(DumpFolder&&) = delete;

    /// Writes one of the files. A dump is whole or not there: when the disk does not take it, all of its files go.
    /// Throws Error(environment).
    void write(const std::string& file, ByteSpan content);

private:
    void remove_files();

    std::filesystem::path folder_;
    std::vector<std::string> files_;
    int list_ = -1;
};

}  // namespace cllab::inspect
