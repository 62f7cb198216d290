// What clang's -Wthread-safety needs to prove that the lock is held where it must be; nothing for other compilers.
#pragma once

#if defined(__clang__)
#define TIDEMARK_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define TIDEMARK_THREAD_ATTRIBUTE(attribute)
#endif

#define TIDEMARK_CAPABILITY(name) TIDEMARK_THREAD_ATTRIBUTE(capability(name))
#define TIDEMARK_SCOPED_CAPABILITY TIDEMARK_THREAD_ATTRIBUTE(scoped_lockable)
#define TIDEMARK_GUARDED_BY(lock) TIDEMARK_THREAD_ATTRIBUTE(guarded_by(lock))
#define TIDEMARK_REQUIRES(lock) TIDEMARK_THREAD_ATTRIBUTE(requires_capability(lock))
#define TIDEMARK_EXCLUDES(lock) TIDEMARK_THREAD_ATTRIBUTE(locks_excluded(lock))
#define TIDEMARK_ACQUIRE(...) TIDEMARK_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TIDEMARK_TRY_ACQUIRE(...) TIDEMARK_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define TIDEMARK_RELEASE(...) TIDEMARK_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
