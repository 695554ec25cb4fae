# SPDX-License-Identifier: Apache-2.0
# find_package(sfmla): targets sfmla::<library> for the libraries of this prefix, wherever it lies.
#
#     find_package(sfmla REQUIRED)
#     target_link_libraries(engine PRIVATE sfmla::opapi_transformer sfmla::ascendcl sfmla::nnopbase)
#
# sfmla_PREFIX is the prefix itself, what ASCEND_HOME_PATH stands for.
get_filename_component(sfmla_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(_sfmla_library ascendcl acl_rt nnopbase opapi opapi_transformer cust_opapi)
  if(NOT TARGET sfmla::${_sfmla_library})
    set(_sfmla_folder ${sfmla_PREFIX}/lib64)
    if(_sfmla_library STREQUAL "cust_opapi")
      set(_sfmla_folder ${sfmla_PREFIX}/opp/vendors/sfmla/op_api/lib)
    endif()
    add_library(sfmla::${_sfmla_library} SHARED IMPORTED)
    set_target_properties(sfmla::${_sfmla_library} PROPERTIES
      IMPORTED_LOCATION ${_sfmla_folder}/lib${_sfmla_library}.so
      IMPORTED_SONAME lib${_sfmla_library}.so
      INTERFACE_INCLUDE_DIRECTORIES ${sfmla_PREFIX}/include)
  endif()
endforeach()
unset(_sfmla_library)
unset(_sfmla_folder)
