/* What the small programs have in common: a line per call, with the driver's word for how it went. */
#ifndef MTIA_SAY_H
#define MTIA_SAY_H

#include <mtia.h>
#include <stdio.h>

static inline mtiaResult_t say(const char* what, mtiaResult_t result) {
  printf("%s: %s\n", what, mtiaGetErrorName(result));
  return result;
}

/* The same with a size. */
static inline mtiaResult_t say_of(const char* what, size_t size, mtiaResult_t result) {
  printf("%s %zu: %s\n", what, size, mtiaGetErrorName(result));
  return result;
}

#endif
