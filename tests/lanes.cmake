# A test that ends with 77 has found that what it needs is not installed, and says so in a line "skipped: …"; what is
# installed and broken fails. tools/test --require-all takes no skipped test for an answer.

# Lanes that drive the built programs. cllab_script(NAME LABEL label SCRIPT file [PROGRAMS folder] [ARGS …] [TIMEOUT s] [ALL_THREADS]).
function(cllab_script name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALL_THREADS" "LABEL;SCRIPT;PROGRAMS;TIMEOUT" "ARGS")
  # Against what hangs. A test takes a minute or two; on a machine with other work, many times that.
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800)
  endif()
  if(NOT arg_PROGRAMS)
    set(arg_PROGRAMS ${CMAKE_BINARY_DIR})
  endif()
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/${arg_SCRIPT} ${arg_ARGS})
  # Tests run beside each other: a CPU device of one thread leaves the others their time. The lanes below that say so, and all but `cli`, have every thread.
  set(more "")
  if(arg_LABEL STREQUAL cli AND NOT arg_ALL_THREADS)
    set(more POCL_MAX_PTHREAD_COUNT=1)
  endif()
  # What documents say is tried with PoCL as it is installed.
  if(NOT name STREQUAL cli_documents)
    list(APPEND more "CLLAB_POCL_ICD=${small_pocl}/pocl.icd")
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED small_pocl)
  endif()
  # Compiled kernels stay in the build folder, out of the user's own cache.
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT
    "CLLAB=${arg_PROGRAMS}/cllab;CLLAB_SOURCE_DIR=${CMAKE_SOURCE_DIR};CLLAB_FAULT_ICD=$<TARGET_FILE:cllab_fault_icd>;CLLAB_CAPTURED_PROGRAM=$<TARGET_FILE:cllab_captured_program>;POCL_CACHE_DIR=${CMAKE_BINARY_DIR}/pocl-cache;${more}")
endfunction()

