#include "model/operation.hpp"

#include <algorithm>
#include <utility>

#include "core/parallel.hpp"
#include "core/table.hpp"

namespace cllab::model {

struct SharedBytes::State {
    using Made = std::shared_ptr<const Bytes>;
    State(std::size_t n, std::function<Made()> make) : size(n), bytes(std::move(make)) {}

    std::size_t size;
    Lazy<Made> bytes;
};

SharedBytes::SharedBytes(std::shared_ptr<const Bytes> bytes) {
    if (!bytes) return;
    const auto size = bytes->size();
    state_ = std::make_shared<State>(size, [bytes = std::move(bytes)] { return bytes; });
}

SharedBytes::SharedBytes(std::size_t size, std::function<Bytes()> make)
    : state_(
          std::make_shared<State>(size, [make = std::move(make)] { return std::make_shared<const Bytes>(make()); })) {}

std::size_t SharedBytes::size() const { return state_ ? state_->size : 0; }

const Bytes& SharedBytes::operator*() const { return **state_->bytes; }

namespace {

using ChannelOrder = PixelFormat::Order;
using Channel = PixelFormat::Channel;

constexpr Entry<ChannelOrder, const char*> orders[] = {{ChannelOrder::r, "r"},
                                                       {ChannelOrder::rg, "rg"},
                                                       {ChannelOrder::rgba, "rgba"},
                                                       {ChannelOrder::bgra, "bgra"},
                                                       {ChannelOrder::depth, "depth"}};
constexpr Entry<Channel, const char*> kinds[] = {{Channel::normalised, ""},
                                                 {Channel::signed_normalised, "s"},
                                                 {Channel::integer, "i"},
                                                 {Channel::unsigned_integer, "ui"},
                                                 {Channel::floating, "f"}};

/// Whether OpenCL defines the format.
bool exists(const PixelFormat& format) {
    if (format.order == ChannelOrder::depth)
        return format.channel_bytes == 2 ? format.channel == Channel::normalised
                                         : format.channel_bytes == 4 && format.channel == Channel::floating;
    const bool whole = format.channel == Channel::integer || format.channel == Channel::unsigned_integer;
    if (format.channel == Channel::floating && format.channel_bytes == 1) return false;
    if (format.channel_bytes == 4 && !whole && format.channel != Channel::floating) return false;
    return format.order != ChannelOrder::bgra || format.channel_bytes == 1;
}

}  // namespace

std::string PixelFormat::name() const {
    return value_of(orders, order) + std::to_string(8 * channel_bytes) + value_of(kinds, channel);
}

ElementType PixelFormat::type() const {
    static constexpr const char* integers[] = {"char", "short", "", "int"};
    std::string name =
        channel == Channel::floating ? (channel_bytes == 2 ? "half" : "float") : integers[channel_bytes - 1];
    if (channel == Channel::normalised || channel == Channel::unsigned_integer) name.insert(0, "u");
    return *builtin_type(channels() == 1 ? name : name + std::to_string(channels()));
}

std::int64_t PixelFormat::white() const {
    const auto most = (std::int64_t{1} << (8 * channel_bytes - (is_signed() ? 1 : 0))) - 1;
    return is_normalised() ? most : std::min<std::int64_t>(most, 255);
}

std::optional<PixelFormat> pixel_format(const std::string& name) {
    for (const auto& [order, first] : orders)
        for (const auto& [channel, last] : kinds)
            for (const std::size_t bytes : {1, 2, 4})
                if (const PixelFormat format{order, channel, bytes}; exists(format) && format.name() == name)
                    return format;
    return std::nullopt;
}

}  // namespace cllab::model
