// One client of the server: reads a request, sends the answer, and so on. For server.cpp and connection.cpp alone, the
// two files that include Boost.Beast.
#pragma once

#include "viewer/http/server.hpp"

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

namespace tidemark::http {

// What connections need of their server.
class ConnectionHost {
 public:
  [[nodiscard]] virtual const ServerOptions& options() const = 0;
  [[nodiscard]] virtual Response answer(const Request& request) = 0;  // throws nothing
  [[nodiscard]] virtual bool is_ending() const = 0;
  [[nodiscard]] virtual std::size_t& bytes_under_way() = 0;
  virtual void forget(const class Connection& connection) = 0;

 protected:
  ~ConnectionHost() = default;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, ConnectionHost& host);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  void close();

  // Since when it has been waiting for a request; nothing while an answer is under way.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> waiting_since() const { return waiting_since_; }

 private:
  using ErrorCode = boost::beast::error_code;

  void read_request(std::chrono::milliseconds time);
  void on_request(ErrorCode error);
  [[nodiscard]] std::string client() const;
  [[nodiscard]] Response response_to_request() const;
  void send(const Response& response, bool keep_alive, bool with_body);
  template <class Message>
  void write(std::shared_ptr<Message> message, std::size_t bytes);
  void on_sent(ErrorCode error, bool keep_alive);
  void say_goodbye();
  void discard(std::size_t left);

  boost::beast::tcp_stream stream_;
  ConnectionHost* host_;
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  std::optional<std::chrono::steady_clock::time_point> waiting_since_;
  std::size_t bytes_ = 0;  // of the answer under way
};

}  // namespace tidemark::http
