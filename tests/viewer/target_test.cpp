// What a TARGET and a device on the command line mean.
#include "viewer/model/target.hpp"
#include "viewer/exit_code.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

using segment::Backend;
using segment::ProcessState;
using testing::ElementsAre;
using testing::HasSubstr;

struct Refusal {
  ExitCode code = ExitCode::Done;
  std::string line;
};

template <class Call>
Refusal refusal_of(const Call& call) {
  try {
    (void)call();
    return {};
  } catch (const Failure& failure) {
    return {failure.code(), failure.what()};
  }
}

Refusal target_refusal(const View& view, const std::string& target) {
  return refusal_of([&] { return resolve_target(view, target); });
}

Refusal device_refusal(const ProcessView& process, const std::string& device) {
  return refusal_of([&] { return resolve_devices(process, device); });
}

TEST(Target, IsAPidAnIdOrALabel) {
  const View view = sample_view();

  EXPECT_EQ(resolve_target(view, "4711"), 0U);
  EXPECT_EQ(resolve_target(view, "9f3c01aa"), 0U);
  EXPECT_EQ(resolve_target(view, "9F3C01AA"), 0U);
  EXPECT_EQ(resolve_target(view, "eval"), 0U);
  EXPECT_EQ(resolve_target(view, "deadbeef"), 3U);
}

TEST(Target, ThatIsAliveWinsOverADeadOne) {
  View view = sample_view();
  view.processes.insert(
      view.processes.begin(),
      sample_process({.id = "01234567", .pid = 4711, .command = "old", .label = "eval", .state = ProcessState::Exited},
                     {}));

  EXPECT_EQ(resolve_target(view, "4711"), 1U);
  EXPECT_EQ(resolve_target(view, "eval"), 1U);
  EXPECT_EQ(resolve_target(view, "01234567"), 0U);
}

TEST(Target, ThatSeveralHaveIsRefusedWithTheList) {
  View view = sample_view();
  view.processes.push_back(sample_process({.id = "01234567", .pid = 5000, .command = "other", .label = "eval"}, {}));

  const Refusal refusal = target_refusal(view, "eval");

  EXPECT_EQ(refusal.code, ExitCode::Usage);
  EXPECT_THAT(refusal.line,
              HasSubstr("4711 (9f3c01aa, live) eval: python3 train.py; 5000 (01234567, live) eval: other"));
}

TEST(Target, ThatNobodyHasIsNotFound) {
  for (const char* target : {"1", "9f3c01a", "", "nothing", "9f3c01aab", "-1", "4711 "}) {
    EXPECT_EQ(target_refusal(sample_view(), target).code, ExitCode::NotFound) << target;
  }
}

TEST(Target, OfAnotherUserIsDenied) {
  const Refusal refusal = target_refusal(sample_view(), "500");

  EXPECT_EQ(refusal.code, ExitCode::PermissionDenied);
  EXPECT_THAT(refusal.line, HasSubstr("belongs to user 1001"));
  EXPECT_EQ(target_refusal(sample_view(), "aaaabbbb").code, ExitCode::PermissionDenied);
}

TEST(Target, WhoseFileCannotBeReadSaysWhy) {
  View view = sample_view();
  view.skipped.push_back(
      {.path = "/s/new", .id = "cccc0000", .pid = 600, .reason = "made by another version", .wrong_layout = true});
  view.skipped.push_back(
      {.path = "/s/bad", .id = "dddd0000", .pid = 601, .reason = "not a segment", .wrong_layout = false});

  EXPECT_EQ(target_refusal(view, "600").code, ExitCode::WrongLayout);
  EXPECT_EQ(target_refusal(view, "dddd0000").code, ExitCode::NotFound);
  EXPECT_THAT(target_refusal(view, "601").line, HasSubstr("/s/bad: not a segment"));
}

