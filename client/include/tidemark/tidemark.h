/* Tidemark's functions for programs: the memory functions of torch.accelerator, torch.cuda and torch.mtia, in C, for
 * the own process (where it runs under the library, libtidemark.so) and for others.
 *
 * Units: sizes in bytes, times in nanoseconds, both as integers; what is no size is a count.
 *
 * Processes. `process` NULL is the own one. Before its first allocation, and without the library, it is
 * "uninitialised": numbers are 0, resets and empty_cache do nothing and succeed, tidemark_memory_stats() says
 * TIDEMARK_ERROR_NOT_INITIALIZED. Another process is opened by a target, as the command `tidemark` takes it: a pid, an
 * id of 8 hex digits, or a label; a living one wins over dead ones. Its segment is looked for where TIDEMARK_DIR says
 * (default /dev/shm), and among the descriptors of processes (TIDEMARK_SHM=memfd).
 *
 * Devices. "cuda:0", "mtia:1": the process's own number; "cuda", "mtia", NULL: its current device, of another process
 * its first; "1": of the backend that it uses. "all": every device, for functions that act.
 *
 * Errors. Functions return 0, or a value not negative, or one of the codes below, all under -1000, so that a counter of
 * -1 (max_split_size: no limit) is none. tidemark_error() has a text for each code, tidemark_error_detail() a sentence
 * on the calling thread's last failure. Nothing here throws, prints, or ends the process.
 *
 * Threads. Every function may be called by any thread at any time, but not by a signal handler. One tidemark_process
 * may be used by several threads at once; nobody may use it during or after tidemark_close().
 *
 * ABI. TIDEMARK_ABI is the one of this header; the library's file name carries it (libtidemark-client.so.1). Structures
 * begin with their size, and only grow. */
#ifndef TIDEMARK_TIDEMARK_H
#define TIDEMARK_TIDEMARK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMARK_ABI 1

#ifndef TIDEMARK_API
#define TIDEMARK_API
#endif

enum {
  TIDEMARK_OK = 0,
  TIDEMARK_ERROR_INVALID_ARGUMENT = -1001, /* no such key, form or pointer */
  TIDEMARK_ERROR_NOT_INITIALIZED = -1002,  /* nothing was allocated yet, or the library isn't there */
  TIDEMARK_ERROR_NO_SUCH_DEVICE = -1003,
  TIDEMARK_ERROR_NO_SUCH_PROCESS = -1004, /* nothing of that name publishes counters */
  TIDEMARK_ERROR_AMBIGUOUS = -1005,       /* several processes have that name; the detail lists their ids */
  TIDEMARK_ERROR_PERMISSION = -1006,      /* another user's, or the process refuses (TIDEMARK_CONTROL) */
  TIDEMARK_ERROR_BAD_SEGMENT = -1007,     /* damaged, or made by nobody we know */
  TIDEMARK_ERROR_WRONG_VERSION = -1008,   /* made by a library of another layout */
  TIDEMARK_ERROR_GONE = -1009,            /* the process has ended since it was opened, or was dead before */
  TIDEMARK_ERROR_TIMEOUT = -1010,         /* no answer in time, or none to be had: it is stopped */
  TIDEMARK_ERROR_DEFERRED = -1011,        /* accepted; done inside the program's next call */
  TIDEMARK_ERROR_BUSY = -1012,            /* not now: a stream capture is open, or all places are taken */
  TIDEMARK_ERROR_UNSUPPORTED = -1013,     /* not in this process */
  TIDEMARK_ERROR_UNKNOWN = -1014,         /* the number isn't known */
  TIDEMARK_ERROR_DRIVER = -1015,          /* the driver is not there, or refused */
  TIDEMARK_ERROR_NO_SPACE = -1016,        /* memory, or the file system */
  TIDEMARK_ERROR_NO_COMMAND = -1017,      /* the command `tidemark` was not found, or failed */
  TIDEMARK_ERROR_SYSTEM = -1018           /* a system call failed; the detail says which */
};

/* "no such device"; never NULL. */
TIDEMARK_API const char* tidemark_error(int64_t code);
/* One line on the last failure in this thread: what was wrong and what to do. Good until the thread's next call; never
 * NULL. */
TIDEMARK_API const char* tidemark_error_detail(void);
/* The ABI of the library. */
TIDEMARK_API int tidemark_abi(void);

/* 1: the library serves this process; 0: it was not preloaded, or is off (TIDEMARK_MODE=off, TIDEMARK_SKIP). */
TIDEMARK_API int tidemark_is_loaded(void);

/* ---- Devices of the own process. `backend`: "cuda", "mtia". ---- */

/* 1 once memory was asked for on a device of the backend under the library, or tidemark_init() was called. */
TIDEMARK_API int tidemark_is_initialized(const char* backend);
/* Loads the driver (libcuda.so.1, libmtia.so.1) and initialises it. */
TIDEMARK_API int tidemark_init(const char* backend);
/* As the driver says, which is loaded for it; 0 without a driver. */
TIDEMARK_API int tidemark_device_count(const char* backend);
/* The calling thread's; 0 while the driver isn't loaded. */
TIDEMARK_API int tidemark_current_device(const char* backend);
TIDEMARK_API int tidemark_set_device(const char* backend, int device);
/* "cuda" or "mtia": the backend that the process uses, else one whose driver has a device; NULL: none. Loads drivers.
 */
