// The screen of top at the usual sizes.
#include "tests/viewer/dashboard_world.hpp"

#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

TEST_F(Dashboard, At80x24) {
  EXPECT_EQ(screen({80, 24}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device      [████████        ] held 4.000 GiB of 8.000 GiB
cuda:1 Simulated CUDA device      [▋               ] held 302.0 MiB of 8.000 GiB
mtia:0 Simulated MTIA device      [██████████████▏ ] held 7.078 GiB of 8.000 GiB
     PID DEVICE        HELD ALLOCATED      PEAK  RESERVED  HIT% LABEL/COMMAND
    4711 cuda:0   4.000 GiB 1.000 GiB 3.000 GiB 4.000 GiB  99.9 eval: python3 t…
    4711 cuda:1   302.0 MiB 300.0 MiB 300.0 MiB 302.0 MiB   0.0 eval: python3 t…
    4712 mtia:0   7.078 GiB  1023 MiB 7.000 GiB 7.078 GiB  50.0 mtia_train
 4194303 -                -         -         -         -     - (stopped) waiti…
      99 cuda:0   2.000 MiB   512 B   1.000 KiB 2.000 MiB   0.0 (killed) crashed

4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ████▊                                  of 8.000 GiB
peak       3.000 GiB ██████████████▎                        since 14:12:20
reserved   4.000 GiB ███████████████████
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
          ⣿ allocated   ⠒⠒ reserved   ⠂⠂ peak
1.500 GiB┤                             ⠈⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
         │                        ⠐⠒⠒⠒⠒⠂      ⢀⣠⣤⡆⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⢂⣢⣦⡆⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⢂⣢⣦⡆
768.0 MiB┤                               ⣀⣤⣴⣶⣿⣿⣿⣿⡇      ⣀⣤⣴⣶⣿⣿⣿⣿⡇      ⣀⣤⣴⣶⣿⣿⣿⣿⡇
         │                         ⣀⣀⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇⣀⣀⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇⣀⣀⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇
    0 B  └-140 s ───────────────────────── -70 s ─────────────────────────── now
q quit  ? help  Enter details  Tab devices  r reset  m my peak  e empty  > sort
)");
}

TEST_F(Dashboard, At120x40) {
  EXPECT_EQ(screen({120, 40}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device                  [████████████            ] held 4.000 GiB of 8.000 GiB  not ours   N/A
cuda:1 Simulated CUDA device                  [▉                       ] held 302.0 MiB of 8.000 GiB  not ours   N/A
mtia:0 Simulated MTIA device                  [█████████████████████▎  ] held 7.078 GiB of 8.000 GiB  not ours   N/A
     PID DEVICE   STATE         HELD ALLOCATED      PEAK  RESERVED    CACHED USE             HIT%  OOMS LABEL/COMMAND
    4711 cuda:0   live     4.000 GiB 1.000 GiB 3.000 GiB 4.000 GiB 3.000 GiB ████      50%   99.9     0 eval: python3 t…
    4711 cuda:1   live     302.0 MiB 300.0 MiB 300.0 MiB 302.0 MiB 2.000 MiB ▎          4%    0.0     0 eval: python3 t…
    4712 mtia:0   live     7.078 GiB  1023 MiB 7.000 GiB 7.078 GiB 6.079 GiB ███████▏  88%   50.0     0 mtia_train
 4194303 -        stopped          -         -         -         -         -              -     -     - waiting
      99 cuda:0   killed   2.000 MiB   512 B   1.000 KiB 2.000 MiB 2.000 MiB            0%    0.0     0 crashed













4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ███████▌                                                     of 8.000 GiB
peak       3.000 GiB ██████████████████████▌                                      since 14:12:20
reserved   4.000 GiB ██████████████████████████████
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms  free wait 850 ns
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
          ⣿ allocated   ⠒⠒ reserved   ⠂⠂ peak
1.500 GiB┤                                                                     ⠈⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
         │
         │                                                                ⢀⣀⣀⣀⣀⡀        ⢀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⣀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⡀⣀⡀
         │                                                                            ⣠⣴⣿⡇           ⣠⣴⣿⡇           ⣠⣴⣿⡇
768.0 MiB┤                                                                         ⣀⣴⣾⣿⣿⣿⡇        ⣀⣴⣾⣿⣿⣿⡇        ⣀⣴⣾⣿⣿⣿⡇
         │                                                                      ⢀⣤⣾⣿⣿⣿⣿⣿⣿⡇     ⢀⣤⣾⣿⣿⣿⣿⣿⣿⡇     ⢀⣤⣾⣿⣿⣿⣿⣿⣿⡇
         │                                                                    ⣠⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇   ⣠⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇   ⣠⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇
         │                                                                 ⣀⣴⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇⣀⣴⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇⣀⣴⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇
    0 B  └-220 s ──────────────────────────────────────────── -110 s ─────────────────────────────────────────────── now
q quit  ? help  Enter details  Tab devices  r reset  m my peak  e empty  > sort  f filter  / search  z pause  Space tag
)");
}

TEST_F(Dashboard, At200x60) {
  EXPECT_EQ(screen({200, 60}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device                                                                                                  [████████████            ] held 4.000 GiB of 8.000 GiB  not ours   N/A
cuda:1 Simulated CUDA device                                                                                                  [▉                       ] held 302.0 MiB of 8.000 GiB  not ours   N/A
mtia:0 Simulated MTIA device                                                                                                  [█████████████████████▎  ] held 7.078 GiB of 8.000 GiB  not ours   N/A
 ID           PID DEVICE   STATE         HELD ALLOCATED      PEAK    SINCE  RESERVED    CACHED USE             HIT% RETRIES  OOMS LABEL/COMMAND
 9f3c01aa    4711 cuda:0   live     4.000 GiB 1.000 GiB 3.000 GiB 14:12:20 4.000 GiB 3.000 GiB ████      50%   99.9       0     0 eval: python3 train.py
 9f3c01aa    4711 cuda:1   live     302.0 MiB 300.0 MiB 300.0 MiB 14:12:20 302.0 MiB 2.000 MiB ▎          4%    0.0       0     0 eval: python3 train.py
 00c0ffee    4712 mtia:0   live     7.078 GiB  1023 MiB 7.000 GiB 14:12:20 7.078 GiB 6.079 GiB ███████▏  88%   50.0       0     0 mtia_train
 11112222 4194303 -        stopped          -         -         -        -         -         -              -     -       -     - waiting
 deadbeef      99 cuda:0   killed   2.000 MiB   512 B   1.000 KiB 14:12:20 2.000 MiB 2.000 MiB            0%    0.0       0     0 crashed




























4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ███████▌                                                     of 8.000 GiB
peak       3.000 GiB ██████████████████████▌                                      since 14:12:20
reserved   4.000 GiB ██████████████████████████████
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms  free wait 850 ns
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
          ⣿ allocated   ⠒⠒ reserved   ⠂⠂ peak
1.500 GiB┤                                                                                                                                                     ⠈⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
         │
         │
         │
         │                                                                                                                                                ⠐⠒⠒⠒⠒⠂        ⢀⡆⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⢂⡆⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⠂⢂⡆
         │                                                                                                                                                            ⢀⣴⣿⡇           ⢀⣴⣿⡇           ⢀⣴⣿⡇
         │                                                                                                                                                           ⣠⣾⣿⣿⡇          ⣠⣾⣿⣿⡇          ⣠⣾⣿⣿⡇
         │                                                                                                                                                         ⢠⣾⣿⣿⣿⣿⡇        ⢠⣾⣿⣿⣿⣿⡇        ⢠⣾⣿⣿⣿⣿⡇
         │                                                                                                                                                       ⢀⣴⣿⣿⣿⣿⣿⣿⡇      ⢀⣴⣿⣿⣿⣿⣿⣿⡇      ⢀⣴⣿⣿⣿⣿⣿⣿⡇
         │                                                                                                                                                      ⣠⣿⣿⣿⣿⣿⣿⣿⣿⡇     ⣠⣿⣿⣿⣿⣿⣿⣿⣿⡇     ⣠⣿⣿⣿⣿⣿⣿⣿⣿⡇
         │                                                                                                                                                    ⢠⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇   ⢠⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇   ⢠⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇
         │                                                                                                                                                  ⢀⣴⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇ ⢀⣴⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇ ⢀⣴⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇
         │                                                                                                                                                 ⣠⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇⣠⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇⣠⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⡇
    0 B  └-380 s ──────────────────────────────────────────────────────────────────────────────────── -190 s ─────────────────────────────────────────────────────────────────────────────────────── now
q quit  ? help  Enter details  Tab devices  r reset  m my peak  e empty  > sort  f filter  / search  z pause  Space tag  t tree
)");
}

TEST_F(Dashboard, At40x10) {
  EXPECT_EQ(screen({40, 10}), R"(tidemark  node7  14:13:20  3 live
     PID DEVICE   ALLOCATED      PEAK
    4711 cuda:0   1.000 GiB 3.000 GiB
    4711 cuda:1   300.0 MiB 300.0 MiB
    4712 mtia:0    1023 MiB 7.000 GiB
 4194303 -                -         -
      99 cuda:0     512 B   1.000 KiB


q quit  ? help  Enter details
)");
}

// What the Linux console's font has.
TEST_F(Dashboard, InBlocks) {
  state_.graph = GraphGlyphs::Blocks;
  EXPECT_EQ(screen({60, 24}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable
cuda:0 Simulated CUDA device     held 4.000 GiB of 8.000 GiB
cuda:1 Simulated CUDA device     held 302.0 MiB of 8.000 GiB
mtia:0 Simulated MTIA device     held 7.078 GiB of 8.000 GiB
     PID DEVICE   ALLOCATED      PEAK  HIT% LABEL/COMMAND
    4711 cuda:0   1.000 GiB 3.000 GiB  99.9 eval: python3 t…
    4711 cuda:1   300.0 MiB 300.0 MiB   0.0 eval: python3 t…
    4712 mtia:0    1023 MiB 7.000 GiB  50.0 mtia_train
 4194303 -                -         -     - (stopped) waiti…
      99 cuda:0     512 B   1.000 KiB   0.0 (killed) crashed

4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ██▎                of 8.000 GiB
peak       3.000 GiB ██████▊            since 14:12:20
reserved   4.000 GiB █████████
hit 99.9 %  hits 9,990  misses 10  passed through 0
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0
          █ allocated   ─ reserved   · peak
1.500 GiB┤──────────────────────────────────────────────────
         │··················································
768.0 MiB┤   ▄▄▄▄▄▄██████████              ▄▄▄▄▄▄██████████
         │███████████████████ ▄▄▄▄▄▄▄▄█████████████████████
    0 B  └-50 s ──────────────── -25 s ───────────────── now
q quit  ? help  Enter details  Tab devices  r reset
)");
}

TEST_F(Dashboard, InAscii) {
  state_.graph = GraphGlyphs::Ascii;
  state_.charset = Charset::Ascii;
  EXPECT_EQ(screen({80, 24}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device      [########        ] held 4.000 GiB of 8.000 GiB
cuda:1 Simulated CUDA device      [-               ] held 302.0 MiB of 8.000 GiB
mtia:0 Simulated MTIA device      [##############  ] held 7.078 GiB of 8.000 GiB
     PID DEVICE        HELD ALLOCATED      PEAK  RESERVED  HIT% LABEL/COMMAND
    4711 cuda:0   4.000 GiB 1.000 GiB 3.000 GiB 4.000 GiB  99.9 eval: python3 t~
    4711 cuda:1   302.0 MiB 300.0 MiB 300.0 MiB 302.0 MiB   0.0 eval: python3 t~
    4712 mtia:0   7.078 GiB  1023 MiB 7.000 GiB 7.078 GiB  50.0 mtia_train
 4194303 -                -         -         -         -     - (stopped) waiti~
      99 cuda:0   2.000 MiB   512 B   1.000 KiB 2.000 MiB   0.0 (killed) crashed

4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ####-                                  of 8.000 GiB
peak       3.000 GiB ##############                         since 14:12:20
reserved   4.000 GiB ###################
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
          # allocated   = reserved   - peak
1.500 GiB+======================================================================
         |       ---------------------------------------------------------------
768.0 MiB+-------##                 #############                 #############
         |######### ############################# #############################
    0 B  +-70 s -------------------------- -35 s --------------------------- now
q quit  ? help  Enter details  Tab devices  r reset  m my peak  e empty  > sort
)");
}

TEST_F(Dashboard, OfAProcessThatEndedHasItsLastNumbersDimmed) {
  view_.processes[3].snapshot.state = segment::ProcessState::Exited;
  const auto has_line = [](const std::string& text, const std::string& line) {
    return text.find('\n' + line + '\n') != std::string::npos;
  };

  const std::string narrow = screen({80, 24});
  const std::string wide = screen({120, 40});

  EXPECT_TRUE(has_line(narrow, "      99 cuda:0   2.000 MiB   512 B   1.000 KiB 2.000 MiB   0.0 (exited) crashed"))
      << narrow;
  EXPECT_TRUE(has_line(wide,
                       "      99 cuda:0   exited   2.000 MiB   512 B   1.000 KiB 2.000 MiB 2.000 MiB"
                       "            0%    0.0     0 crashed"))
      << wide;
  EXPECT_EQ(drawn({120, 40}).at(9, 9).glyph, U'c');
  EXPECT_EQ(drawn({120, 40}).at(9, 9).style, Style::Dim);
}

}  // namespace
}  // namespace tidemark::viewer
