#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#include <string>

#include "templates.hpp"

using hearth::copied;
using hearth::guarded;

#if HEARTH_HAS_COMMON

namespace {

void trim(std::string &text) {
    const char *space = " \t\r\n";
    text.erase(0, text.find_first_not_of(space));
    const size_t last = text.find_last_not_of(space);
    if (last != std::string::npos) text.erase(last + 1);
}

/// Removes `mark` and all that follows its last occurrence.
void cut_from(std::string &text, const std::string &mark) {
    const size_t place = mark.empty() ? std::string::npos : text.rfind(mark);
    if (place != std::string::npos) text.erase(place);
}

/// Removes everything up to the end of the last occurrence of `mark`.
void cut_to(std::string &text, const std::string &mark) {
    const size_t place = mark.empty() ? std::string::npos : text.rfind(mark);
    if (place != std::string::npos) text.erase(0, place + mark.size());
}

}  // namespace

char *hearth_chat_templates_frame(const hearth_chat_templates *templates, char **error) {
    return guarded(error, "the template's thinking cannot be described", [&]() -> char * {
        common_json result = common_json::object();
        common_chat_templates_inputs inputs;
        inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
        common_chat_msg question;
        question.role = "user";
        question.content = "Question";
        inputs.messages = {question};
        inputs.add_generation_prompt = true;
        const common_chat_params asked = common_chat_templates_apply(templates->templates.get(), inputs);
        std::string opening = asked.thinking_start_tag, closing;
        for (std::string end : asked.thinking_end_tags) {
            trim(end);
            if (closing.empty()) closing = end;
        }
        trim(opening);
        if (!asked.supports_thinking || opening.empty() || closing.empty()) return copied(result.dump_safe());
        result["opening"] = opening;
        result["closing"] = closing;

        // The text around an answer in a history is the text that a model writes around its answer, except its
        // thinking.
        const std::string content = "Xanadu", &turn = asked.generation_prompt;
        common_chat_msg answer;
        answer.role = "assistant";
        answer.content = content;
        inputs.messages.push_back(answer);
        inputs.add_generation_prompt = false;
        std::string told;
        try {
            told = common_chat_templates_apply(templates->templates.get(), inputs).prompt;
        } catch (const std::exception &) {
            return copied(result.dump_safe());
        }
        if (turn.size() > asked.prompt.size() || told.compare(0, asked.prompt.size() - turn.size(),
                asked.prompt, 0, asked.prompt.size() - turn.size()) != 0)
            return copied(result.dump_safe());
        std::string role = turn, lead = told.substr(asked.prompt.size() - turn.size());
        cut_from(role, opening);
        const size_t place = lead.find(content);
        if (place == std::string::npos || lead.compare(0, role.size(), role) != 0) return copied(result.dump_safe());
        result["trail"] = lead.substr(place + content.size());
        lead = lead.substr(role.size(), place - role.size());
        cut_to(lead, closing);
        trim(lead);
        result["lead"] = lead;
        result["turn"] = role;
        return copied(result.dump_safe());
    });
}

#else

char *hearth_chat_templates_frame(const hearth_chat_templates *, char **) { return copied("{}"); }

#endif

#endif
