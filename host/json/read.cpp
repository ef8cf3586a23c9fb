#include "json/read.hpp"

#include <utility>
#include <vector>

#include "core/text.hpp"

namespace cllab {
namespace {

/// Builds the value from the parser's events and stops at a limit. nlohmann's own builder has no limits. Its
/// MessagePack reader and the later traversal of a value are recursive.
template <typename J>
class Builder final : public nlohmann::json_sax<J> {
public:
    using typename nlohmann::json_sax<J>::number_integer_t;
    using typename nlohmann::json_sax<J>::number_unsigned_t;
    using typename nlohmann::json_sax<J>::number_float_t;
    using typename nlohmann::json_sax<J>::string_t;
    using typename nlohmann::json_sax<J>::binary_t;

    bool null() override { return add({}); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return add({}); }
    bool start_object(std::size_t) override { return enter(J::object()); }
    bool start_array(std::size_t) override { return enter(J::array()); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override {
        key_ = std::move(name);
        if (open_.back()->size() < most_json_members) return true;
        return refuse("damaged: an object in it has more than " + std::to_string(most_json_members) + " members");
    }
    bool parse_error(std::size_t position, const std::string&, const typename J::exception& e) override {
        constexpr int out_of_range = 406;  // the only error without a position
        if (e.id == out_of_range) return refuse("damaged: a number in it is too large");
        damaged_at_ = position;
        return refuse("damaged at byte " + std::to_string(position));
    }

    const std::string& refused() const { return refused_; }
    bool has_place() const { return damaged_at_ != 0; }
    J take() { return std::move(root_); }

private:
    bool refuse(std::string why) {
        refused_ = std::move(why);
        return false;
    }
    J* place(J&& value) {
        if (open_.empty()) return &(root_ = std::move(value));
        J& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        const auto [at, is_new] = parent.emplace(std::move(key_), std::move(value));
        if (is_new) return &*at;
        refuse("damaged: an object in it has '" + excerpt(at.key()) + "' twice");
        return nullptr;
    }
    bool add(J value) { return place(std::move(value)) != nullptr; }
    bool enter(J empty) {
        if (open_.size() == deepest_json)
            return refuse("damaged: it is nested more than " + std::to_string(deepest_json) + " deep");
        const bool is_record_or_part = open_.empty() || (open_.size() == 1 && open_.back()->is_object());
        J* const inner = place(std::move(empty));
        if (!inner) return false;
        open_.push_back(inner);
        // An ordered object copies its contents when it grows. Reserve only at levels with few objects.
        if constexpr (requires(typename J::object_t& members) { members.reserve(1); })
            if (is_record_or_part && inner->is_object()) inner->template get_ref<typename J::object_t&>().reserve(48);
        return true;
    }
    bool leave() {
        open_.pop_back();
        return true;
    }

    J root_;
    std::vector<J*> open_;  ///< each is the last element of the previous one, so none moves while it is open
    std::string key_, refused_;
    std::size_t damaged_at_ = 0;
};

}  // namespace

template <typename J>
J parse_json(std::string_view text) {
    if (text.size() > most_json_bytes)
        throw JsonRefused("larger than " + std::to_string(most_json_bytes >> 20) + " MiB");
    Builder<J> builder;
    if (J::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
    throw JsonRefused(builder.refused() + (builder.has_place() ? " of " + std::to_string(text.size()) : ""));
}

template nlohmann::json parse_json(std::string_view);
template nlohmann::ordered_json parse_json(std::string_view);

std::optional<nlohmann::json> parse_msgpack(std::span<const std::byte> bytes) {
    Builder<nlohmann::json> builder;
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    // Not strict, because ELF notes are padded.
    const bool whole = nlohmann::json::sax_parse(first, first + bytes.size(), &builder,
                                                 nlohmann::json::input_format_t::msgpack, false);
    return whole ? std::optional(builder.take()) : std::nullopt;
}

}  // namespace cllab
