// tidemark export: what there is to see, for Prometheus, and a live page for people.
#include "viewer/commands/commands.hpp"
#include "viewer/export/exporter.hpp"
#include "viewer/export/listen_address.hpp"
#include "viewer/export/live_page.hpp"
#include "viewer/history/output_file.hpp"
#include "viewer/http/server.hpp"
#include "viewer/number_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--listen", "-l", Takes::Value, "ADDR:PORT",
               "where to serve pages (default 127.0.0.1:9435; :9435 for every address)"},
    OptionSpec{"--web.listen-address", "", Takes::Value, "ADDR:PORT", "the same, as other exporters call it"},
    OptionSpec{"--per-process", "", Takes::Nothing, "", "each process for itself, with its id and pid as labels"},
    OptionSpec{"--max-series", "", Takes::Value, "N",
               "series of programs at most (default 2000); what is beyond goes under command=\"_other\""},
    OptionSpec{"--once", "", Takes::Nothing, "", "print one page and leave, for a textfile collector"},
    OptionSpec{"--output", "-o", Takes::Value, "FILE", "with --once: to a file that is there whole or not at all"},
    OptionSpec{"--force", "-f", Takes::Nothing, "", "overwrite FILE"},
};

BookOptions book_options(const Arguments& arguments) {
  BookOptions options{.per_process = arguments.has("--per-process"), .is_lasting = !arguments.has("--once")};
  if (const auto text = arguments.value("--max-series")) {
    const auto count = parse_count(*text);
    if (!count || *count == 0) {
      throw Failure(ExitCode::Usage, fmt::format("export: --max-series '{}'; allowed: a whole number above 0", *text));
    }
    options.max_series = *count;
  }
  return options;
}

ListenAddress listen_address(const Arguments& arguments) {
  ListenAddress address;
  for (const char* option : {"--web.listen-address", "--listen"}) {
    if (const auto text = arguments.value(option)) {
      const auto parsed = parse_listen_address(*text);
      if (!parsed) {
        throw Failure(ExitCode::Usage, fmt::format("export: {} '{}'; allowed: {}", option, *text, kListenForms));
      }
      address = *parsed;
    }
  }
  return address;
}

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

http::Response answer(Exporter& exporter, const http::Request& request) {
  if (request.path == "/metrics") {
    const TextFormat format = format_for(request.accept);
    return {.content_type = std::string{content_type(format)},
            .body = shared(exporter.metrics(format, request.client, !request.is_head)),
            .headers = {{"Vary", "Accept"}}};
  }
  // Of the exporter alone: a node that has trouble is best seen in what it still says.
  if (request.path == "/-/healthy" || request.path == "/-/ready") {
    return http::plain_response(200, "ok");
  }
  if (request.path == "/") {
    return {.content_type = "text/html; charset=utf-8",
            .body = shared(live_page()),
            .headers = {{"Content-Security-Policy", std::string{kLivePagePolicy}}}};
  }
  if (request.path == "/live.json" || request.path == "/ps.json") {
    return {.content_type = "application/json",
            .body = shared(request.path == "/ps.json" ? exporter.ps_document() : exporter.live_document())};
  }
  return http::plain_response(404, "not here; there are / /metrics /ps.json /-/healthy /-/ready");
}

std::unique_ptr<http::Server> make_server(Exporter& exporter, const ListenAddress& address) {
  return std::make_unique<http::Server>(
      http::ServerOptions{.address = address.host, .port = address.port},
      [&exporter](const http::Request& request) { return answer(exporter, request); },
      [&exporter] { return exporter.tick(); }, [](std::string_view line) { warn(line); });
}

std::unique_ptr<http::Server> listen(Exporter& exporter, const ListenAddress& address) {
  try {
    return make_server(exporter, address);
  } catch (const std::system_error& error) {
    const bool has_no_v6 =
        error.code() == std::errc::address_family_not_supported || error.code() == std::errc::address_not_available;
    if (address.host == kEveryAddress && has_no_v6) {
      return listen(exporter, {.host = "0.0.0.0", .port = address.port});
    }
    throw Failure(error.code() == std::errc::permission_denied ? ExitCode::PermissionDenied : ExitCode::Failed,
                  fmt::format("export: cannot listen on {} port {} ({}); --listen takes another ADDR:PORT",
                              address.host, address.port, error.code().message()));
  }
}

ExitCode serve(Exporter& exporter, const ListenAddress& address, const Context& context) {
  const std::unique_ptr<http::Server> server = listen(exporter, address);
  if (!context.messages.quiet()) {
    fmt::print("serving {}/metrics\n", server->url());
    std::fflush(stdout);
  }
  server->run();
  return ExitCode::Done;
}

// For everybody to read: the collector is another user.
void write_file(const std::string& path, bool overwrite, const std::string& page) {
  OutputFile file(path, overwrite, "-o", 0644);
  file.write(page);
  file.finish();
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const ListenAddress address = listen_address(arguments);
  const auto file = arguments.value("--output");
  if (file && !arguments.has("--once")) {
    throw Failure(ExitCode::Usage, "export: -o FILE is for a single page, and needs --once");
  }
  if (arguments.has("--once") && (arguments.has("--listen") || arguments.has("--web.listen-address"))) {
    throw Failure(ExitCode::Usage, "export: --once prints one page and serves none; --listen needs it away");
  }
  Exporter exporter(context.directories, book_options(arguments));
  if (!arguments.has("--once")) {
    return serve(exporter, address, context);
  }
  const std::string page = exporter.metrics(TextFormat::Prometheus, {}, true);
  if (file) {
    write_file(*file, arguments.has("--force"), page);
  } else {
    fmt::print("{}", page);
  }
  return ExitCode::Done;
}

}  // namespace

Command export_command() {
  return {.syntax = {.name = "export",
                     .operands = "",
                     .takes = Operands::None,
                     .summary = "Serves the numbers to Prometheus, and a live page.",
                     .examples =
                         "  tidemark export                        http://127.0.0.1:9435/metrics, and / for people\n"
                         "  tidemark export --listen :9435         for other machines, too\n"
                         "  tidemark export --once -f -o tidemark.prom   for a textfile collector\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
