// What others than the lab's own checks say of a kernel's results before it runs: a command of the user's, and another
// device.
#pragma once

#include <filesystem>
#include <map>
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

struct Answers {
    std::map<std::string, Answer> by_command{};    ///< by key_of() what went in
    std::map<std::string, Agreement> by_device{};  ///< by CellArguments::agreement_key
};

/// By all that goes in, and by the shapes of what comes out.
std::string key_of(const std::vector<ArgumentArray>& arguments);

/// What stands before the data in a file of NumPy's.
std::string npy_header(const ArgumentArray& argument);

/// The result `like` as the .npy file `path` holds it. Throws Error(usage), beginning with `whose`, for a file that is
/// damaged, and for another type or number of elements.
model::Bytes read_result(const std::filesystem::path& path, const ArgumentArray& like, const std::string& whose);

}  // namespace cllab::kernelfile
