// docs/counters.md names every counter that there is.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

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

TEST(CountersDoc, NamesEveryCounterOfOurs) {
  const std::string doc = read_doc();

  for (const CounterInfo& counter : extra_list()) {
    const std::string key{counter.key};
    const std::string tail = "`" + key.substr(key.find('.')) + "`";  // listed beside its group's first
    EXPECT_TRUE(doc.find("`" + key + "`") != std::string::npos || doc.find(tail) != std::string::npos) << key;
  }
}

}  // namespace
}  // namespace tidemark::segment
