// A small HTTP server for a few pages: one thread, GET and HEAD alone, and a bound on everything that a client could
// make grow. Knows nothing of what it serves.
//
//   http::Server server({.address = "127.0.0.1", .port = 9435}, answer, tick);
//   server.run();       // until SIGTERM or SIGINT
//
// A request has to come whole within a time, its answer has to be taken within one, and where all connections are in
// use a new one takes the place of that which has been waiting longest: a client that does nothing keeps nobody out.
// `answer` and `tick` are called in run()'s thread, one at a time; what they throw is a 500, and one line for
// `complain`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::http {

struct Request {
  std::string path;    // "/metrics": without what follows a "?"
  std::string accept;  // the header; empty: none
  std::string client;  // its address, and what it calls itself (User-Agent, at most 200 bytes)
  bool is_head = false;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body{};
  std::vector<std::pair<std::string, std::string>> headers{};
};

// Its body is the text and a newline.
[[nodiscard]] Response plain_response(unsigned status, std::string_view text);

struct ServerOptions {
  std::string address = "127.0.0.1";  // of IPv4 or IPv6
  std::uint16_t port = 0;             // 0: one that is free
  std::size_t most_connections = 100;
  std::size_t most_bytes_under_way = std::size_t{32} << 20;  // of answers that clients haven't taken yet
  std::chrono::milliseconds request_time{10'000};            // for a whole request, from the connection on
  std::chrono::milliseconds idle_time{120'000};              // for the next one on the same connection
  std::chrono::milliseconds answer_time{30'000};             // for a client to take its answer
  std::chrono::milliseconds farewell_time{3'000};            // for answers under way once it has to end
};

class Server {
 public:
  using Answer = std::function<Response(const Request&)>;
  // Called at once and again after what it returns.
  using Tick = std::function<std::chrono::milliseconds()>;
  using Complain = std::function<void(std::string_view)>;

  // Listens. Throws std::system_error.
  Server(const ServerOptions& options, Answer answer, Tick tick, Complain complain);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  [[nodiscard]] std::string url() const;  // "http://127.0.0.1:9435"
  [[nodiscard]] std::uint16_t port() const;

  // Returns after SIGTERM or SIGINT, or stop(): takes no more connections, and ends once every answer is taken or the
  // farewell time is over.
  void run();
  void stop();  // from any thread

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tidemark::http
