// SPDX-License-Identifier: Apache-2.0
// One row per chip: what planning needs to know about it.
#pragma once

#include <cstdint>
#include <string_view>

namespace sfmla {

struct SocTraits {
  std::string_view soc_name;  // what aclrtGetSocName() answers
  int32_t cube_cores;         // cube records of a plan
  int32_t vector_cores;       // vector records of a plan
  int32_t kv_block_tokens;    // planning unit along the KV axis
};

// The CPU device publishes as many cores as a plan has records: threads take whole records, so more
// records than threads keep the load even when other processes use the machine.
inline constexpr SocTraits kHostCpu{"HostCPU", 36, 72, 512};

// Atlas A2, emulated. Its cores are as many as SFMLA_SIM_CORES says; this is the usual chip.
inline constexpr SocTraits kAscend910b{"Ascend910B2", 24, 48, 512};

}  // namespace sfmla
