// Inputs and references that are expensive to make and that several variants of one run share.
#pragma once

#include <any>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace cllab::model {

/// Owned by the run. Keeps the last two values of each name, for the two seeds of a verification. An older one is
/// dropped before a new one is made, because each may have gigabytes. Not for several threads.
class Memo {
public:
    /// The value kept under `name` and `key`, else what make() returns, which is then kept.
    template <typename Key, typename Make>
    auto get(const std::string& name, const Key& key, const Make& make) {
        using Value = std::invoke_result_t<const Make&>;
        auto& kept = kept_[name];
        for (const auto& entry : kept)
            if (const auto* known = std::any_cast<Key>(&entry.key); known && *known == key)
                return std::static_pointer_cast<Value>(entry.value);
        if (kept.size() == 2) kept.pop_front();
        auto made = std::make_shared<Value>(make());
        kept.push_back({key, made});
        return made;
    }

private:
    struct Entry {
        std::any key;
        std::shared_ptr<void> value;
    };
    std::map<std::string, std::deque<Entry>> kept_;
};

}  // namespace cllab::model
