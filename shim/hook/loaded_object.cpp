#include "shim/hook/loaded_object.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tidemark::hook {
namespace {

using Dynamic = ElfW(Dyn);
using Symbol = ElfW(Sym);
using Half = ElfW(Half);
using Address = ElfW(Addr);

const Dynamic* entry_of(const link_map& object, decltype(Dynamic::d_tag) tag) noexcept {
  for (const Dynamic* entry = object.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) {
      return entry;
    }
  }
  return nullptr;
}

// The loader writes addresses over the offsets, but not where the section can't be written (the kernel's own object).
template <class Type>
const Type* table_of(const link_map& object, decltype(Dynamic::d_tag) tag) noexcept {
  const Dynamic* entry = entry_of(object, tag);
  if (entry == nullptr) {
    return nullptr;
  }
  const Address address = entry->d_un.d_ptr < object.l_addr ? entry->d_un.d_ptr + object.l_addr : entry->d_un.d_ptr;
  return reinterpret_cast<const Type*>(address);  // NOLINT(performance-no-int-to-ptr): that is how the loader says it
}

const char* text_of(const link_map& object, const Dynamic* entry) noexcept {
  const char* texts = entry == nullptr ? nullptr : table_of<char>(object, DT_STRTAB);
  return texts == nullptr ? nullptr : texts + entry->d_un.d_val;
}

struct SymbolTable {
  const Symbol* symbols;
  const char* names;
  const Half* versions;  // null: the object has none
  const char* wanted;

  [[nodiscard]] bool is_wanted(std::uint32_t index) const noexcept {
    constexpr Half kHidden = 0x8000;  // an older version, which only a versioned look-up gets
    const Symbol& symbol = symbols[index];
    const auto kind = ELF64_ST_TYPE(symbol.st_info);
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && (kind == STT_FUNC || kind == STT_NOTYPE) &&
           (binding == STB_GLOBAL || binding == STB_WEAK) &&
           (versions == nullptr || (versions[index] & kHidden) == 0) &&
           std::strcmp(names + symbol.st_name, wanted) == 0;
  }
};

// DT_GNU_HASH: sizes, a Bloom filter, buckets (the lowest symbol of each), and a hash per symbol whose lowest bit ends
// a chain.
struct GnuHash {
  std::uint32_t buckets;
  std::uint32_t first_symbol;
  std::uint32_t filter_words;
  std::uint32_t filter_shift;

  [[nodiscard]] const Address* filter() const noexcept { return reinterpret_cast<const Address*>(this + 1); }
  [[nodiscard]] const std::uint32_t* bucket_heads() const noexcept {
    return reinterpret_cast<const std::uint32_t*>(filter() + filter_words);
  }
  [[nodiscard]] const std::uint32_t* chains() const noexcept { return bucket_heads() + buckets; }
};

std::uint32_t find_by_gnu_hash(const GnuHash& table, const SymbolTable& symbols) noexcept {
  constexpr std::uint32_t kBits = sizeof(Address) * CHAR_BIT;
  std::uint32_t hash = 5381;
  for (const char* c = symbols.wanted; *c != '\0'; ++c) {
    hash = hash * 33 + static_cast<unsigned char>(*c);
  }
  const Address word = table.filter()[(hash / kBits) % table.filter_words];
  if (((word >> (hash % kBits)) & (word >> ((hash >> table.filter_shift) % kBits)) & 1) == 0) {
    return STN_UNDEF;
  }
  std::uint32_t index = table.bucket_heads()[hash % table.buckets];
  if (index < table.first_symbol) {
    return STN_UNDEF;
  }
  for (;; ++index) {
    const std::uint32_t entry = table.chains()[index - table.first_symbol];
    if ((entry | 1) == (hash | 1) && symbols.is_wanted(index)) {
      return index;
    }
    if ((entry & 1) != 0) {
      return STN_UNDEF;
    }
  }
}

// DT_HASH: two counts, buckets, chains.
std::uint32_t find_by_hash(const std::uint32_t* table, const SymbolTable& symbols) noexcept {
  std::uint32_t hash = 0;
  for (const char* c = symbols.wanted; *c != '\0'; ++c) {
    hash = (hash << 4) + static_cast<unsigned char>(*c);
    hash = (hash ^ ((hash >> 24) & 0xF0)) & 0x0FFFFFFF;
  }
  const std::uint32_t* buckets = table + 2;
  const std::uint32_t* chains = buckets + table[0];
  std::uint32_t index = buckets[hash % table[0]];
  while (index != STN_UNDEF && !symbols.is_wanted(index)) {
    index = chains[index];
  }
  return index;
}

}  // namespace

const link_map* object_of(const void* address) noexcept {
  dl_find_object found{};
  // It only compares the address.
  return address != nullptr && _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

const char* file_name_of(const link_map& object) noexcept {
  const char* path = object.l_name == nullptr ? "" : object.l_name;
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

void* exported_function(const link_map& object, const char* name) noexcept {
  const SymbolTable symbols{.symbols = table_of<Symbol>(object, DT_SYMTAB),
                            .names = table_of<char>(object, DT_STRTAB),
                            .versions = table_of<Half>(object, DT_VERSYM),
                            .wanted = name};
  if (symbols.symbols == nullptr || symbols.names == nullptr) {
    return nullptr;
  }
  std::uint32_t index = STN_UNDEF;
  if (const auto* gnu = table_of<GnuHash>(object, DT_GNU_HASH); gnu != nullptr) {
    index = find_by_gnu_hash(*gnu, symbols);
  } else if (const auto* table = table_of<std::uint32_t>(object, DT_HASH); table != nullptr && table[0] != 0) {
    index = find_by_hash(table, symbols);
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the loader says it
  return index == STN_UNDEF ? nullptr : reinterpret_cast<void*>(object.l_addr + symbols.symbols[index].st_value);
}

bool is_linked_to_stay(const link_map& object) noexcept {
  const Dynamic* flags = entry_of(object, DT_FLAGS_1);
  return flags != nullptr && (flags->d_un.d_val & DF_1_NODELETE) != 0;
}

bool has_file_name(const link_map& object, const char* name) noexcept {
  return std::strcmp(file_name_of(object), name) == 0;
}

bool has_soname(const link_map& object, const char* name) noexcept {
  const char* soname = text_of(object, entry_of(object, DT_SONAME));
  return soname != nullptr && std::strcmp(soname, name) == 0;
}

const char* needed_by(const link_map& object, unsigned n) noexcept {
  for (const Dynamic* entry = object.l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && n-- == 0) {
      return text_of(object, entry);
    }
  }
  return nullptr;
}

}  // namespace tidemark::hook
