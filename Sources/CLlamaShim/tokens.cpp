#include "CLlamaShim.h"
#include "guarded.hpp"
#include "loading.hpp"

#ifdef HEARTH_LLAMA

#include <llama.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

/// A token that llama.cpp cuts out of a text by its name.
struct Special {
    llama_token token;
    std::string_view name;
    bool is_user_defined;
    bool strips_left;
    bool strips_right;
};

/// A part of a text: a token cut out of it, or letters.
struct Span {
    size_t start;
    size_t length;
    llama_token token;
};

uint16_t pair(const char *text) {
    return static_cast<uint16_t>(static_cast<uint8_t>(text[0]) << 8 | static_cast<uint8_t>(text[1]));
}

bool is_blank(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

/// The most cut out tokens that one call of llama.cpp receives: its time grows with their square.
constexpr size_t most_cut = 128;
/// A token without text of its own, such as an unknown character, stands for at most one character.
constexpr uint16_t longest_character = 4;

}  // namespace

struct hearth_tokenizer {
    const llama_vocab *vocab;
    const hearth_text_changes changes;
    /// In llama.cpp's order: the longest names first.
    std::vector<Special> specials;
    /// The names, and whether they are cut out of every text.
    std::unordered_map<std::string_view, bool> are_user_defined;
    /// The lengths of the names that begin with two bytes.
    std::unordered_map<uint16_t, std::vector<size_t>> lengths;
    /// The letters that are names.
    std::array<bool, 256> has_letter = {};
    /// The bytes of the longest token that begins with two bytes; empty if a token can stand for any number of bytes.
    std::vector<uint16_t> longest;

    hearth_tokenizer(const llama_vocab *vocab, const hearth_text_changes &changes) : vocab(vocab), changes(changes) {
        const enum llama_vocab_type type = llama_vocab_type(vocab);
        if (type == LLAMA_VOCAB_TYPE_NONE) throw std::runtime_error("it has no vocabulary");
        const bool is_bounded =
            type == LLAMA_VOCAB_TYPE_SPM || type == LLAMA_VOCAB_TYPE_BPE || type == LLAMA_VOCAB_TYPE_RWKV;
        if (is_bounded) longest.assign(1 << 16, longest_character);
        std::string piece;
        for (llama_token token = 0; token < llama_vocab_n_tokens(vocab); token++) {
            const char *text = llama_vocab_get_text(vocab, token);
            const std::string_view name = text ? text : "";
            const int attributes = llama_vocab_get_attr(vocab, token);
            const int cut = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_USER_DEFINED | LLAMA_TOKEN_ATTR_UNKNOWN;
            if ((attributes & cut) && !name.empty()) {
                specials.push_back(
                    {token, name, (attributes & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) == 0,
                     (attributes & LLAMA_TOKEN_ATTR_LSTRIP) != 0, (attributes & LLAMA_TOKEN_ATTR_RSTRIP) != 0});
            }
            if (!is_bounded) continue;
            piece.resize(std::max<size_t>(64, piece.size()));
            int32_t count = llama_token_to_piece(vocab, token, piece.data(), static_cast<int32_t>(piece.size()), 0, true);
            if (count < 0) {
                piece.resize(static_cast<size_t>(-count));
                count = llama_token_to_piece(vocab, token, piece.data(), static_cast<int32_t>(piece.size()), 0, true);
            }
            const std::string_view bytes(piece.data(), static_cast<size_t>(std::max(0, count)));
            // A blank is one byte in a text, and three in the names of some vocabularies, which put one before a text.
            const size_t length = std::max(name.size(), bytes.size());
            note(name, length);
            note(bytes, length);
            if (type == LLAMA_VOCAB_TYPE_SPM && name.substr(0, 3) == "\xE2\x96\x81") {
                note(name.substr(3), length);
                note(bytes.substr(std::min<size_t>(1, bytes.size())), length);
            }
        }
        std::sort(specials.begin(), specials.end(), [](const Special &left, const Special &right) {
            return left.name.size() > right.name.size();
        });
        for (const Special &special : specials) {
            are_user_defined[special.name] |= special.is_user_defined;
            if (special.name.size() == 1) {
                has_letter[static_cast<uint8_t>(special.name[0])] = true;
                continue;
            }
            std::vector<size_t> &known = lengths[pair(special.name.data())];
            if (known.empty() || known.back() != special.name.size()) known.push_back(special.name.size());
        }
    }

