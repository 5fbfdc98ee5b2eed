// The chat templates of a model and the format of their tool calls.
#pragma once

// A system-wide libllama is installed without the headers of common/.
#if __has_include("chat.h") && __has_include("jinja/parser.h")
#define HEARTH_HAS_COMMON 1
#include "chat.h"
#include "log.h"
#else
#define HEARTH_HAS_COMMON 0
#endif

#if HEARTH_HAS_COMMON

struct hearth_chat_templates {
    common_chat_templates_ptr templates;
};

namespace hearth {

/// Adds tools, as JSON, to a template's inputs, and permits several calls at once if the template supports them.
void offer_tools(common_chat_templates_inputs &inputs, const common_chat_templates *templates, const char *tools);

/// Reads the calls of an earlier answer, as JSON.
void read_calls(common_chat_msg &message, const char *calls);

/// The format of the calls in an answer to a rendered prompt; NULL if it cannot be determined.
hearth_call_format *call_format(
    const common_chat_params &params, const common_chat_templates_inputs &inputs,
    const common_chat_templates *templates);

}  // namespace hearth

#endif
