// What a history has of the whole process: stacks, strings, modules.
#pragma once

#include "shared/history/history.hpp"
#include "shared/history/read_device.hpp"
#include "shared/history/word_file.hpp"

namespace tidemark::history {

// Fills History::stacks and modules; what makes no sense is left empty, so that numbers keep their meaning. Stacks that
// events name and that aren't there become 0.
void read_tables(const WordFile& file, const RecordImage<InfoRecord>& info, const TimeBase& time, History& history);

}  // namespace tidemark::history
