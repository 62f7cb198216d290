// Every way a process begins and ends: what is shown, what stays, and that nobody else is disturbed.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class Processes : public GuestTest {
 protected:
  [[nodiscard]] std::string state(pid_t pid) const {
    const nlohmann::json process = world_.process(pid);
    return process.is_null() ? "" : process["state"].get<std::string>();
  }
  static pid_t child_pid(const std::string& answer) {
    EXPECT_EQ(answer.rfind("child ", 0), 0u) << answer;
    return answer.size() > 6 ? std::stoi(answer.substr(6)) : 0;
  }
};
TIDEMARK_FOR_EVERY_GUEST(Processes);

TEST_P(Processes, AreShownFromTheFirstAllocationToTheEnd) {
  Guest guest{shimmed_whole()};
  EXPECT_EQ(world_.files(), std::vector<std::string>{});

  guest.alloc(1000);
  EXPECT_EQ(state(guest.pid()), "live");

  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
  EXPECT_EQ(world_.files(), std::vector<std::string>{}) << "memory was held at exit";
}

TEST_P(Processes, AreShownAsKilledWithTheirLastCounters) {
  Guest guest{shimmed_whole()};
  guest.alloc(3 * kMiB);
  const int pid = guest.pid();

  EXPECT_EQ(guest.end_by(SIGKILL).signal, SIGKILL);

  EXPECT_EQ(state(pid), "killed");
  EXPECT_EQ(usage_of(world_.device(pid, GetParam().device())), (Usage{3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB}));
}

TEST_P(Processes, ThatWereKilledConfuseNobodyAndAreRemovedByGc) {
  Guest killed{shimmed_whole()};
  killed.alloc(3 * kMiB);
  const int dead = killed.pid();
  killed.end_by(SIGKILL);

  Guest next{shimmed_whole()};
  next.alloc(1000);

  EXPECT_EQ(usage(next), (Usage{1000, 1024, 1024, 2 * kMiB}));
  const Outcome acting = world_.tidemark({"reset-peak", std::to_string(dead)});
  EXPECT_EQ(acting.exit_code, 3) << describe(acting);
  EXPECT_EQ(world_.tidemark({"gc"}).exit_code, 0);
  EXPECT_EQ(state(dead), "");
  EXPECT_EQ(state(next.pid()), "live");
  next.finish();
  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

TEST_P(Processes, MayDieBetweenAnyTwoCalls) {
  Guest guest{shimmed_whole()};
  guest.write_line("threads 4 1000000 4096");
  for (int looks = 0; looks < 1000 && state(guest.pid()).empty(); ++looks) {
  }
  const int pid = guest.pid();

  guest.end_by(SIGKILL);

  const nlohmann::json shown = world_.device(pid, GetParam().device());
  EXPECT_GE(stat_of(shown, "allocation.all.allocated"), stat_of(shown, "allocation.all.freed"));
  EXPECT_EQ(stat_of(shown, "allocation.all.current"),
            stat_of(shown, "allocation.all.allocated") - stat_of(shown, "allocation.all.freed"));
}

TEST_P(Processes, ThatLeaveWithoutATraceInTheirHandlersAreShownAsKilled) {
  for (const char* way : {"_exit 3", "abort"}) {
    Guest guest{shimmed_whole()};
    guest.alloc(1000);
    const int pid = guest.pid();

    guest.write_line(way);
    const Outcome outcome = guest.finish();

    EXPECT_TRUE(outcome.exit_code == 3 || outcome.signal == SIGABRT) << describe(outcome);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(state(pid), "killed") << way;
    EXPECT_EQ(usage_of(world_.device(pid, GetParam().device())), (Usage{1000, 1024, 1024, 2 * kMiB}));
  }
}

TEST_P(Processes, StayAfterTheirEndOnRequest) {
  Launch launch = shimmed_whole();
  launch.environment["TIDEMARK_KEEP"] = "all";
  Guest guest{launch};
  guest.alloc(1000);
  const int pid = guest.pid();

  guest.finish();

  EXPECT_EQ(state(pid), "exited");
  EXPECT_EQ(usage_of(world_.device(pid, GetParam().device())), (Usage{1000, 1024, 1024, 2 * kMiB}));
}

TEST_P(Processes, MayFreeInADestructor) {
  const auto talk = [](const Launch& launch) {
    Guest guest{launch};
    guest.alloc(1000);
    guest.alloc(3 * kMiB);
    guest.ask("at-exit");
    return guest.finish();
  };

  const Outcome outcome = talk(shimmed_whole());

  EXPECT_EQ(outcome, talk(native()));
  EXPECT_EQ(outcome.out, "freed 2 at exit, 0 failed\n");
}

TEST_P(Processes, LeaveTheirParentsNumbersAloneAfterAFork) {
  for (const char* way : {"fork", "clone"}) {
    Guest guest{shimmed_whole()};
    guest.alloc(3 * kMiB);

    const pid_t child = child_pid(guest.ask(way));
    // CUDA gives nothing to the child of a process that had initialised it (error 3); MTIA a device of its own.
    const std::string answer = guest.ask("alloc 1000");

    if (GetParam().backend == "cuda") {
      EXPECT_EQ(answer, "error 3") << way;
      EXPECT_EQ(state(child), "") << way;
    } else {
      EXPECT_EQ(answer.substr(0, 3), "ok ") << way;
      EXPECT_EQ(usage_of(world_.device(child, GetParam().device())), (Usage{1000, 1024, 1024, 2 * kMiB})) << way;
    }
    EXPECT_EQ(usage(guest), (Usage{3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB})) << way;
    EXPECT_EQ(guest.ask("exit 7"), "child ended 7");
    EXPECT_EQ(state(child), "") << way;
    EXPECT_EQ(state(guest.pid()), "live") << way;
    guest.free(0);
    EXPECT_EQ(usage(guest), (Usage{0, 0, 4 * kMiB, 4 * kMiB})) << way;
  }
}

TEST_P(Processes, ForkedBeforeTheFirstAllocationStandAlone) {
  for (const char* way : {"fork", "clone"}) {
    Guest guest{shimmed_whole()};

    const pid_t child = child_pid(guest.ask(way));
    guest.alloc(1000);

    EXPECT_EQ(usage_of(world_.device(child, GetParam().device())), (Usage{1000, 1024, 1024, 2 * kMiB})) << way;
    EXPECT_EQ(state(guest.pid()), "") << way;
    EXPECT_EQ(guest.ask("exit 0"), "child ended 0");
    EXPECT_EQ(world_.files(), std::vector<std::string>{}) << way;
  }
}

TEST_P(Processes, GetTheDriversAnswerForAParentsPointer) {
  const auto codes = [](const Launch& launch) {
    Guest guest{launch};
    guest.alloc(1000);
    guest.ask("fork");
    const std::string code = guest.ask("free 0");
    return code + ", " + guest.ask("exit 0");
  };

  EXPECT_EQ(codes(shimmed_whole()), codes(native()));
}

TEST_P(Processes, MayStartOthersInEveryWay) {
  Guest guest{shimmed_whole()};
  guest.alloc(1000);

  EXPECT_EQ(guest.code("spawn /bin/sh -c true"), 0);
  EXPECT_EQ(guest.code("vfork /bin/false"), 1);

  EXPECT_EQ(usage(guest), (Usage{1000, 1024, 1024, 2 * kMiB}));
  EXPECT_EQ(world_.ps()["processes"].size(), 1u);
}

// The child is a program of its own on the same device, while its parent holds memory and waits for it.
TEST_P(Processes, StartedInEveryWayStandAlone) {
  for (const char* way : {"spawn ", "vfork "}) {
    Guest guest{shimmed_whole()};
    guest.alloc(3 * kMiB);

    guest.write_line(way + GetParam().program);
    guest.alloc(1000);

    const nlohmann::json processes = world_.ps()["processes"];
    ASSERT_EQ(processes.size(), 2u) << processes.dump(1);
    const nlohmann::json& child = processes[processes[0]["pid"] == guest.pid() ? 1 : 0];
    EXPECT_EQ(usage_of(child["devices"][0]), (Usage{1000, 1024, 1024, 2 * kMiB})) << way;
    EXPECT_EQ(usage(guest), (Usage{3 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB})) << way;
    EXPECT_EQ(guest.ask("exit 7"), "7") << way;
    EXPECT_EQ(world_.ps()["processes"].size(), 1u) << way;
    guest.free(0);
    EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0}) << way;
  }
}

