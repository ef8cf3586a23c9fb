#include "report/joined.hpp"

#include <charconv>
#include <istream>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "report/json.hpp"

namespace cllab::report {
namespace {

std::string digest(const model::Record& r) {
    std::string text = device_key(r) + "\n" + r.id + "\n" + r.utc + "\n" + model::name(r.status);
    for (const auto& [axis, value] : r.point) text += "\n" + axis + "=" + value;
    for (const double seconds : r.samples) {
        char number[32];
        text += "\n";
        text.append(number, std::to_chars(number, number + sizeof number, seconds).ptr);
    }
    return sha256_hex(text);
}

}  // namespace

void Joined::read(std::istream& in, const std::string& name) {
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (trim(line).empty()) continue;
        try {
            auto record = from_json(line);
            if (!seen_.insert(digest(record)).second) {
                ++duplicates_;
                continue;
            }
            records_.push_back(std::move(record));
            lines_.push_back(line);
        } catch (const Error& e) {
            troubles_.push_back(name + ":" + std::to_string(number) + ": " + e.what() + "; the line is left out");
        }
    }
}

}  // namespace cllab::report
