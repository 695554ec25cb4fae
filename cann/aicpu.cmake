# SPDX-License-Identifier: Apache-2.0
# The library of AI CPU kernels, in one command of another compiler: the AI CPU is an AArch64 with a
# Linux of its own. Sets aicpu_library.
set(SFMLA_AICPU_COMPILER
  ${ASCEND_HOME_PATH}/toolkit/toolchain/hcc/bin/aarch64-target-linux-gnu-g++
  CACHE FILEPATH "C++20 compiler for the AI CPU; any AArch64 g++ 10 or later")
set(SFMLA_AICPU_CONTEXT_LIBRARY
  ${ASCEND_HOME_PATH}/opp/built-in/op_impl/aicpu/aicpu_kernel/lib/libcpu_kernels_context.a
  CACHE FILEPATH "What the toolkit links into every library of AI CPU kernels")

set(aicpu_sources
  ${CMAKE_CURRENT_SOURCE_DIR}/bridge/planner.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/sparse_flash_mla_metadata/aicpu_kernel.cpp
  ${CMAKE_SOURCE_DIR}/op_kernel/common/call_digest.cpp
  ${CMAKE_SOURCE_DIR}/op_kernel/common/length_tensors.cpp
  ${CMAKE_SOURCE_DIR}/op_kernel/common/schedule.cpp
  ${CMAKE_SOURCE_DIR}/op_kernel/sparse_flash_mla_metadata/check_metadata.cpp
  ${CMAKE_SOURCE_DIR}/op_kernel/sparse_flash_mla_metadata/cpu_kernel.cpp)

# cust_aicpu_kernel.json names this file. The C++ library is part of it, as the device's is older.
set(aicpu_library ${CMAKE_CURRENT_BINARY_DIR}/libsfmla_aicpu_kernels.so)
add_custom_command(
  OUTPUT ${aicpu_library}
  COMMAND ${SFMLA_AICPU_COMPILER}
    -std=c++20 -O2 -fPIC -fvisibility=hidden -D_FORTIFY_SOURCE=2 -D_GLIBCXX_USE_CXX11_ABI=1
    -I${roots}/base -I${roots}/op_kernel -I${roots}/cann -I${ASCEND_HOME_PATH}/include/aicpu
    ${aicpu_sources}
    -shared -static-libstdc++ -static-libgcc -Wl,-Bsymbolic
    -Wl,--whole-archive ${SFMLA_AICPU_CONTEXT_LIBRARY} -Wl,--no-whole-archive
    -o ${aicpu_library}
  DEPENDS ${aicpu_sources}
  COMMENT "Building the AI CPU kernels"
  VERBATIM)
add_custom_target(sfmla_aicpu_kernels ALL DEPENDS ${aicpu_library})
