// Ranges of NVIDIA's own headers around allocations: every way to open and close one, and what a program does wrong
// with them. Prints what its driver said, and nothing of what NVTX answered: that depends on whether there is a tool.
//
//   mtia_nvtx        all of it
//   mtia_nvtx fork   the same word for word in a child, that forks while a range is open
//   mtia_nvtx hold   ends one range, says "ready" inside a second one, and waits for its stdin to end
#include <mtia.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

int failures = 0;

void* take(std::size_t size) {
  void* block = nullptr;
  failures += mtiaMalloc(&block, size) == MTIA_SUCCESS ? 0 : 1;
  return block;
}
void give(void* block) { failures += mtiaFree(block) == MTIA_SUCCESS ? 0 : 1; }
void use(std::size_t size) { give(take(size)); }

nvtxEventAttributes_t named(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return attributes;
}

// The first range is older than the first allocation.
void nested() {
  nvtxRangePushA("outer");
  void* const kept = take(4 * kMiB);
  for (int i = 0; i < 3; ++i) {
    nvtxRangePushA("inner");
    use(static_cast<std::size_t>(i + 1) * 8 * kMiB);
    nvtxRangePop();
  }
  give(kept);
  nvtxRangePop();
}

void threads() {
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) {
    workers.emplace_back([] {
      nvtxRangePushA("worker");
      use(2 * kMiB);
      nvtxRangePop();
    });
    workers.back().join();
  }
  const nvtxRangeId_t across = nvtxRangeStartA("across");
  std::thread([across] {
    use(16 * kMiB);
    nvtxRangeEnd(across);
  }).join();
  // Gone with a range open, many times over: what it held is another's.
  for (int i = 0; i < 300; ++i) {
    std::thread([] { nvtxRangePushA("never ends"); }).join();
  }
  nvtxRangePushA("after them");
  use(2 * kMiB);
  nvtxRangePop();
}

void domains() {
  const nvtxDomainHandle_t loader = nvtxDomainCreateA("loader");
  const nvtxDomainHandle_t wide = nvtxDomainCreateW(L"w\u00efde");
  const nvtxStringHandle_t batch = nvtxDomainRegisterStringA(loader, "batch");
  nvtxEventAttributes_t registered = named("");
  registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  registered.message.registered = batch;
  nvtxEventAttributes_t unicode = named("");
  unicode.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  unicode.message.unicode = L"\u8303\u56f4";

  nvtxDomainRangePushEx(loader, &registered);
  nvtxDomainRangePushEx(wide, &unicode);
  use(6 * kMiB);
  nvtxDomainRangePop(loader);  // each domain has a stack of its own
  use(10 * kMiB);
  nvtxDomainRangePop(wide);
  const nvtxRangeId_t started = nvtxDomainRangeStartEx(loader, &registered);
  use(12 * kMiB);
  nvtxDomainRangeEnd(loader, started);
  nvtxRangePushW(L"wide \u03b1");
  use(2 * kMiB);
  nvtxRangePop();
  const nvtxEventAttributes_t plain = named("attributes");
  nvtxRangePushEx(&plain);
  use(2 * kMiB);
  nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStartEx(&plain));
  nvtxRangeEnd(nvtxRangeStartW(L"attributes"));
  nvtxDomainDestroy(wide);
  nvtxDomainDestroy(loader);
}

void operations() {
  for (const char* name :
       {"aten::mm, seq = 12", "aten::mm, seq = 13, op_id = 7", "aten::mm, op_id = 9, sizes = [[2, 3]]"}) {
    nvtxRangePushA(name);
    use(2 * kMiB);
    nvtxRangePop();
  }
}

// As many are measured at once as there is room for; the others are counted.
void crowd() {
  std::array<nvtxRangeId_t, 100> ids{};
  for (nvtxRangeId_t& id : ids) id = nvtxRangeStartA("crowd");
  use(2 * kMiB);
  for (const nvtxRangeId_t id : ids) nvtxRangeEnd(id);
}

void mistakes() {
  for (int i = 0; i < 5; ++i) nvtxRangePop();
  nvtxRangeEnd(0);
  nvtxRangeEnd(12345);
  nvtxRangeEnd(~nvtxRangeId_t{0});
  nvtxEventAttributes_t odd = named("odd");
  odd.messageType = 77;
  nvtxRangePushEx(nullptr);
  nvtxRangePushEx(&odd);
  odd = named("short");
  odd.size = 4;
  nvtxRangePushEx(&odd);
  nvtxRangePushA(nullptr);
  nvtxRangePushW(nullptr);
  odd = named("");
  odd.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  odd.message.registered = reinterpret_cast<nvtxStringHandle_t>(&odd);
  nvtxRangePushEx(&odd);
  for (int i = 0; i < 6; ++i) nvtxRangePop();
  const auto garbage = reinterpret_cast<nvtxDomainHandle_t>(&odd);
  nvtxDomainRangePushEx(garbage, &odd);
  nvtxDomainRangePop(garbage);
  nvtxDomainDestroy(garbage);
  nvtxDomainCreateA(nullptr);
  nvtxDomainRegisterStringW(nullptr, nullptr);
  const std::vector<char> huge(100000, 'x');
  nvtxRangePushA(std::vector<char>(huge.size() + 1, '\0').data());
  nvtxRangePop();
  std::vector<char> text(huge);
  text.push_back('\0');
  nvtxRangePushA(text.data());
  use(2 * kMiB);
  nvtxRangePop();
  for (int i = 0; i < 1000; ++i) nvtxRangePushA("deep");
  use(2 * kMiB);
  for (int i = 0; i < 1000; ++i) nvtxRangePop();
}

int all() {
  nested();
  threads();
  domains();
  operations();
  crowd();
  mistakes();
  std::printf("%d calls failed\n", failures);
  return failures == 0 ? 0 : 1;
}

int with_child() {
  nvtxRangePushA("around the fork");
  const nvtxRangeId_t started = nvtxRangeStartA("started before");
  use(4 * kMiB);
  const pid_t child = fork();
  if (child == 0) {
    use(32 * kMiB);
    nvtxRangePop();
    nvtxRangeEnd(started);
    nvtxRangePushA("child");
    use(8 * kMiB);
    nvtxRangePop();
    std::exit(failures);
  }
  int status = -1;
  waitpid(child, &status, 0);
  nvtxRangePop();
  nvtxRangeEnd(started);
  std::printf("%d calls failed, the child ended with %d\n", failures, WEXITSTATUS(status));
  return failures;
}

int hold() {
  nvtxRangePushA("done");
  use(4 * kMiB);
  nvtxRangePop();
  nvtxRangePushA("open");
  use(8 * kMiB);
  std::puts("ready");
  std::fflush(stdout);
  char ignored[64];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
  nvtxRangePop();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "fork") == 0) return with_child();
  return argc > 1 && std::strcmp(argv[1], "hold") == 0 ? hold() : all();
}
