// docs/counters.md names every counter that there is.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "shared/base/device_basis.hpp"
#include "shared/segment/counter_list.hpp"

namespace tidemark::segment {
namespace {

std::string read_doc() {
  std::ostringstream text;
  text << std::ifstream{TIDEMARK_COUNTERS_DOC}.rdbuf();
  return text.str();
}

// "allocated_bytes.all.current" stands in the document as its family, `allocated_bytes`.
std::string family_of(std::string_view key) { return std::string{key.substr(0, key.find('.'))}; }

TEST(CountersDoc, NamesEveryFamilyOfPyTorch) {
  const std::string doc = read_doc();
  ASSERT_FALSE(doc.empty());

  for (const CounterInfo& counter : counter_list()) {
    const std::string family = family_of(counter.key);
    EXPECT_TRUE(doc.find("`" + family + "`") != std::string::npos ||
                doc.find("`" + family + ".*`") != std::string::npos)
        << counter.key;
  }
}

TEST(CountersDoc, NamesEveryPoolAndEveryNumberOfAFamily) {
  const std::string doc = read_doc();

  for (const CounterInfo& counter : counter_list()) {
    std::string_view rest = counter.key;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      rest.remove_prefix(dot + 1);
      const std::string part = "`." + std::string{rest.substr(0, rest.find('.'))} + "`";
      EXPECT_NE(doc.find(part), std::string::npos) << counter.key;
    }
  }
}

TEST(CountersDoc, NamesEveryCounterOfOurs) {
  const std::string doc = read_doc();

  for (const CounterInfo& counter : extra_list()) {
    EXPECT_NE(doc.find("| `" + std::string{counter.key} + "` |"), std::string::npos) << counter.key;
  }
}

// "oom_largest_free_block_bytes" is `largest_free_block_bytes` of last_oom.
TEST(CountersDoc, NamesWhatIsKnownOfTheLastOutOfMemory) {
  const std::string doc = read_doc();
  const std::string last_oom = doc.substr(std::min(doc.find("`last_oom` is"), doc.size()));
  ASSERT_FALSE(last_oom.empty());

  constexpr std::string_view kWords[] = {
#define X(name) #name,
      TIDEMARK_BASIS_WORDS(X)
#undef X
  };
  for (std::string_view word : kWords) {
    if (word.starts_with("oom_") && word.ends_with("_bytes")) {
      EXPECT_NE(last_oom.find("`" + std::string{word.substr(4)} + "`"), std::string::npos) << word;
    }
  }
}

}  // namespace
}  // namespace tidemark::segment
