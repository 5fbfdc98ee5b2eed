#include "CLlamaShim.h"
#include "guarded.hpp"

#ifdef HEARTH_LLAMA

#include <memory>
#include <string>

#include "templates.hpp"

using hearth::copied;
using hearth::guarded;

#if HEARTH_HAS_COMMON

struct hearth_call_format {
    common_chat_parser_params parser;
    std::string grammar;
    common_json words;
    common_json marks;
    common_json stops;
};

namespace hearth {

void offer_tools(common_chat_templates_inputs &inputs, const common_chat_templates *templates, const char *tools) {
    const common_json list = common_json::parse(tools);
    for (size_t index = 0; index < list.size(); index++) {
        const common_json &tool = list.at(index);
        inputs.tools.push_back(
            {tool.at("name").get<std::string>(), tool.at("description").get<std::string>(),
             tool.at("parameters").get<std::string>()});
    }
    // The thinking before a call is read with it: some formats recognise calls only after the end of the thinking.
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    auto abilities = common_chat_templates_get_caps(templates);
    inputs.parallel_tool_calls = abilities["supports_parallel_tool_calls"];
}

void read_calls(common_chat_msg &message, const char *calls) {
    const common_json list = common_json::parse(calls);
    for (size_t index = 0; index < list.size(); index++) {
        const common_json &call = list.at(index);
        message.tool_calls.push_back(
            {call.at("name").get<std::string>(), call.at("arguments").get<std::string>(),
             call.at("id").get<std::string>()});
    }
}

namespace {

/// The grammar with the rule for calls as its root; empty where there is none.
std::string rooted_at_calls(const std::string &grammar) {
    const std::string root = "root ::= ";
    const size_t begin = grammar.rfind(root, 0) == 0 ? 0 : grammar.find("\n" + root);
    if (begin == std::string::npos || grammar.find("\ntool-call ::= ") == std::string::npos) return "";
    const size_t start = begin == 0 ? 0 : begin + 1;
    const size_t end = grammar.find('\n', start);
    return grammar.substr(0, start) + root + "tool-call" + (end == std::string::npos ? "" : grammar.substr(end));
}

}  // namespace

hearth_call_format *call_format(
    const common_chat_params &params, const common_chat_templates_inputs &inputs,
    const common_chat_templates *templates) {
    auto format = std::make_unique<hearth_call_format>();
    format->parser = common_chat_parser_params(params);
    format->parser.reasoning_format = inputs.reasoning_format;
    format->parser.parser.load(params.parser);
    format->grammar = params.grammar;
    format->words = common_json::array();
    format->marks = common_json::array();
    format->stops = common_json::array();
    for (const auto &trigger : params.grammar_triggers) {
        // Patterns begin in the middle of control tokens, which are no part of an answer's text here.
        if (trigger.type != COMMON_GRAMMAR_TRIGGER_TYPE_WORD || trigger.value.empty()) return nullptr;
        format->words.push_back(trigger.value);
    }
    if (params.grammar_triggers.empty()) {
        // Calls without an opening mark. The grammar for an answer that must be a call describes them.
        common_chat_templates_inputs one = inputs;
        one.messages.resize(1);
        one.messages[0] = common_chat_msg();
        one.messages[0].role = "user";
        one.messages[0].content = "?";
        one.tool_choice = COMMON_CHAT_TOOL_CHOICE_REQUIRED;
        format->grammar = rooted_at_calls(common_chat_templates_apply(templates, one).grammar);
    }
    if (format->grammar.empty()) return nullptr;
    for (const auto &mark : params.preserved_tokens) format->marks.push_back(mark);
    for (const auto &stop : params.additional_stops) format->stops.push_back(stop);
    return format.release();
}

}  // namespace hearth

bool hearth_chat_templates_know_tools(const hearth_chat_templates *templates) {
    char *error = nullptr;
    const char *known = guarded(&error, "", [&]() -> const char * {
        auto abilities = common_chat_templates_get_caps(templates->templates.get());
        return abilities["supports_tools"] && abilities["supports_tool_calls"] ? "" : nullptr;
    });
    hearth_string_free(error);
    return known != nullptr;
}

char *hearth_call_format_describe(const hearth_call_format *format, char **error) {
    return guarded(error, "the template's way of calling tools cannot be described", [&]() -> char * {
        common_json result = common_json::object();
        result["grammar"] = format->grammar;
        result["words"] = format->words;
        result["marks"] = format->marks;
        result["stops"] = format->stops;
        return copied(result.dump_safe());
    });
}

char *hearth_call_format_parse(const hearth_call_format *format, const char *text, size_t length, char **error) {
    return guarded(error, "the calls cannot be read", [&]() -> char * {
        const common_chat_msg message = common_chat_parse(std::string(text, length), false, format->parser);
        common_json result = common_json::array();
        for (const auto &call : message.tool_calls) {
            common_json item = common_json::object();
            item["id"] = call.id;
            item["name"] = call.name;
            item["arguments"] = call.arguments;
            result.push_back(item);
        }
        return copied(result.dump_safe());
    });
}

void hearth_call_format_free(hearth_call_format *format) { delete format; }

#else

struct hearth_call_format {};

bool hearth_chat_templates_know_tools(const hearth_chat_templates *) { return false; }

hearth_call_format *hearth_call_format_new(const hearth_chat_templates *, const hearth_chat_request *, char **error) {
    if (error) *error = copied("this build of llama.cpp comes without its template reader");
    return nullptr;
}

char *hearth_call_format_describe(const hearth_call_format *, char **error) {
    if (error) *error = copied("this build of llama.cpp comes without its template reader");
    return nullptr;
}

char *hearth_call_format_parse(const hearth_call_format *, const char *, size_t, char **error) {
    return hearth_call_format_describe(nullptr, error);
}

void hearth_call_format_free(hearth_call_format *format) { delete format; }

#endif

#endif
