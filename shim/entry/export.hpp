// Marks what the library shows; everything else is hidden (exports.map holds the same names).
#pragma once

#define TIDEMARK_EXPORT __attribute__((visibility("default")))
