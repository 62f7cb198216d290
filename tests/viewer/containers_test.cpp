// Which container a process is in.
#include "viewer/model/containers.hpp"

#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

const std::string kId(64, 'a');
const std::string kInner = std::string(63, '0') + "f";

TEST(Container, IsNamedByTheCgroupsOfEngines) {
  EXPECT_EQ(container_id_in("0::/system.slice/docker-" + kId + ".scope\n"), kId);
  EXPECT_EQ(container_id_in("0::/docker/" + kId + "\n"), kId);
  EXPECT_EQ(container_id_in("12:devices:/docker/" + kId + "\n11:memory:/docker/" + kId + "\n0::/\n"), kId);
  EXPECT_EQ(container_id_in("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_34.slice/"
                            "cri-containerd-" +
                            kId + ".scope\n"),
            kId);
  EXPECT_EQ(container_id_in("0::/kubepods/besteffort/pod12/" + kId + "\n"), kId);
  EXPECT_EQ(container_id_in("0::/kubepods.slice/crio-" + kId + ".scope/container\n"), kId);
  EXPECT_EQ(container_id_in("0::/machine.slice/libpod-" + kId + ".scope/container\n"), kId);
  EXPECT_EQ(container_id_in("0::/docker/" + kId + "/docker/" + kInner + "\n"), kInner) << "one in another";
}

TEST(Container, IsNotWhateverHasACgroup) {
  for (const std::string& cgroup :
       {std::string{}, std::string{"0::/\n"}, std::string{"0::/user.slice/user-0.slice/session-1.scope\n"},
        "0::/machine.slice/libpod-conmon-" + kId + ".scope\n", "0::/docker/" + kId + "a\n",
        "0::/docker/" + std::string(64, 'g') + "\n", std::string(4096, '/'), std::string(100, '\0')}) {
    EXPECT_EQ(container_id_in(cgroup), "") << cgroup;
  }
  EXPECT_EQ(container_id_of(0), "");
}

}  // namespace
}  // namespace tidemark::viewer
