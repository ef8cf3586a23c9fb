#include "model/operation.hpp"

#include <utility>

#include "core/lazy.hpp"

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

}  // namespace cllab::model
