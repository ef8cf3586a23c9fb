# Every package in one place. A missing one stops the configure step with the Debian package that has it.

macro(cllab_require package debian)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "cllab needs ${package}, which was not found. On Debian or Ubuntu: apt-get install ${debian}. "
                        "Or let tools/cllab install everything.")
  endif()
endmacro()

if(CLLAB_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
endif()
cllab_require(OpenCL "ocl-icd-opencl-dev opencl-headers")
set(cllab_boost program_options)
if(CLLAB_TESTS)
  list(APPEND cllab_boost unit_test_framework)
endif()
cllab_require(Boost "libboost-program-options-dev libboost-test-dev" 1.74 COMPONENTS ${cllab_boost})
cllab_require(fmt libfmt-dev)
cllab_require(nlohmann_json nlohmann-json3-dev)
if(CLLAB_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a ${CMAKE_FIND_LIBRARY_SUFFIXES})
endif()
cllab_require(PNG libpng-dev)

find_path(CLLAB_CLHPP_DIR CL/opencl.hpp)
if(NOT CLLAB_CLHPP_DIR)
  message(FATAL_ERROR "cllab needs CL/opencl.hpp, which was not found. On Debian or Ubuntu: apt-get install opencl-clhpp-headers.")
endif()

add_library(cllab_opencl INTERFACE)
target_include_directories(cllab_opencl SYSTEM INTERFACE ${CLLAB_CLHPP_DIR})
target_link_libraries(cllab_opencl INTERFACE OpenCL::OpenCL)
# The lab runs on OpenCL 1.2 devices and asks newer things only after it has looked.
target_compile_definitions(cllab_opencl INTERFACE CL_HPP_ENABLE_EXCEPTIONS CL_HPP_TARGET_OPENCL_VERSION=300
  CL_HPP_MINIMUM_OPENCL_VERSION=110 CL_TARGET_OPENCL_VERSION=300)
# Optional: amd_comgr's header, for code of AMD GPUs that are not here. The library itself is loaded when first used.
find_path(CLLAB_COMGR_DIR NAMES amd_comgr/amd_comgr.h amd_comgr.h HINTS /opt/rocm/include)
add_library(cllab_comgr INTERFACE)
target_link_libraries(cllab_comgr INTERFACE ${CMAKE_DL_LIBS})
if(CLLAB_COMGR_DIR)
  target_include_directories(cllab_comgr SYSTEM INTERFACE ${CLLAB_COMGR_DIR})
  if(EXISTS ${CLLAB_COMGR_DIR}/amd_comgr/amd_comgr.h)
    target_compile_definitions(cllab_comgr INTERFACE "CLLAB_COMGR_HEADER=<amd_comgr/amd_comgr.h>")
  else()
    target_compile_definitions(cllab_comgr INTERFACE "CLLAB_COMGR_HEADER=<amd_comgr.h>")
  endif()
endif()

# A binary that is carried to another machine takes fmt along in its headers.
add_library(cllab_fmt INTERFACE)
target_link_libraries(cllab_fmt INTERFACE $<IF:$<BOOL:${CLLAB_STATIC}>,fmt::fmt-header-only,fmt::fmt>)
