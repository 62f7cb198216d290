// What stands behind the C type of a process.
#pragma once

#include <memory>
#include <string>

#include "client/library/other_process.hpp"
#include "client/library/own_process.hpp"

struct tidemark_process {
  std::unique_ptr<tidemark::client::OtherProcess> other;
};

namespace tidemark::client {

[[nodiscard]] inline Subject& subject_of(tidemark_process* process) {
  return process == nullptr ? static_cast<Subject&>(own_process()) : *process->other;
}

}  // namespace tidemark::client
