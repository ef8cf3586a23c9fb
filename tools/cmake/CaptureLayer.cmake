# The OpenCL layer of `cllab capture`. It lives in other people's processes: its own C++ runtime and a few files of the program, and of its
# symbols the loader sees the entry points only.
file(GLOB sources CONFIGURE_DEPENDS host/capture/layer/*.cpp)
add_library(cllab_capture_layer MODULE ${sources} host/capture/board.cpp host/core/kernel_text.cpp host/core/reading.cpp host/core/text.cpp
  host/core/units.cpp host/json/read.cpp host/model/kernel_signature.cpp)
target_compile_features(cllab_capture_layer PRIVATE cxx_std_20)
target_compile_definitions(cllab_capture_layer PRIVATE CL_TARGET_OPENCL_VERSION=300)
target_include_directories(cllab_capture_layer PRIVATE host)
target_include_directories(cllab_capture_layer SYSTEM PRIVATE $<TARGET_PROPERTY:OpenCL::OpenCL,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_options(cllab_capture_layer PRIVATE -Wall -Wextra -Wshadow -Wno-missing-field-initializers "$<$<CXX_COMPILER_ID:GNU>:-Wconversion;-Wno-restrict>" $<$<BOOL:${CLLAB_WERROR}>:-Werror>)
target_link_libraries(cllab_capture_layer PRIVATE nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(cllab_capture_layer PRIVATE -static-libgcc -static-libstdc++ LINKER:--exclude-libs,ALL LINKER:-z,defs)
set_target_properties(cllab_capture_layer PROPERTIES PREFIX "" OUTPUT_NAME cllab-capture-layer
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
add_dependencies(cllab cllab_capture_layer)
