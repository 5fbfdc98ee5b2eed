#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#if __has_include("json-schema-to-grammar.h")
#include "json-schema-to-grammar.h"

char *hearth_schema_to_gbnf(const char *schema, char **error) {
    return hearth::guarded(error, "llama.cpp cannot make a grammar of it", [&]() -> char * {
        return hearth::copied(json_schema_to_grammar(common_json::parse(schema), true));
    });
}

#else

char *hearth_schema_to_gbnf(const char *, char **error) {
    if (error) *error = hearth::copied("this build of llama.cpp comes without its schema reader");
    return nullptr;
}

#endif

#endif