if(Python3_Interpreter_FOUND)
  set(small_pocl ${CMAKE_BINARY_DIR}/small-pocl)
  add_test(NAME small_pocl COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/small_pocl.py ${small_pocl})
  set_tests_properties(small_pocl PROPERTIES LABELS setup FIXTURES_SETUP small_pocl)
  cllab_script(cli_command_line LABEL cli SCRIPT cli/test_command_line.py ALL_THREADS)
  cllab_script(cli_screen LABEL cli SCRIPT cli/test_screen.py)
  cllab_script(cli_profile LABEL cli SCRIPT cli/test_profile.py)
  cllab_script(cli_behaviour LABEL cli SCRIPT cli/test_behaviour.py)
  cllab_script(cli_documents LABEL cli SCRIPT cli/test_documents.py)
  cllab_script(cli_devices LABEL cli SCRIPT cli/test_devices.py)
  cllab_script(cli_files LABEL cli SCRIPT cli/test_files.py)
  cllab_script(cli_streams LABEL cli SCRIPT cli/test_streams.py)
  cllab_script(cli_hostile LABEL cli SCRIPT cli/test_hostile.py ARGS --pending files points)
  cllab_script(cli_large LABEL cli SCRIPT cli/test_large.py)
  cllab_script(cli_faults LABEL cli SCRIPT cli/test_faults.py ALL_THREADS)
  cllab_script(cli_panel LABEL cli SCRIPT cli/test_panel.py)
  cllab_script(cli_drivers LABEL cli SCRIPT cli/test_drivers.py)
  cllab_script(cli_sweep LABEL cli SCRIPT cli/test_sweep.py)
  cllab_script(cli_setup LABEL cli SCRIPT cli/test_setup.py)
  cllab_script(cli_package LABEL cli SCRIPT cli/test_package.py)
  cllab_script(cli_lanes LABEL cli SCRIPT cli/test_lanes.py)
  cllab_script(cli_points LABEL cli SCRIPT cli/test_points.py)
  cllab_script(cli_hot LABEL cli SCRIPT cli/test_hot.py)
  cllab_script(cli_source_lines LABEL cli SCRIPT cli/test_source_lines.py)
  cllab_script(cli_records LABEL cli SCRIPT cli/test_records.py ALL_THREADS)
  cllab_script(cli_excerpts LABEL cli SCRIPT cli/test_excerpts.py)
  cllab_script(cli_studies LABEL cli SCRIPT cli/test_studies.py)
  cllab_script(cli_native LABEL cli SCRIPT cli/test_native.py)
  cllab_script(cli_new_family LABEL cli SCRIPT cli/test_new_family.py PROGRAMS ${new_family} ARGS ${new_family})
  cllab_script(cli_count LABEL cli SCRIPT cli/test_count.py)
  cllab_script(cli_count_ends LABEL cli SCRIPT cli/test_count_ends.py)
  cllab_script(cli_count_launch LABEL cli SCRIPT cli/test_count_launch.py)
  cllab_script(cli_why LABEL cli SCRIPT cli/test_why.py)
  cllab_script(cli_python LABEL cli SCRIPT cli/test_python.py)
  cllab_script(cli_regress LABEL cli SCRIPT cli/test_regress.py)
  # tools/test -L speed: times that mean something only while nothing else runs.
  cllab_script(native_speed LABEL speed SCRIPT peer/native_speed.py)
  set_tests_properties(native_speed PROPERTIES RUN_SERIAL TRUE)
  # tools/test -L trial: a short one; `tests/trial/verdicts.py --help` says how to run the one that counts.
  cllab_script(trial_verdicts LABEL trial SCRIPT trial/verdicts.py ARGS --comparisons 20 --out ${CMAKE_BINARY_DIR}/trial.jsonl TIMEOUT 3600)
  cllab_script(trial_regress LABEL trial SCRIPT trial/regress.py TIMEOUT 3600)
  cllab_script(trial_hot LABEL trial SCRIPT trial/hot.py ARGS --out ${CMAKE_BINARY_DIR}/trial-hot.jsonl TIMEOUT 3600)
  set_tests_properties(trial_verdicts trial_regress trial_hot PROPERTIES RUN_SERIAL TRUE)
  cllab_script(browser LABEL browser SCRIPT browser/test_page.py)
  cllab_script(browser_looks LABEL browser SCRIPT browser/test_looks.py)
  cllab_script(browser_lines LABEL browser SCRIPT browser/test_lines.py)
  cllab_script(browser_geometry LABEL browser SCRIPT browser/test_geometry.py)
  cllab_script(cli_kernel_files LABEL cli SCRIPT cli/test_kernel_files.py)
  cllab_script(cli_tune LABEL cli SCRIPT cli/test_tune.py)
  cllab_script(cli_programs LABEL cli SCRIPT cli/test_programs.py ARGS Programs)
  cllab_script(cli_programs_intel LABEL cli SCRIPT cli/test_programs.py ARGS OnIntel)
  cllab_script(cli_options LABEL cli SCRIPT cli/test_options.py)
  cllab_script(cli_sequences LABEL cli SCRIPT cli/test_sequences.py)
  cllab_script(cli_data LABEL cli SCRIPT cli/test_data.py)
  cllab_script(cli_buffers LABEL cli SCRIPT cli/test_buffers.py)
  cllab_script(cli_guess LABEL cli SCRIPT cli/test_guess.py)
  cllab_script(cli_kernel_file_faults LABEL cli SCRIPT cli/test_kernel_file_faults.py)
  cllab_script(cli_proof_rungs LABEL cli SCRIPT cli/test_proof_rungs.py)
  cllab_script(cli_kernel_file_code LABEL cli SCRIPT cli/test_kernel_file_code.py)
  cllab_script(cli_isa_files LABEL cli SCRIPT cli/test_isa_files.py)
  cllab_script(cli_isa_gate LABEL cli SCRIPT cli/test_isa_gate.py)
  cllab_script(cli_frameworks LABEL cli SCRIPT cli/test_frameworks.py)
  cllab_script(cli_watch LABEL cli SCRIPT cli/test_watch.py)
  cllab_script(cli_capture LABEL cli SCRIPT cli/test_capture.py)
  cllab_script(isa LABEL isa SCRIPT isa/test_isa.py ARGS Isa)
  cllab_script(isa_variants LABEL isa SCRIPT isa/test_isa.py ARGS Variants)
  cllab_script(device_pocl LABEL device SCRIPT device/test_kernels.py ARGS pocl)
  cllab_script(device_opt_disable LABEL device SCRIPT device/test_kernels.py ARGS opt-disable)
  cllab_script(device_product LABEL device SCRIPT device/test_kernels.py ARGS product)
  cllab_script(device_oclgrind LABEL device SCRIPT device/test_kernels.py ARGS oclgrind)
  cllab_script(device_rusticl LABEL device SCRIPT device/test_kernels.py ARGS rusticl)
  cllab_script(device_intel LABEL device SCRIPT device/test_kernels.py ARGS intel ${CMAKE_BINARY_DIR}/intel-cpu-runtime/vendors)
  set_tests_properties(browser browser_looks browser_lines browser_geometry cli_count cli_proof_rungs cli_guess cli_documents cli_records cli_package cli_frameworks cli_isa_files cli_isa_gate cli_programs cli_programs_intel isa isa_variants device_rusticl device_intel trial_hot PROPERTIES SKIP_RETURN_CODE 77)
