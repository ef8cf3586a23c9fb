// Lists of fields. One list serves the writer, the reader and the schema. A list is a function fields(visitor, object)
// with one call per field.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

namespace cllab::model {

enum class Presence {
    needed,     ///< always written; a record without it is invalid
    always,     ///< always written; if absent, the member keeps its default
    sometimes,  ///< written if it has a value, or if its row says so
};

/// Properties of a field besides its key and its member.
struct FieldRow {
    const char* about = "";   ///< description in the schema: what key and type do not tell
    const char* schema = "";  ///< what the schema requires besides the type: a name in its $defs, or keywords as JSON
    const char* title = "";   ///< title of the CSV column; empty: no column
    std::vector<std::string> one_of{};                ///< legal texts; empty: any
    std::string (*as)(const std::string&) = nullptr;  ///< converts a text before it is written; null: written unchanged
    Presence presence = Presence::always;
    bool now = true;      ///< the field is written for this record
    bool if_set = false;  ///< the field is written if it is not empty, zero or false
};

/// A visitor V of the list has field(key, member, row), and sampled() for samples with their rounds.
template <class V>
class Fields {
public:
    template <class T>
    void needed(const char* key, T& member, FieldRow row = {}) {
        row.presence = Presence::needed;
        self().field(key, member, row);
    }
    template <class T>
    void always(const char* key, T& member, FieldRow row = {}) {
        self().field(key, member, row);
    }
    template <class T>
    void if_set(const char* key, T& member, FieldRow row = {}) {
        row.if_set = true;
        row.presence = Presence::sometimes;
        self().field(key, member, row);
    }
    template <class T>
    void when(bool now, const char* key, T& member, FieldRow row = {}) {
        row.now = now;
        row.presence = Presence::sometimes;
        self().field(key, member, row);
    }

private:
    V& self() { return static_cast<V&>(*this); }
};

/// T is `Of` or `const Of`.
template <class T, class Of>
concept Maybe_const = std::same_as<std::remove_const_t<T>, Of>;

}  // namespace cllab::model
