# The plugin with which Oclgrind counts what a kernel executes (`cllab count`). Optional: it needs the headers of Oclgrind
# and of the LLVM that Oclgrind was built with, which is found by what its library links to.
find_path(CLLAB_OCLGRIND_DIR oclgrind/Plugin.h)
find_library(CLLAB_OCLGRIND_LIBRARY oclgrind)
find_program(CLLAB_OBJDUMP objdump)
set(CLLAB_COUNT_PLUGIN OFF)
if(CLLAB_OCLGRIND_DIR AND CLLAB_OCLGRIND_LIBRARY AND CLLAB_OBJDUMP)
  execute_process(COMMAND ${CLLAB_OBJDUMP} -p ${CLLAB_OCLGRIND_LIBRARY} OUTPUT_VARIABLE needed ERROR_QUIET)
  if(needed MATCHES "libLLVM[-.so]*([0-9]+)")
    set(llvm /usr/lib/llvm-${CMAKE_MATCH_1})
    find_path(CLLAB_OCLGRIND_LLVM_DIR llvm/IR/Instruction.h PATHS ${llvm}/include NO_DEFAULT_PATH)
    find_library(CLLAB_OCLGRIND_LLVM_LIBRARY LLVM-${CMAKE_MATCH_1} PATHS ${llvm}/lib NO_DEFAULT_PATH)
  endif()
endif()
if(CLLAB_OCLGRIND_LLVM_DIR AND CLLAB_OCLGRIND_LLVM_LIBRARY AND NOT CLLAB_SANITIZE)
  set(CLLAB_COUNT_PLUGIN ON)
  file(GLOB sources CONFIGURE_DEPENDS host/count/plugin/*.cpp host/count/wave/*.cpp)
  add_library(cllab_count_plugin MODULE ${sources} host/count/called.cpp host/model/counts.cpp)
  target_link_libraries(cllab_count_plugin PRIVATE cllab_flags nlohmann_json::nlohmann_json
    ${CLLAB_OCLGRIND_LIBRARY} ${CLLAB_OCLGRIND_LLVM_LIBRARY})
  target_include_directories(cllab_count_plugin SYSTEM PRIVATE ${CLLAB_OCLGRIND_DIR} ${CLLAB_OCLGRIND_LLVM_DIR})
  # Oclgrind's classes have no type information, and each instruction that it simulates comes through here.
  target_compile_options(cllab_count_plugin PRIVATE -fno-rtti -O2)
  set_target_properties(cllab_count_plugin PROPERTIES PREFIX "" OUTPUT_NAME cllab-count-plugin
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
  add_dependencies(cllab cllab_count_plugin)
else()
  message(STATUS "no Oclgrind headers: `cllab count` gets no plugin (apt-get install liboclgrind-dev llvm-14-dev)")
endif()
