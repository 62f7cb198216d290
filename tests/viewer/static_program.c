/* A program without a loader: nothing can be preloaded into it. Exits with 7. */
int main(void) { return 7; }