TEST_P(Processes, ThatExecAreNewOnes) {
  Guest guest{shimmed_whole()};
  guest.alloc(3 * kMiB);

  guest.write_line("exec " + GetParam().program);
  guest.alloc(1000);

  EXPECT_EQ(state(guest.pid()), "live");
  EXPECT_EQ(usage(guest), (Usage{1000, 1024, 1024, 2 * kMiB}));
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

// It was taken for killed.
TEST_P(Processes, ThatRunAnotherProgramAreReplaced) {
  Guest guest{shimmed_whole()};
  guest.alloc(3 * kMiB);

  guest.write_line("exec /bin/cat");
  EXPECT_EQ(guest.ask("it runs"), "it runs");

  EXPECT_EQ(state(guest.pid()), "replaced");
  const Outcome shown = world_.tidemark({"show", std::to_string(guest.pid())});
  EXPECT_NE(shown.out.find("replaced by exec"), std::string::npos) << describe(shown);
  const Outcome asked = world_.tidemark({"reset-peak", std::to_string(guest.pid())});
  EXPECT_EQ(asked.exit_code, 3) << describe(asked);
  EXPECT_NE(asked.err.find("gone: the program was replaced by exec"), std::string::npos) << describe(asked);
  guest.finish();
  EXPECT_EQ(state(guest.pid()), "killed") << "nobody can tell any more";
}

// At whatever it is doing just then.
TEST_P(Processes, AreNotDisturbedByAKilledViewer) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(3 * kMiB));
  for (int round = 0; round < 40; ++round) {
    Conversation viewer{world_.viewer({"ps", "--json"})};
    guest.ask("pairs 10 4096");
    EXPECT_EQ(viewer.end_by(SIGKILL).timed_out, false);
  }

  EXPECT_EQ(world_.tidemark({"reset-peak", std::to_string(guest.pid())}).exit_code, 0);
  guest.alloc(1000);
  EXPECT_EQ(usage(guest), (Usage{1000, 1024, 1024, 6 * kMiB}));
}

// The viewer dies while its request is under way: its slot is free again, and the next one's request is obeyed.
TEST_P(Processes, AreNotDisturbedByAViewerThatDiesInTheMiddleOfARequest) {
  Guest guest{shimmed_whole()};
  guest.free(guest.alloc(3 * kMiB));
  for (int round = 0; round < 40; ++round) {
    guest.signal(SIGSTOP);
    Conversation viewer{world_.viewer({"reset-peak", std::to_string(guest.pid())})};
    viewer.end_by(SIGKILL);
    guest.signal(SIGCONT);
  }

  const Outcome reset = world_.tidemark({"reset-peak", std::to_string(guest.pid())});

  EXPECT_EQ(reset.exit_code, 0) << describe(reset);
  EXPECT_EQ(usage(guest), (Usage{0, 0, 0, 4 * kMiB}));
}

}  // namespace
}  // namespace tidemark::test
