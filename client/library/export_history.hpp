// tidemark_export_memory_history: the file that a name's ending asks for.
#pragma once

#include <string>

#include "client/library/subject.hpp"

namespace tidemark::client {

// Over what is there. Failure(INVALID_ARGUMENT): another ending than .pickle, .json, .csv, .tmsnap.
void export_history(Subject& subject, const std::string& path);

}  // namespace tidemark::client
