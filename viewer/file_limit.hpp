// How many files may be open at once: a descriptor for each process that is shown, and common limits are 1024.
#pragma once

namespace tidemark::viewer {

// As many as the system lets us. Not before a program is started, which would inherit it.
void allow_many_files();

}  // namespace tidemark::viewer
