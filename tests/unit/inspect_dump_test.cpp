// The sidecars of a cell.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.hpp"
#include "core/reading.hpp"
#include "inspect/tools/disassemble.hpp"
#include "inspect/tools/dump.hpp"
#include "inspect/tools/tool.hpp"
#include "unit/inspect_build.hpp"

BOOST_AUTO_TEST_SUITE(inspect_dump)

using namespace cllab::inspect;
using namespace std::string_literals;
namespace fs = std::filesystem;

namespace {

const cllab::model::Device no_device;

/// PATH with nothing on it, for the length of a test.
struct EmptyPath {
    std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
    EmptyPath() { ::setenv("PATH", "", 1); }
    ~EmptyPath() { ::setenv("PATH", path.c_str(), 1); }
};

DumpRequest request(const fs::path& folder, const std::string& binary, cllab::model::Extent local = {}) {
    return {folder, "vadd", "kernel text", "-DX=1", "log", build::span(binary), no_device, {local, {}}};
}

Analysis write_dump(const DumpRequest& request) {
    auto analysis = read_code(request);
    write_sidecars(request, analysis);
    return analysis;
}

std::string text_of(const fs::path& file) { return cllab::read_file(file).value_or("missing " + file.string()); }

/// Two builds of vadd. The specialised one calls helper; the instruction of each function tells it apart: ud2 in the
/// generic one, hlt in the unrelated one, cpuid in what helper calls.
std::string pocl_sample() {
    const std::string generic = build::x86_object({{"_pocl_kernel_vadd_workgroup", "\x0f\x0b\xc3"s}});
    const std::string special = build::x86_object({{"unrelated", "\xf4\xc3"s},
                                                   {"_pocl_kernel_vadd_workgroup", "\xe8\x01\0\0\0\xc3"s},
                                                   {"helper", "\xe8\x01\0\0\0\xc3"s},
                                                   {"inner", "\x0f\xa2\xc3"s}});
    return build::PoclFile{
        .kernels = {{"vadd", {{"/vadd/0-0-0/vadd.so", generic}, {"/vadd/64-1-1-goffs0/vadd.so", special}}}}}
        .bytes();
}

}  // namespace

BOOST_AUTO_TEST_CASE(work_group_function_that_only_calls_the_kernel_shows_it) {
    const auto shown = [](const std::string& group) {
        const std::string object = build::x86_object({{"_pocl_kernel_vadd_workgroup", group},
                                                      {"_pocl_kernel_vadd", "\x0f\xa2\x90\x0f\xa2\xc3"s},
                                                      {"other", "\xf4\xc3"s}});
        const TempFolder temp;
        const auto binary = build::PoclFile{.kernels = {{"vadd", {{"/vadd/0-0-0/vadd.so", object}}}}}.bytes();
        return read_code(request(temp.path() / "d", binary));
    };
    const auto call = shown("\xe8\x01\0\0\0\xc3"s);  // to what follows
    BOOST_TEST_REQUIRE(call.best() != nullptr);
    BOOST_TEST(call.best()->code.name == "_pocl_kernel_vadd");
    BOOST_TEST(call.info.code_bytes.value_or(0) == 6);
    BOOST_TEST(call.disassembly.listings.front().title.find(", which calls _pocl_kernel_vadd") != std::string::npos);
    BOOST_TEST(call.disassembly.listings.front().text.find("hlt") == std::string::npos);
    const auto none = shown("\x90\xc3"s);
    BOOST_TEST(none.best()->code.name == "_pocl_kernel_vadd_workgroup");
    const auto loop = shown("\xe8\x03\0\0\0\xeb\xf9\xc3"s);  // calls it again and again
    BOOST_TEST(loop.best()->code.name == "_pocl_kernel_vadd_workgroup");
}

BOOST_AUTO_TEST_CASE(dump_holds_every_sidecar_and_the_unchanged_binary) {
    const TempFolder temp;
    const std::string binary = "\0\x1a\r\n\xff binary"s;
    const auto info = write_dump(request(temp.path() / "a" / "b", binary)).info;
    const auto folder = temp.path() / "a" / "b";
    BOOST_TEST(text_of(folder / "source.cl") == "kernel text");
    BOOST_TEST(text_of(folder / "options.txt") == "-DX=1\n");
    BOOST_TEST(text_of(folder / "build.log") == "log");
    BOOST_TEST(text_of(folder / "program.bin") == binary);
    BOOST_TEST(info.kind == "unknown");
    BOOST_TEST(text_of(folder / "isa.txt").find("no disassembly") != std::string::npos);
    const auto stats = nlohmann::json::parse(text_of(folder / "stats.json"));
    BOOST_TEST(stats["kind"] == "unknown");
    BOOST_TEST(stats["binary_bytes"] == binary.size());
}

