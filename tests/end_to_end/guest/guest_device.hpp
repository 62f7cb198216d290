// The few calls of a driver that the guest makes, under one set of names: one implementation a driver, chosen by what
// is linked. Results are the driver's own codes, 0 for success.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guest {

int set_device(int device);
int allocate(void** ptr, std::size_t size);
int release(void* ptr);
int memory_info(std::size_t* free_bytes, std::size_t* total_bytes);
int reset_device();
int synchronize();

// Work on a stream of its own, still running when the call returns: fills the block.
int fill_later(void* ptr, unsigned char value, std::size_t size);
// Work on a stream of its own that calls `function`.
int call_later(void (*function)(void*));
// Done when the call returns.
int write(void* ptr, const void* from, std::size_t size);
int read(void* to, const void* ptr, std::size_t size);

// A handle by which another process could open the block; a free in the order of the default stream. Where the driver
// has none: kNoSuchCall.
inline constexpr int kNoSuchCall = -1;
int ipc_handle(void* ptr);
int release_in_stream(void* ptr);
// The block is one that a network card will write to.
enum class CardsWay { SyncMemops, Token, TokenAmongOthers };
int leave_to_card(void* ptr, CardsWay way);

// Makes a green context of the device and works in it from now on; destroys it, and works in none.
int enter_green_context(int device);
int end_green_context();

}  // namespace guest
