# SPDX-License-Identifier: Apache-2.0
# Warnings for our own targets: target_link_libraries(x PRIVATE sfmla_warnings).
add_library(sfmla_warnings INTERFACE)
target_compile_options(sfmla_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wvla
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi>)
if(SFMLA_WARNINGS_AS_ERRORS)
  target_compile_options(sfmla_warnings INTERFACE -Werror)
endif()
