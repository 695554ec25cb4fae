# SPDX-License-Identifier: Apache-2.0
# sfmla_layer(<folder> SOURCES ... [DEPENDS <layer>...])
#
# Makes the static library sfmla_<folder>. Its headers are included as "<folder>/file.h", and only by
# targets that link it: each layer's include root holds a link to that one folder, so a header of a
# layer that is not a dependency is not on the include path.
function(sfmla_layer folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  set(root ${CMAKE_BINARY_DIR}/include_roots/${folder})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${root}/${folder} SYMBOLIC)

  add_library(sfmla_${folder} STATIC ${arg_SOURCES})
  target_include_directories(sfmla_${folder} PUBLIC ${root})
  foreach(dependency IN LISTS arg_DEPENDS)
    target_link_libraries(sfmla_${folder} PUBLIC sfmla_${dependency})
  endforeach()
  target_link_libraries(sfmla_${folder} PUBLIC Threads::Threads PRIVATE sfmla_warnings)
endfunction()
