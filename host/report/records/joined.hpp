// Records read back from the JSON-lines files of many runs and machines.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/result.hpp"

namespace cllab::report {

inline constexpr std::size_t most_records = 1'000'000;  ///< of all files together
inline constexpr std::size_t most_names = 64;  ///< axes of a family, and metrics of it: a table has a column for each

/// What is kept of each record.
enum class Keep {
    all,
    page,     ///< what tables and curves show: no samples, log, command line
    nothing,  ///< only where its line stands
};

/// Where an accepted line stands: of a file that can be read again, the place in it.
struct LinePlace {
    std::size_t file = 0;  ///< of the calls of read(), from 0
    std::uint64_t at = 0, bytes = 0;
    std::size_t hash = 0;  ///< std::hash of it: a file may change before it is read again
    std::string text{};    ///< the line itself, of an input that can be read once only
};

/// Takes one file after the other. A record is known again by its run, device, id, point, place in the run, status,
/// time of day and samples: two runs within a second that took no samples are two.
class Joined {
public:
    explicit Joined(Keep keep = Keep::all) : keep_(keep) {}
    /// Makes room for the records of so many bytes of lines like the first, once there is one: a vector that grows
    /// record by record takes three times the memory for a while.
    void expect(std::uint64_t bytes) { expected_bytes_ = bytes; }
    /// `once`: the input cannot be read again, so that its lines are kept. Reads to the end, or to a line that is too
    /// long to be one. What is no record of a known schema, cannot be or is beyond the limits is left out and named in
    /// troubles() with `name` and line. Throws Error(usage) beyond most_records.
    void read(std::istream& in, const std::string& name, bool once = false);
    const std::vector<model::Record>& records() const { return records_; }
    /// Where the lines of the records stand, in their order: byte for byte they hold a later writer's keys too. None
    /// with Keep::page.
    const std::vector<LinePlace>& lines() const { return lines_; }
    std::size_t size() const { return seen_.size() - comparisons_.size(); }  ///< records, kept or not
    const std::set<std::string>& devices() const { return devices_; }        ///< their keys
    /// Lines of comparisons (report/table/comparison.hpp), each once; they are not read, only kept.
    const std::vector<std::string>& comparisons() const { return comparisons_; }
    const std::vector<std::string>& troubles() const { return troubles_; }  ///< the first twenty
    std::size_t trouble_count() const { return trouble_count_; }
    std::size_t duplicates() const { return duplicates_; }

private:
    using Names = std::set<std::string>;
    using Digest = std::array<std::uint64_t, 2>;
    struct HashOfDigest {
        std::size_t operator()(const Digest& digest) const { return digest[0]; }
    };
    static Digest digest_of(std::string_view text);
    static Digest digest_of(const model::Record& record);
    void take(const std::string& line, const LinePlace& place);
    void require_known_names(const model::Record& record);
    void trouble(const std::string& sentence);

    std::vector<model::Record> records_;
    std::vector<LinePlace> lines_;
    std::vector<std::string> comparisons_, troubles_;
    std::set<std::string> devices_;
    std::map<std::string, std::pair<Names, Names>> names_;  ///< by family: axes and metrics
    std::unordered_set<Digest, HashOfDigest> seen_;
    Keep keep_;
    std::size_t files_ = 0;
    std::uint64_t expected_bytes_ = 0;
    std::size_t duplicates_ = 0, trouble_count_ = 0;
};

}  // namespace cllab::report