else()
  message(STATUS "no Python 3: the command line and device lanes are left out (tools/test installs it)")
endif()

# AddressSanitizer and UBSan: a second build below this one, made by a test of its own so that plain builds stay quick. It is the build with clang, too.
if(Python3_Interpreter_FOUND AND NOT CLLAB_SANITIZE)
  # clang needs two thirds of GCC's time for it; 15 and older do not know all of C++20 that is used here.
  # 16 first: it is installed with its sanitizers, another one for its code of GPUs alone.
  find_program(CLLAB_CLANG NAMES clang++-16 clang++-17 clang++-18 clang++-19)
  set(sanitizing_compiler ${CMAKE_CXX_COMPILER})
  set(sanitizing_linker "")
  if(CLLAB_CLANG)
    file(WRITE ${CMAKE_BINARY_DIR}/generated/empty.cpp "int main() {}\n")
    foreach(linker "-fuse-ld=lld" "")  # lld links five programs in the time that another needs for one
      execute_process(COMMAND ${CLLAB_CLANG} -fsanitize=address,undefined ${linker} ${CMAKE_BINARY_DIR}/generated/empty.cpp -o /dev/null
        RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
      if(status EQUAL 0)
        set(sanitizing_compiler ${CLLAB_CLANG})
        set(sanitizing_linker ${linker})
        break()
      endif()
    endforeach()
  endif()
  # A build folder of its own for each compiler: CMake forgets the other options when the compiler changes.
  cmake_path(GET sanitizing_compiler FILENAME sanitized)
  set(sanitized ${CMAKE_BINARY_DIR}/sanitized-${sanitized})
  # Without debug information, which takes a tenth of the time: a report names functions; `tools/dev asan` has the lines.
  add_test(NAME sanitized_build COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_SOURCE_DIR} ${sanitized}
    --build-generator ${CMAKE_GENERATOR} --build-noclean --build-target cllab --build-target cllab_unit
    --build-target cllab_device_tests
    --build-options -DCLLAB_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_EXE_LINKER_FLAGS=${sanitizing_linker}
                    -DCMAKE_CXX_COMPILER=${sanitizing_compiler} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER})
  # It keeps every core busy by itself. Tests that measure repeat what is disturbed, so that fewer of them run beside it.
  set_tests_properties(sanitized_build PROPERTIES LABELS sanitized TIMEOUT 1800 FIXTURES_SETUP sanitized PROCESSORS 2)
  add_test(NAME sanitized_unit COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/unit/sanitized.py ${sanitized}/tests/cllab_unit
           --report_level=short)
  set_tests_properties(sanitized_unit PROPERTIES LABELS sanitized TIMEOUT 1200)
  add_test(NAME sanitized_session COMMAND ${sanitized}/tests/device/cllab_device_tests --report_level=short)
  set_tests_properties(sanitized_session PROPERTIES LABELS sanitized TIMEOUT 1200)
  cllab_script(sanitized_faults LABEL sanitized SCRIPT cli/test_faults.py PROGRAMS ${sanitized})
  cllab_script(sanitized_panel LABEL sanitized SCRIPT cli/test_panel.py PROGRAMS ${sanitized})
  cllab_script(sanitized_device LABEL sanitized SCRIPT device/test_kernels.py ARGS tiny PROGRAMS ${sanitized})
  # A family of each shape: one launch, images and pictures, steps, transfers, slopes, a reference kernel and local memory, atomics.
  set_property(TEST sanitized_device APPEND PROPERTY ENVIRONMENT
    "CLLAB_TEST_ONLY=bandwidth,pitch,himeno,transfer,latency,batchnorm,reduce,atomic")
  set_property(TEST sanitized_unit APPEND PROPERTY ENVIRONMENT "UBSAN_OPTIONS=print_stacktrace=1")
  # PoCL and LLVM keep memory until the process ends; that is not this program's leak. A kernel's own crash
  # must arrive as the signal that it is.
  set_property(TEST sanitized_session sanitized_faults sanitized_panel sanitized_device APPEND PROPERTY
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:handle_segv=0" "UBSAN_OPTIONS=print_stacktrace=1")
  # PoCL alone: AddressSanitizer ends a process whose drivers use dlopen's RTLD_DEEPBIND, as Intel's for GPUs does.
  set_property(TEST sanitized_session PROPERTY ENVIRONMENT_MODIFICATION OCL_ICD_VENDORS=set:${small_pocl}/pocl.icd
    OCL_ICD_FILENAMES=unset:)
  set_tests_properties(sanitized_unit sanitized_session sanitized_faults sanitized_panel sanitized_device
    PROPERTIES FIXTURES_REQUIRED "sanitized;small_pocl")
  # A short run of the fuzzers over every parser, which mostly repeats the seeds; longer ones by hand.
  add_test(NAME fuzz COMMAND ${CMAKE_SOURCE_DIR}/tests/fuzz/run 1500 ${sanitized})
  set_tests_properties(fuzz PROPERTIES LABELS fuzz TIMEOUT 900 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED sanitized)
endif()

# Each file compiled by itself, warnings as errors: what includes too little, or a name that hides another, shows only there.
if(NOT CLLAB_SANITIZE)
  add_test(NAME files_build COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/files
    --build-generator ${CMAKE_GENERATOR} --build-noclean
    --build-options -DCLLAB_UNITY=OFF -DCLLAB_WERROR=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
                    -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER})
  set_tests_properties(files_build PROPERTIES LABELS build TIMEOUT 3600 FIXTURES_SETUP files PROCESSORS 2)
  add_test(NAME clang_tidy COMMAND ${CMAKE_SOURCE_DIR}/tests/tidy.sh ${CMAKE_BINARY_DIR}/files)
  set_tests_properties(clang_tidy PROPERTIES LABELS build TIMEOUT 3600 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED files)
