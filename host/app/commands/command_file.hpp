// Common includes of the files of commands.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/choose/choice.hpp"
#include "app/choose/request.hpp"
#include "app/commandline/rows.hpp"
#include "app/commands.hpp"
#include "app/files/outputs.hpp"
#include "app/files/profile_file.hpp"
#include "app/processes/runner.hpp"
#include "app/screen/progress.hpp"
#include "app/screen/results.hpp"
#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "report/records/json.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"
#include "report/table/table.hpp"
