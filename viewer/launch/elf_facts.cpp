#include "viewer/launch/elf_facts.hpp"

#include <elf.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tidemark::viewer {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
#error "which ELF machine is this?"
#endif
constexpr unsigned char kByteOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// A program has a handful; a hostile file may claim any number.
constexpr std::size_t kMostHeaders = 256;
constexpr std::size_t kMostDynamic = 4096;

template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::vector<Elf64_Phdr> program_headers(std::string_view bytes, const Elf64_Ehdr& header) {
  std::vector<Elf64_Phdr> headers;
  for (std::size_t i = 0; i < header.e_phnum && i < kMostHeaders; ++i) {
    const auto entry = read_at<Elf64_Phdr>(bytes, header.e_phoff + i * header.e_phentsize);
    if (!entry) {
      break;
    }
    headers.push_back(*entry);
  }
  return headers;
}

// Where an address of the running program lies in the file.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const Elf64_Phdr& load : headers) {
    if (load.p_type == PT_LOAD && address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz) {
      return load.p_offset + (address - load.p_vaddr);
    }
  }
  return std::nullopt;
}

std::vector<std::string> needed_libraries(std::string_view bytes, const std::vector<Elf64_Phdr>& headers) {
  std::vector<std::uint64_t> names;
  std::optional<std::uint64_t> strings;
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_DYNAMIC) {
      continue;
    }
    for (std::size_t i = 0; i < kMostDynamic; ++i) {
      const auto entry = read_at<Elf64_Dyn>(bytes, header.p_offset + i * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) {
        break;
      }
      if (entry->d_tag == DT_NEEDED) {
        names.push_back(entry->d_un.d_val);
      } else if (entry->d_tag == DT_STRTAB) {
        strings = file_offset(headers, entry->d_un.d_ptr);
      }
    }
  }
  std::vector<std::string> needed;
  for (const std::uint64_t name : names) {
    if (strings && *strings < bytes.size() && name < bytes.size() - *strings) {
      const std::string_view rest = bytes.substr(*strings + name);
      needed.emplace_back(rest.substr(0, rest.find('\0')));
    }
  }
  return needed;
}

}  // namespace

std::optional<ElfFacts> elf_facts(std::string_view bytes) {
  if (bytes.size() < EI_NIDENT || !bytes.starts_with(ELFMAG)) {
    return std::nullopt;
  }
  ElfFacts facts;
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  facts.same_machine = header && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == kByteOrder &&
                       header->e_machine == kMachine;
  if (!facts.same_machine) {
    return facts;
  }
  const std::vector<Elf64_Phdr> headers = program_headers(bytes, *header);
  for (const Elf64_Phdr& entry : headers) {
    if (entry.p_type == PT_INTERP) {
      facts.has_interpreter = true;
      const std::string_view path = entry.p_offset < bytes.size() ? bytes.substr(entry.p_offset, entry.p_filesz) : "";
      facts.interpreter = path.substr(0, path.find('\0'));
    }
  }
  facts.needed = needed_libraries(bytes, headers);
  return facts;
}

}  // namespace tidemark::viewer
