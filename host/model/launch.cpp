// The hash of a cell's launches: work.hpp.
#include <algorithm>
#include <cstring>

#include "core/hash.hpp"
#include "core/random.hpp"
#include "core/units.hpp"
#include "model/work.hpp"

namespace cllab::model {
namespace {

/// A text that is equal for equal setups.
class Words {
public:
    Words(const Setup& setup, Contents contents) : setup_(setup), contents_(contents) {
        for (const auto& one : setup.args) std::visit([&](const auto& a) { argument(a); }, one);
        extents(setup.global, setup.local, setup.offset);
        for (const auto& one : setup.steps) std::visit([&](const auto& s) { step(s); }, one);
        for (const bool b : {setup.accumulates, setup.blocking}) put(b);
        put(static_cast<int>(setup.transfer));
        for (const auto& name : setup.reset) all("reset ", place(name));
        for (const auto& name : setup.parameters) all("given ", place(name));
        for (const auto& part : setup.parts) all("part ", place(part.of), part.origin_bytes, part.size_bytes);
        for (const auto& name : setup.svm) all("svm ", place(name));
        // What may be wrong by more is another question.
        if (setup.errors) {
            const auto& allowed = setup.errors->allowed();
            for (const double limit : {allowed.absolute, allowed.relative, allowed.ulp}) put(format_exact(limit));
        }
    }
    const std::string& text() const { return text_; }

private:
    void put(const std::string& word) { text_ += concat(word.size(), ":", word); }
    void put(std::size_t number) { text_ += concat(number, ","); }
    void put(int number) { text_ += concat(number, ","); }
    void put(bool flag) { text_ += flag ? "1," : "0,"; }
    template <typename... T>
    void all(const char* kind, const T&... values) {
        text_ += kind;
        (put(values), ...);
    }
    void extents(const Extent& global, const Extent& local, const Extent& offset) {
        for (const auto* e : {&global, &local, &offset}) {
            put(static_cast<int>(e->dims));
            for (const auto n : e->size) put(n);
        }
    }
    /// Which of the arguments has the name.
    std::size_t place(const std::string& name) const {
        const auto found = std::ranges::find(setup_.args, name, name_of);
        return static_cast<std::size_t>(found - setup_.args.begin());
    }

    /// At the speed of memory: files have gigabytes.
    std::size_t digest(const SharedBytes& data) const {
        if (!data || contents_ == Contents::left_out) return 0;
        const auto& bytes = *data;
        std::uint64_t out = bytes.size();
        for (std::size_t i = 0; i < bytes.size(); i += sizeof out) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
            out = mix64(out ^ word) + i;
        }
        return out;
    }

    void argument(const Input& a) { all("input ", a.data.size(), digest(a.data)); }
    void argument(const InOut& a) { all("both ", a.data.size(), digest(a.data)); }
    void argument(const Output& a) { all("output ", a.size_bytes); }
    void argument(const Scratch& a) { all("scratch ", a.size_bytes); }
    void argument(const Local& a) { all("local ", a.size_bytes); }
    void argument(const Value& a) {
        // A family may draw it from the seed; what it takes from an axis is in the point.
        if (contents_ == Contents::left_out) return all("value ", a.data.size());
        all("value ", std::string(reinterpret_cast<const char*>(a.data.data()), a.data.size()));
    }
    void argument(const Image& a) {
        all("image ", a.width, a.height, a.depth, static_cast<int>(a.dims), a.is_array, a.format.name(),
            static_cast<bool>(a.data), digest(a.data));
        if (a.of_buffer || a.read_write) all("kind ", a.of_buffer, a.read_write);
    }
    void argument(const Sampler& a) { all("sampler ", a.normalised, a.linear, static_cast<int>(a.outside)); }

    void step(const Launch& s) {
        all("launch ", static_cast<int>(s.queue));
        extents(s.global, s.local, s.offset);
        for (const auto& name : s.args) put(place(name));
    }
    void step(const Upload& s) { all("up ", place(s.buffer), s.piece_bytes, static_cast<int>(s.queue)); }
    void step(const Download& s) { all("down ", place(s.buffer), static_cast<int>(s.queue)); }
    void step(const Swap& s) { all("swap ", place(s.a), place(s.b)); }
    void step(const Reset& s) { all("reset ", place(s.buffer), place(s.data)); }
    void step(const HostLoop&) { all("host "); }

    const Setup& setup_;
    Contents contents_;
    std::string text_;
};

}  // namespace

std::string launch_identity(const Setup& setup, Contents contents) { return sha256_hex(Words(setup, contents).text()); }

}  // namespace cllab::model