TIDEMARK_API const char* tidemark_current_backend(void);

/* ---- Other processes ---- */

typedef struct tidemark_process tidemark_process;

/* Read-only. A process that is dead already can be read as it was left (TIDEMARK_KEEP); one that ends later is
 * TIDEMARK_ERROR_GONE from then on. */
TIDEMARK_API int tidemark_open(const char* target, tidemark_process** out);
TIDEMARK_API void tidemark_close(tidemark_process* process); /* NULL: nothing */

/* "live", "stopped", "exited", "killed", "replaced"; never NULL. */
TIDEMARK_API const char* tidemark_process_state(tidemark_process* process);
/* As this process counts; 0: not visible from here, or dead. */
TIDEMARK_API int64_t tidemark_process_pid(tidemark_process* process);
/* 8 hex digits; the label, "" for none. Good until tidemark_close(); of the own process ("" until it has a segment,
 * which comes with its first allocation) until the thread's next call. */
TIDEMARK_API const char* tidemark_process_id(tidemark_process* process);
TIDEMARK_API const char* tidemark_process_label(tidemark_process* process);
/* How many devices it has used, and the name ("cuda:0") of one of them; NULL behind the last. The name is good until
 * the thread's next call. `process` NULL: the own. */
TIDEMARK_API int tidemark_process_device_count(tidemark_process* process);
TIDEMARK_API const char* tidemark_process_device(tidemark_process* process, int index);

/* ---- Counters ---- */

typedef struct tidemark_stat {
  int64_t current;
  int64_t peak;      /* since the last reset of peaks */
  int64_t allocated; /* all increases since the last reset of totals */
  int64_t freed;     /* all decreases */
} tidemark_stat;

typedef struct tidemark_stat_array {
  tidemark_stat all;
  tidemark_stat small_pool;
  tidemark_stat large_pool;
} tidemark_stat_array;

/* PyTorch's DeviceStats, and what Tidemark counts besides. Of one moment. docs/counters.md says when each moves. */
typedef struct tidemark_device_stats {
  size_t size; /* set it to sizeof(tidemark_device_stats) before the call; no more than that is written */

  tidemark_stat_array allocation;           /* blocks in use */
  tidemark_stat_array allocated_bytes;      /* their rounded sizes */
  tidemark_stat_array requested_bytes;      /* their sizes as asked for */
  tidemark_stat_array active;               /* blocks in use, or freed with device work pending */
  tidemark_stat_array active_bytes;         /**/
  tidemark_stat_array segment;              /* pieces of memory held from the driver */
  tidemark_stat_array reserved_bytes;       /* their sizes */
  tidemark_stat_array inactive_split;       /* free blocks in segments that are partly in use */
  tidemark_stat_array inactive_split_bytes; /**/
  tidemark_stat oversize_allocations;       /* blocks of at least max_split_size */
  tidemark_stat oversize_segments;          /**/
  int64_t num_alloc_retries;
  int64_t num_ooms;
  int64_t num_sync_all_streams;
  int64_t num_device_alloc;
  int64_t num_device_free;
  int64_t max_split_size; /* -1: no limit */

  int64_t cache_hits;
  int64_t cache_misses;
  int64_t cache_passed_through;
  int64_t cache_cached_bytes;       /* free, in segments held from the driver */
  int64_t cache_pending_free_bytes; /* freed, with device work pending */
  int64_t cache_pinned_bytes;       /* exported to others, never used again */
  int64_t cache_driver_ns;
  int64_t cache_free_wait_ns;
  int64_t held_current_bytes; /* reserved, and other kinds of memory on the device */
  int64_t held_peak_bytes;
  int64_t lifetime_peak_allocated_bytes; /* no reset touches these */
  int64_t lifetime_peak_reserved_bytes;
  int64_t lifetime_peak_held_bytes;

  int64_t capacity_bytes; /* the device's memory; 0: not known */
  int64_t limit_bytes;    /* what may be reserved; 0: no limit */
} tidemark_device_stats;

/* memory_stats(). Uninitialised: TIDEMARK_ERROR_NOT_INITIALIZED, and every number 0. */
TIDEMARK_API int tidemark_memory_stats(tidemark_process* process, const char* device, tidemark_device_stats* out);
/* One of them: PyTorch's keys ("allocated_bytes.all.current"), or ours ("cache.hits", "held.peak_bytes",
 * "lifetime_peak.allocated_bytes"). */
TIDEMARK_API int64_t tidemark_memory_stat(tidemark_process* process, const char* device, const char* key);

TIDEMARK_API int64_t tidemark_memory_allocated(tidemark_process* process, const char* device);
TIDEMARK_API int64_t tidemark_max_memory_allocated(tidemark_process* process, const char* device);
TIDEMARK_API int64_t tidemark_memory_reserved(tidemark_process* process, const char* device);
TIDEMARK_API int64_t tidemark_max_memory_reserved(tidemark_process* process, const char* device);

