// Settings that go to a process which was begun before them: every field crosses, or is known to stay.
#include <boost/test/unit_test.hpp>

#include "app/processes/protocol.hpp"
#include "run/request.hpp"

BOOST_AUTO_TEST_SUITE(settings_fields)

using namespace cllab;

namespace {

template <typename Field>
void change(Field& field) {
    if constexpr (std::is_same_v<Field, bool>)
        field = !field;
    else
        field = static_cast<Field>(static_cast<int>(field) + 1);
}
template <typename Field>
void change(std::optional<Field>& field) {
    if (!field) field.emplace();
    change(*field);
}

}  // namespace

BOOST_AUTO_TEST_CASE(only_numbers_switches_and_choices_are_sent) {
    run::Settings sent;
    unsigned fields = 0, crossing = 0;
    run::visit_fields(sent, [&]<typename Field>(Field& field) {
        ++fields;
        if constexpr (app::is_sent<Field>) {
            ++crossing;
            change(field);
        }
    });
    sent.build_options = "stays";
    const auto message = app::sent_fields(sent), unchanged = app::sent_fields({});
    BOOST_TEST(message.size() == crossing);
    for (std::size_t i = 0; i < message.size(); ++i) BOOST_TEST(message[i] != unchanged[i], "field " << i);
    run::Settings there;
    app::take_fields(there, message);
    BOOST_TEST(app::sent_fields(there) == message);
    BOOST_TEST(there.build_options == "");
    BOOST_TEST(there.fresh_data.has_value());
    // A field that is neither is a text, a file, a function, which the process has built from, what is known of devices,
    // or a time of this process.
    BOOST_TEST(fields - crossing == 13u);
}

BOOST_AUTO_TEST_CASE(unset_choice_is_sent_as_unset) {
    run::Settings there;
    there.fresh_data = true;
    app::take_fields(there, app::sent_fields({}));
    BOOST_TEST(!there.fresh_data.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
