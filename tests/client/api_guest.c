/* A program that uses tidemark.h and the MTIA driver as it is told: one command a line on stdin, one answer a line on
 * stdout. `-` stands for NULL.
 *
 *   alloc SIZE                   "ok SLOT" or "error CODE"; free SLOT, device N: the driver's code
 *   subject TARGET|-             which process the commands below are about; the code
 *   stats DEVICE                 "CODE allocated peak freed reserved held_peak"; stat DEVICE KEY: the number
 *   numbers DEVICE               allocated, its peak, reserved, its peak
 *   reset, accumulated, empty DEVICE; limit DEVICE SIZE; the code. limited DEVICE: the number
 *   info DEVICE                  "CODE FREE TOTAL"
 *   devices                      their names
 *   state                        of the subject: "STATE PID"; identity: "ID [LABEL]"
 *   loaded                       "LOADED CUDA_INITIALIZED MTIA_INITIALIZED BACKEND"
 *   driver BACKEND               "COUNT CURRENT"; init BACKEND, set BACKEND N: the code
 *   record ENABLED STACKS ENTRIES, export PATH: the code
 *   observe, ignore              attaches and detaches an observer that counts, asks and frees; the code
 *   observed                     what it was last told, and found: "CALLS DEVICE SIZE TOTAL FREE ALLOCATED OOMS FREED"
 *   push NAME, pop, name         "CODE ALLOCATED_PEAK RESERVED_PEAK HELD_PEAK FREED" for pop; phase DEVICE: the same
 *   begin, read PHASE DEVICE, end PHASE: a phase by its ticket, the same as above, the code
 *   exit                         ends, and goes on in a handler of atexit()
 *   detail                       the last failure's line
 *   thread COMMAND...            does it in a thread that ends with it
 *   fork                         the child goes on ("child PID"); when it has ended the parent does */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mtia.h>
#include <tidemark/tidemark.h>

enum { kSlots = 64 };

static void* slots[kSlots];
static tidemark_process* subject = NULL;
static long long observed[8];

static const char* or_null(const char* word) { return word == NULL || strcmp(word, "-") == 0 ? NULL : word; }

static void observe(int device, int64_t size, int64_t total, int64_t free, void* data) {
  *(int*)data += 1;
  observed[0] += 1;
  observed[1] = device;
  observed[2] = size;
  observed[3] = total;
  observed[4] = free;
  observed[5] = tidemark_memory_allocated(NULL, NULL);
  observed[6] = tidemark_memory_stat(NULL, NULL, "num_ooms");
  observed[7] = -1;
  if (slots[0] != NULL) { /* what it calls is the program's own again */
    observed[7] = mtiaFree(slots[0]);
    slots[0] = NULL;
  }
}

static void print_stats(int code, const tidemark_device_stats* stats) {
  printf("%d %lld %lld %lld %lld %lld\n", code, (long long)stats->allocated_bytes.all.current,
         (long long)stats->allocated_bytes.all.peak, (long long)stats->allocated_bytes.all.freed,
         (long long)stats->reserved_bytes.all.current, (long long)stats->held_peak_bytes);
}

static void print_peaks(int code, const tidemark_device_stats* stats) {
  printf("%d %lld %lld %lld %lld\n", code, (long long)stats->allocated_bytes.all.peak,
         (long long)stats->reserved_bytes.all.peak, (long long)stats->held_peak_bytes,
         (long long)stats->allocated_bytes.all.freed);
}

static int64_t number_of(const char* word) { return word == NULL ? 0 : strtoll(word, NULL, 10); }

static void allocate(size_t size) {
  for (int slot = 0; slot < kSlots; ++slot) {
    if (slots[slot] == NULL) {
      const mtiaResult_t code = mtiaMalloc(&slots[slot], size);
      if (code == MTIA_SUCCESS) {
        printf("ok %d\n", slot);
      } else {
        printf("error %d\n", (int)code);
      }
      return;
    }
  }
  puts("no slot");
}

