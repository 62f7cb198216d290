#include "shim/stacks/module_watch.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "shared/base/scratch.hpp"
#include "shared/base/spin_guard.hpp"
#include "shared/history/hash_slots.hpp"
#include "shim/stacks/capture.hpp"
#include "shim/stacks/readable.hpp"

namespace tidemark::stacks {
namespace {

constexpr std::size_t kMostHeaders = 64;  // linkers write a dozen
constexpr std::size_t kMostNotes = 4096;
constexpr std::size_t kMostPath = 1024;

template <class Integer>
constexpr Integer up_to_four(Integer size) {
  return (size + 3) & ~Integer{3};
}

template <class T>
bool copy_object(std::uintptr_t address, std::span<T> into) noexcept {
  return copy_bytes(address, {reinterpret_cast<std::uint8_t*>(into.data()), into.size_bytes()});
}

std::span<const std::byte> build_id_in(std::span<const std::byte> notes) noexcept {
  constexpr std::array kOwner = {'G', 'N', 'U', '\0'};
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    notes = notes.subspan(sizeof note);
    const std::size_t name = up_to_four(std::size_t{note.n_namesz});
    const std::size_t description = up_to_four(std::size_t{note.n_descsz});
    if (name > notes.size() || description > notes.size() - name) {
      return {};
    }
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == kOwner.size() &&
        std::memcmp(notes.data(), kOwner.data(), kOwner.size()) == 0) {
      return notes.subspan(name, std::min<std::size_t>(note.n_descsz, history::kMostBuildIdBytes));
    }
    notes = notes.subspan(name + description);
  }
  return {};
}

// A text of the loader's that may be gone: as much of it as there is, without its end. Copied in pieces that lie on one
// page each, since the next may not be there.
std::string_view copy_text(std::uintptr_t address, std::span<char> into) noexcept {
  constexpr std::size_t kPiece = 64;
  std::size_t size = 0;
  while (address != 0 && size < into.size()) {
    const std::size_t piece = std::min({kPiece - (address + size) % kPiece, into.size() - size});
    const std::span<char> part = into.subspan(size, piece);
    if (!copy_object(address + size, part)) {
      return {};
    }
    const auto end = std::find(part.begin(), part.end(), '\0');
    size += static_cast<std::size_t>(end - part.begin());
    if (end != part.end()) {
      break;
    }
  }
  return {into.data(), size};
}

// The program has no name there, and one that was replaced meanwhile is still found by its build-id. One that was found
// by a relative path is where it was looked for, unless the program has changed its directory since.
std::string_view path_of(std::string_view loaders, std::span<char> into) noexcept {
  constexpr std::string_view kReplaced = " (deleted)";
  if (loaders.empty()) {
    const ssize_t length = readlink("/proc/self/exe", into.data(), into.size());
    std::string_view path{into.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
    path.remove_suffix(path.ends_with(kReplaced) ? kReplaced.size() : 0);
    return path;
  }
  if (loaders.front() == '/' || loaders.find('/') == std::string_view::npos ||
      getcwd(into.data(), into.size()) == nullptr) {
    return loaders;
  }
  const std::size_t directory = std::strlen(into.data());
  if (directory + 1 + loaders.size() > into.size()) {
    return loaders;
  }
  into[directory] = '/';
  std::copy(loaders.begin(), loaders.end(), into.begin() + static_cast<std::ptrdiff_t>(directory) + 1);
  return {into.data(), directory + 1 + loaders.size()};
}

// Of this load of an object. Not of its path, which a program changes by changing its directory. A file that is closed
// and opened again, in the same place, is the same; where no build-id says so, it isn't known to be.
std::uint64_t identity_of(const history::ModuleWords& module, std::string_view loaders_name,
                          const link_map* object) noexcept {
  std::uint64_t hash = history::mix(module.bias, module.start);
  for (const char letter : loaders_name) {
    hash = history::mix(hash, static_cast<unsigned char>(letter));
  }
  for (const std::byte byte : module.build_id) {
    hash = history::mix(hash, std::to_integer<std::uint64_t>(byte));
  }
  return module.build_id.empty() ? history::mix(hash, reinterpret_cast<std::uintptr_t>(object)) : hash;
}

bool has_name_of_python(std::string_view loaders_name) noexcept {
  return loaders_name.empty() || loaders_name.find("python") != std::string_view::npos;
}

}  // namespace

// An object, described in what is too large for the stack of a program's thread.
struct ModuleWatch::Look {
  history::ModuleWords module;
  std::uint64_t identity = 0;
  const link_map* object = nullptr;
  std::string_view name;  // the loader's
  std::array<char, kMostPath> name_text;
  std::array<ElfW(Phdr), kMostHeaders> headers;
  std::array<std::byte, kMostNotes> notes;
  std::array<char, kMostPath> path;
};