endif()

# What is counted within a budget of processor time is a matter of what runs beside it.
if(TEST cli_count)
  set_tests_properties(cli_count PROPERTIES RUN_SERIAL TRUE)
endif()

# What `tools/test` leaves to `tools/test --all`: it costs more than it finds in a commit. Sanitizers are a second build (a third of all processor
# time); the Boost.Test programs and the faults of kernels run in the plain build before each commit.
set(beyond_a_commit sanitized_build sanitized_unit sanitized_session sanitized_faults sanitized_panel sanitized_device fuzz files_build clang_tidy
  device_opt_disable device_product device_rusticl device_intel cli_programs_intel isa_variants browser_looks browser_lines browser_geometry cli_package cli_sweep
  cli_frameworks cli_options)
foreach(name IN LISTS beyond_a_commit)
  if(TEST ${name})
    set_property(TEST ${name} APPEND PROPERTY LABELS all)
  endif()
endforeach()

# The longest first, or the last one keeps one core busy while the others have nothing to do: seconds of a core with cold caches of
# compiled kernels; what measures comes behind what compiles. After a first run CTest goes by what it measured itself.
set(costs sanitized_build 450 device_pocl 120 sanitized_unit 100 isa 80 device_rusticl 60 sanitized_session 45 cli_why 44 cli_watch 43
  cli_kernel_files 42 cli_regress 40 cli_kernel_file_faults 40 cli_studies 40 cllab_unit 35 device_intel 30
  sanitized_faults 30 fuzz 25 device_opt_disable 25 cli_proof_rungs 25 cli_drivers 25 sanitized_device 20
  files_build 900 device_product 100 isa_variants 80)
while(costs)
  list(POP_FRONT costs name cost)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES COST ${cost})
  endif()
endwhile()
