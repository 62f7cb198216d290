#include "tests/viewer/fake_world.hpp"

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace tidemark::test {
namespace {

Launch fake_launch(const ShimWorld& world, std::vector<std::string> options) {
  std::vector<std::string> command{TIDEMARK_TEST_FAKE_PROCESS, world.directory()};
  command.insert(command.end(), options.begin(), options.end());
  return {.command = std::move(command)};
}

}  // namespace

FakeProcess::FakeProcess(const ShimWorld& world, std::vector<std::string> options)
    : conversation_(fake_launch(world, std::move(options))) {
  std::istringstream line(conversation_.read_line());
  std::string ready;
  line >> ready >> id_ >> path_;
}

void FakeProcess::exit() {
  conversation_.write_line("exit");
  (void)conversation_.finish();
}

void FakeProcess::stop() const {
  conversation_.signal(SIGSTOP);
  for (std::string stat; stat.find(") T ") == std::string::npos;) {
    std::this_thread::yield();
    std::getline(std::ifstream{"/proc/" + pid() + "/stat"}, stat);
  }
}

void FakeProcess::kill() { (void)conversation_.end_by(SIGKILL); }

}  // namespace tidemark::test
