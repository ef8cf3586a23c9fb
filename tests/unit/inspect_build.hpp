// Makes small program binaries by hand, for producers that cannot run where the tests run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/binary/bounded_bytes.hpp"

namespace build {

template <typename T>
void put(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

template <typename T>
void put_at(std::string& out, std::size_t at, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        out[at + i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

struct Section {
    std::string name;
    std::uint32_t type = 1;  // SHT_PROGBITS
    std::string data;
    std::uint32_t link = 0, info = 0;
    std::uint64_t flags = 0;
};

struct ElfFile {
    bool is64 = true;
    std::uint8_t osabi = 0, abi_version = 0;
    std::uint16_t type = 1, machine = 62;
    std::uint32_t flags = 0;
    std::vector<Section> sections{};

    std::string bytes() const {
        std::string names(1, '\0'), out(is64 ? 64 : 52, '\0');
        std::vector<Section> all{{"", 0, ""}};
        all.insert(all.end(), sections.begin(), sections.end());
        all.push_back({".shstrtab", 3, ""});
        std::vector<std::uint32_t> name_at;
        for (const auto& s : all) name_at.push_back(static_cast<std::uint32_t>(names.size())), names += s.name + '\0';
        all.back().data = names;
        std::vector<std::uint64_t> offset;
        for (const auto& s : all) {
            while (out.size() % 16) out += '\0';
            offset.push_back(out.size());
            out += s.data;
        }
        const std::uint64_t table = out.size();
        for (std::size_t i = 0; i < all.size(); ++i) {
            put(out, name_at[i]);
            put(out, all[i].type);
            if (is64) {
                put(out, all[i].flags), put(out, std::uint64_t{0}), put(out, offset[i]);
                put(out, std::uint64_t{all[i].data.size()}), put(out, all[i].link), put(out, all[i].info);
                put(out, std::uint64_t{1}), put(out, std::uint64_t{all[i].type == 2 ? 24u : 0u});
            } else {
                put(out, std::uint32_t(all[i].flags)), put(out, std::uint32_t{0}), put(out, std::uint32_t(offset[i]));
                put(out, std::uint32_t(all[i].data.size())), put(out, all[i].link), put(out, all[i].info);
                put(out, std::uint32_t{1}), put(out, std::uint32_t{all[i].type == 2 ? 16u : 0u});
            }
        }
        out.replace(0, 4,
                    "\x7f"
                    "ELF");
        out[4] = is64 ? 2 : 1, out[5] = 1, out[6] = 1;
        put_at(out, 7, osabi), put_at(out, 8, abi_version), put_at(out, 16, type), put_at(out, 18, machine),
            put_at(out, 20, 1u);
        put_at(out, is64 ? 48 : 36, flags);
        if (is64)
            put_at(out, 40, table);
        else
            put_at(out, 32, std::uint32_t(table));
        const std::size_t tail = is64 ? 52 : 40;
        put_at(out, tail, std::uint16_t(is64 ? 64 : 52)), put_at(out, tail + 6, std::uint16_t(is64 ? 64 : 40));
        put_at(out, tail + 8, std::uint16_t(all.size())), put_at(out, tail + 10, std::uint16_t(all.size() - 1));
        return out;
    }
};

/// An x86-64 relocatable object with one function per (name, machine code) pair.
inline std::string x86_object(const std::vector<std::pair<std::string, std::string>>& functions) {
    std::string text, names(1, '\0'), symbols(24, '\0');
    for (const auto& [name, code] : functions) {
        put(symbols, std::uint32_t(names.size()));
        symbols += static_cast<char>(0x12);  // global function
        symbols += '\0';
        put(symbols, std::uint16_t{1}), put(symbols, std::uint64_t{text.size()}),
            put(symbols, std::uint64_t{code.size()});
        names += name + '\0';
        text += code;
    }
    return ElfFile{.sections = {{".text", 1, text, 0, 0, 6}, {".symtab", 2, symbols, 3, 1}, {".strtab", 3, names}}}
        .bytes();
}

/// PoCL's container, format version 9, as PoCL 3.1 writes it.
struct PoclFile {
    struct Kernel {
        std::string name;
        std::vector<std::pair<std::string, std::string>> records;
    };
    std::string bitcode = "BC\xc0\xde";
    std::vector<Kernel> kernels{};

    static std::string record(const std::string& path, const std::string& content) {
        std::string out;
        put(out, std::uint32_t(path.size()));
        out += path;
        put(out, std::uint32_t(content.size()));
        return out + content;
    }
    std::string bytes() const {
        std::string out("poclbin\0", 8);
        put(out, std::uint64_t{0x00ed1684c2b7fb5a}), put(out, std::uint32_t{9}),
            put(out, std::uint32_t(kernels.size()));
        put(out, std::uint64_t{0x400000000}), put(out, std::uint32_t{1});
        out += "IJ/HCKLMGLECNFKPKCJDBACCBDNKNAPIENGPHECF";
        out += '\0';
        const std::string root = record("/program.bc", bitcode);
        put(out, std::uint64_t{root.size()});
        out += root;
        for (const auto& kernel : kernels) {
            std::string meta, records;
            put(meta, std::uint32_t(kernel.name.size()));
            meta += kernel.name + std::string(64, '\0');
            for (const auto& [path, content] : kernel.records) records += record(path, content);
            put(out, std::uint64_t{16 + meta.size() + records.size()}), put(out, std::uint64_t{records.size()});
            out += meta + records;
        }
        return out;
    }
};

/// Bytes kept alive by the caller's string.
inline cllab::inspect::ByteSpan span(const std::string& s) { return cllab::inspect::as_bytes(s); }

}  // namespace build
