// What templates and the calls of tools written by them have in common.
#pragma once

// A system-wide libllama comes without the headers of common/.
#if __has_include("chat.h") && __has_include("jinja/parser.h")
#define HEARTH_HAS_COMMON 1
#include "chat.h"
#include "log.h"
#else
#define HEARTH_HAS_COMMON 0
#endif

#if HEARTH_HAS_COMMON

struct hearth_chat_templates {
    /// Nothing where Jinja cannot read the template.
    common_chat_templates_ptr templates;
    /// Then the template, which llama.cpp knows by its looks.
    std::string known;
};

namespace hearth {

/// Writes tools, as JSON, into what a template gets, and lets it call several at once where it can.
void offer_tools(common_chat_templates_inputs &inputs, const common_chat_templates *templates, const char *tools);

/// Reads the calls of an earlier answer, as JSON.
void read_calls(common_chat_msg &message, const char *calls);

/// How the calls of a rendered prompt are written; NULL where that cannot be told.
hearth_call_format *call_format(
    const common_chat_params &params, const common_chat_templates_inputs &inputs,
    const common_chat_templates *templates);

}  // namespace hearth

#endif
