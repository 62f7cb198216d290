/* A library that is there and nothing more. */
int nothing_to_see;
