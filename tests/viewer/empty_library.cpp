// An empty library in the place of libtidemark.so: what run loads is seen, and nothing happens.
extern "C" int tidemark_test_empty_library() { return 0; }
