# add_room(NAME name [DOORS headers...] SOURCES files... [DEPS rooms...] [PACKAGES targets...])
#
# One room: the static library narthex_<name>. DOORS are the headers other rooms may include
# (relative to include/narthex/<name>/); each is compiled alone. DEPS is the room's row of the
# dependency table in docs/architecture.md; tests/layout checks the #includes against it.

include(CMakeParseArguments)

# A precompiled header shared by all rooms: the standard headers nearly every file needs.
if(NARTHEX_PCH)
  file(WRITE "${CMAKE_BINARY_DIR}/pch.cc" "")
  add_library(narthex_pch OBJECT "${CMAKE_BINARY_DIR}/pch.cc")
  target_compile_options(narthex_pch PRIVATE ${NX_WARNINGS})
  target_link_libraries(narthex_pch PRIVATE absl::status absl::statusor)
  target_precompile_headers(narthex_pch PRIVATE <algorithm> <cstdint> <functional> <memory>
    <optional> <span> <string> <string_view> <unordered_map> <vector> <absl/status/statusor.h>)
endif()

# nx_target_defaults(target): warnings, include path and the shared precompiled header.
function(nx_target_defaults target)
  target_compile_options(${target} PRIVATE ${NX_WARNINGS})
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/include")
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${target} PUBLIC absl::status absl::statusor)
  if(NARTHEX_PCH)
    target_precompile_headers(${target} REUSE_FROM narthex_pch)
  endif()
endfunction()

function(add_room)
  cmake_parse_arguments(ROOM "" "NAME" "DOORS;SOURCES;DEPS;PACKAGES" ${ARGN})
  set(target narthex_${ROOM_NAME})
  set(doors)
  foreach(door IN LISTS ROOM_DOORS)
    # Doors compile alone: one generated file per door includes nothing else.
    string(MAKE_C_IDENTIFIER "${ROOM_NAME}_${door}" id)
    set(probe "${CMAKE_BINARY_DIR}/doors/${id}.cc")
    if(NOT EXISTS "${probe}")
      file(WRITE "${probe}" "#include \"narthex/${ROOM_NAME}/${door}\"  // IWYU pragma: keep\n")
    endif()
    list(APPEND doors "${probe}")
  endforeach()
  add_library(${target} STATIC ${ROOM_SOURCES})
  nx_target_defaults(${target})
  foreach(dep IN LISTS ROOM_DEPS)
    target_link_libraries(${target} PUBLIC narthex_${dep})
  endforeach()
  target_link_libraries(${target} PRIVATE ${ROOM_PACKAGES})
  if(doors)
    add_library(${target}_doors OBJECT ${doors})
    target_compile_options(${target}_doors PRIVATE ${NX_WARNINGS})
    target_include_directories(${target}_doors PRIVATE "${CMAKE_SOURCE_DIR}/include")
    target_link_libraries(${target}_doors PRIVATE absl::status absl::statusor)
    set_target_properties(${target}_doors PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
