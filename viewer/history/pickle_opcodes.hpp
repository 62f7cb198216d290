// The opcodes of Python's pickle that stand for data, by CPython's names. The others make objects by calling something.
#pragma once

namespace tidemark::viewer::pickle {

inline constexpr unsigned char kProto = 0x80;
inline constexpr unsigned char kFrame = 0x95;
inline constexpr unsigned char kStop = '.';
inline constexpr unsigned char kMark = '(';
inline constexpr unsigned char kEmptyDict = '}';
inline constexpr unsigned char kDict = 'd';
inline constexpr unsigned char kSetItem = 's';
inline constexpr unsigned char kSetItems = 'u';
inline constexpr unsigned char kEmptyList = ']';
inline constexpr unsigned char kList = 'l';
inline constexpr unsigned char kAppend = 'a';
inline constexpr unsigned char kAppends = 'e';
inline constexpr unsigned char kEmptyTuple = ')';
inline constexpr unsigned char kTuple = 't';
inline constexpr unsigned char kTuple1 = 0x85;
inline constexpr unsigned char kTuple2 = 0x86;
inline constexpr unsigned char kTuple3 = 0x87;
inline constexpr unsigned char kBinUnicode = 'X';
inline constexpr unsigned char kShortBinUnicode = 0x8c;
inline constexpr unsigned char kBinUnicode8 = 0x8d;
inline constexpr unsigned char kBinInt = 'J';
inline constexpr unsigned char kBinInt1 = 'K';
inline constexpr unsigned char kBinInt2 = 'M';
inline constexpr unsigned char kLong1 = 0x8a;
inline constexpr unsigned char kBinFloat = 'G';
inline constexpr unsigned char kNewTrue = 0x88;
inline constexpr unsigned char kNewFalse = 0x89;
inline constexpr unsigned char kNone = 'N';
inline constexpr unsigned char kBinPut = 'q';
inline constexpr unsigned char kLongBinPut = 'r';
inline constexpr unsigned char kBinGet = 'h';
inline constexpr unsigned char kLongBinGet = 'j';
inline constexpr unsigned char kMemoize = 0x94;

}  // namespace tidemark::viewer::pickle
