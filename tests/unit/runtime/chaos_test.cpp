// SPDX-License-Identifier: Apache-2.0
// Random legal calls from 8 threads on the 4 streams of each of 2 contexts. SFMLA_CHAOS_SECONDS and
// SFMLA_CHAOS_SEED set how long and which sequence.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "aclnn/opdev/op_errno.h"
#include "base/format.h"
#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

constexpr size_t kThreads = 8;
constexpr size_t kContexts = 2;
constexpr size_t kStreams = 4;
constexpr size_t kEvents = 6;
constexpr size_t kBytes = 4096;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// Counts what ran, and notices when two pieces of work of one stream run at once.
struct Lane {
  aclrtStream stream = nullptr;
  std::atomic<int> inside{0};
  std::atomic<int64_t> launched{0};
  std::atomic<int64_t> ran{0};
  std::atomic<int64_t> overlaps{0};

  static void Run(void* lane) {
    auto* self = static_cast<Lane*>(lane);
    if (++self->inside != 1) ++self->overlaps;
    ++self->ran;
    --self->inside;
  }
};

struct Place {
  aclrtContext context = nullptr;
  std::array<Lane, kStreams> lanes;
  std::array<aclrtEvent, kEvents> events{};
};

struct Failures {
  std::mutex mutex;
  std::vector<std::string> found;

  void Add(std::string text) {
    std::lock_guard lock(mutex);
    if (found.size() < 5) found.push_back(std::move(text));
  }
};

class Chaos {
 public:
  Chaos(uint64_t seed, std::array<Place, kContexts>* places, Failures* failures)
      : random_(seed), places_(*places), failures_(*failures) {}

