# SPDX-License-Identifier: Apache-2.0
# -DSFMLA_SANITIZE=address,undefined or thread applies to every target.
if(SFMLA_SANITIZE)
  add_compile_options(-fsanitize=${SFMLA_SANITIZE} -fno-omit-frame-pointer -g)
  add_compile_options(-fno-sanitize-recover=all)
  # A C caller may pass any int where the C interface says enum; refusing it means reading it first.
  add_compile_options(-fno-sanitize=enum)
  add_link_options(-fsanitize=${SFMLA_SANITIZE})
endif()
