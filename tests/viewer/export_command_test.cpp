// `tidemark export` as a program, with fake processes behind it: also under the sanitizers.
#include "tests/viewer/viewer_world.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace tidemark::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Exporter : public Conversation {
 public:
  explicit Exporter(const ShimWorld& world, std::vector<std::string> options = {})
      : Conversation(launch(world, std::move(options))) {
    const std::string line = read_line();
    if (!line.starts_with("serving http://127.0.0.1:")) throw std::runtime_error(line + err());
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(line.rfind(':') + 1)));
  }

  [[nodiscard]] std::string get(const std::string& path) const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string text;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
      (void)!::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
      char buffer[4096];
      for (ssize_t bytes = 0; (bytes = ::read(fd, buffer, sizeof buffer)) > 0;) {
        text.append(buffer, static_cast<std::size_t>(bytes));
      }
    }
    close(fd);
    return text;
  }
  [[nodiscard]] std::string page() const { return get("/metrics"); }
  // Pages until one has this text.
  void wait_for(const std::string& text) const {
    while (page().find(text) == std::string::npos) {
      usleep(20'000);
    }
  }

 private:
  static Launch launch(const ShimWorld& world, std::vector<std::string> options) {
    options.insert(options.begin(), {"export", "--listen", "127.0.0.1:0"});
    return world.viewer(std::move(options));
  }

  std::uint16_t port_ = 0;
};

class ExportCommand : public testing::Test {
 protected:
  ShimWorld world_;
};

constexpr const char* kLabels = "{backend=\"cuda\",uuid=\"GPU-abcd0100-0000-0000-0000-000000000000\",command=\"fake\"";

TEST_F(ExportCommand, ServesTheNumbersOfProcessesThatComeAndGo) {
  FakeProcess first(world_, {"label=first"});
  FakeProcess silent(world_, {"label=silent", "answer=none"});
  FakeProcess closed(world_, {"label=closed", "policy=off"});
  Exporter exporter(world_);
  const std::string labels = kLabels;
  exporter.wait_for("tidemark_allocated_bytes" + labels + ",label=\"first\"} 104857600\n");
  FakeProcess second(world_, {"label=second"});
  exporter.wait_for("tidemark_allocations_total" + labels + ",label=\"second\"} 10\n");

  const std::string page = exporter.page();
  EXPECT_THAT(page, HasSubstr("tidemark_allocated_window_peak_bytes" + labels + ",label=\"first\"}"));
  EXPECT_THAT(page, HasSubstr("tidemark_allocated_window_peak_bytes" + labels + ",label=\"second\"} 314572800\n"));
  EXPECT_THAT(page, HasSubstr("tidemark_processes{state=\"live\"} 4\n"));
  EXPECT_THAT(page, HasSubstr("tidemark_device_clients{backend=\"cuda\""));
  while (exporter.page().find("tidemark_allocated_window_peak_bytes" + labels + ",label=\"closed\"") !=
         std::string::npos) {
    usleep(20'000);
  }

  second.exit();
  exporter.wait_for("tidemark_exits_total{command=\"fake\",label=\"second\",how=\"clean\"} 1\n");
  first.kill();
  exporter.wait_for("tidemark_exits_total{command=\"fake\",label=\"first\",how=\"killed\"} 1\n");
  EXPECT_THAT(exporter.page(), Not(HasSubstr("tidemark_allocated_bytes" + labels + ",label=\"first\"}")));

  const Outcome ended = exporter.end_by(SIGTERM);
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_EQ(ended.err, "");
}

TEST_F(ExportCommand, AnswersOnEveryPath) {
  FakeProcess process(world_);
  Exporter exporter(world_, {"--per-process", "--max-series", "5000"});

  EXPECT_THAT(exporter.page(), HasSubstr("id=\"" + process.id() + "\",pid=\"" + process.pid() + "\""));
  for (const char* path : {"/", "/ps.json", "/live.json", "/-/healthy", "/-/ready", "/metrics?x"}) {
    EXPECT_THAT(exporter.get(path), testing::StartsWith("HTTP/1.1 200 OK\r\n")) << path;
  }
  const std::string live = exporter.get("/live.json");
  const auto document = nlohmann::json::parse(live.substr(live.find("\r\n\r\n")));
  EXPECT_EQ(document["rows"][0]["id"], process.id());
  EXPECT_EQ(document["devices"].size(), 2U);
  EXPECT_THAT(exporter.get("/other"), HasSubstr("not here; there are / /metrics"));
  EXPECT_EQ(exporter.end_by(SIGINT).exit_code, 0);
}

TEST_F(ExportCommand, PrintsOnePage) {
  FakeProcess process(world_);

  const Outcome once = world_.tidemark({"export", "--once"});

  EXPECT_EQ(once.exit_code, 0) << describe(once);
  EXPECT_THAT(once.out, HasSubstr(std::string{"tidemark_allocations_total"} + kLabels + "} 10\n"));
  EXPECT_THAT(once.out, Not(HasSubstr("window")));
}

TEST_F(ExportCommand, RefusesWhatItCannotDo) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"export", "--listen", "here"},
                                                {"export", "--max-series", "0"},
                                                {"export", "-o", "x"}}) {
    EXPECT_EQ(world_.tidemark(words).exit_code, 2);
  }
  const Outcome nowhere = world_.tidemark({"export", "--listen", "192.0.2.1:9435"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot listen on 192.0.2.1 port 9435 (Cannot assign requested address)"));
}

}  // namespace
}  // namespace tidemark::test
