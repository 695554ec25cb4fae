// SPDX-License-Identifier: Apache-2.0
// Small numbers for the places where kernels issue instructions.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "sim/source_location.h"

namespace sfmla::sim {

struct Site {
  const char* name = "";  // of the API
  SourceLocation where;
};

class SiteTable {
 public:
  uint32_t Intern(const char* name, const SourceLocation& where) {
    const Key key{name, where.file_name(), where.line()};
    const auto [found, added] = index_.try_emplace(key, static_cast<uint32_t>(sites_.size()));
    if (added) sites_.push_back({name, where});
    return found->second;
  }
  const Site& At(uint32_t site) const { return sites_[site]; }

 private:
  struct Key {
    const char* name;
    const char* file;
    uint32_t line;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      const std::hash<const void*> hash;
      return hash(key.name) * 31 + hash(key.file) * 17 + key.line;
    }
  };

  std::unordered_map<Key, uint32_t, Hash> index_;
  std::vector<Site> sites_;
};

}  // namespace sfmla::sim
