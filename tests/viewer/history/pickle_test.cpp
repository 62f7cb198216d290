// What the pickle writer says, byte for byte, and what the reader makes of pickles, its own and others'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "tests/viewer/history/documents.hpp"
#include "viewer/history/pickle_reader.hpp"

namespace tidemark::viewer {
namespace {

using namespace std::string_literals;
using test::written;
using testing::HasSubstr;

template <class Fill>
std::string pickle(Fill&& fill) {
  return written<PickleWriter>(fill);
}

std::size_t count(std::string_view text, char what) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), what));
}

std::string why_not(const std::string& bytes) {
  try {
    (void)read_pickle(bytes);
  } catch (const BadDocument& bad) {
    return bad.what();
  }
  return "it was read";
}

TEST(PickleWriter, WritesProtocol2) {
  EXPECT_EQ(pickle([](PickleWriter& to) { to.null(); }), "\x80\x02N."s);
}

TEST(PickleWriter, TakesTheShortestIntegerAndNeverMoreThan8Bytes) {
  EXPECT_EQ(pickle([](PickleWriter& to) { to.integer(255); }), "\x80\x02K\xff."s);
  EXPECT_EQ(pickle([](PickleWriter& to) { to.integer(256); }), "\x80\x02M\x00\x01."s);
  EXPECT_EQ(pickle([](PickleWriter& to) { to.integer(65536); }), "\x80\x02J\x00\x00\x01\x00."s);
  EXPECT_EQ(pickle([](PickleWriter& to) { to.integer(0x7fffffff); }), "\x80\x02J\xff\xff\xff\x7f."s);
  EXPECT_EQ(pickle([](PickleWriter& to) { to.integer(0x80000000); }),
            "\x80\x02\x8a\x08\x00\x00\x00\x80\x00\x00\x00\x00."s);
  EXPECT_EQ(pickle([](PickleWriter& to) { to.integer(UINT64_MAX); }).size(), 13U);
}

TEST(PickleWriter, WritesNoGroupForWhatIsEmpty) {
  EXPECT_EQ(pickle([](PickleWriter& to) {
              to.begin_list();
              to.begin_dict();
              to.end_dict();
              to.end_list();
            }),
            "\x80\x02](}e."s);
}

TEST(PickleWriter, FillsListsInGroupsOfAtMostAThousand) {
  const std::string bytes = pickle([](PickleWriter& to) {
    to.begin_list();
    for (int i = 0; i < 2500; ++i) {
      to.boolean(true);
    }
    to.end_list();
  });

  EXPECT_EQ(count(bytes, '('), 3U);
  EXPECT_EQ(count(bytes, 'e'), 3U);
  EXPECT_EQ(bytes.find('e'), 2 + 1 + 1 + 1000U);  // head, list, mark, a thousand values
  EXPECT_EQ(read_pickle(bytes).items().size(), 2500U);
}

TEST(PickleWriter, NamesATextOnceAndThenByNumber) {
  EXPECT_EQ(pickle([](PickleWriter& to) {
              to.begin_list();
              to.text("ab");
              to.text("ab");
              to.end_list();
            }),
            "\x80\x02](X\x02\x00\x00\x00"
            "abq\x00h\x00"
            "e."s);
}

TEST(PickleWriter, SharesAValueAlsoWhereItEndedAGroup) {
  const std::string bytes = pickle([](PickleWriter& to) {
    to.begin_list();
    for (int i = 0; i < 1001; ++i) {
      if (i >= 999 && !to.begin_shared(7)) {
        continue;
      }
      to.begin_list();
      to.integer(42);
      to.end_list();
      if (i >= 999) {
        to.end_shared(7);
      }
    }
    to.end_list();
  });

  const Value list = read_pickle(bytes);
  ASSERT_EQ(list.items().size(), 1001U);
  EXPECT_EQ(list.items()[999].items()[0].integer(), 42U);
  EXPECT_EQ(list.items()[1000].items()[0].integer(), 42U);
}

TEST(PickleWriter, WritesSoundUtf8WhateverANameHolds) {
  const std::string bytes = pickle([](PickleWriter& to) { to.text("a\xff"); });

  EXPECT_EQ(read_pickle(bytes).text(), "a\xef\xbf\xbd");
}

