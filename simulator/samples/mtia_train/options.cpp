#include "simulator/samples/mtia_train/options.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace train {

const char* const kUsage =
    "usage: mtia_train [options]\n"
    "Trains a transformer on an MTIA device: a warm-up with small batches, then full ones,\n"
    "with an evaluation every 10 steps. Prints a line per step.\n"
    "\n"
    "  --steps N     steps to take (200)\n"
    "  --seconds S   spread the steps over S seconds; 0: as fast as they go (20)\n"
    "  --seed N      of the weights and the data (1)\n"
    "  --scale X     size of the model, 1 is GPT-2 small and needs 4 GiB (1)\n"
    "  --device N    which device (0)\n"
    "  --help        this text\n";

namespace {

double number(const std::string& option, const char* text, double least, double most) {
  char* end = nullptr;
  const double value = text != nullptr ? std::strtod(text, &end) : 0;
  if (text == nullptr || end == text || *end != '\0' || !(value >= least && value <= most)) {
    throw std::invalid_argument("bad or missing value for " + option);
  }
  return value;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  for (int at = 1; at < argc; ++at) {
    const std::string option = argv[at];
    if (option == "--help" || option == "-h") {
      options.help = true;
      return options;
    }
    const char* value = at + 1 < argc ? argv[++at] : nullptr;
    if (option == "--steps") {
      options.steps = static_cast<int>(number(option, value, 0, 1e9));
    } else if (option == "--seconds") {
      options.seconds = number(option, value, 0, 1e6);
    } else if (option == "--seed") {
      options.seed = static_cast<unsigned>(number(option, value, 0, 4e9));
    } else if (option == "--scale") {
      options.scale = number(option, value, 0.01, 16);
    } else if (option == "--device") {
      options.device = static_cast<int>(number(option, value, 0, 1023));
    } else {
      throw std::invalid_argument("unknown option " + option);
    }
  }
  return options;
}

}  // namespace train
