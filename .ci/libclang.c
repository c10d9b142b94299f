/* Whether the library named by the first argument is a libclang that can read a C header, as bindgen asks of it. */
#include <dlfcn.h>
#include <stdio.h>

typedef void *(*create_index)(int, int);
typedef void *(*parse)(void *, const char *, const char *const *, int, void *, unsigned, unsigned);
typedef unsigned (*diagnostics)(void *);

int main(int argc, char **argv) {
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : 0;
    if (!library) return 1;
    create_index create = (create_index)dlsym(library, "clang_createIndex");
    parse read = (parse)dlsym(library, "clang_parseTranslationUnit");
    diagnostics count = (diagnostics)dlsym(library, "clang_getNumDiagnostics");
    if (!create || !read || !count) return 2;
    void *unit = read(create(0, 0), argv[2], 0, 0, 0, 0, 0);
    /* One that finds no stddef.h comes without its own headers. */
    return unit && count(unit) == 0 ? 0 : 3;
}
