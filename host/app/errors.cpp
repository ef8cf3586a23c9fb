#include "app/errors.hpp"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "core/table.hpp"

namespace cllab::app {

Error as_error(const std::exception& e) {
    if (const auto* error = dynamic_cast<const Error*>(&e)) return *error;
    if (dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const std::length_error*>(&e))
        return {Blame::environment, "there is not enough memory, or a limit of this process is reached (ulimit -v)"};
    if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&e))
        return {Blame::environment, "'" + file->path1().string() + "' cannot be used: " + file->code().message()};
    if (const auto* system = dynamic_cast<const std::system_error*>(&e)) {
        if (system->code() == std::errc::resource_unavailable_try_again)
            return {Blame::environment,
                    "the system starts no more threads: the limit of this user or machine is reached (ulimit -u)"};
        return {Blame::environment, "the system refused a request: " + system->code().message()};
    }
    return {Blame::result, std::string("this program failed: ") + e.what()};
}

int exit_status(Blame blame) {
    static constexpr Entry<Blame, int> statuses[] = {{Blame::usage, 2}, {Blame::environment, 3}, {Blame::result, 1}};
    return value_of(statuses, blame);
}

}  // namespace cllab::app
