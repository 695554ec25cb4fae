// SPDX-License-Identifier: Apache-2.0
// One row per chip: what planning needs to know about it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sfmla {

struct SocTraits {
  std::string_view soc_name;    // what aclrtGetSocName() answers
  std::string_view rules_name;  // the value of SFMLA_RULES that selects its product rules
  int32_t cube_cores;           // records in the FA section of a schedule
  int32_t vector_cores;         // records in the FD section of a schedule
  int32_t kv_block_tokens;      // planning unit along the KV axis
};

// The CPU device publishes as many cores as a schedule has records: threads take whole records, so
// more records than threads keep the load even when other processes use the machine.
inline constexpr SocTraits kHostCpu{"HostCPU", "cpu", 36, 72, 512};
inline constexpr SocTraits kAscend910b{"Ascend910B", "ascend910b", 24, 48, 512};
inline constexpr SocTraits kAscend950{"Ascend950", "ascend950", 36, 72, 128};

inline constexpr std::array kAllSocs{kHostCpu, kAscend910b, kAscend950};

}  // namespace sfmla
