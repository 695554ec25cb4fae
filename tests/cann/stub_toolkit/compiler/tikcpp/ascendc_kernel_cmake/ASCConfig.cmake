# SPDX-License-Identifier: Apache-2.0
# Stub of CANN's package ASC: every function writes a line "name|argument|argument..." to
# recorded_calls.txt; host libraries become targets, as those of the toolkit.
set(ASC_FOUND TRUE)
file(WRITE ${CMAKE_BINARY_DIR}/recorded_calls.txt "")

function(stub_record)
  list(JOIN ARGN "|" line)
  file(APPEND ${CMAKE_BINARY_DIR}/recorded_calls.txt "${line}\n")
endfunction()

foreach(name npu_op_package npu_op_package_add npu_op_kernel_options npu_op_kernel_sources
             npu_op_kernel_library)
  cmake_language(EVAL CODE "
    function(${name})
      stub_record(${name} \${ARGV})
    endfunction()")
endforeach()

function(npu_op_code_gen)
  stub_record(npu_op_code_gen ${ARGV})
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_DIR;PACKAGE" "SRC;COMPILE_OPTIONS")
  file(WRITE ${arg_OUT_DIR}/op_proto.cc "// SPDX-License-Identifier: Apache-2.0\n")
endfunction()

function(npu_op_library name type)
  stub_record(npu_op_library ${ARGV})
  add_library(${name} SHARED ${ARGN})
  # The headers of acl and aclnn that the stub does not have.
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/runtime/include)
endfunction()
