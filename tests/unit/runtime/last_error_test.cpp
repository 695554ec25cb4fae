// SPDX-License-Identifier: Apache-2.0
#include "runtime/last_error.h"

#include <doctest/doctest.h>
#include <regex.h>

#include <string>
#include <thread>

#include "runtime_fixture.h"

namespace sfmla::test {
namespace {

bool Matches(const std::string& text, const char* pattern) {
  regex_t compiled;
  REQUIRE(regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) == 0);
  const bool matches = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return matches;
}

}  // namespace

TEST_CASE("nothing is pending at first, an ok status adds nothing") {
  TakeText();
  CHECK(Report("aclSomething", Status::Ok()) == 0);
  CHECK(aclGetRecentErrMsg() == nullptr);
}

TEST_CASE("a report has the platform's layout") {
  CHECK(Report("aclnnThing", Status(161002, "q: rank 2, must be 4")) == 161002);
  CHECK(Matches(TakeText(),
                "^EZ1001\\[PID: [0-9]+\\] [0-9]{4}(-[0-9]{2}){3}(:[0-9]{2}){2}(\\.[0-9]{3}){2} "
                "AclNN_Parameter_Error\\(EZ1001\\): q: rank 2, must be 4\n"
                " +TraceBack \\(most recent call last\\):\n +aclnnThing\n$"));
  CHECK(aclGetRecentErrMsg() == nullptr);
}

TEST_CASE("reports are given newest first") {
  Report("first", Status(107000, "stream: one"));
  Report("second", Status(107000, "stream: two"));
  const std::string text = TakeText();
  CHECK(text.find("two") < text.find("one"));
  CHECK(text.find("one") != std::string::npos);
}

TEST_CASE("the layer of a code decides the family of its report") {
  const auto family = [](int32_t code) {
    Report("api", Status(code, "x"));
    return TakeText().substr(0, 2);
  };
  CHECK(family(100000) == "EH");
  CHECK(family(200006) == "EH");
  CHECK(family(500000) == "EH");
  CHECK(family(107002) == "EE");
  CHECK(family(207001) == "EE");
  CHECK(family(507015) == "EE");
  CHECK(family(161001) == "EZ");
  CHECK(family(361001) == "EZ");
  CHECK(family(561000) == "EZ");
}

TEST_CASE("what a status is about can decide more than its code") {
  const auto kind = [](const Status& status) {
    Report("api", status);
    return TakeText().substr(0, 6);
  };
  CHECK(kind(Status(161002, "workspaceSize: 1 bytes")) == "EZ1001");
  CHECK(kind(Status(161002, "workspaceSize: 1 bytes", Subject::kWorkspaceSize)) == "EZ1010");
  CHECK(kind(Status(100000, "kind: 9, must not be NULL")) == "EH0001");
  CHECK(kind(Status(100000, "devPtr: NULL", Subject::kNullArgument)) == "EH0008");
  CHECK(kind(Status(107000, "modelRI: NULL", Subject::kNullArgument)) == "EE1004");
  CHECK(kind(Status(161001, "executor: NULL", Subject::kNullArgument)) == "EZ1011");
}

TEST_CASE("each thread has its own reports") {
  TakeText();
  std::thread([] {
    Report("api", Status(107000, "elsewhere"));
    CHECK(TakeText().find("elsewhere") != std::string::npos);
    Report("api", Status(107000, "left behind"));
  }).join();
  CHECK(aclGetRecentErrMsg() == nullptr);
}

TEST_CASE("reports that nobody reads do not pile up") {
  for (int i = 0; i < 1000; ++i) Report("api", Status(107000, "again"));
  CHECK(TakeText().size() < 8192);
}

}  // namespace sfmla::test
