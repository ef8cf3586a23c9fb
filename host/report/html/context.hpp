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
    std::string key, name, description;  ///< name: short and unique
    const model::Record* first = nullptr;
};

struct Context {
    explicit Context(const Page& page);

    const Page& page;
    std::vector<PageDevice> devices;
    std::vector<std::size_t> device_of;  ///< by record
    /// By record: its address on the page, "pitch_wide@H200". If that is taken, the axes that vary are added. The
    /// address leads to the card that shows the record, else to its row in the table of all cells.
    std::vector<std::string> anchors;
    std::vector<bool> in_card;
    std::map<std::string, std::set<std::string>> varying;  ///< by family: axes on which its records differ
    DeviceGrid grid;                                       ///< of the records that are not points of curves
    Notes warnings;

    const std::vector<model::Record>& records() const { return page.records; }
    std::size_t index(const model::Record& record) const {
        return static_cast<std::size_t>(&record - page.records.data());
    }
    bool in_curve(std::size_t record) const { return record < page.in_curve.size() && page.in_curve[record]; }
    bool varies(const std::string& family, const std::string& axis) const;
    /// The record's values of the axes that vary in its family: "width=4096".
    std::string varying_point(const model::Record& record) const;
    std::string name_of_device(const std::string& key) const;
    std::string name_of_grid_device(std::size_t d) const;  ///< of grid.devices[d]
    /// " on DEVICE"; empty if the page has only one device, which its title names.
    std::string on_device(const std::string& device) const;
    /// "On DEVICE: " and the sentence; only the sentence if the page has one device.
    std::string sentence_on(const std::string& device, const std::string& sentence) const;
    std::string link(std::size_t cell, const std::string& label) const;  ///< to the cell's address
    /// Links to the first `most` cells, by their names, and the number of the other cells.
    std::string links(const std::vector<std::size_t>& cells, std::size_t most) const;
};

// The views of a record that several parts of the page show.

/// The density of the samples and its range, and the number of samples outside of it.
void write_density(std::ostream& out, const model::Record& record);
/// What limits a record's time, with its share: "memory 96 %", "not explained 40 %". limit_of(): nullopt if unknown.
struct Tag {
    const char* style;  ///< class in the stylesheet: "t-memory"
    std::string words, title;
};
std::optional<Tag> limit_of(const Context& context, std::size_t cell);
/// limit_of() as a colored tag; empty if unknown.
std::string limit_tag(const Context& context, std::size_t cell);
/// The bounds of the cell's time, contradictions and advice. Writes nothing if there is no explanation.
void write_bounds(std::ostream& out, const Context& context, std::size_t cell);

/// The variants of a group on one device, fastest first. Writes nothing if none has a time.
void write_ranking(std::ostream& out, const Context& context, const GridFamily& family, const GridGroup& group,
                   std::size_t device);

/// The replicates of a comparison, from its JSON line. Writes nothing if the line cannot be read.
void write_comparison(std::ostream& out, const std::string& line);

/// The cells in the order of the rankings, then the cells that no ranking shows.
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

/// The records as JSON for the page's script. Contains nothing that could end a script element.
std::string data_json(const Context& context);

}  // namespace cllab::report::html