static void become_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", (int)getpid());
    return;
  }
  int status = 0;
  waitpid(child, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Commands about memory; 0: none of them. */
static int do_memory_command(const char* command, const char* first, const char* second) {
  tidemark_device_stats stats = {.size = sizeof stats};
  if (strcmp(command, "stats") == 0) {
    const int code = tidemark_memory_stats(subject, or_null(first), &stats);
    print_stats(code, &stats);
  } else if (strcmp(command, "stat") == 0) {
    printf("%lld\n", (long long)tidemark_memory_stat(subject, or_null(first), or_null(second)));
  } else if (strcmp(command, "numbers") == 0) {
    const char* device = or_null(first);
    printf("%lld %lld %lld %lld\n", (long long)tidemark_memory_allocated(subject, device),
           (long long)tidemark_max_memory_allocated(subject, device),
           (long long)tidemark_memory_reserved(subject, device),
           (long long)tidemark_max_memory_reserved(subject, device));
  } else if (strcmp(command, "reset") == 0) {
    printf("%d\n", tidemark_reset_peak_memory_stats(subject, or_null(first)));
  } else if (strcmp(command, "accumulated") == 0) {
    printf("%d\n", tidemark_reset_accumulated_memory_stats(subject, or_null(first)));
  } else if (strcmp(command, "empty") == 0) {
    printf("%d\n", tidemark_empty_cache(subject, or_null(first)));
  } else if (strcmp(command, "limit") == 0) {
    printf("%d\n", tidemark_set_memory_limit(subject, or_null(first), strtoull(second, NULL, 10)));
  } else if (strcmp(command, "limited") == 0) {
    printf("%lld\n", (long long)tidemark_memory_limit(subject, or_null(first)));
  } else if (strcmp(command, "info") == 0) {
    uint64_t free = 0;
    uint64_t total = 0;
    const int code = tidemark_get_memory_info(subject, or_null(first), &free, &total);
    printf("%d %llu %llu\n", code, (unsigned long long)free, (unsigned long long)total);
  } else if (strcmp(command, "push") == 0) {
    printf("%d\n", tidemark_phase_push(or_null(first)));
  } else if (strcmp(command, "pop") == 0) {
    const int code = tidemark_phase_pop(&stats);
    print_peaks(code, &stats);
  } else if (strcmp(command, "phase") == 0) {
    const int code = tidemark_phase_stats(or_null(first), &stats);
    print_peaks(code, &stats);
  } else if (strcmp(command, "begin") == 0) {
    printf("%lld\n", (long long)tidemark_phase_begin());
  } else if (strcmp(command, "read") == 0) {
    const int code = tidemark_phase_read(number_of(first), or_null(second), &stats);
    print_peaks(code, &stats);
  } else if (strcmp(command, "end") == 0) {
    printf("%d\n", tidemark_phase_end(number_of(first)));
  } else if (strcmp(command, "name") == 0) {
    puts(tidemark_phase_name() == NULL ? "-" : tidemark_phase_name());
  } else {
    return 0;
  }
  return 1;
}

/* Commands about processes, devices and the rest; 0: none of them. */
static int do_other_command(const char* command, const char* first, const char* second, const char* third) {
  static int calls = 0;
  if (strcmp(command, "subject") == 0) {
    tidemark_close(subject);
    subject = NULL;
    printf("%d\n", or_null(first) == NULL ? 0 : tidemark_open(first, &subject));
  } else if (strcmp(command, "devices") == 0) {
    for (int i = 0; tidemark_process_device(subject, i) != NULL; ++i) {
      printf("%s%s", i == 0 ? "" : " ", tidemark_process_device(subject, i));
    }
    puts("");
  } else if (strcmp(command, "state") == 0) {
    printf("%s %lld\n", tidemark_process_state(subject), (long long)tidemark_process_pid(subject));
  } else if (strcmp(command, "identity") == 0) {
    printf("%s [", tidemark_process_id(subject));
    printf("%s]\n", tidemark_process_label(subject));
  } else if (strcmp(command, "loaded") == 0) {
    const char* backend = tidemark_current_backend();
    printf("%d %d %d %s\n", tidemark_is_loaded(), tidemark_is_initialized("cuda"), tidemark_is_initialized("mtia"),
           backend == NULL ? "-" : backend);
  } else if (strcmp(command, "driver") == 0) {
    printf("%d %d\n", tidemark_device_count(or_null(first)), tidemark_current_device(or_null(first)));
  } else if (strcmp(command, "init") == 0) {
    printf("%d\n", tidemark_init(or_null(first)));
  } else if (strcmp(command, "set") == 0) {
    printf("%d\n", tidemark_set_device(first, atoi(second)));
  } else if (strcmp(command, "record") == 0) {
    printf("%d\n", tidemark_record_memory_history(subject, or_null(first), or_null(second), strtoull(third, NULL, 10)));
  } else if (strcmp(command, "export") == 0) {
    printf("%d\n", tidemark_export_memory_history(subject, or_null(first)));
  } else if (strcmp(command, "observe") == 0) {
    printf("%d\n", tidemark_attach_out_of_memory_observer(&observe, &calls));
  } else if (strcmp(command, "ignore") == 0) {
    printf("%d\n", tidemark_detach_out_of_memory_observer(&observe, &calls));
  } else if (strcmp(command, "observed") == 0) {
    printf("%lld %lld %lld %lld %lld %lld %lld %lld\n", observed[0], observed[1], observed[2], observed[3], observed[4],
           observed[5], observed[6], observed[7]);
  } else if (strcmp(command, "detail") == 0) {
    puts(tidemark_error_detail());
  } else {
    return 0;
  }
  return 1;
}

static void do_command(char* line);

static void* do_in_thread(void* line) {
  do_command(line);
  return NULL;
}

static void do_command(char* line) {
  char* rest = NULL;
  const char* command = strtok_r(line, " \n", &rest);
  if (command == NULL) {
    puts("nothing");
    return;
  }
  if (strcmp(command, "thread") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_in_thread, rest) == 0) {
      pthread_join(thread, NULL);
    }
    return;
  }
  const char* first = strtok_r(NULL, " \n", &rest);
  const char* second = strtok_r(NULL, " \n", &rest);
  const char* third = strtok_r(NULL, " \n", &rest);
  if (strcmp(command, "alloc") == 0) {
    allocate((size_t)strtoull(first, NULL, 10));
  } else if (strcmp(command, "free") == 0) {
    const int slot = atoi(first);
    printf("%d\n", (int)mtiaFree(slots[slot]));
    slots[slot] = NULL;
  } else if (strcmp(command, "device") == 0) {
    printf("%d\n", (int)mtiaSetDevice(atoi(first)));
  } else if (strcmp(command, "fork") == 0) {
    become_child();
  } else if (strcmp(command, "exit") == 0) {
    exit(0);
  } else if (!do_memory_command(command, first, second) && !do_other_command(command, first, second, third)) {
    puts("no such command");
  }
}

static void do_commands(void) {
  static char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    do_command(line);
    fflush(stdout);
  }
}

int main(void) {
  atexit(do_commands); /* before anything of the library: its own handlers, if it had any, would have run by then */
  do_commands();
  return 0;
}
