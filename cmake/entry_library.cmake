# SPDX-License-Identifier: Apache-2.0
# One implementation library, many names for it.
#
# Programs link and dlopen the platform's library names and look symbols up on those handles, so each
# entry library must define its symbols itself; but state must exist once. The implementation library
# therefore exports every public symbol under two names, NAME and sfmla_impl_NAME, and an entry
# library defines NAME as a jump to sfmla_impl_NAME (to NAME would be to itself). Both sides come from
# the same lists: text files with one symbol per line.

set(SFMLA_IMPLEMENTATION_TARGET sfmla CACHE INTERNAL "The target that entry libraries jump to")
set(SFMLA_IMPLEMENTATION_PREFIX sfmla_impl_)

# Reads lists of symbols into `out`; a change of a list makes CMake run again.
function(sfmla_read_exports out)
  set(symbols)
  foreach(list IN LISTS ARGN)
    get_filename_component(list ${list} ABSOLUTE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
    file(STRINGS ${list} lines REGEX "[^ ]")
    list(APPEND symbols ${lines})
  endforeach()
  set(${out} ${symbols} PARENT_SCOPE)
endfunction()

# Writes only when the content differs, so that nothing is linked again without need.
function(sfmla_write_generated path content)
  if(EXISTS ${path})
    file(READ ${path} present)
    if(present STREQUAL content)
      return()
    endif()
  endif()
  file(WRITE ${path} "${content}")
endfunction()

# Makes the shared library `target` export exactly the given names.
function(sfmla_restrict_exports target)
  string(REPLACE ";" ";\n    " lines "${ARGN}")
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_exports.map)
  sfmla_write_generated(${script} "{\n  global:\n    ${lines};\n  local: *;\n};\n")
  target_link_options(${target} PRIVATE LINKER:--version-script=${script} LINKER:-Bsymbolic)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# sfmla_export_symbols(<target> <list.txt>...)
#
# For the implementation library: exports every listed symbol, also under its second name, and
# nothing else. The symbols may come from static libraries; the link fails if one is missing. The
# library stays mapped after dlclose, because its threads live as long as the process.
function(sfmla_export_symbols target)
  sfmla_read_exports(symbols ${ARGN})
  set(names)
  set(script_lines)
  foreach(symbol IN LISTS symbols)
    list(APPEND names ${symbol} ${SFMLA_IMPLEMENTATION_PREFIX}${symbol})
    string(APPEND script_lines
      "EXTERN(${symbol})\n${SFMLA_IMPLEMENTATION_PREFIX}${symbol} = ${symbol};\n")
  endforeach()
  sfmla_restrict_exports(${target} ${names})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}_aliases.ld)
  sfmla_write_generated(${script} "${script_lines}")
  target_link_options(${target} PRIVATE ${script} LINKER:-z,nodelete)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# The text of one jump: the address comes from the global offset table, resolved when the library is
# loaded, and no register that carries an argument is touched.
function(sfmla_jump_source out symbol)
  set(to ${SFMLA_IMPLEMENTATION_PREFIX}${symbol})
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(body "  endbr64\n  jmp *${to}@GOTPCREL(%rip)\n")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    string(CONCAT body "  hint #34\n"  # bti c
      "  adrp x16, :got:${to}\n  ldr x16, [x16, :got_lo12:${to}]\n  br x16\n")
  else()
    message(FATAL_ERROR "entry libraries: no jump known for ${CMAKE_SYSTEM_PROCESSOR}, "
      "must be x86_64 or aarch64")
  endif()
  string(CONCAT text ".globl ${symbol}\n.type ${symbol}, %function\n.balign 16\n${symbol}:\n"
    "  .cfi_startproc\n${body}  .cfi_endproc\n.size ${symbol}, .-${symbol}\n")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# sfmla_entry_library(<name> EXPORTS <list.txt>... [NEEDS <target>...])
#
# Makes lib<name>.so, whose SONAME is its file name: it defines every listed symbol as a jump into the
# implementation library, finds that one (and the NEEDS, in this order) beside itself, and keeps them
# as dependencies even where it uses none of their symbols, because clients look symbols up through
# them.
function(sfmla_entry_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXPORTS;NEEDS")
  sfmla_read_exports(symbols ${arg_EXPORTS})
  set(source ".text\n")
  foreach(symbol IN LISTS symbols)
    sfmla_jump_source(jump ${symbol})
    string(APPEND source "${jump}")
  endforeach()
  string(APPEND source ".section .note.GNU-stack,\"\",%progbits\n")
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${name}_entry.S)
  sfmla_write_generated(${path} "${source}")
  set_source_files_properties(${path} PROPERTIES LANGUAGE ASM)

  add_library(${name} SHARED ${path})
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE C
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN" BUILD_RPATH_USE_ORIGIN ON)
  sfmla_restrict_exports(${name} ${symbols})
  target_link_options(${name} PRIVATE LINKER:--no-as-needed LINKER:-z,now LINKER:-z,defs)
  target_link_libraries(${name} PRIVATE ${arg_NEEDS} ${SFMLA_IMPLEMENTATION_TARGET})
endfunction()
