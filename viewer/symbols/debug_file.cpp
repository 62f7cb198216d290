#include "viewer/symbols/debug_file.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <span>

namespace tidemark::viewer {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }  // NOLINT: what C libraries hand out
};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, Free> text{abi::__cxa_demangle(name, nullptr, nullptr, &status)};
  return status == 0 && text != nullptr ? text.get() : name;
}

// With the arguments where the compiler wrote them down.
std::string function_name(Dwarf_Die& die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute found;
    if (dwarf_attr_integrate(&die, attribute, &found) != nullptr) {
      if (const char* name = dwarf_formstring(&found); name != nullptr) {
        return demangled(name);
      }
    }
  }
  const char* name = dwarf_diename(&die);
  return name == nullptr ? "" : name;
}

int number_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  return dwarf_attr(&die, attribute, &found) != nullptr && dwarf_formudata(&found, &value) == 0
             ? static_cast<int>(value)
             : 0;
}

std::string joined(const char* directory, const char* file) {
  if (file == nullptr) {
    return {};
  }
  const std::filesystem::path path = directory == nullptr ? file : std::filesystem::path{directory} / file;
  return path.lexically_normal().string();  // a build in a folder of its own leaves "build/../" in the middle
}

// The file that a number in a unit's own table stands for.
std::string file_of(Dwarf_Die& unit, int number) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || number < 0 || static_cast<std::size_t>(number) >= count) {
    return {};
  }
  Dwarf_Attribute directory;
  const char* compiled_in = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &directory));
  return joined(compiled_in, dwarf_filesrc(files, static_cast<std::size_t>(number), nullptr, nullptr));
}

SourceFrame place_in_line_table(Dwfl_Module* module, Dwarf_Addr address) {
  SourceFrame frame;
  Dwfl_Line* const line = dwfl_module_getsrc(module, address);
  if (line != nullptr) {
    const char* file = dwfl_lineinfo(line, nullptr, &frame.line, nullptr, nullptr, nullptr);
    frame.file = joined(dwfl_line_comp_dir(line), file);
  }
  return frame;
}

using Scopes = std::unique_ptr<Dwarf_Die, Free>;

// The scopes around an address, from the innermost out to the unit. Asked for twice: by address the scopes of an
// inlined function are those where it is written, by its own entry those where it was put.
std::span<Dwarf_Die> scopes_around(Dwarf_Die* unit, Dwarf_Addr address, Scopes& owner) {
  Dwarf_Die* found = nullptr;
  if (dwarf_getscopes(unit, address, &found) <= 0) {
    return {};
  }
  const Scopes by_address{found};
  Dwarf_Die innermost = *found;
  Dwarf_Die* around = nullptr;
  const int count = dwarf_getscopes_die(&innermost, &around);
  owner.reset(around);
  return count <= 0 ? std::span<Dwarf_Die>{} : std::span{around, static_cast<std::size_t>(count)};
}

}  // namespace

struct DebugFile::Parts {
  std::string debug_path;
  char* debug_path_text = nullptr;
  Dwfl_Callbacks callbacks{};
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;

  [[nodiscard]] std::vector<SourceFrame> find_in_debug_information(Dwarf_Addr address) const;
  [[nodiscard]] std::vector<SourceFrame> find_symbol(Dwarf_Addr address) const;
};

DebugFile::DebugFile(const std::string& path, const std::vector<std::string>& debug_directories)
    : parts_(std::make_unique<Parts>()) {
  // elfutils would ask the servers that some distributions set here, one request a file, for minutes.
  ::unsetenv("DEBUGINFOD_URLS");
  parts_->debug_path = ":.debug";
  for (const std::string& directory : debug_directories) {
    parts_->debug_path += ":" + directory;
  }
  parts_->debug_path_text = parts_->debug_path.data();
  parts_->callbacks.find_debuginfo = &dwfl_standard_find_debuginfo;
  parts_->callbacks.debuginfo_path = &parts_->debug_path_text;
  parts_->dwfl = dwfl_begin(&parts_->callbacks);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (parts_->dwfl == nullptr || fd < 0) {
    return;
  }
  dwfl_report_begin(parts_->dwfl);
  parts_->module = dwfl_report_elf(parts_->dwfl, path.c_str(), path.c_str(), fd, 0, true);
  if (parts_->module == nullptr) {
    ::close(fd);  // else it is libdw's
  }
  dwfl_report_end(parts_->dwfl, nullptr, nullptr);
}

DebugFile::~DebugFile() {
  if (parts_->dwfl != nullptr) {
    dwfl_end(parts_->dwfl);
  }
}

std::vector<SourceFrame> DebugFile::find(std::uint64_t address) const {
  if (parts_->module == nullptr) {
    return {};
  }
  std::vector<SourceFrame> frames = parts_->find_in_debug_information(address);
  return frames.empty() ? parts_->find_symbol(address) : frames;
}

std::vector<SourceFrame> DebugFile::Parts::find_in_debug_information(Dwarf_Addr address) const {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) {
    return {};
  }
  Scopes owner;
  SourceFrame frame = place_in_line_table(module, address);
  std::vector<SourceFrame> frames;
  for (Dwarf_Die& scope : scopes_around(unit, address - bias, owner)) {
    const int tag = dwarf_tag(&scope);
    if (tag == DW_TAG_inlined_subroutine) {
      frame.function = function_name(scope);
      frame.is_inlined = true;
      frames.push_back(frame);
      Dwarf_Die of_scope;
      frame = {};
      if (dwarf_diecu(&scope, &of_scope, nullptr, nullptr) != nullptr) {
        frame.file = file_of(of_scope, number_of(scope, DW_AT_call_file));
      }
      frame.line = number_of(scope, DW_AT_call_line);
    } else if (tag == DW_TAG_subprogram) {
      frame.function = function_name(scope);
      frames.push_back(frame);
      return frames;
    }
  }
  return {};
}

std::vector<SourceFrame> DebugFile::Parts::find_symbol(Dwarf_Addr address) const {
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || name[0] == '\0' || (symbol.st_size != 0 && offset >= symbol.st_size)) {
    return {};
  }
  SourceFrame frame = place_in_line_table(module, address);
  frame.function = demangled(name);
  return {frame};
}

}  // namespace tidemark::viewer
