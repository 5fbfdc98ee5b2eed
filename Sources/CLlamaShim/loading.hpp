// Turns llama.cpp's abort message about a file into an exception; see load.cpp.
#pragma once

namespace hearth {

/// During its lifetime, an assertion that fails on this thread throws instead of ending the process. Nests.
struct Loading {
    Loading();
    ~Loading();
    Loading(const Loading &) = delete;
    Loading &operator=(const Loading &) = delete;

private:
    bool was_loading;
};

}  // namespace hearth