BOOST_AUTO_TEST_CASE(driver_without_a_binary_leaves_a_note_and_no_program_file) {
    const TempFolder temp;
    BOOST_TEST(write_dump(request(temp.path(), "")).info.kind == "empty");
    BOOST_TEST(text_of(temp.path() / "isa.txt").find("the driver returned no binary") != std::string::npos);
    for (const auto& file : fs::directory_iterator(temp.path()))
        BOOST_TEST(!file.path().filename().string().starts_with("program"));
}

BOOST_AUTO_TEST_CASE(old_dump_files_are_removed_and_foreign_files_kept) {
    const TempFolder temp;
    write_dump(request(temp.path(), "//\n.version 7.5\n.target sm_80\n"));
    BOOST_TEST(fs::exists(temp.path() / "program.ptx"));
    temp.write("timing.json", build::span("old"));
    temp.write("program.own", build::span("mine"));
    write_dump(request(temp.path(), "\1\2\3"));
    BOOST_TEST(!fs::exists(temp.path() / "program.ptx"));
    BOOST_TEST(!fs::exists(temp.path() / "timing.json"));
    BOOST_TEST(text_of(temp.path() / "program.own") == "mine");
}

BOOST_AUTO_TEST_CASE(foreign_file_is_kept_and_reported_and_old_dump_stays_whole) {
    const TempFolder temp;
    write_dump(request(temp.path(), "\1\2\3"));
    temp.write("program.ptx", build::span("mine"));
    BOOST_CHECK_EXCEPTION(
        write_dump(request(temp.path(), "//\n.version 7.5\n.target sm_80\n")), cllab::Error, [](const cllab::Error& e) {
            return std::string(e.what()).find("program.ptx' was not written by cllab") != std::string::npos;
        });
    BOOST_TEST(text_of(temp.path() / "program.ptx") == "mine");
    BOOST_TEST(text_of(temp.path() / "program.bin") == "\1\2\3");
}

BOOST_AUTO_TEST_CASE(foreign_file_list_removes_nothing) {
    const TempFolder temp;
    temp.write("files.txt", build::span("notes.md\n../other\n"));
    temp.write("notes.md", build::span("mine"));
    BOOST_CHECK_EXCEPTION(write_dump(request(temp.path(), "x")), cllab::Error, [](const cllab::Error& e) {
        return std::string(e.what()).find("files.txt' was not written by cllab") != std::string::npos;
    });
    BOOST_TEST(text_of(temp.path() / "notes.md") == "mine");
}

BOOST_AUTO_TEST_CASE(two_devices_of_one_name_keep_separate_folders) {
    const TempFolder temp;
    cllab::model::Device first;
    first.name = "One name";
    first.platform = "P";
    first.selector = "0:0";
    auto second = first, uuid = first;
    second.selector = "0:1";
    uuid.type = cllab::model::DeviceType::gpu;
    uuid.identity = "UUID 1";
    const auto name = [&](const fs::path& folder) { return folder.lexically_relative(temp.path()).string(); };
    BOOST_TEST(name(device_folder(temp.path(), second, "h")) == "One-name");  // nobody's yet
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(name(claim_device_folder(temp.path(), first, "h")) == "One-name");
        BOOST_TEST(name(claim_device_folder(temp.path(), second, "h")) == "One-name-2");
        BOOST_TEST(name(claim_device_folder(temp.path(), uuid, "h")) == "One-name-3");
    }
    BOOST_TEST(name(device_folder(temp.path(), second, "h")) == "One-name-2");
    BOOST_TEST(name(device_folder(temp.path(), uuid, "another host")) == "One-name-3");
    BOOST_TEST(name(device_folder(temp.path(), first, "another host")) == "One-name-4");
    first.driver = "a newer one";
    first.selector = "3:0";  // another platform was installed
    BOOST_TEST(name(device_folder(temp.path(), first, "h")) == "One-name");
}

