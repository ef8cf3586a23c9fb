// An OpenCL driver that does to the process that loads it, at once, what its file's name says: crash, hang, exit,
// overflow or chatter. `loads` writes the number of the process to a file loads.txt beside it and is otherwise no
// trouble. It has no platform.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

namespace {

int overflow(volatile char* above) {
    volatile char here[4096];
    here[0] = *above;
    return overflow(here) + here[0];
}

__attribute__((constructor)) void misbehave() {
    Dl_info self{};
    dladdr(reinterpret_cast<void*>(&misbehave), &self);
    const std::string path = self.dli_fname, folder = path.substr(0, path.rfind('/') + 1);
    const std::string name = path.substr(folder.size(), path.find('.', folder.size()) - folder.size());
    if (name == "crash") std::raise(SIGSEGV);
    if (name == "hang") pause();
    if (name == "exit") _exit(0);
    if (name == "overflow") {
        char start = 1;
        overflow(&start);
    }
    if (name == "chatter") {
        std::puts("a driver's chatter on standard output");
        std::fflush(stdout);
        std::cout << "a driver's chatter by the stream of C++" << std::endl;
    }
    if (name == "loads") {
        if (auto* file = std::fopen((folder + "loads.txt").c_str(), "a")) {
            std::fprintf(file, "%d\n", static_cast<int>(getpid()));
            std::fclose(file);
        }
    }
}

}  // namespace
