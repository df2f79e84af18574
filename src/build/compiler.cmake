# Language level, warnings and the flags of each build kind (NARTHEX_BUILD).

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_BUILD_TYPE "" CACHE STRING "unused: NARTHEX_BUILD picks the flags" FORCE)

find_program(NARTHEX_CCACHE ccache)
if(NARTHEX_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NARTHEX_CCACHE}")
endif()

# Floats are data: no contraction, no fast-math, in any build.
# All code is compiled alike, libraries and programs, so that one precompiled header serves both.
set(nx_common -ffp-contract=off -fno-omit-frame-pointer -fPIC -pthread)
set(nx_link -pie)
if(NARTHEX_BUILD STREQUAL "dev")
  set(nx_flags -O1 -g1 -D_GLIBCXX_ASSERTIONS -DNX_DEBUG_CHECKS=1)
elseif(NARTHEX_BUILD STREQUAL "release")
  set(nx_flags -O3 -g1 -DNDEBUG)
elseif(NARTHEX_BUILD STREQUAL "asan")
  set(nx_flags -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -DNX_DEBUG_CHECKS=1)
  list(APPEND nx_link -fsanitize=address,undefined)
elseif(NARTHEX_BUILD STREQUAL "tsan")
  # GCC warns of fences, which the sanitizer does not follow; Asio has some around its own locks.
  set(nx_flags -O1 -g1 -fsanitize=thread -Wno-tsan -DNX_DEBUG_CHECKS=1)
  list(APPEND nx_link -fsanitize=thread)
elseif(NARTHEX_BUILD STREQUAL "fuzz")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "NARTHEX_BUILD=fuzz needs clang++ (libFuzzer)")
  endif()
  set(nx_flags -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
      -DNX_DEBUG_CHECKS=1)
  list(APPEND nx_link -fsanitize=address,undefined)
else()
  message(FATAL_ERROR "NARTHEX_BUILD=${NARTHEX_BUILD}: want dev, release, asan, tsan or fuzz")
endif()
add_compile_options(${nx_common} ${nx_flags})
add_link_options(${nx_link})

set(NX_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND NX_WARNINGS -Wthread-safety -Wno-sign-conversion -Wno-implicit-int-float-conversion)
else()
  # GCC 12 reports false positives of these inside inlined std::string code.
  list(APPEND NX_WARNINGS -Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds
       -Wno-stringop-overflow -Wno-stringop-overread)
endif()
