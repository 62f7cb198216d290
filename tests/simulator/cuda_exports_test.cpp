// What the simulated CUDA libraries export and need, against the lists of the toolkit's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/run_program.hpp"

namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::set<std::string>;

std::string output_of(std::vector<std::string> command) {
  const auto outcome = tidemark::test::run({.command = std::move(command)});
  EXPECT_EQ(outcome.exit_code, 0) << tidemark::test::describe(outcome);
  return outcome.out;
}

// Functions alone, without their versions.
Names functions_of(const std::string& library) {
  Names names;
  std::istringstream lines{output_of({"nm", "-D", "--defined-only", library})};
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    if (kind == "T" || kind == "W") names.insert(name.substr(0, name.find('@')));
  }
  return names;
}

Names without(Names names, const Names& others) {
  for (const std::string& other : others) names.erase(other);
  return names;
}

std::string simulated(const std::string& name) { return std::string{CUDA_LIBRARIES} + "/" + name; }
const std::string kRuntimeName = CUDA_RUNTIME_NAME;
const std::string kToolkitRuntime = CUDA_TOOLKIT_RUNTIME;  // empty where only headers are installed
const std::string kToolkitStub = CUDA_TOOLKIT_STUB;

TEST(CudaExports, OfTheRuntimeAreThoseOfTheToolkits) {
  if (kToolkitRuntime.empty()) GTEST_SKIP() << "no " << kRuntimeName << " in this toolkit";
  const Names theirs = functions_of(kToolkitRuntime);

  ASSERT_GT(theirs.size(), 300u);
  EXPECT_EQ(functions_of(simulated(kRuntimeName)), theirs);
  EXPECT_EQ(functions_of(simulated("bare/" + kRuntimeName)), theirs);
}

TEST(CudaExports, OfTheRuntimeAreFoundInTheHeadersWhereThatIsAllThereIs) {
  const std::filesystem::path out = std::filesystem::path{testing::TempDir()} / "cuda_headers_alone";
  const auto generated = tidemark::test::run({.command = {CUDA_PYTHON, "-B", CUDA_GENERATOR, "--include", CUDA_INCLUDE,
                                                          "--node", kRuntimeName, "--out", out}});
  ASSERT_EQ(generated.exit_code, 0) << generated.err;
  std::ifstream map{out / "runtime_exports.map"};
  Names names;
  for (std::string word; map >> word;) {
    if (word.starts_with("cuda") || word.starts_with("__cuda")) names.insert(word.substr(0, word.find(';')));
  }
  std::filesystem::remove_all(out);

  EXPECT_EQ(names, functions_of(simulated(kRuntimeName)));
}

TEST(CudaExports, OfTheDriverHoldAllOfTheToolkitsStub) {
  const Names ours = functions_of(simulated("libcuda.so.1"));

  EXPECT_THAT(ours, testing::Contains("cuGLGetDevices_v2"));
  EXPECT_THAT(ours, testing::Contains("cuVDPAUGetDevice"));
  EXPECT_THAT(ours, testing::Each(testing::StartsWith("cu")));
  if (kToolkitStub.empty()) GTEST_SKIP() << "no driver stub in this toolkit";
  EXPECT_THAT(without(functions_of(kToolkitStub), ours), IsEmpty());
}

TEST(CudaExports, HaveNamesAndVersionsAsTheRealOnesHave) {
  const std::string driver = output_of({"readelf", "-dW", "--version-info", simulated("libcuda.so.1")});
  const std::string runtime = output_of({"readelf", "-dW", "--version-info", simulated(kRuntimeName)});

  EXPECT_THAT(driver, HasSubstr("soname: [libcuda.so.1]"));
  EXPECT_THAT(driver, testing::Not(HasSubstr("Version definition section")));
  EXPECT_THAT(runtime, HasSubstr("soname: [" + kRuntimeName + "]"));
  EXPECT_THAT(runtime, HasSubstr("Name: " + kRuntimeName));
}

TEST(CudaExports, DoNotBringALibstdcxxToTheProgram) {
  for (const char* library : {"libcuda.so.1", CUDA_RUNTIME_NAME, "bare/" CUDA_RUNTIME_NAME}) {
    EXPECT_THAT(output_of({"readelf", "-dW", simulated(library)}), testing::Not(HasSubstr("libstdc++"))) << library;
  }
}

TEST(CudaExports, OfTheBareRuntimeLeadToNoDriver) {
  EXPECT_THAT(output_of({"readelf", "-dW", simulated("bare/" + kRuntimeName)}), testing::Not(HasSubstr("libcuda.so")));
  EXPECT_THAT(output_of({"nm", "-D", "--undefined-only", simulated("bare/" + kRuntimeName)}),
              testing::Not(HasSubstr("dlopen")));
}

}  // namespace
