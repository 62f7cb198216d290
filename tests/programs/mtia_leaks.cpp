// A service of a hundred places that allocate and free in turn; one of them, leak<42>, keeps some of what it takes.
// Says "serving" and goes on until its standard input ends.
#include <mtia.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace service {

constexpr std::size_t kPlaces = 100;
constexpr std::size_t kLeaking = 42;

std::array<void*, kPlaces> held{};

template <std::size_t Place>
__attribute__((noinline)) void serve() {
  if (held[Place] != nullptr) {
    mtiaFree(std::exchange(held[Place], nullptr));
  }
  if (mtiaMalloc(&held[Place], 1000 + 16 * Place) != MTIA_SUCCESS) {
    held[Place] = nullptr;
  }
  asm volatile("" ::: "memory");
}

template <std::size_t Place>
__attribute__((noinline)) void leak() {
  void* kept = nullptr;
  (void)mtiaMalloc(&kept, 5000);
  asm volatile("" ::: "memory");
}

template <std::size_t... Place>
void serve_all(std::index_sequence<Place...>) {
  (serve<Place>(), ...);
  leak<kLeaking>();
}

bool is_wanted() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char ignored[64];
  return poll(&input, 1, 10) == 0 || read(STDIN_FILENO, ignored, sizeof ignored) > 0;
}

}  // namespace service

int main() {
  service::serve_all(std::make_index_sequence<service::kPlaces>{});
  std::puts("serving");
  std::fflush(stdout);
  while (service::is_wanted()) {
    service::serve_all(std::make_index_sequence<service::kPlaces>{});
  }
  return 0;
}
