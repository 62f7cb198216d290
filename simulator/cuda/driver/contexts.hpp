// Contexts: the primary one of each device, those made by cuCtxCreate, and green ones, which are parts of a primary
// one; and which of them a thread has current.
//
// A CUcontext is the address of a Context. These are never freed, so that a stale handle is recognised: a destroyed one
// is known and has no life. Any thread may call.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "simulator/core/machine.hpp"

namespace cuda_sim {

// Between two destructions a context has a life; a primary context can have several, one after the other.
struct Context {
  Context(int device_ordinal, bool is_primary, Context* primary_of_green = nullptr)
      : device(device_ordinal), primary(is_primary), whole(primary_of_green) {}

  const int device;  // as the program numbers them
  const bool primary;
  Context* const whole;                // of a green context: the primary one that it is a part of
  std::atomic<sim::ContextId> core{};  // 0: destroyed or not yet active
  std::atomic<unsigned long long> id{0};
  std::atomic<unsigned> flags{0};
  std::atomic<bool> faulted{false};  // work met an illegal address: every call answers so until the end of its life
  std::atomic<int> attached{1};      // cuCtxAttach, cuCtxDetach

  [[nodiscard]] bool is_alive() const { return core.load(std::memory_order_acquire) != sim::ContextId{}; }
  [[nodiscard]] CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
  // Whose memory, events and health a context has: a green one those of its primary.
  [[nodiscard]] Context& owner() { return whole ? *whole : *this; }
  [[nodiscard]] const Context& owner() const { return whole ? *whole : *this; }
};

// A CUgreenCtx is the address of one. It is no CUcontext: cuCtxFromGreenCtx gives the one that can be made current.
struct GreenContext {
  GreenContext(Context& primary, unsigned count) : multiprocessors(count), context(primary.device, false, &primary) {}

  const unsigned multiprocessors;
  Context context;  // not at the same address: the two handles are to differ

  [[nodiscard]] CUgreenCtx handle() { return reinterpret_cast<CUgreenCtx>(this); }
};

class Contexts {
 public:
  // `devices`: the machine's index of each device that the program sees.
  Contexts(sim::Machine& machine, const std::vector<int>& devices);

  Context& create(int device, unsigned flags);
  // False if it was not alive. Its work is done, its memory freed. Also for a primary context, which may live again.
  bool end(Context& context);
  // NULL for what never was a context.
  [[nodiscard]] Context* find(CUcontext handle) const;

  // ---- green contexts. Each holds its device's primary context; who ends it releases that.
  // NULL: the primary context went meanwhile.
  GreenContext* create_green(int device, unsigned multiprocessors);
  [[nodiscard]] GreenContext* find_green(CUgreenCtx handle) const;
  // NULL: not a green one.
  [[nodiscard]] GreenContext* green_of(const Context& context) const;
  // The live ones of a primary context.
  [[nodiscard]] std::vector<Context*> parts_of(const Context& primary) const;
  [[nodiscard]] Context* owner_of(sim::ContextId core) const;

  // ---- primary contexts. Requires: a valid device.
  [[nodiscard]] Context& primary(int device) { return *primaries_[static_cast<std::size_t>(device)].context; }
  // It lives from the first retain to the last release, or until it is ended; the next retain makes it live again.
  Context& retain(int device);
  enum class Released { NotHeld, StillHeld, Last };  // Last: the caller ends it
  Released release(int device);

  // ---- peer access, from one context to all memory of another
  bool enable_peer(const Context& from, const Context& to);   // false: it was enabled
  bool disable_peer(const Context& from, const Context& to);  // false: it was not

 private:
  struct Primary {
    std::unique_ptr<Context> context;
    unsigned holds = 0;
  };
  void begin(Context& context);

  sim::Machine& machine_;
  const std::vector<int>& devices_;
  mutable std::mutex mutex_;
  std::vector<Primary> primaries_;
  std::vector<std::unique_ptr<Context>> created_;
  std::vector<std::unique_ptr<GreenContext>> green_;
  std::set<std::pair<const Context*, const Context*>> peers_;
  unsigned long long last_id_ = 0;
};

// The calling thread's stack of contexts; the top is current. Entries may be dead. A forked child's is meaningless, but
// no call gets that far there.
class ContextStack {
 public:
  static constexpr int kDeepest = 64;

  [[nodiscard]] static Context* top();
  static bool push(Context& context);         // false: too deep
  static Context* pop();                      // NULL: empty
  static bool replace_top(Context* context);  // NULL pops
};

}  // namespace cuda_sim
