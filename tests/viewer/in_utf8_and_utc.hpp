// Tests of texts: characters of all widths need a UTF-8 locale (the C library has this one built in), times a zone.
#pragma once

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <ctime>

namespace tidemark::viewer {

class InUtf8AndUtc : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

}  // namespace tidemark::viewer
