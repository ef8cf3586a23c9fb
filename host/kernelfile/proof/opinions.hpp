// What others than the lab's own checks say of a kernel's results: a command of the user's, another device. They are
// asked before the kernel runs, and what they say is kept in a folder, where every process of the run finds it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

/// An argument as others than the kernel are given it: an array of NumPy's.
struct ArgumentArray {
    std::string name;
    model::ElementType element;
    std::vector<std::size_t> shape;  ///< lanes of a vector, and bytes of a struct, are the last dimension
    model::SharedBytes data{};       ///< nothing: it only comes out
    bool comes_out = false;
};

/// What a command said of one set of inputs.
struct Answer {
    std::map<std::string, model::Bytes, std::less<>> contents{};  ///< by result
    std::string trouble{};                                        ///< why there is none, in a sentence
    std::string remark{};                                         ///< on it, for whoever leaves something else
};

/// What another device left of the same data.
struct Agreement {
    enum class Kind { agrees, differs, unknown };
    Kind kind = Kind::unknown;
    std::string device{};    ///< agrees: which one, and at which point: "Oclgrind at n=1024"
    std::string sentence{};  ///< how they differ, or why nothing is known; agrees: what else was seen, or nothing
};

class Opinions {
public:
    /// An empty folder: nobody is asked.
    explicit Opinions(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

    /// Whether anybody was asked for answers; what an answer is known by is a hash of all that went in.
    bool has_answers() const;
    std::optional<Answer> answer(const std::string& key) const;
    void keep(const std::string& key, const Answer& answer) const;
    std::optional<Agreement> agreement(const std::string& key) const;
    void keep(const std::string& key, const Agreement& agreement) const;

private:
    std::filesystem::path folder_;
};

/// By all that goes in, and by the shapes of what comes out.
std::string key_of(const std::vector<ArgumentArray>& arguments);

/// The array as a file of NumPy's.
model::Bytes npy_of(const ArgumentArray& argument, const model::Bytes& data);

/// The result `like` as the .npy file `path` holds it. Throws Error(usage), beginning with `whose`, for a file that is
/// damaged, and for another type or number of elements.
model::Bytes read_result(const std::filesystem::path& path, const ArgumentArray& like, const std::string& whose);

}  // namespace cllab::kernelfile
