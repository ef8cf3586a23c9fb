# cllab_version(TARGET): core/version.hpp's text, with the commit where the source is a git checkout. It is made again when HEAD
# moves; edits since the commit are not seen (tools/package, whose programs others run, refuses them).
#   cmake -DSOURCE=folder -DVERSION=1.2.3 -DOUT=file.cpp -P Version.cmake : writes the file
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(commit)
    string(APPEND VERSION " (commit ${commit})")
  endif()
  file(CONFIGURE OUTPUT ${OUT} CONTENT [[
#include "core/version.hpp"

namespace cllab {
const char* version() { return "@VERSION@"; }
}  // namespace cllab
]] @ONLY)
  return()
endif()

function(cllab_version target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/version.cpp)
  # The log of HEAD is written with each commit and each checkout.
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD OUTPUT_VARIABLE moves
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT EXISTS "${moves}")
    set(moves)
  endif()
  add_custom_command(OUTPUT ${out} DEPENDS ${moves} ${CMAKE_SOURCE_DIR}/tools/cmake/Version.cmake
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DOUT=${out}
            -P ${CMAKE_SOURCE_DIR}/tools/cmake/Version.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
