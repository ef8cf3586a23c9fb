// What the text of a kernel says of its launch, without a compiler: where no simulator can run it.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cllab::kernelfile {

class TextFacts {
public:
    /// With what it includes.
    explicit TextFacts(std::string_view text);

    const std::string& text() const { return text_; }  ///< without comments

    /// As SeenLaunch::calls, in the kernel and in what it names.
    std::map<std::string, unsigned> calls(const std::string& kernel) const;

    struct Use {
        bool read = false, written = false, atomic = false;
    };
    /// What the kernel's body does with the argument.
    Use use(const std::string& kernel, const std::string& argument) const;
    /// The kernel's body has no statement.
    bool is_empty(const std::string& kernel) const;
    /// The kernel's body has an array, which is private or local.
    bool has_array(const std::string& kernel) const;

private:
    std::string text_;
    std::map<std::string, std::string> bodies_;  ///< of functions and macros
};

}  // namespace cllab::kernelfile
