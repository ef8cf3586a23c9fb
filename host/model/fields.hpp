// How a list of fields is written down, so that one list serves whoever writes, reads or describes the fields. A list
// is a function fields(visitor, object) with a row for each field.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

namespace cllab::model {

enum class Presence {
    needed,     ///< always written; a record without it is none
    always,     ///< always written; where it is missing the member keeps its default
    sometimes,  ///< written where it has a value, or where its row says so
};

/// Properties of a field beside its key and its member.
struct FieldRow {
    const char* about = "";   ///< for the schema: what key and type leave open
    const char* schema = "";  ///< what the schema asks beyond the type: a name of its $defs, or its keywords as JSON
    const char* title = "";   ///< of its column in CSV; empty: it has none
    std::vector<std::string> one_of{};                ///< texts; any other is refused
    std::string (*as)(const std::string&) = nullptr;  ///< how a text is written
    Presence presence = Presence::always;
    bool now = true;      ///< it is written of this record
    bool if_set = false;  ///< it is written where it is not empty, zero or false
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

/// T, or T that must not change.
template <class T, class Of>
concept Maybe_const = std::same_as<std::remove_const_t<T>, Of>;

}  // namespace cllab::model
