#include "viewer/http/server.hpp"

#include "viewer/http/connection.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <list>
#include <system_error>
#include <utility>

namespace tidemark::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// While there are no descriptors left, the one thing to do is to wait.
constexpr std::chrono::milliseconds kAcceptAgain{100};

[[noreturn]] void fail(const ErrorCode& error) { throw std::system_error(error.value(), std::system_category()); }

// Of IPv6, which then takes IPv4, too.
bool is_every_address(const asio::ip::address& address) { return address.is_v6() && address.is_unspecified(); }

}  // namespace

Response plain_response(unsigned status, std::string_view text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::string{text} + '\n')};
}

struct Server::State final : ConnectionHost {
  State(const ServerOptions& options, Answer answer, Tick tick, Complain complain)
      : options_(options), answer_(std::move(answer)), tick_(std::move(tick)), complain_(std::move(complain)) {
    ErrorCode error;
    const auto address = asio::ip::make_address(options.address, error);
    const tcp::endpoint endpoint{address, options.port};
    if (error || acceptor_.open(endpoint.protocol(), error) ||
        acceptor_.set_option(tcp::acceptor::reuse_address(true), error) ||
        (is_every_address(address) && acceptor_.set_option(asio::ip::v6_only(false), error)) ||
        acceptor_.bind(endpoint, error) || acceptor_.listen(asio::socket_base::max_listen_connections, error)) {
      fail(error);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { connections_.clear(); }

  const ServerOptions& options() const override { return options_; }
  bool is_ending() const override { return is_ending_; }
  std::size_t& bytes_under_way() override { return bytes_under_way_; }

  Response answer(const Request& request) override {
    try {
      return answer_(request);
    } catch (const std::exception& error) {
      complain_(error.what());
      return plain_response(500, "this page could not be made");
    }
  }

  void forget(const Connection& connection) override {
    connections_.remove_if([&](const auto& known) { return known.get() == &connection; });
    if (is_ending_ && connections_.empty()) {
      io_.stop();
    }
  }

  void run() {
    signals_.async_wait([this](ErrorCode error, int) {
      if (!error) {
        end();
      }
    });
    accept();
    tick();
    io_.run();
  }

  void end() {
    if (std::exchange(is_ending_, true)) {
      return;
    }
    ErrorCode ignored;
    acceptor_.close(ignored);
    timer_.cancel();
    for (const auto& connection : std::list{connections_}) {
      if (connection->waiting_since()) {
        connection->close();
      }
    }
    if (connections_.empty()) {
      io_.stop();
      return;
    }
    const auto stop_all = [this](ErrorCode error, auto...) {
      if (error != asio::error::operation_aborted) {
        io_.stop();
      }
    };
    signals_.async_wait(stop_all);  // one more: at once
    timer_.expires_after(options_.farewell_time);
    timer_.async_wait(stop_all);
  }

  void accept() {
    acceptor_.async_accept([this](ErrorCode error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || is_ending_) {
        return;
      }
      if (error) {
        accept_timer_.expires_after(kAcceptAgain);
        accept_timer_.async_wait([this](ErrorCode) { accept(); });
        return;
      }
      welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    if (connections_.size() >= options_.most_connections && !make_room()) {
      return;  // all are busy: the client sees a closed connection
    }
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(std::move(socket), *this);
    connections_.push_back(connection);
    connection->start();
  }

  bool make_room() {
    std::shared_ptr<Connection> longest;
    for (const auto& connection : connections_) {
      if (connection->waiting_since() &&
          (longest == nullptr || *connection->waiting_since() < *longest->waiting_since())) {
        longest = connection;
      }
    }
    if (longest != nullptr) {
      longest->close();
    }
    return longest != nullptr;
  }

  void tick() {
    std::chrono::milliseconds next{1000};
    try {
      next = tick_();
    } catch (const std::exception& error) {
      complain_(error.what());
    }
    timer_.expires_after(next);
    timer_.async_wait([this](ErrorCode error) {
      if (!error && !is_ending_) {
        tick();
      }
    });
  }

  ServerOptions options_;
  Answer answer_;
  Tick tick_;
  Complain complain_;
  std::size_t bytes_under_way_ = 0;
  bool is_ending_ = false;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer timer_{io_};
  asio::steady_timer accept_timer_{io_};
  asio::signal_set signals_{io_, SIGTERM, SIGINT};
  std::list<std::shared_ptr<Connection>> connections_;
};

Server::Server(const ServerOptions& options, Answer answer, Tick tick, Complain complain)
    : state_(std::make_shared<State>(options, std::move(answer), std::move(tick), std::move(complain))) {}

Server::~Server() = default;

std::uint16_t Server::port() const { return state_->acceptor_.local_endpoint().port(); }

std::string Server::url() const {
  const bool is_v6 = state_->options_.address.find(':') != std::string::npos;
  const std::string host = is_v6 ? '[' + state_->options_.address + ']' : state_->options_.address;
  return "http://" + host + ':' + std::to_string(port());
}

void Server::run() { state_->run(); }

void Server::stop() {
  asio::post(state_->io_, [state = state_.get()] { state->end(); });
}

}  // namespace tidemark::http
