# SPDX-License-Identifier: Apache-2.0
# The files around the libraries that make an install prefix look like a CANN toolkit.
include(CMakePackageConfigHelpers)

# sfmla_empty_library(<name> [NEEDS <target>...])
#
# Makes lib<name>.so without symbols, so that link lines which name it succeed; what such libraries
# would offer, no operator of this project uses.
function(sfmla_empty_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "NEEDS")
  set(path ${CMAKE_CURRENT_BINARY_DIR}/empty_library.S)
  sfmla_write_generated(${path} ".section .note.GNU-stack,\"\",%progbits\n")
  set_source_files_properties(${path} PROPERTIES LANGUAGE ASM)
  add_library(sfmla_empty_${name} SHARED ${path})
  set_target_properties(sfmla_empty_${name} PROPERTIES
    OUTPUT_NAME ${name} LINKER_LANGUAGE C
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
  target_link_options(sfmla_empty_${name} PRIVATE LINKER:--no-as-needed)
  target_link_libraries(sfmla_empty_${name} PRIVATE ${arg_NEEDS})
endfunction()

# sfmla_install_toolkit(LIBRARIES <target>... VENDOR_LIBRARIES <target>...
#                       INCLUDES <dir>... VENDOR_INCLUDES <dir>...)
#
# Installs include, lib64, set_env.sh, package files for CMake and pkg-config, and the vendor folder
# opp/vendors/sfmla below SFMLA_INSTALL_PREFIX_DIR. <arch>-linux is another way to the same: links
# where there may be some; a wheel has none, there it holds a second copy of the headers only.
function(sfmla_install_toolkit)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" ""
    "LIBRARIES;VENDOR_LIBRARIES;INCLUDES;VENDOR_INCLUDES")
  set(prefix ${SFMLA_INSTALL_PREFIX_DIR})
  set(files ${CMAKE_SOURCE_DIR}/cmake/toolkit)
  set(vendor ${prefix}opp/vendors/sfmla/op_api)
  set(arch ${CMAKE_SYSTEM_PROCESSOR}-linux)

  install(TARGETS ${arg_LIBRARIES} LIBRARY DESTINATION ${prefix}lib64 COMPONENT toolkit)
  install(TARGETS ${arg_VENDOR_LIBRARIES} LIBRARY DESTINATION ${vendor}/lib COMPONENT toolkit)
  install(DIRECTORY ${arg_INCLUDES} DESTINATION ${prefix}include COMPONENT toolkit)
  install(DIRECTORY ${arg_VENDOR_INCLUDES} DESTINATION ${vendor}/include COMPONENT toolkit)
  install(FILES ${files}/set_env.sh DESTINATION ${prefix}. COMPONENT toolkit)
  install(FILES ${files}/config.ini DESTINATION ${prefix}opp/vendors COMPONENT toolkit)

  if(SKBUILD)
    install(DIRECTORY ${arg_INCLUDES} DESTINATION ${prefix}${arch}/include COMPONENT toolkit)
  else()
    install(CODE "
      set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${prefix}${arch}\")
      file(MAKE_DIRECTORY \"\${folder}\")
      file(CREATE_LINK ../include \"\${folder}/include\" SYMBOLIC)
      file(CREATE_LINK ../lib64 \"\${folder}/lib64\" SYMBOLIC)" COMPONENT toolkit)
  endif()

  configure_file(${files}/sfmla.pc.in sfmla.pc @ONLY)
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sfmla-config-version.cmake
    COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sfmla.pc
          DESTINATION ${prefix}lib64/pkgconfig COMPONENT toolkit)
  install(FILES ${files}/sfmla-config.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/sfmla-config-version.cmake
          DESTINATION ${prefix}share/cmake/sfmla COMPONENT toolkit)
endfunction()
