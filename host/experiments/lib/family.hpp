// Everything that a family's file needs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "experiments/lib/describe.hpp"
#include "experiments/lib/findings.hpp"
#include "experiments/lib/setups.hpp"
