// A library with nothing in it: what any preload costs, whoever wrote it.