// Everything of the object is copied by the kernel: it may be going just now.
bool ModuleWatch::describe(std::uint64_t address, Look& look) noexcept {
  dl_find_object found{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {  // NOLINT(performance-no-int-to-ptr)
    return false;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  ElfW(Ehdr) header{};
  if (!copy_object(begin, std::span{&header, 1}) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_phentsize != sizeof(ElfW(Phdr))) {
    return false;
  }
  const auto headers = std::span{look.headers}.first(std::min<std::size_t>(header.e_phnum, kMostHeaders));
  if (!copy_object(begin + header.e_phoff, headers)) {
    return false;
  }
  link_map object{};
  if (!copy_object(reinterpret_cast<std::uintptr_t>(found.dlfo_link_map), std::span{&object, 1})) {
    return false;
  }
  look.module = {.bias = object.l_addr, .start = ~std::uint64_t{0}};
  for (const ElfW(Phdr) & part : headers) {
    const std::uint64_t start = look.module.bias + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
      if (start < look.module.start) {
        look.module.start = start;
        look.module.file_offset = part.p_offset;
      }
      look.module.end = std::max<std::uint64_t>(look.module.end, start + part.p_memsz);
    } else if (part.p_type == PT_NOTE && look.module.build_id.empty()) {
      const auto notes = std::span{look.notes}.first(std::min<std::size_t>(part.p_memsz, kMostNotes));
      if (copy_object(start, notes)) {
        look.module.build_id = build_id_in(notes);
      }
    }
  }
  if (address < look.module.start || address >= look.module.end) {
    return false;
  }
  look.object = found.dlfo_link_map;
  look.name = copy_text(reinterpret_cast<std::uintptr_t>(object.l_name), look.name_text);
  look.module.path = path_of(look.name, look.path);
  look.identity = identity_of(look.module, look.name, look.object);
  return true;
}

ModuleWatch::Known* ModuleWatch::find(std::uint64_t address) noexcept {
  const auto holds = [address](const Known& known) {
    return known.is_there && address >= known.start && address < known.end;
  };
  if (last_found_ < count_ && holds(known_[last_found_])) {
    return &known_[last_found_];
  }
  const auto known = std::find_if(known_.begin(), known_.begin() + static_cast<std::ptrdiff_t>(count_), holds);
  last_found_ = static_cast<std::size_t>(known - known_.begin());
  return last_found_ < count_ ? &*known : nullptr;
}

void ModuleWatch::list(std::span<const std::uint64_t> return_addresses, std::uint64_t now_ns, MayBePython may_be_python,
                       void* data) noexcept {
  for (const std::uint64_t behind : return_addresses) {
    const std::uint64_t address = behind - 1;
    {
      const SpinGuard guard{lock_};
      if (find(address) != nullptr) {
        continue;
      }
    }
    const Scratch<Look> look;
    if (look && describe(address, *look)) {
      if (may_be_python != nullptr && has_name_of_python(look->name)) {
        may_be_python(*look->object, data);
      }
      const SpinGuard guard{lock_};
      if (find(address) == nullptr) {  // nobody was faster
        add(*look, now_ns);
      }
    }
  }
}

// Requires: lock_. What finds no place in the table is counted there, and not tried again.
void ModuleWatch::add(const Look& look, std::uint64_t now_ns) noexcept {
  if (count_ < kMost) {
    known_[count_++] = {.start = look.module.start,
                        .end = look.module.end,
                        .identity = look.identity,
                        .number = tables_.add_module(look.module, now_ns),
                        .is_there = true};
  }
}

void ModuleWatch::note_gone(const Known& known) noexcept {
  const std::size_t count = gone_count_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (gone_[i].start.load(std::memory_order_relaxed) == known.start &&
        gone_[i].end.load(std::memory_order_relaxed) == known.end) {
      gone_[i].times.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  if (count < kMostGone) {
    gone_[count].start.store(known.start, std::memory_order_relaxed);
    gone_[count].end.store(known.end, std::memory_order_relaxed);
    gone_[count].times.store(1, std::memory_order_relaxed);
    gone_count_.store(count + 1, std::memory_order_release);
    return;
  }
  Gone& last = gone_.back();
  last.start.store(std::min(last.start.load(std::memory_order_relaxed), known.start), std::memory_order_relaxed);
  last.end.store(std::max(last.end.load(std::memory_order_relaxed), known.end), std::memory_order_relaxed);
  last.times.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t ModuleWatch::generation_of(std::span<const std::uint64_t> return_addresses) const noexcept {
  const std::size_t count = gone_count_.load(std::memory_order_acquire);
  std::uint64_t generation = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t start = gone_[i].start.load(std::memory_order_relaxed);
    const std::uint64_t end = gone_[i].end.load(std::memory_order_relaxed);
    if (std::any_of(return_addresses.begin(), return_addresses.end(),
                    [&](std::uint64_t address) { return address > start && address <= end; })) {
      generation += gone_[i].times.load(std::memory_order_relaxed);
    }
  }
  return generation;
}

void ModuleWatch::look_for_gone(std::uint64_t now_ns) noexcept {
  const Scratch<Look> look;
  if (!look) {
    return;
  }
  std::size_t count = 0;
  {
    const SpinGuard guard{lock_};
    count = count_;
  }
  bool has_gone = false;
  for (std::size_t i = 0; i < count; ++i) {
    Known known;
    {
      const SpinGuard guard{lock_};
      known = known_[i];
    }
    if (!known.is_there || (describe(known.start, *look) && look->identity == known.identity)) {
      continue;
    }
    tables_.set_module_gone(known.number, now_ns);
    note_gone(known);
    has_gone = true;
    const SpinGuard guard{lock_};
    known_[i].is_there = false;
  }
  if (has_gone) {
    forget_unloaded();
  }
}

}  // namespace tidemark::stacks
