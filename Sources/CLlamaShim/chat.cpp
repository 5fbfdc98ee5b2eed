#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#include <llama.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

using hearth::copied;
using hearth::guarded;

// A system-wide libllama comes without the headers of common/.
#if __has_include("chat.h") && __has_include("jinja/parser.h")
#define HEARTH_HAS_COMMON 1
#include "chat.h"
#include "log.h"
#else
#define HEARTH_HAS_COMMON 0
#endif

void hearth_string_free(char *text) { std::free(text); }

bool hearth_chat_templates_are_complete(void) { return HEARTH_HAS_COMMON; }

#if HEARTH_HAS_COMMON

struct hearth_chat_templates {
    common_chat_templates_ptr templates;
};

hearth_chat_templates *hearth_chat_templates_new(const llama_model *model, char **error) {
    static std::once_flag quiet;
    return guarded(error, "the model's chat template cannot be parsed", [&]() -> hearth_chat_templates * {
        // The common library has a log of its own that writes to the terminal; failures reach us as exceptions.
        std::call_once(quiet, [] { common_log_set_verbosity_thold(-1); });
        auto templates = common_chat_templates_init(model, "");
        return new hearth_chat_templates{std::move(templates)};
    });
}

char *hearth_chat_templates_apply(
    const hearth_chat_templates *templates, const hearth_chat_message *messages, size_t count,
    bool add_generation_prompt, bool enable_thinking, size_t *length, char **error) {
    return guarded(error, "the model's chat template does not accept this conversation", [&]() -> char * {
        common_chat_templates_inputs inputs;
        for (size_t index = 0; index < count; index++) {
            common_chat_msg message;
            message.role = messages[index].role;
            message.content.assign(messages[index].content, messages[index].content_length);
            inputs.messages.push_back(std::move(message));
        }
        inputs.add_generation_prompt = add_generation_prompt;
        inputs.enable_thinking = enable_thinking;
        const std::string prompt = common_chat_templates_apply(templates->templates.get(), inputs).prompt;
        *length = prompt.size();
        return copied(prompt);
    });
}

#else

struct hearth_chat_templates {
    std::string source;
};

hearth_chat_templates *hearth_chat_templates_new(const llama_model *model, char **error) {
    return guarded(error, "the model's chat template cannot be read", [&]() -> hearth_chat_templates * {
        const char *source = llama_model_chat_template(model, nullptr);
        return new hearth_chat_templates{source ? source : "chatml"};
    });
}

char *hearth_chat_templates_apply(
    const hearth_chat_templates *templates, const hearth_chat_message *messages, size_t count,
    bool add_generation_prompt, bool, size_t *length, char **error) {
    return guarded(error, "the model's chat template does not accept this conversation", [&]() -> char * {
        std::vector<std::string> contents;
        std::vector<llama_chat_message> turns;
        size_t size = 256;
        contents.reserve(count);
        for (size_t index = 0; index < count; index++) {
            contents.emplace_back(messages[index].content, messages[index].content_length);
            turns.push_back({messages[index].role, contents.back().c_str()});
            size += 2 * contents.back().size() + 64;
        }
        for (int attempt = 0; attempt < 2; attempt++) {
            std::vector<char> buffer(size);
            const int32_t written = llama_chat_apply_template(
                templates->source.c_str(), turns.data(), turns.size(), add_generation_prompt, buffer.data(),
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
