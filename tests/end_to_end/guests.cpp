#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {

std::vector<GuestKind> guest_kinds() {
  std::vector<GuestKind> kinds = {{"Mtia", test_program("guest_mtia"), "mtia", "MTIA_SIM_DRAM"}};
#ifdef TIDEMARK_TEST_CUDA
  kinds.push_back({"CudaRuntime", test_program("guest_cuda_runtime"), "cuda", "CUDA_SIM_MEMORY"});
  kinds.push_back({"CudaDriver", test_program("guest_cuda_driver"), "cuda", "CUDA_SIM_MEMORY"});
#endif
  return kinds;
}

Guest::Guest(const Launch& launch) : Conversation(launch) {
  const std::string answer = ask("hello");
  EXPECT_EQ(answer, "hello") << err();
}

int Guest::alloc(std::uint64_t size) {
  const std::string answer = ask("alloc " + std::to_string(size));
  if (answer.rfind("ok ", 0) == 0) return std::stoi(answer.substr(3));
  ADD_FAILURE() << "alloc " << size << ": '" << answer << "', stderr: " << err();
  return -1;
}

void Guest::free(int slot) { EXPECT_EQ(code("free " + std::to_string(slot)), 0) << err(); }

int Guest::code(const std::string& command) {
  const std::string answer = ask(command);
  char* end = nullptr;
  const long number = std::strtol(answer.c_str(), &end, 10);
  EXPECT_TRUE(!answer.empty() && *end == '\0') << command << ": '" << answer << "', stderr: " << err();
  return static_cast<int>(number);
}

}  // namespace tidemark::test
