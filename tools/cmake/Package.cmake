# What is installed, and the Debian package that CPack makes of it. tools/package drives this.
# The maintainer and the licence are the owner's to decide: -DCLLAB_MAINTAINER="Name <address>", tools/debian/copyright.
set(CLLAB_MAINTAINER "the owner of cllab <cllab@example.org>" CACHE STRING "Name <address> in the Debian package")

install(TARGETS cllab RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS cllab_capture_layer LIBRARY DESTINATION lib/cllab)
install(PROGRAMS tools/slurm-sweep tools/slurm-here DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY cl/ DESTINATION ${CMAKE_INSTALL_DATADIR}/cllab/cl PATTERN README.md EXCLUDE)
install(FILES tools/record.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cllab)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES tests/device/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME devices.md)
install(DIRECTORY tests/kernels/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples FILES_MATCHING PATTERN "*.cl")
# Among Python's own packages it would make Debian's depend on Python.
install(FILES tools/python/cllab.py tools/python/cllab_export.py DESTINATION ${CMAKE_INSTALL_DATADIR}/cllab/python)
install(FILES tools/reframe/cllab_check.py tools/python/test_saxpy.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

set(completions ${CMAKE_BINARY_DIR}/completions)
add_custom_command(OUTPUT ${completions}/cllab.bash ${completions}/_cllab ${completions}/cllab.fish
  COMMAND ${CMAKE_SOURCE_DIR}/tools/make-completions $<TARGET_FILE:cllab> ${completions}
  DEPENDS cllab ${CMAKE_SOURCE_DIR}/tools/make-completions VERBATIM)
add_custom_target(completions ALL DEPENDS ${completions}/cllab.bash)
install(FILES ${completions}/cllab.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cllab OPTIONAL)
install(FILES ${completions}/_cllab DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions OPTIONAL)
install(FILES ${completions}/cllab.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)

# Manual pages, changelog and copyright, where tools/package-docs has made them.
install(DIRECTORY ${CMAKE_BINARY_DIR}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/debian/ DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${CLLAB_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"cllab compiles OpenCL kernels at run time on any device, proves each variant
of a kernel right, times it with a stated uncertainty, and keeps the program's
binary with its disassembly beside the time. It has probes for latencies,
caches, banks and rates, and runs kernel files of your own.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# A device to run on, and the disassembler of its code.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd, binutils")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libamd-comgr2, llvm, oclgrind, cllab-count, spirv-tools, python3-numpy")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# The plugin needs Oclgrind and its LLVM, which nobody needs who does not count: a package of its own.
if(CLLAB_COUNT_PLUGIN)
  install(TARGETS cllab_count_plugin LIBRARY DESTINATION lib/cllab COMPONENT count)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME cllab)
  set(CPACK_DEBIAN_COUNT_PACKAGE_NAME cllab-count)
  set(CPACK_DEBIAN_COUNT_PACKAGE_DEPENDS "cllab (= ${PROJECT_VERSION}), oclgrind")
  set(CPACK_DEBIAN_COUNT_DESCRIPTION "The plugin with which the simulator Oclgrind counts what kernels execute.")
endif()
include(CPack)
