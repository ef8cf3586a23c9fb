// Live registers beside the instructions of a cell's code.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/code/isa_code.hpp"

namespace cllab::app {

struct LiveCode {
    std::string summary;  ///< where most are live, or why that is not known
    std::string head;     ///< the line over the columns; empty where nothing is known
    std::map<std::uint64_t, std::string> columns;

    /// The numbers in front of the instruction at `address`; nothing where they are not known.
    std::string beside(std::uint64_t address) const;
};

LiveCode live_code(const CellCode& code);

}  // namespace cllab::app
