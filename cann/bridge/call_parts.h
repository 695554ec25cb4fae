// SPDX-License-Identifier: Apache-2.0
// From plain descriptions to what op_host takes; part of the bridge's sources, for nobody else.
#pragma once

#include "base/status.h"
#include "cann/bridge/operand_view.h"
#include "op_host/common/attention_attributes.h"
#include "op_host/common/operand.h"
#include "op_host/common/product_rules.h"

namespace sfmla::cann {

// `view` must outlive the result: its address stands for the handle.
OperandArg OperandOf(const char* name, const OperandView& view);

template <typename Call>
AttentionAttributes AttributesOf(const Call& call) {
  AttentionAttributes out;
  out.cmp_ratio = call.cmp_ratio;
  out.ori_mask_mode = call.ori_mask_mode;
  out.cmp_mask_mode = call.cmp_mask_mode;
  out.ori_win_left = call.ori_win_left;
  out.ori_win_right = call.ori_win_right;
  out.layout_q = call.layout_q;
  out.layout_kv = call.layout_kv;
  return out;
}

// The row of Atlas A2 and A3.
const ProductRules& DeviceRules();

inline Refusal RefusalOf(const Status& status) { return {status.code(), status.text()}; }

}  // namespace sfmla::cann
