// A value that is made when somebody first looks at it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace cllab {

template <typename T>
class Lazy {
public:
    /// `make` is called by the first who looks, of several threads by one. When it throws, the next who looks calls it
    /// again; afterwards it is let go with what it holds.
    explicit Lazy(std::function<T()> make) : make_(std::move(make)) {}

    const T& operator*() const {
        std::call_once(made_, [this] {
            value_ = make_();
            make_ = nullptr;
        });
        return *value_;
    }

private:
    mutable std::once_flag made_;
    mutable std::function<T()> make_;
    mutable std::optional<T> value_;
};

}  // namespace cllab
