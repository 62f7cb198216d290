#include "viewer/http/connection.hpp"

#include <boost/asio/buffer.hpp>

#include <array>
#include <utility>

namespace tidemark::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace web = boost::beast::http;

constexpr std::size_t kMostHeaderBytes = 8192;
// What a client still sends while its connection is being closed; unread bytes would take the answer from it.
constexpr std::size_t kMostDiscarded = 65536;
constexpr std::chrono::seconds kGoodbyeTime{1};

// A body that several answers can share.
struct SharedBody {
  using value_type = std::shared_ptr<const std::string>;

  static std::uint64_t size(const value_type& body) { return body == nullptr ? 0 : body->size(); }

  class writer {
   public:
    using const_buffers_type = asio::const_buffer;

    template <bool IsRequest, class Fields>
    writer(const web::header<IsRequest, Fields>& /*header*/, const value_type& body) : body_(body) {}
    void init(beast::error_code& error) { error = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(beast::error_code& error) {
      error = {};
      return body_ == nullptr
                 ? boost::none
                 : boost::make_optional(std::pair{asio::const_buffer{body_->data(), body_->size()}, false});
    }

   private:
    const value_type& body_;
  };
};

template <class Message>
void set_head(Message& message, const Response& response, bool keep_alive) {
  message.result(response.status);
  message.set(web::field::content_type, response.content_type);
  message.set(web::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  for (const auto& [name, value] : response.headers) {
    message.set(name, value);
  }
  message.keep_alive(keep_alive);
  message.content_length(SharedBody::size(response.body));
}

bool has_body(const web::request<web::empty_body>& request) {
  const auto length = request.find(web::field::content_length);
  return request.chunked() || (length != request.end() && length->value() != "0");
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, ConnectionHost& host)
    : stream_(std::move(socket)), host_(&host), buffer_(kMostHeaderBytes + kMostDiscarded) {}

Connection::~Connection() { host_->bytes_under_way() -= bytes_; }

void Connection::start() { read_request(host_->options().request_time); }

void Connection::close() {
  stream_.close();
  host_->forget(*this);
}

void Connection::read_request(std::chrono::milliseconds time) {
  parser_.emplace();
  parser_->header_limit(kMostHeaderBytes);
  waiting_since_ = std::chrono::steady_clock::now();
  stream_.expires_after(time);
  web::async_read_header(stream_, buffer_, *parser_,
                         [self = shared_from_this()](ErrorCode error, std::size_t) { self->on_request(error); });
}

void Connection::on_request(ErrorCode error) {
  waiting_since_.reset();
  if (!error) {
    const bool is_head = parser_->get().method() == web::verb::head;
    const bool keep_alive = parser_->get().keep_alive() && !has_body(parser_->get()) && !host_->is_ending();
    send(response_to_request(), keep_alive, !is_head);
  } else if (error == web::error::header_limit || error == web::error::buffer_overflow) {
    send(plain_response(431, "the request's head is too large"), false, true);
  } else if (error == web::error::body_limit || error == web::error::unexpected_body) {
    send(plain_response(413, "a request has no body here"), false, true);
  } else if (error.category() == web::make_error_code(web::error::end_of_stream).category() &&
             error != web::error::end_of_stream && error != web::error::partial_message) {
    send(plain_response(400, "not a request of HTTP/1.1"), false, true);
  } else {
    close();  // it went away, or took too long
  }
}

std::string Connection::client() const {
  constexpr std::size_t kMostOfItsName = 200;
  boost::system::error_code error;
  const auto address = stream_.socket().remote_endpoint(error).address();
  const std::string agent{parser_->get()[web::field::user_agent]};
  return (error ? std::string{} : address.to_string()) + ' ' + agent.substr(0, kMostOfItsName);
}

Response Connection::response_to_request() const {
  const auto& request = parser_->get();
  if (request.method() != web::verb::get && request.method() != web::verb::head) {
    Response response = plain_response(405, "only GET and HEAD");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (host_->bytes_under_way() > host_->options().most_bytes_under_way) {
    Response response = plain_response(503, "too many answers are under way; try again");
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }
  const std::string target{request.target()};
  return host_->answer({.path = target.substr(0, target.find('?')),
                        .accept = std::string{request[web::field::accept]},
                        .client = client(),
                        .is_head = request.method() == web::verb::head});
}

void Connection::send(const Response& response, bool keep_alive, bool with_body) {
  if (with_body) {
    auto message = std::make_shared<web::response<SharedBody>>();
    message->body() = response.body;
    set_head(*message, response, keep_alive);
    write(std::move(message), SharedBody::size(response.body));
  } else {
    auto message = std::make_shared<web::response<web::empty_body>>();
    set_head(*message, response, keep_alive);
    write(std::move(message), 0);
  }
}

template <class Message>
void Connection::write(std::shared_ptr<Message> message, std::size_t bytes) {
  bytes_ = bytes;
  host_->bytes_under_way() += bytes_;
  stream_.expires_after(host_->options().answer_time);
  Message& sent = *message;
  web::async_write(stream_, sent,
                   [self = shared_from_this(), message = std::move(message)](ErrorCode error, std::size_t) {
                     self->on_sent(error, message->keep_alive());
                   });
}

void Connection::on_sent(ErrorCode error, bool keep_alive) {
  host_->bytes_under_way() -= std::exchange(bytes_, 0);
  if (error) {
    close();
  } else if (keep_alive && !host_->is_ending()) {
    read_request(host_->options().idle_time);
  } else {
    say_goodbye();
  }
}

void Connection::say_goodbye() {
  ErrorCode error;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
  waiting_since_ = std::chrono::steady_clock::now();
  stream_.expires_after(kGoodbyeTime);
  discard(kMostDiscarded);
}

void Connection::discard(std::size_t left) {
  buffer_.clear();
  stream_.async_read_some(buffer_.prepare(kMostHeaderBytes),
                          [self = shared_from_this(), left](ErrorCode error, std::size_t bytes) {
                            if (error || bytes >= left) {
                              self->close();
                            } else {
                              self->discard(left - bytes);
                            }
                          });
}

}  // namespace tidemark::http