TEST(PickleReader, ReadsWhatTheWriterWrites) {
  const std::string bytes = pickle([](PickleWriter& to) {
    to.begin_dict();
    to.key("numbers");
    to.begin_list();
    to.integer(0);
    to.integer(70000);
    to.integer(0x7f00'0000'0000);
    to.end_list();
    to.key("pair");
    to.pair(3, 4);
    to.key("yes");
    to.boolean(true);
    to.key("nothing");
    to.null();
    to.end_dict();
  });

  const Value value = read_pickle(bytes);
  ASSERT_EQ(value["numbers"].items().size(), 3U);
  EXPECT_EQ(value["numbers"].items()[1].integer(), 70000U);
  EXPECT_EQ(value["numbers"].items()[2].integer(), 0x7f00'0000'0000U);
  EXPECT_EQ(value["pair"].items()[1].integer(), 4U);
  EXPECT_TRUE(value["yes"].is_true());
  EXPECT_TRUE(value["nothing"].is_null());
  EXPECT_TRUE(value["missing"].is_null());
}

// python3 -c "import pickle; print(pickle.dumps({'a': [1, -2, (3, 4.5)], 'b': 'a'}, protocol=4))"
TEST(PickleReader, ReadsPythonsDefaultProtocolToo) {
  const std::string bytes =
      "\x80\x04\x95'\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01"
      "a\x94]\x94(K\x01J\xfe\xff\xff\xffK\x03G@\x12\x00\x00\x00\x00\x00\x00\x86\x94"
      "e\x8c\x01"
      "b\x94h\x01u."s;

  const Value value = read_pickle(bytes);

  ASSERT_EQ(value["a"].items().size(), 3U);
  EXPECT_EQ(static_cast<std::int64_t>(value["a"].items()[1].integer()), -2);
  EXPECT_EQ(value["a"].items()[2].items()[0].integer(), 3U);
  EXPECT_EQ(value["b"].text(), "a");
}

// python3 -c "import os, pickle; ..." of an object whose __reduce__ says (os.system, ('true',)).
TEST(PickleReader, RunsNothingAndSaysSo) {
  EXPECT_THAT(why_not("\x80\x02"
                      "cposix\nsystem\nq\x00X\x04\x00\x00\x00trueq\x01\x85q\x02Rq\x03."s),
              HasSubstr("more than plain data in it (opcode 0x63)"));
}

TEST(PickleReader, RefusesWhatEndsEarlyAtEveryByte) {
  const std::string bytes = pickle([](PickleWriter& to) {
    to.begin_dict();
    to.key("list");
    to.begin_list();
    to.text("text");
    to.integer(0x7f00'0000'0000);
    to.pair(1, 2);
    to.end_list();
    to.end_dict();
  });

  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(why_not(bytes.substr(0, length)), HasSubstr("ends in the middle")) << length;
  }
}

TEST(PickleReader, RefusesWhatContainsItself) {
  EXPECT_THAT(why_not("\x80\x02]q\x00h\x00"
                      "a."s),
              HasSubstr("may contain itself"));
  EXPECT_THAT(why_not("\x80\x02]q\x00]q\x01(h\x00"
                      "eh\x00h\x01"
                      "a."s),
              HasSubstr("may contain itself"));
}

TEST(PickleReader, RefusesEndlessNesting) {
  std::string bytes = "\x80\x02"s + std::string(100, ']') + std::string(99, 'a') + ".";

  EXPECT_THAT(why_not(bytes), HasSubstr("nested too deeply"));
}

TEST(PickleReader, RefusesNonsenseWithoutHarm) {
  for (const std::string& bytes :
       {"\x80\x02."s, "\x80\x02u."s, "\x80\x02(K\x01u."s, "\x80\x02K\x01K\x02"s + "a."s, "\x80\x02j\xff\xff\xff\xff."s,
        "\x80\x02Nr\xff\xff\xff\xff."s, "\x80\x02\x8a\x09"s + "123456789.", "\x80\x02}(K\x01K\x02u."s,
        "\x80\x02X\xff\xff\xff\xff."s}) {
    EXPECT_NE(why_not(bytes), "it was read") << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace tidemark::viewer
