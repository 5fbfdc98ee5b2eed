#!/usr/bin/env bash
# install-web.sh PREFIX: lays the page's libraries into PREFIX, with a header that embeds them and a hearth-web.pc. They come
# unpacked out of Debian's packages, whose signatures apt checks; nothing is installed on the machine.
set -euo pipefail
prefix=$1
packages="node-marked node-dompurify libjs-highlight.js libjs-katex"
work="$prefix/web.tmp" folder="$prefix/include/hearth-web"
rm -rf "$work" && mkdir -p "$work/packages" "$folder" "$prefix/lib/pkgconfig"
download() { (cd "$work/packages" && apt-get download -qq $packages 2>/dev/null); }
root=""; [ "$(id -u)" = 0 ] || root=sudo
download || { $root apt-get update -qq && download; }
for package in "$work/packages"/*.deb; do dpkg -x "$package" "$work/unpacked"; done
share="$work/unpacked/usr/share"
cp "$share/nodejs/marked/lib/marked.esm.js" "$folder/marked.js"
# The maps of sources are not served.
sed '/^\/\/# sourceMappingURL=/d' "$share/nodejs/dompurify/dist/purify.es.js" > "$folder/purify.js"
cp "$share/javascript/highlight.js/highlight.min.js" "$folder/highlight.js"
cp "$share/javascript/katex/katex.js" "$folder/katex.js"
mkdir -p "$folder/licenses"
for package in $packages; do
    cp "$share/doc/$package/copyright" "$folder/licenses/$package"
done
cat > "$folder/hearth-web.h" <<'H'
// The page's libraries; Sources/CPage/page.c takes them in.
#pragma once
static const unsigned char hearth_web_marked[] = {
#embed "marked.js"
};
static const unsigned char hearth_web_purify[] = {
#embed "purify.js"
};
static const unsigned char hearth_web_highlight[] = {
#embed "highlight.js"
};
static const unsigned char hearth_web_katex[] = {
#embed "katex.js"
};
#define HEARTH_WEB_FILES \
    HEARTH_PAGE_ENTRY("lib/marked.js", hearth_web_marked) \
    HEARTH_PAGE_ENTRY("lib/purify.js", hearth_web_purify) \
    HEARTH_PAGE_ENTRY("lib/highlight.js", hearth_web_highlight) \
    HEARTH_PAGE_ENTRY("lib/katex.js", hearth_web_katex)
H
cat > "$prefix/lib/pkgconfig/hearth-web.pc" <<'PC'
prefix=${pcfiledir}/../..

Name: hearth-web
Description: the libraries of Hearth's page: marked, DOMPurify, highlight.js, KaTeX
Version: 1
Cflags: -I${prefix}/include/hearth-web
PC
rm -rf "$work"
