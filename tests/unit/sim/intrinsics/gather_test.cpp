// SPDX-License-Identifier: Apache-2.0
#include "unit/sim/intrinsics/harness.h"

namespace sfmla::sim::test {
namespace {

std::vector<uint32_t> Offsets(int count, int elements, int bytes) {
  std::vector<uint32_t> offsets;
  for (int i = 0; i < count; ++i) {
    offsets.push_back(static_cast<uint32_t>((i * 31 + 7) % elements * bytes));
  }
  return offsets;
}

TEST_CASE_TEMPLATE("Gather: element by byte offset", T, float, half, bfloat16_t, int32_t) {
  constexpr int kBytes = static_cast<int>(sizeof(T));
  const std::vector<T> src = Randoms<T>(100, 64.0f);
  const std::vector<uint32_t> offsets = Offsets(150, 90, kBytes);
  std::vector<T> found;
  RunOnVector([&] {
    Put(Ub<T>(0, 100), src);
    Put(Ub<uint32_t>(1024, 150), offsets);
    AscendC::Gather(Ub<T>(4096, 256), Ub<T>(0, 100), Ub<uint32_t>(1024, 150), 10u * kBytes, 150);
    found = Take(Ub<T>(4096, 256));
  });
  for (int i = 0; i < 150; ++i) CHECK(SameBits(found[i], src[10 + offsets[i] / kBytes]));
  CHECK(SameBits(found[150], Poison<T>()));
}

TEST_CASE("rounds with a mask and a destination stride") {
  const std::vector<half> src = Randoms<half>(64, 4.0f);
  const std::vector<uint32_t> offsets = Offsets(256, 64, 2);
  std::vector<half> found;
  RunOnVector([&] {
    Put(Ub<half>(0, 64), src);
    Put(Ub<uint32_t>(1024, 256), offsets);
    AscendC::Gather(Ub<half>(4096, 512), Ub<half>(0, 64), Ub<uint32_t>(1024, 256), 0u,
                    uint64_t{100}, 2, 16);
    found = Take(Ub<half>(4096, 512));
  });
  for (int i = 0; i < 512; ++i) {
    const bool written = i % 256 < 100;
    CHECK(SameBits(found[i], written ? src[offsets[i / 256 * 128 + i % 256] / 2] : Poison<half>()));
  }
}

TEST_CASE("what nobody wrote stays unwritten") {
  bool first = false, second = true;
  RunOnVector([&] {
    Put(Ub<float>(0, 1), {1.0f});
    Put(Ub<uint32_t>(1024, 2), {0, 4});
    AscendC::Gather(Ub<float>(4096, 8), Ub<float>(0, 8), Ub<uint32_t>(1024, 8), 0u, 2);
    Take(Ub<float>(4096, 8));
    first = WasWritten(Ub<float>(4096, 8), 0);
    second = WasWritten(Ub<float>(4096, 8), 1);
  });
  CHECK(first);
  CHECK(!second);
}

TEST_CASE("contract") {
  const auto gather = [](uint32_t offset, uint32_t dst_address) {
    Put(Ub<float>(0, 8), Counting<float>(8));
    Put(Ub<uint32_t>(1024, 1), {offset});
    AscendC::Gather(Ub<float>(dst_address, 8), Ub<float>(0, 8), Ub<uint32_t>(1024, 8), 0u, 1);
    Take(Ub<float>(dst_address, 8));
  };
  ExpectVectorFault("srcOffset: 6, must be a multiple of 4", [&] { gather(6, 4096); });
  ExpectVectorFault("srcOffset: 32, src has 32 bytes", [&] { gather(32, 4096); });
  ExpectVectorFault("dst: shares bytes with src, must not", [&] { gather(0, 0); });
  ExpectVectorFault("dst: address 4100 in UB, must be a multiple of 32", [&] { gather(0, 4100); });
  ExpectVectorFault("dst: dtype int8_t, must be", [&] {
    AscendC::Gather(Ub<int8_t>(4096, 8), Ub<int8_t>(0, 8), Ub<uint32_t>(1024, 8), 0u, 1);
  });
}

}  // namespace
}  // namespace sfmla::sim::test
