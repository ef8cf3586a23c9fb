// What all parts of the page share: the devices, each cell's address on the page, and the variants by devices.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/html/page.hpp"
#include "report/records/points.hpp"
#include "report/table/device_grid.hpp"

namespace cllab::report::html {

struct PageDevice {
    std::string key, name, description;  ///< name: short, and no two alike
    const model::Record* first = nullptr;
};

struct Context {
    explicit Context(const Page& page);

    const Page& page;
    std::vector<PageDevice> devices;
    std::vector<std::size_t> device_of;  ///< by record
    /// By record: "pitch_wide@H200", with the axes that vary where it has several points. It is the address of the
    /// card that shows the record, else of its row in the table of all.
    std::vector<std::string> anchors;
    std::vector<bool> in_card;
    std::map<std::string, std::set<std::string>> varying;  ///< by family: axes on which its records differ
    DeviceGrid grid;                                       ///< of the records that are no points of curves
    Notes warnings;

    const std::vector<model::Record>& records() const { return page.records; }
    std::size_t index(const model::Record& record) const {
        return static_cast<std::size_t>(&record - page.records.data());
    }
    bool in_curve(std::size_t record) const { return record < page.in_curve.size() && page.in_curve[record]; }
    bool varies(const std::string& family, const std::string& axis) const;
    /// The axes on which the records of its family differ: "width=4096".
    std::string varying_point(const model::Record& record) const;
    std::string name_of_device(const std::string& key) const;
    std::string name_of_grid_device(std::size_t d) const;  ///< of grid.devices[d]
    /// " on" the device; nothing where the page has one device, which its title names.
    std::string on_device(const std::string& device) const;
    /// A sentence with its device before it, likewise.
    std::string sentence_on(const std::string& device, const std::string& sentence) const;
    std::string link(std::size_t cell, const std::string& label) const;  ///< to the cell's address
    /// To the first `most` of them, by their names, and how many more there are.
    std::string links(const std::vector<std::size_t>& cells, std::size_t most) const;
};

// What several parts show of a record.

/// The density of its samples with their range, and those outside of it.
void write_density(std::ostream& out, const model::Record& record);
/// What limits its time, with its share: "memory 96 %", "not explained 40 %"; nothing where unknown.
struct Tag {
    const char* style;  ///< of the page's, by what it is: "t-memory"
    std::string words, title;
};
std::optional<Tag> limit_of(const Context& context, std::size_t cell);
/// The same as a coloured tag; empty where unknown.
std::string limit_tag(const Context& context, std::size_t cell);
/// The bounds of its time, and what follows from them; nothing where none are known.
void write_bounds(std::ostream& out, const Context& context, std::size_t cell);

/// The variants of a group on one device, fastest first; nothing where none has a time.
void write_ranking(std::ostream& out, const Context& context, const GridFamily& family, const GridGroup& group,
                   std::size_t device);

/// The arrangements of a comparison, by its line of JSON; nothing where the line is not understood.
void write_comparison(std::ostream& out, const std::string& line);

/// The cells as the rankings have them, then what no ranking shows.
std::vector<std::size_t> ranked_order(const Context& context);

// The parts of the page.
void write_overview(std::ostream& out, const Context& context);
void write_curves(std::ostream& out, const Context& context);
void write_roofline(std::ostream& out, const Context& context);
bool has_roofline(const Context& context);  ///< some record declares both bytes and operations
void write_code(std::ostream& out, const Context& context);
void write_method(std::ostream& out, const Context& context);
void write_portraits(std::ostream& out, const Context& context);
void write_cells(std::ostream& out, const Context& context);

/// The records as the script reads them; nothing in it ends a script element.
std::string data_json(const Context& context);

}  // namespace cllab::report::html
