// `cllab run FILE.cl --print-block` and `--write-block`: what is guessed, without a run.
#include <filesystem>
#include <fstream>

#include "app/choose/choice.hpp"
#include "app/running/running.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/text.hpp"

namespace cllab::app {
namespace {

void write_block(const GuessedBlock& block) {
    const auto path = block.path();
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
        throw Error(Blame::usage, "'" + path + "' exists, and --write-block overwrites no file; --print-block prints");
    std::ofstream out(path, std::ios::binary);
    out << "# guessed " << printable(block.how) << '\n' << block.text;
    out.close();
    if (!out) throw Error(Blame::environment, "'" + path + "' cannot be written");
    say("the guessed block is in " + path);
}

}  // namespace

int show_block(const RunOptions& options) {
    const Choice choice(options);
    if (!choice.own()) throw Error(Blame::usage, "a block is guessed for kernel files, as in `cllab run my.cl`");
    if (choice.guessed().empty()) say("nothing is guessed: the file and the command line say all that a launch needs");
    for (const auto& block : choice.guessed()) {
        if (options.write_block)
            write_block(block);
        else
            results() << "/*cllab\n# guessed " << printable(block.how) << '\n' << printable(block.text, "\n") << "*/\n";
    }
    return 0;
}

}  // namespace cllab::app
