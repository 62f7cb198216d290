// The HTTP server against clients that behave, and clients that don't.
#include "viewer/http/server.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tidemark::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// A TCP connection to the server; closed with the object.
class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  Client(Client&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;
  ~Client() {
    if (fd_ >= 0) close(fd_);
  }

  void send(const std::string& text) const { (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
  // Up to the end of what the server sends, or a text in it.
  [[nodiscard]] std::string read(const std::string& up_to = "") const {
    std::string text;
    while (up_to.empty() || text.find(up_to) == std::string::npos) {
      pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
      char buffer[4096];
      const ssize_t bytes = poll(&ready, 1, 30'000) == 1 ? ::read(fd_, buffer, sizeof buffer) : -1;
      if (bytes <= 0) {
        return bytes < 0 && errno != ECONNRESET ? text + "(nothing more for 30 s)" : text;
      }
      text.append(buffer, static_cast<std::size_t>(bytes));
    }
    return text;
  }
  [[nodiscard]] std::string ask(const std::string& request) const {
    send(request);
    return read();
  }

 private:
  int fd_;
};

class HttpServer : public testing::Test {
 protected:
  ~HttpServer() override { end(); }
  void start(ServerOptions options = {}) {
    server_ = std::make_unique<Server>(
        options,
        [this](const Request& request) {
          if (request.path == "/throws") throw std::runtime_error("a reason");
          if (request.path == "/big") return Response{.body = big_};
          return plain_response(200, request.path + " " + request.accept);
        },
        [this] {
          ++ticks_;
          return std::chrono::milliseconds{10};
        },
        [this](std::string_view line) { complaints_ += line; });
    thread_ = std::thread([this] { server_->run(); });
  }
  void end() {
    if (thread_.joinable()) {
      server_->stop();
      thread_.join();
    }
  }
  [[nodiscard]] Client client() const { return Client{server_->port()}; }
  [[nodiscard]] std::string get(const std::string& path) const {
    return client().ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }

  std::shared_ptr<const std::string> big_ = std::make_shared<const std::string>(std::size_t{16} << 20, 'x');
  std::unique_ptr<Server> server_;
  std::thread thread_;
  std::atomic<int> ticks_{0};
  std::string complaints_;
};

TEST_F(HttpServer, AnswersAndCloses) {
  start();

  const std::string answer = get("/metrics?x=1");

  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n/metrics \n"));
  EXPECT_EQ(server_->url(), "http://127.0.0.1:" + std::to_string(server_->port()));
}

TEST_F(HttpServer, KeepsAConnectionForTheNextRequest) {
  start();
  const Client one = client();
  for (const char* path : {"/a", "/b", "/c"}) {
    one.send(std::string{"GET "} + path + " HTTP/1.1\r\nHost: x\r\nAccept: text/plain\r\n\r\n");
    EXPECT_THAT(one.read("text/plain\n"), HasSubstr(std::string{path} + " text/plain\n"));
  }
}

TEST_F(HttpServer, AnswersHeadWithoutABody) {
  start();

  const std::string answer = client().ask("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");

  EXPECT_THAT(answer, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServer, RefusesWhatItDoesNotDo) {
  start();
  const auto status = [this](const std::string& request) { return client().ask(request).substr(0, 12); };
  EXPECT_EQ(status("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), "HTTP/1.1 405");
  EXPECT_EQ(status("DELETE /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "HTTP/1.1 405");
  EXPECT_EQ(status("BREW /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "HTTP/1.1 405");
  EXPECT_EQ(status("nonsense\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("\x16\x03\x01\x02\x01\x01\xfc\x03\x03\r\n\r\n"), "HTTP/1.1 400") << "as a client of TLS begins";
  EXPECT_EQ(status("GET /a HTTP/9.9\r\n\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status("GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n"), "HTTP/1.1 431");
  EXPECT_EQ(status("GET /a HTTP/1.1\r\nX: " + std::string(100'000, 'a') + "\r\n\r\n"), "HTTP/1.1 431");
  EXPECT_THAT(get("/a"), StartsWith("HTTP/1.1 200")) << "and goes on";
}

TEST_F(HttpServer, TakesAnErrorForAPageThatCouldNotBeMade) {
  start();

  EXPECT_THAT(get("/throws"), StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(get("/a"), StartsWith("HTTP/1.1 200"));
  end();
  EXPECT_EQ(complaints_, "a reason");
}

TEST_F(HttpServer, ClosesOnAClientThatDoesNotFinishItsRequest) {
  start({.request_time = 50ms});
  const Client slow = client();
  slow.send("GET /a HT");

  EXPECT_EQ(slow.read(), "");
}

TEST_F(HttpServer, ClosesAConnectionThatIsIdleForLong) {
  start({.idle_time = 50ms});
  const Client idle = client();
  idle.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");

  EXPECT_THAT(idle.read(), testing::EndsWith("/a \n"));
}

TEST_F(HttpServer, GivesUpOnAClientThatDoesNotTakeItsAnswer) {
  start({.most_bytes_under_way = 1, .answer_time = 200ms});
  const Client slow = client();
  slow.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  std::string busy;
  while (!busy.starts_with("HTTP/1.1 503")) {
    busy = get("/a");
    ASSERT_THAT(busy, StartsWith("HTTP/1.1 "));
  }
  while (!busy.starts_with("HTTP/1.1 200")) {
    busy = get("/a");
    ASSERT_THAT(busy, StartsWith("HTTP/1.1 "));
  }
  EXPECT_LT(slow.read().size(), big_->size());
}

// Those that do nothing keep nobody out.
TEST_F(HttpServer, AnswersBehindTwoHundredIdleConnections) {
  start({.most_connections = 20});
  std::vector<Client> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(client());
    idle.back().send("GET /slow");
  }

  EXPECT_THAT(get("/a"), testing::EndsWith("/a \n"));
  EXPECT_EQ(idle.front().read(), "") << "closed";
}

TEST_F(HttpServer, AnswersTwoHundredClientsAtOnce) {
  start({.most_connections = 200});
  std::vector<Client> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(client());
    clients.back().send("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  for (const Client& one : clients) {
    EXPECT_THAT(one.read(), testing::EndsWith("/a \n"));
  }
}

TEST_F(HttpServer, TicksBetweenRequests) {
  start();
  const int before = ticks_;
  while (ticks_ < before + 3) {
    std::this_thread::yield();
  }
}

TEST_F(HttpServer, EndsAfterTheAnswersThatAreUnderWay) {
  start();
  const Client idle = client();
  const Client busy = client();
  busy.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string first = busy.read("xxxx");
  server_->stop();
  EXPECT_EQ(idle.read(), "");

  const std::size_t all = first.size() + busy.read().size();

  EXPECT_GT(all, big_->size());
  thread_.join();
  EXPECT_THROW(client(), std::runtime_error) << "nobody listens any more";
}

TEST_F(HttpServer, EndsWithoutAClientThatTakesNothing) {
  start({.farewell_time = 50ms});
  const Client slow = client();
  slow.send("GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  (void)slow.read("HTTP/1.1 200");
  server_->stop();
  thread_.join();
}

TEST_F(HttpServer, SaysWhyItCannotListen) {
  start();
  const auto listen = [](const ServerOptions& options) {
    try {
      const Server server(options, {}, {}, {});
      return std::error_code{};
    } catch (const std::system_error& error) {
      return error.code();
    }
  };
  EXPECT_EQ(listen({.port = server_->port()}), std::errc::address_in_use);
  EXPECT_EQ(listen({.address = "192.0.2.1"}), std::errc::address_not_available);
}

}  // namespace
}  // namespace tidemark::http
