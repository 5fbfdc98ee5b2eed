// The conversion of exceptions to reasons, for every function that may meet an exception.
#pragma once
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

namespace hearth {

inline char *copied(const std::string &text) {
    char *copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (copy) std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

/// Runs `body` and turns any exception into a reason; `vague` is the reason of an exception without text.
template <typename Body>
auto guarded(char **error, const char *vague, Body body) -> decltype(body()) {
    try {
        return body();
    } catch (const std::exception &failure) {
        // The template engine rethrows by value, which keeps only the name of the base class.
        const std::string what = failure.what();
        if (error) *error = copied(what.empty() || what == "std::exception" ? vague : what);
    } catch (...) {
        if (error) *error = copied(vague);
    }
    return nullptr;
}

}  // namespace hearth