/* Of the whole device, as the program sees it (with the cache and the limit). The own process asks its driver, and
 * initialises the device with it, as PyTorch does; of another it is the driver's last word to that program:
 * TIDEMARK_ERROR_UNKNOWN if it has never asked. Either pointer may be NULL. */
TIDEMARK_API int tidemark_get_memory_info(tidemark_process* process, const char* device, uint64_t* free,
                                          uint64_t* total);

/* ---- Acting ---- */

/* Peaks := what is current, at one moment; never 0. */
TIDEMARK_API int tidemark_reset_peak_memory_stats(tidemark_process* process, const char* device);
/* Totals and event counts := 0. */
TIDEMARK_API int tidemark_reset_accumulated_memory_stats(tidemark_process* process, const char* device);
/* Gives cached memory back to the driver. In the own process at once (a driver's free waits for the device); in another
 * on CUDA inside the program's next call: TIDEMARK_ERROR_DEFERRED if that has not come after 5 s. */
TIDEMARK_API int tidemark_empty_cache(tidemark_process* process, const char* device);
/* Reserved memory may not pass `bytes`: the program gets its driver's out-of-memory. 0: no limit. */
TIDEMARK_API int tidemark_set_memory_limit(tidemark_process* process, const char* device, uint64_t bytes);
/* The limit; 0: none. */
TIDEMARK_API int64_t tidemark_memory_limit(tidemark_process* process, const char* device);

/* Memory history of all devices. `enabled`: NULL off, "state" what is in use alone, "all" events too; `stacks`: "none",
 * "cpp", "python", "all"; NULL is "all". `max_entries`: events kept of each device, 0 for 150000. In the own process
 * before its first allocation: begins with it. */
TIDEMARK_API int tidemark_record_memory_history(tidemark_process* process, const char* enabled, const char* stacks,
                                                uint64_t max_entries);
/* Every block, and what was recorded, into a file, over what is there. The name's ending says how: ".pickle" for
 * PyTorch's memory_viz, ".json", ".csv" (allocations and frees, as RMM logs them), or ".tmsnap", which the command
 * `tidemark` reads. All but the last are made by that command (it looks up the names of functions, outside this
 * process): it is looked for beside this library and in PATH. */
TIDEMARK_API int tidemark_export_memory_history(tidemark_process* process, const char* path);

/* ---- Out of memory ---- */

/* Called for each allocation of this process that fails for want of memory, in its thread, without a lock, before that
 * call returns: `size` is what the program asked for, `total` the device's memory (or the limit), `free` what the
 * driver has left. It may call every function here, allocate and free; a failure that it meets itself calls nobody. It
 * must not throw. Observers are called in the order in which they were attached, and outlive a fork; 64 can be
 * attached at a time (TIDEMARK_ERROR_BUSY). Without the library: accepted, and never called. */
typedef void (*tidemark_out_of_memory_observer)(int device, int64_t size, int64_t total, int64_t free, void* data);
TIDEMARK_API int tidemark_attach_out_of_memory_observer(tidemark_out_of_memory_observer observer, void* data);
/* A call that another thread has begun may still be under way when this returns. */
TIDEMARK_API int tidemark_detach_out_of_memory_observer(tidemark_out_of_memory_observer observer, void* data);

/* ---- Phases: peaks of a part of the program ---- */

/* Begins a phase in this thread, inside those that are open there. Phases disturb nobody: not the peaks of the phases
 * around them, not the process's own (reset_peak_memory_stats, which doesn't touch phases either), nobody's that looks
 * from outside. What they measure is the whole process, whichever thread allocates. Its name is copied. At most 64 can
 * be open in a process: TIDEMARK_ERROR_BUSY. */
TIDEMARK_API int tidemark_phase_push(const char* name);
/* Ends this thread's innermost phase. `peaks` (may be NULL; its size set) gets the current device's memory_stats() as
 * if its peaks had been reset when the phase began. TIDEMARK_ERROR_INVALID_ARGUMENT: none is open. */
TIDEMARK_API int tidemark_phase_pop(tidemark_device_stats* peaks);
/* The same numbers of any device, so far; the phase goes on. */
TIDEMARK_API int tidemark_phase_stats(const char* device, tidemark_device_stats* out);
/* The name of this thread's innermost phase, NULL for none. Good until it is popped. */
TIDEMARK_API const char* tidemark_phase_name(void);

/* The same for parts that overlap instead of nesting (coroutines, callbacks): not on a thread's stack, any thread may
 * read and end them, in any order. They take their places from the same 64, and stay until they are ended. A ticket,
 * not negative; 0: there is no library to measure, and everything succeeds with zeros. */
TIDEMARK_API int64_t tidemark_phase_begin(void);
/* TIDEMARK_ERROR_INVALID_ARGUMENT: it has ended, or was begun before this process was forked. */
TIDEMARK_API int tidemark_phase_read(int64_t phase, const char* device, tidemark_device_stats* out);
TIDEMARK_API int tidemark_phase_end(int64_t phase);

#ifdef __cplusplus
}
#endif

#endif
