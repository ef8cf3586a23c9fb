// Records that are plainly such, read by simdjson in a fifth of the time. Everything else, and every sentence about
// what is wrong, is left to from_json (report/records/json.hpp): this reader gives the same record, or none.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/result.hpp"

namespace cllab::report {

/// Keeps its buffers from line to line.
class QuickReader {
public:
    QuickReader();
    ~QuickReader();
    QuickReader(const QuickReader&) = delete;
    QuickReader& operator=(const QuickReader&) = delete;

    /// Nothing for a line that is damaged, cannot be, or has a key that this build does not write or writes otherwise.
    std::optional<model::Record> read(const std::string& line);

private:
    struct Buffers;
    std::unique_ptr<Buffers> buffers_;
};

}  // namespace cllab::report
