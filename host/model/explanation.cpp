#include "model/explanation.hpp"

namespace cllab::model {

const char* name(Limit limit) {
    switch (limit) {
        case Limit::named:
            return "named";
        case Limit::close:
            return "close";
        case Limit::unexplained:
            return "not explained";
        case Limit::withdrawn:
            return "withdrawn";
        case Limit::unsteady:
            return "unsteady";
        case Limit::impossible:
            break;
    }
    return "impossible";
}

const char* name(Outcome outcome) {
    switch (outcome) {
        case Outcome::as_predicted:
            return "as predicted";
        case Outcome::otherwise:
            return "otherwise";
        case Outcome::undecided:
            break;
    }
    return "undecided";
}

}  // namespace cllab::model
