# SPDX-License-Identifier: Apache-2.0
# With SFMLA_WITH_CANN the build is a custom operator package for a CANN toolkit, and nothing else:
# the host runtime's libraries have the names of that toolkit's own. docs/cann.md is the manual.
set(ASCEND_HOME_PATH "$ENV{ASCEND_HOME_PATH}" CACHE PATH "Root of the CANN toolkit")
if(NOT IS_DIRECTORY "${ASCEND_HOME_PATH}")
  message(FATAL_ERROR
    "ASCEND_HOME_PATH: '${ASCEND_HOME_PATH}', must be the root of a CANN toolkit "
    "(its set_env.sh sets it)")
endif()

# Names that the toolkit's functions read.
set(vendor_name sfmla CACHE STRING "Folder of the package below opp/vendors")
set(ASCEND_COMPUTE_UNIT ascend910b ascend910_93 CACHE STRING "Products to compile the kernels for")
set(ASCEND_CANN_PACKAGE_PATH ${ASCEND_HOME_PATH})
find_package(ASC REQUIRED HINTS ${ASCEND_HOME_PATH}/compiler/tikcpp/ascendc_kernel_cmake)

# Shared with the host library, of which the package takes what it links. op_host still names
# descriptors that live in the runtime.
foreach(layer base runtime op_kernel op_host)
  add_subdirectory(${CMAKE_SOURCE_DIR}/${layer} EXCLUDE_FROM_ALL)
endforeach()
add_subdirectory(${CMAKE_SOURCE_DIR}/cann)