BOOST_AUTO_TEST_CASE(a_dump_folder_is_written_by_one_run_at_a_time) {
    const TempFolder temp;
    std::string order;
    std::thread waiting;
    {
        const auto held = write_sidecars(request(temp.path(), "first"), read_code(request(temp.path(), "first")));
        waiting = std::thread([&] {
            write_dump(request(temp.path(), "second"));
            order += "second";
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        order += "first ";
        BOOST_TEST(text_of(temp.path() / "program.bin") == "first");
    }
    waiting.join();
    BOOST_TEST(order == "first second");
    BOOST_TEST(text_of(temp.path() / "program.bin") == "second");
}

BOOST_AUTO_TEST_CASE(uncreatable_folder_is_an_environment_error) {
    const TempFolder temp;
    const auto file = temp.write("file", build::span("x"));
    BOOST_CHECK_EXCEPTION(write_dump(request(file / "under", "x")), cllab::Error, [](const cllab::Error& e) {
        return e.blame() == cllab::Blame::environment && std::string(e.what()).find("under") != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(ptx_is_written_without_nuls_and_labelled_as_not_sass) {
    const TempFolder temp;
    const std::string ptx =
        "//\n.version 7.5\n.target sm_80, texmode_independent\n.address_size 64\n.entry vadd()\n{\n\tret;\n}\n";
    const auto info = write_dump(request(temp.path(), ptx + "\0\0"s)).info;
    BOOST_TEST(info.kind == "ptx");
    BOOST_TEST(text_of(temp.path() / "program.ptx") == ptx);
    const std::string isa = text_of(temp.path() / "isa.txt");
    BOOST_TEST(isa.find("// PTX (not SASS)\n// vadd, 1 instructions: branch 1\n") != std::string::npos);
    BOOST_TEST(isa.find("\n.version 7.5\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(verbose_log_of_the_driver_overrides_the_local_ptxas) {
    const TempFolder temp;
    const std::string ptx =
        "//\n.version 7.5\n.target sm_80, texmode_independent\n.address_size 64\n.entry vadd()\n{\n\tret;\n}\n";
    auto r = request(temp.path(), ptx);
    r.build_log =
        "ptxas info    : Compiling entry function 'vadd' for 'sm_90'\nptxas info    : Used 77 registers, used 0 "
        "barriers, 384 bytes cmem[0]\n";
    const auto info = read_code(r).info;
    BOOST_TEST(info.registers.value() == 77);
    BOOST_TEST(info.origin.at("registers").starts_with("driver's ptxas verbose log"));
}

BOOST_AUTO_TEST_CASE(pocl_code_has_only_the_specialised_function_and_its_calls) {
    if (!find_tool({"objdump"}) && !find_tool(llvm_names("llvm-objdump"))) {
        BOOST_TEST_MESSAGE("skipped: no objdump on PATH");
        return;
    }
    const TempFolder temp;
    const auto info = write_dump(request(temp.path(), pocl_sample(), cllab::model::Extent(64))).info;
    const std::string isa = text_of(temp.path() / "isa.txt");
    BOOST_TEST(info.code_bytes.value() == 6);
    BOOST_TEST(isa.find("// work-group function specialised for local size 64x1x1 (64-1-1-goffs0)") !=
               std::string::npos);
    BOOST_TEST(isa.find("call") != std::string::npos);
    BOOST_TEST(isa.find("cpuid") != std::string::npos);
    BOOST_TEST(isa.find("hlt") == std::string::npos);
    BOOST_TEST(isa.find("ud2") == std::string::npos);
    BOOST_TEST(isa.find("cllab-") == std::string::npos);
    BOOST_TEST(text_of(temp.path() / "program.so")
                   .starts_with("\x7f"
                                "ELF"));
    write_dump(request(temp.path(), pocl_sample(), cllab::model::Extent(32)));
    BOOST_TEST(text_of(temp.path() / "isa.txt").find("ud2") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(isa_txt_names_a_missing_tool_and_its_package) {
    const TempFolder temp;
    const EmptyPath none;
    const auto info = write_dump(request(temp.path(), pocl_sample(), cllab::model::Extent(64))).info;
    BOOST_TEST(info.code_bytes.value() == 6);
    const std::string isa = text_of(temp.path() / "isa.txt");
    BOOST_TEST(isa.find("needs objdump or llvm-objdump, which is not on PATH (Debian binutils)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(damaged_binaries_of_every_kind_give_a_sentence) {
    const TempFolder temp;
    const std::vector<std::string> damaged{
        pocl_sample().substr(0, 200),
        "BC\xc0\xde"
        "broken",
        "\x03\x02\x23\x07",
        "\1\0\0\0\x08\0\0\0\4\0\0\0\x03\x02\x23\x07"s,
        build::ElfFile{.osabi = 0x40, .type = 3, .machine = 0xE0}.bytes().substr(0, 70),
        build::ElfFile{.type = 2, .machine = 190}.bytes(),
        build::ElfFile{.type = 0xff04, .machine = 62, .sections = {{".ocl.obj", 1, "junk"}}}.bytes(),
        "bplist00",
        "!<arch>\n",
        "//\n.version 99.9\n.target sm_80\nthis is no PTX\n"};
    for (const auto& binary : damaged) {
        write_dump(request(temp.path(), binary, cllab::model::Extent(64)));
        BOOST_TEST(text_of(temp.path() / "isa.txt").find("no disassembly: ") != std::string::npos,
                   "no sentence for " << binary.substr(0, 8));
    }
}

BOOST_AUTO_TEST_SUITE_END()
