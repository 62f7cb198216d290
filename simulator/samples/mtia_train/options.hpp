// What the command line says.
#pragma once

namespace train {

struct Options {
  int steps = 200;
  double seconds = 20;  // the steps are spread over it; 0: as fast as they go
  unsigned seed = 1;
  double scale = 1;
  int device = 0;
  bool help = false;
};

extern const char* const kUsage;

// Throws std::invalid_argument with one line.
Options parse_options(int argc, char** argv);

}  // namespace train
