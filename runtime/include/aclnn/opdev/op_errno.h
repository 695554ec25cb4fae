/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes (aclnnStatus) of the aclnn functions. 161xxx is the caller's mistake, 361xxx a
 * runtime call made inside, 561xxx the library. Codes without a note exist for source
 * compatibility: this library does not return them.
 */
#ifndef OP_API_COMMON_INC_OPDEV_OP_ERRNO_H
#define OP_API_COMMON_INC_OPDEV_OP_ERRNO_H

#include <stddef.h>

#define ACLNN_SUCCESS 0
// Returned here: a required pointer is NULL.
#define ACLNN_ERR_PARAM_NULLPTR 161001
// Returned here: a value, dtype, shape, combination, handle or workspace size is not allowed.
#define ACLNN_ERR_PARAM_INVALID 161002
// Returned here: no current context, or a stream that is destroyed or of another context.
#define ACLNN_ERR_RUNTIME_ERROR 361001
// Returned here: not a live executor; a defect of this library.
#define ACLNN_ERR_INNER 561000
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001
#define ACLNN_ERR_INNER_TILING_ERROR 561002
// Returned here: this library has no kernel for the call.
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101
#define ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR 561102
// Returned here: NULL given to an executor function or as an output of the metadata operator.
#define ACLNN_ERR_INNER_NULLPTR 561103
#define ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE 561104
#define ACLNN_ERR_INNER_KEY_CONFLICT 561105
#define ACLNN_ERR_INNER_KEY_CONFILICT 561105
#define ACLNN_ERR_INNER_INVALID_IMPL_MODE 561106
#define ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND 561107
#define ACLNN_ERR_INNER_LOAD_JSON_FAILED 561108
#define ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND 561109
#define ACLNN_ERR_INNER_JSON_FORMAT_INVALID 561110
#define ACLNN_ERR_INNER_JSON_DTYPE_INVALID 561111
#define ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND 561112
#define ACLNN_ERR_INNER_OP_FILE_INVALID 561113
#define ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND 561114
#define ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH 561115
#define ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE 561116
#define ACLNN_ERR_INNER_INPUT_JSON_IS_NULL 561117
#define ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID 561118
#define ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID 561119

#endif