class DeviceTarget : public testing::Test {
 protected:
  const ProcessView two_cuda_ = sample_view().processes[0];
  const ProcessView none_ = sample_view().processes[2];
  const ProcessView mixed_ = sample_process({.id = "1", .pid = 1, .command = "c"},
                                            {sample_device(Backend::Cuda, 0, {}), sample_device(Backend::Mtia, 0, {})});
};

TEST_F(DeviceTarget, IsANameANumberOrAUuid) {
  EXPECT_THAT(resolve_devices(two_cuda_, "all"), ElementsAre(0U, 1U));
  EXPECT_THAT(resolve_devices(two_cuda_, "cuda:1"), ElementsAre(1U));
  EXPECT_THAT(resolve_devices(two_cuda_, "0"), ElementsAre(0U));
  EXPECT_THAT(resolve_devices(mixed_, "mtia:0"), ElementsAre(1U));
  EXPECT_THAT(resolve_devices(mixed_, "MTIA-9f3c01aa-02"), ElementsAre(1U));
  EXPECT_THAT(resolve_devices(mixed_, "9f3c01aa01"), ElementsAre(0U));
}

// A prefix as short as "MTIA-73" was no form at all.
TEST_F(DeviceTarget, IsAUuidsBeginningInAnyCase) {
  for (const char* device : {"MTIA-9", "mtia-9f", "Mtia-9F3C01AA-02", "mtia-9f3c01aa02", "9F3C01AA-02"}) {
    EXPECT_THAT(resolve_devices(mixed_, device), ElementsAre(1U)) << device;
  }
  for (const char* device : {"GPU-9", "gpu-9F3C", "MIG-9f3c01aa", "9f3c01aa-01"}) {
    EXPECT_THAT(resolve_devices(mixed_, device), ElementsAre(0U)) << device;
  }
}

TEST_F(DeviceTarget, IsOfTheBackendThatItsLeadingWordNames) {
  EXPECT_EQ(device_refusal(mixed_, "GPU-9f3c01aa-02").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(mixed_, "MTIA-9f3c01aa-01").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(mixed_, "9f3c01aa").code, ExitCode::Usage) << "both begin so";
}

TEST_F(DeviceTarget, ThatTheProcessDoesNotHaveIsNotFound) {
  const Refusal refusal = device_refusal(two_cuda_, "cuda:2");

  EXPECT_EQ(refusal.code, ExitCode::NotFound);
  EXPECT_THAT(refusal.line, HasSubstr("process 4711 has no device 'cuda:2'; it has cuda:0, cuda:1"));
  EXPECT_EQ(device_refusal(two_cuda_, "mtia:0").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(two_cuda_, "7").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(two_cuda_, "GPU-ffff").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(two_cuda_, "gpu:0").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(none_, "cuda:0").code, ExitCode::NotFound);
  EXPECT_EQ(device_refusal(mixed_, "0").code, ExitCode::NotFound);  // two backends: a bare number names neither
}

TEST_F(DeviceTarget, OfNoKnownFormIsAMistake) {
  for (const char* device :
       {"", "cuda", "cuda:", "cuda:x", "tpu:0", "cuda:-1", "9f3", "first", "GPU-", "MTIA-x", "gpu-mtia-9f3c"}) {
    const Refusal refusal = device_refusal(two_cuda_, device);
    EXPECT_EQ(refusal.code, ExitCode::Usage) << device;
    EXPECT_THAT(refusal.line, HasSubstr("allowed: cuda:N, mtia:N"));
  }
}

TEST_F(DeviceTarget, ThatCouldBeSeveralIsAMistake) {
  EXPECT_EQ(device_refusal(two_cuda_, "9f3c01aa").code, ExitCode::Usage);
}

TEST(KeepOnly, LeavesWhatWasNamedInItsOrder) {
  View view = sample_view();

  keep_only(view, {"99", "eval"});

  ASSERT_EQ(view.processes.size(), 2U);
  EXPECT_EQ(view.processes[0].pid(), 4711);
  EXPECT_EQ(view.processes[1].pid(), 99);
  EXPECT_TRUE(view.hidden.empty());
}

}  // namespace
}  // namespace tidemark::viewer