    /// Notes the length of a token for texts that begin with `bytes`.
    void note(std::string_view bytes, size_t length) {
        if (bytes.size() < 2) return;
        uint16_t &most = longest[pair(bytes.data())];
        most = static_cast<uint16_t>(std::min<size_t>(UINT16_MAX, std::max<size_t>(most, length)));
    }

    /// The most bytes of a token that begins at a place.
    size_t longest_at(std::string_view text, size_t place) const {
        return place + 1 < text.size() ? longest[pair(text.data() + place)] : 1;
    }

    /// Whether the name of a token begins at a place.
    bool has_special(std::string_view text, size_t place, bool parse_special) const {
        const auto is_cut = [&](size_t length) {
            if (place + length > text.size()) return false;
            const auto found = are_user_defined.find(text.substr(place, length));
            return found != are_user_defined.end() && (parse_special || found->second);
        };
        if (has_letter[static_cast<uint8_t>(text[place])] && is_cut(1)) return true;
        if (place + 1 >= text.size()) return false;
        const auto known = lengths.find(pair(text.data() + place));
        return known != lengths.end() && std::any_of(known->second.begin(), known->second.end(), is_cut);
    }

    /// Whether a text has so many names of tokens that llama.cpp would take long to cut it.
    bool has_many_specials(std::string_view text, bool parse_special) const {
        size_t found = 0;
        for (size_t place = 0; place < text.size() && found <= most_cut; place++) {
            if (has_special(text, place, parse_special)) found++;
        }
        return found > most_cut;
    }

    /// Cuts a text as llama.cpp does (`tokenizer_st_partition`), in a time that grows with the text alone.
    std::vector<Span> spans(std::string_view text, bool parse_special) const {
        std::vector<Span> spans = {{0, text.size(), LLAMA_TOKEN_NULL}};
        std::vector<Span> next;
        for (const Special &special : specials) {
            if (!parse_special && !special.is_user_defined) continue;
            if (text.find(special.name) == std::string_view::npos) continue;
            next.clear();
            for (const Span &span : spans) {
                if (span.token != LLAMA_TOKEN_NULL) {
                    next.push_back(span);
                    continue;
                }
                size_t start = span.start;
                const size_t end = span.start + span.length;
                while (start < end) {
                    const size_t match = text.substr(0, end).find(special.name, start);
                    if (match == std::string_view::npos) break;
                    size_t left = match;
                    while (special.strips_left && left > start && is_blank(text[left - 1])) left--;
                    if (left > start) next.push_back({start, left - start, LLAMA_TOKEN_NULL});
                    next.push_back({match, special.name.size(), special.token});
                    start = match + special.name.size();
                    while (special.strips_right && start < end && is_blank(text[start])) start++;
                }
                if (start < end) next.push_back({start, end - start, LLAMA_TOKEN_NULL});
            }
            spans.swap(next);
        }
        return spans;
    }

    /// Adds the tokens of a text that has few names of tokens.
    void append(std::string_view text, bool add_special, bool parse_special, std::vector<llama_token> &tokens) const {
        const size_t before = tokens.size();
        if (text.size() > INT32_MAX / 2) throw std::runtime_error("the text is too long");
        size_t room = text.size() / 2 + 16;
        for (int attempt = 0; attempt < 2; attempt++) {
            tokens.resize(before + room);
            const int32_t count = llama_tokenize(
                vocab, text.data(), static_cast<int32_t>(text.size()), tokens.data() + before,
                static_cast<int32_t>(room), add_special, parse_special);
            if (count >= 0) {
                tokens.resize(before + static_cast<size_t>(count));
                return;
            }
            if (count == INT32_MIN) break;
            room = static_cast<size_t>(-static_cast<int64_t>(count));
        }
        throw std::runtime_error("the text has too many tokens");
    }

    /// Whether the letters of a text may change. ASCII has no letters of several code points.
    bool may_change(std::string_view text) const {
        return changes.cuts
            || (changes.composes && std::any_of(text.begin(), text.end(), [](char letter) { return letter & 0x80; }));
    }

