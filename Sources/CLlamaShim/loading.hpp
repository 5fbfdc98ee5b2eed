// Turns llama.cpp's last words about a file into an exception; see load.cpp.
#pragma once

namespace hearth {

/// While one lives, an assertion that this thread breaks throws instead of ending the process.
struct Loading {
    Loading();
    ~Loading();
    Loading(const Loading &) = delete;
    Loading &operator=(const Loading &) = delete;
};

}  // namespace hearth
