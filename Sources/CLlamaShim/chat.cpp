#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#include <llama.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "templates.hpp"

using hearth::copied;
using hearth::guarded;

void hearth_string_free(char *text) { std::free(text); }

bool hearth_chat_templates_are_complete(void) { return HEARTH_HAS_COMMON; }

#if HEARTH_HAS_COMMON

hearth_chat_templates *hearth_chat_templates_new(const llama_model *model, const char *source, char **error) {
    static std::once_flag quiet;
    return guarded(error, "the model's chat template cannot be parsed", [&]() -> hearth_chat_templates * {
        // The common library has a log of its own that writes to the terminal; failures reach us as exceptions.
        std::call_once(quiet, [] { common_log_set_verbosity_thold(-1); });
        auto templates = common_chat_templates_init(model, source ? source : "");
        return new hearth_chat_templates{std::move(templates)};
    });
}

char *hearth_chat_templates_apply(
    const hearth_chat_templates *templates, const hearth_chat_request *request, hearth_call_format **format,
    size_t *length, char **error) {
    return guarded(error, "the model's chat template does not accept this conversation", [&]() -> char * {
        common_chat_templates_inputs inputs;
        for (size_t index = 0; index < request->count; index++) {
            const hearth_chat_message &turn = request->messages[index];
            common_chat_msg message;
            message.role = turn.role;
            message.content.assign(turn.content, turn.content_length);
            if (turn.calls) hearth::read_calls(message, turn.calls);
            if (turn.call_id) message.tool_call_id = turn.call_id;
            if (turn.tool_name) message.tool_name = turn.tool_name;
            inputs.messages.push_back(std::move(message));
        }
        inputs.add_generation_prompt = true;
        inputs.enable_thinking = request->enable_thinking;
        if (request->tools) hearth::offer_tools(inputs, templates->templates.get(), request->tools);
        const common_chat_params params = common_chat_templates_apply(templates->templates.get(), inputs);
        if (request->tools && format) *format = hearth::call_format(params, inputs, templates->templates.get());
        *length = params.prompt.size();
        return copied(params.prompt);
    });
}

#else

struct hearth_chat_templates {
    std::string source;
};

hearth_chat_templates *hearth_chat_templates_new(const llama_model *model, const char *source, char **error) {
    return guarded(error, "the model's chat template cannot be read", [&]() -> hearth_chat_templates * {
        if (!source) source = llama_model_chat_template(model, nullptr);
        return new hearth_chat_templates{source ? source : "chatml"};
    });
}

char *hearth_chat_templates_apply(
    const hearth_chat_templates *templates, const hearth_chat_request *request, hearth_call_format **, size_t *length,
    char **error) {
    return guarded(error, "the model's chat template does not accept this conversation", [&]() -> char * {
        std::vector<std::string> contents;
        std::vector<llama_chat_message> turns;
        size_t size = 256;
        contents.reserve(request->count);
        for (size_t index = 0; index < request->count; index++) {
            const hearth_chat_message &turn = request->messages[index];
            contents.emplace_back(turn.content, turn.content_length);
            turns.push_back({turn.role, contents.back().c_str()});
            size += 2 * contents.back().size() + 64;
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            std::vector<char> buffer(size);
            const int32_t written = llama_chat_apply_template(
                templates->source.c_str(), turns.data(), turns.size(), true, buffer.data(),
                static_cast<int32_t>(buffer.size()));
            if (written < 0) break;
            if (static_cast<size_t>(written) <= buffer.size()) {
                *length = static_cast<size_t>(written);
                return copied({buffer.data(), *length});
            }
            size = static_cast<size_t>(written) + 1;
        }
        if (error) *error = copied("this build of llama.cpp does not know the model's chat template");
        return nullptr;
    });
}

#endif

void hearth_chat_templates_free(hearth_chat_templates *templates) { delete templates; }

#endif