    /// Adds the tokens of letters, after their change. What the change makes is never a control token.
    void append_letters(std::string_view text, std::vector<llama_token> &tokens) const {
        size_t length = 0;
        const std::unique_ptr<char, void (*)(void *)> changed(
            may_change(text) ? changes.letters(&changes, text.data(), text.size(), &length) : nullptr, std::free);
        if (!changed) return append(text, false, false, tokens);
        std::string_view rest(changed.get(), length);
        for (size_t cut = rest.find('\xFF'); cut != std::string_view::npos; cut = rest.find('\xFF')) {
            append(rest.substr(0, cut), false, false, tokens);
            rest.remove_prefix(cut + 1);
        }
        append(rest, false, false, tokens);
    }

    /// Whether a text lacks the blank that it would begin with.
    bool lacks_blank(std::string_view text, bool parse_special) const {
        return changes.first_blank && !text.empty() && text[0] != ' ' && text.substr(0, 3) != "\xE2\x96\x81"
            && !has_special(text, 0, parse_special);
    }

    std::vector<llama_token> tokens(std::string_view given, bool add_special, bool parse_special, size_t limit) const {
        std::string owned;
        if (add_special && lacks_blank(given, parse_special)) owned = " " + std::string(given);
        const std::string_view text = owned.empty() ? given : owned;
        std::vector<llama_token> found;
        if (!may_change(text) && !has_many_specials(text, parse_special)) {
            append(text, add_special, parse_special, found);
            return found;
        }
        std::vector<llama_token> around;
        if (add_special) append("", true, false, around);
        const bool begins = !around.empty() && (llama_vocab_get_add_bos(vocab) || around.size() > 1);
        if (begins) found.push_back(around.front());
        for (const Span &span : spans(text, parse_special)) {
            if (span.token == LLAMA_TOKEN_NULL) {
                append_letters(text.substr(span.start, span.length), found);
            } else {
                found.push_back(span.token);
            }
            if (found.size() > limit) return found;
        }
        found.insert(found.end(), around.begin() + (begins ? 1 : 0), around.end());
        return found;
    }
};

hearth_tokenizer *hearth_tokenizer_new(const llama_vocab *vocab, const hearth_text_changes *changes, char **error) {
    const hearth::Loading loading;
    return hearth::guarded(
        error, "its vocabulary cannot be read", [&]() { return new hearth_tokenizer(vocab, *changes); });
}

void hearth_tokenizer_free(hearth_tokenizer *tokenizer) { delete tokenizer; }

size_t hearth_tokens_fewest(const hearth_tokenizer *tokenizer, const char *text, size_t length, size_t limit) {
    if (tokenizer->longest.empty()) return 0;
    const std::string_view bytes(text, length);
    size_t count = 0;
    // No token among the first `count` ends behind `reach`, and no token that begins up to there ends behind `next`.
    size_t reach = 0;
    size_t next = 0;
    for (size_t place = 0; reach < length && count <= limit; count++) {
        for (; place <= reach; place++) next = std::max(next, place + tokenizer->longest_at(bytes, place));
        reach = std::min(next, length);
    }
    return count;
}

int32_t *hearth_tokenize(
    const hearth_tokenizer *tokenizer, const char *text, size_t length, bool add_special, bool parse_special,
    size_t limit, size_t *count, char **error) {
    // An assertion about the vocabulary is a fault of the file too.
    const hearth::Loading loading;
    return hearth::guarded(error, "the text cannot be cut into tokens", [&]() -> int32_t * {
        const std::vector<llama_token> tokens =
            tokenizer->tokens(std::string_view(text, length), add_special, parse_special, limit);
        auto *copy = static_cast<int32_t *>(std::malloc((tokens.size() + 1) * sizeof(int32_t)));
        if (!copy) throw std::bad_alloc();
        std::copy(tokens.begin(), tokens.end(), copy);
        *count = tokens.size();
        return copy;
    });
}

void hearth_tokens_free(int32_t *tokens) { std::free(tokens); }

int32_t hearth_decode(llama_context *context, const llama_batch *batch, char **error) {
    int32_t status = -1;
    hearth::guarded(error, "llama.cpp cannot compute it", [&]() -> const char * {
        status = llama_decode(context, *batch);
        return nullptr;
    });
    return status;
}

#endif