  void RunUntil(std::chrono::steady_clock::time_point end) {
    Enter(Pick(kContexts));
    for (auto& row : buffers_) {
      for (void*& buffer : row) {
        Must(aclrtMalloc(&buffer, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
      }
    }
    while (std::chrono::steady_clock::now() < end) Step();
    for (size_t i = 0; i < kContexts; ++i) {
      Enter(i);
      for (Lane& lane : place_->lanes) Must(aclrtSynchronizeStream(lane.stream), "final sync");
    }
    for (auto& row : buffers_) {
      for (void* buffer : row) Must(aclrtFree(buffer), "aclrtFree");
    }
  }

 private:
  using Action = void (Chaos::*)();

  void Step() {
    static constexpr Action kActions[] = {
        &Chaos::Switch,       &Chaos::HostFunction, &Chaos::HostFunction,    &Chaos::Fill,
        &Chaos::CopyAsync,    &Chaos::Record,       &Chaos::Record,          &Chaos::WaitForEvent,
        &Chaos::WaitForEvent, &Chaos::Synchronize,  &Chaos::Query,           &Chaos::HostWait,
        &Chaos::ShortLived,   &Chaos::Descriptors,  &Chaos::CaptureAndReplay};
    (this->*kActions[Pick(std::size(kActions))])();
  }

  size_t Pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  size_t PickLane() { return lane_ = Pick(kStreams); }

  // The call must answer 0 or the one other code that is legal at any time.
  bool Must(int code, const char* call, int also = 0) {
    const char* text = aclGetRecentErrMsg();
    if (code != 0 && code != also) failures_.Add(Str(call, ": ", code, " ", text ? text : ""));
    if (code != 0 && text == nullptr) failures_.Add(Str(call, ": ", code, " without a text"));
    return code == 0;
  }

  void Enter(size_t index) {
    place_index_ = index;
    place_ = &places_[index];
    Must(aclrtSetCurrentContext(place_->context), "aclrtSetCurrentContext");
  }

  void Switch() { Enter(Pick(kContexts)); }

  void Launch(Lane* lane, aclrtStream stream) {
    Must(aclrtLaunchHostFunc(stream, &Lane::Run, lane), "aclrtLaunchHostFunc");
  }

  void HostFunction() {
    Lane& lane = place_->lanes[PickLane()];
    ++lane.launched;
    Launch(&lane, lane.stream);
  }

  // Buffers belong to one thread and one stream, so that contents never race.
  char* Buffer() { return static_cast<char*>(buffers_[place_index_][lane_]); }

  void Fill() {
    aclrtStream stream = place_->lanes[PickLane()].stream;
    const auto value = static_cast<int32_t>(Pick(256));
    Must(aclrtMemsetAsync(Buffer(), kBytes, value, kBytes, stream), "aclrtMemsetAsync");
  }

  void CopyAsync() {
    aclrtStream stream = place_->lanes[PickLane()].stream;
    std::array<char, 64> host{};
    const bool up = Pick(2) == 0;
    void* to = up ? Buffer() : host.data();
    void* from = up ? host.data() : Buffer();
    const auto kind = up ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    Must(aclrtMemcpyAsync(to, 64, from, 64, kind, stream), "aclrtMemcpyAsync");
  }

  aclrtEvent AnyEvent() { return place_->events[Pick(kEvents)]; }

  void Record() {
    Must(aclrtRecordEvent(AnyEvent(), place_->lanes[PickLane()].stream), "aclrtRecordEvent");
  }
  void WaitForEvent() {
    Must(aclrtStreamWaitEvent(place_->lanes[PickLane()].stream, AnyEvent()),
         "aclrtStreamWaitEvent");
  }
  void Synchronize() {
    if (Pick(8) == 0) {
      // Another thread may be capturing in this context.
      Must(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice", ACL_ERROR_RT_STREAM_CAPTURED);
    } else {
      Must(aclrtSynchronizeStream(place_->lanes[PickLane()].stream), "aclrtSynchronizeStream");
    }
  }
  void Query() {
    aclrtStreamStatus of_stream = ACL_STREAM_STATUS_RESERVED;
    aclrtEventRecordedStatus of_event = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    Must(aclrtStreamQuery(place_->lanes[PickLane()].stream, &of_stream), "aclrtStreamQuery");
    Must(aclrtQueryEventStatus(AnyEvent(), &of_event), "aclrtQueryEventStatus");
  }
  void HostWait() {
    Must(aclrtSynchronizeEventWithTimeout(AnyEvent(), 20000), "aclrtSynchronizeEventWithTimeout");
  }

  void ShortLived() {
    aclrtStream stream = nullptr;
    aclrtEvent event = nullptr;
    void* memory = nullptr;
    Must(aclrtCreateStream(&stream), "aclrtCreateStream");
    Must(aclrtCreateEvent(&event), "aclrtCreateEvent");
    Must(aclrtMalloc(&memory, 1 + Pick(100000), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    Must(aclrtMemsetAsync(memory, 1, 0, 1, stream), "aclrtMemsetAsync");
    Must(aclrtRecordEvent(event, stream), "aclrtRecordEvent");
    Must(aclrtStreamWaitEvent(place_->lanes[PickLane()].stream, event), "aclrtStreamWaitEvent");
    Must(aclrtDestroyEvent(event), "aclrtDestroyEvent");
    Must(aclrtDestroyStream(stream), "aclrtDestroyStream");
    Must(aclrtFree(memory), "aclrtFree");
  }

  void Descriptors() {
    const int64_t dims[] = {2, 3};
    std::array<aclTensor*, 3> tensors{};
    for (aclTensor*& tensor : tensors) {
      tensor = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, Buffer());
    }
    aclTensorList* list = aclCreateTensorList(tensors.data(), tensors.size());
    uint64_t size = 0;
    Must(aclGetTensorListSize(list, &size), "aclGetTensorListSize");
    if (size != tensors.size()) failures_.Add(Str("a list of 3 has ", size));
    Must(aclDestroyTensorList(list), "aclDestroyTensorList");
  }

  // A fork and a join, replayed on the shared streams.
  void CaptureAndReplay() {
    std::array<aclrtStream, 2> streams{};
    std::array<aclrtEvent, 2> events{};
    for (aclrtStream& stream : streams) Must(aclrtCreateStream(&stream), "aclrtCreateStream");
    for (aclrtEvent& event : events) {
      Must(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    }
    Lane& lane = place_->lanes[PickLane()];
    aclmdlRI graph = nullptr;
    Must(aclmdlRICaptureBegin(streams[0], ACL_MODEL_RI_CAPTURE_MODE_RELAXED), "CaptureBegin");
    Launch(&lane, streams[0]);
    Must(aclrtRecordEvent(events[0], streams[0]), "captured record");
    Must(aclrtStreamWaitEvent(streams[1], events[0]), "captured wait");
    Launch(&lane, streams[1]);
    Must(aclrtMemsetAsync(Buffer(), kBytes, 1, kBytes, streams[1]), "captured aclrtMemsetAsync");
    Must(aclrtRecordEvent(events[1], streams[1]), "captured record");
    Must(aclrtStreamWaitEvent(streams[0], events[1]), "captured wait");
    Must(aclmdlRICaptureEnd(streams[0], &graph), "CaptureEnd");
    const size_t replays = Pick(4);
    for (size_t i = 0; i < replays; ++i) {
      lane.launched += 2;
      Must(aclmdlRIExecuteAsync(graph, lane.stream), "aclmdlRIExecuteAsync");
    }
    Must(aclrtSynchronizeStream(lane.stream), "aclrtSynchronizeStream");
    Must(aclmdlRIDestroy(graph), "aclmdlRIDestroy");
    for (aclrtStream stream : streams) Must(aclrtDestroyStream(stream), "aclrtDestroyStream");
    for (aclrtEvent event : events) Must(aclrtDestroyEvent(event), "aclrtDestroyEvent");
  }

  std::mt19937_64 random_;
  std::array<Place, kContexts>& places_;
  Failures& failures_;
  Place* place_ = nullptr;
  size_t place_index_ = 0;
  size_t lane_ = 0;
  std::array<std::array<void*, kStreams>, kContexts> buffers_{};
};

void Open(Place* place) {
  REQUIRE(aclrtCreateContext(&place->context, 0) == ACL_SUCCESS);
  for (Lane& lane : place->lanes) REQUIRE(aclrtCreateStream(&lane.stream) == ACL_SUCCESS);
  for (size_t i = 0; i < kEvents; ++i) {
    aclrtEvent* event = &place->events[i];
    REQUIRE((i % 2 == 0 ? aclrtCreateEvent(event)
                        : aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC)) == ACL_SUCCESS);
  }
}

void CheckAndClose(Place* place) {
  REQUIRE(aclrtSetCurrentContext(place->context) == ACL_SUCCESS);
  CHECK(aclrtSynchronizeDevice() == ACL_SUCCESS);
  for (Lane& lane : place->lanes) {
    CHECK(lane.overlaps == 0);
    CHECK(lane.ran == lane.launched);
  }
  CHECK(aclrtDestroyContext(place->context) == ACL_SUCCESS);
}

}  // namespace

TEST_CASE("chaos: random legal calls from many threads") {
  const auto seed = static_cast<uint64_t>(FromEnvironment("SFMLA_CHAOS_SEED", 20250801));
  const std::chrono::seconds duration(FromEnvironment("SFMLA_CHAOS_SECONDS", 2));
  INFO("SFMLA_CHAOS_SEED=", seed);
  std::array<Place, kContexts> places;
  Failures failures;
  for (Place& place : places) Open(&place);
  const auto end = std::chrono::steady_clock::now() + duration;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { Chaos(seed + i, &places, &failures).RunUntil(end); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures.found) FAIL_CHECK(failure);
  for (Place& place : places) CheckAndClose(&place);
  CHECK(TakeText() == "");
}

}  // namespace sfmla::test
