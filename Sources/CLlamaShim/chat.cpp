#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#include <llama.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "templates.hpp"

#if HEARTH_HAS_COMMON
#include "jinja/lexer.h"
#include "jinja/parser.h"
#endif

using hearth::copied;
using hearth::guarded;

void hearth_string_free(char *text) { std::free(text); }

bool hearth_chat_templates_are_complete(void) { return HEARTH_HAS_COMMON; }

#if HEARTH_HAS_COMMON

namespace {

/// The place and the reason of a syntax error; empty if the template can be read. llama.cpp throws its parser's
/// exceptions again by value, which loses their text.
std::string syntax_error(const std::string &source) {
    try {
        jinja::lexer lexer;
        jinja::parse_from_tokens(lexer.tokenize(source));
    } catch (const std::exception &failure) {
        return failure.what();
    }
    return "";
}

}  // namespace

hearth_chat_templates *hearth_chat_templates_new(const llama_model *model, const char *source, char **error) {
    static std::once_flag quiet;
    return guarded(error, "its syntax is not known", [&]() -> hearth_chat_templates * {
        // The common library has its own log, which writes to the terminal; its failures are exceptions.
        std::call_once(quiet, [] { common_log_set_verbosity_thold(-1); });
        try {
            return new hearth_chat_templates{common_chat_templates_init(model, source ? source : "")};
        } catch (const std::exception &) {
            const char *own = source || !model ? source : llama_model_chat_template(model, nullptr);
            const std::string reason = own ? syntax_error(own) : "";
            if (reason.empty()) throw;
            throw std::runtime_error(reason);
        }
    });
}

namespace {

/// What a template reads of a request.
common_chat_templates_inputs inputs_of(const hearth_chat_templates *templates, const hearth_chat_request *request) {
    common_chat_templates_inputs inputs;
    for (size_t index = 0; index < request->count; index++) {
        const hearth_chat_message &turn = request->messages[index];
        common_chat_msg message;
        message.role = turn.role;
        message.content.assign(turn.content, turn.content_length);
        if (turn.thinking) message.reasoning_content = turn.thinking;
        if (turn.calls) hearth::read_calls(message, turn.calls);
        if (turn.call_id) message.tool_call_id = turn.call_id;
        if (turn.tool_name) message.tool_name = turn.tool_name;
        inputs.messages.push_back(std::move(message));
    }
    inputs.add_generation_prompt = true;
    inputs.enable_thinking = request->enable_thinking;
    if (request->tools) hearth::offer_tools(inputs, templates->templates.get(), request->tools);
    return inputs;
}

}  // namespace

char *hearth_chat_templates_apply(
    const hearth_chat_templates *templates, const hearth_chat_request *request, size_t *length, size_t *opening,
    char **error) {
    return guarded(error, "it does not accept this conversation", [&]() -> char * {
        *opening = 0;
        common_chat_templates_inputs inputs = inputs_of(templates, request);
        // The prompt describes the tools; the grammar of their calls is made apart from it.
        inputs.tool_choice = COMMON_CHAT_TOOL_CHOICE_NONE;
        const common_chat_params params = common_chat_templates_apply(templates->templates.get(), inputs);
        *length = params.prompt.size();
        const std::string &answer = params.generation_prompt;
        if (answer.size() <= *length && params.prompt.compare(*length - answer.size(), answer.size(), answer) == 0)
            *opening = answer.size();
        return copied(params.prompt);
    });
}

hearth_call_format *hearth_call_format_new(
    const hearth_chat_templates *templates, const hearth_chat_request *request, char **error) {
    return guarded(error, "the template's way of calling tools cannot be described", [&]() -> hearth_call_format * {
        const common_chat_templates_inputs inputs = inputs_of(templates, request);
        const common_chat_params params = common_chat_templates_apply(templates->templates.get(), inputs);
        hearth_call_format *format = hearth::call_format(params, inputs, templates->templates.get());
        if (!format) throw std::runtime_error("it does not say how tools are called");
        return format;
    });
}

#else

struct hearth_chat_templates {
    std::string source;
};

namespace {

/// The prompt by llama.cpp's fixed list; NULL if the template is not in it.
char *apply_known(const std::string &source, const hearth_chat_request *request, size_t *length) {
    std::vector<std::string> contents;
    std::vector<llama_chat_message> turns;
    size_t size = 256;
    contents.reserve(request->count);
    for (size_t index = 0; index < request->count; index++) {
        const hearth_chat_message &turn = request->messages[index];
        std::string &content = contents.emplace_back(turn.content, turn.content_length);
        // The list takes C strings, which end at a NUL. A removed NUL could join the letters around it to a control
        // token.
        std::replace(content.begin(), content.end(), '\0', ' ');
        turns.push_back({turn.role, content.c_str()});
        size += 2 * content.size() + 64;
    }
    for (int attempt = 0; attempt < 2; attempt++) {
        std::vector<char> buffer(size);
        const int32_t written = llama_chat_apply_template(
            source.c_str(), turns.data(), turns.size(), true, buffer.data(), static_cast<int32_t>(buffer.size()));
        if (written < 0) break;
        if (static_cast<size_t>(written) <= buffer.size()) {
            *length = static_cast<size_t>(written);
            return copied({buffer.data(), *length});
        }
        size = static_cast<size_t>(written) + 1;
    }
    return nullptr;
}

}  // namespace

hearth_chat_templates *hearth_chat_templates_new(const llama_model *model, const char *source, char **error) {
    return guarded(error, "it cannot be read", [&]() -> hearth_chat_templates * {
        if (!source) source = llama_model_chat_template(model, nullptr);
        return new hearth_chat_templates{source ? source : "chatml"};
    });
}

char *hearth_chat_templates_apply(
    const hearth_chat_templates *templates, const hearth_chat_request *request, size_t *length, size_t *opening,
    char **error) {
    return guarded(error, "it does not accept this conversation", [&]() -> char * {
        *opening = 0;
        if (char *prompt = apply_known(templates->source, request, length)) return prompt;
        if (error) *error = copied("this build of llama.cpp does not know it");
        return nullptr;
    });
}

#endif

void hearth_chat_templates_free(hearth_chat_templates *templates) { delete templates; }

#endif
