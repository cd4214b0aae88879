// Functions compiled for several instruction sets; the program picks one of each when it starts.
#pragma once

// Sanitizers cannot run the resolvers of cloned functions.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MF_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define MF_CLONES
#endif
